/**
 * Signing panel, which composes and explains an envelope, requests a signature, checks every rule of a signature, and
 * sends the envelope.
 */
import { notice, tableHead, tableRow } from "../../lib/dom.ts";
import { copyable, copyButton, field, FieldError, h, panel, typed } from "../../lib/panel.ts";
import { showSecret } from "../../lib/secret.ts";
import { type Envelope, envelope, type Flow, FLOWS } from "../../lib/typed_data.ts";
import { type Chain, signTypedData } from "../../lib/wallet.ts";
import { BrowserWallet } from "./browser_wallet.ts";
import { digestOf, PURPOSES, table, validity } from "./envelope.ts";
import { answerRequests } from "./requests.ts";

interface Setting {
  client: boolean;
  signer: string;
  chain: Chain;
  domain: string;
  now: number;
  window: number;
  endpoints: Record<string, string>;
  has_key: boolean;
}

interface Checked {
  digest: string;
  recovered: string;
  rules: { rule: number; what: string; holds: boolean; detail: string }[];
}

interface Sent {
  flow: string;
  wallet_address: string;
  derivation_path: string;
  usage_api_key: string;
  balance: string;
}

type With = "browser" | "key";

const ADDRESS = /^0x[0-9a-f]{40}$/i;

const VERDICTS = new Map<boolean, readonly [string, string]>([
  [true, ["✓ passed", "svcnb-good"]],
  [false, ["✗ failed", "svcnb-bad"]],
]);

export default panel("Signing", (at) => {
  const requests = h("div", { "aria-live": "polite" });
  const composer = h("div");
  const wallet = new BrowserWallet(at);
  at.body.append(requests, composer);
  answerRequests(at, requests, wallet);

  let setting: Setting | undefined;
  let offset = 0; // difference between the server's clock and this page's clock, in seconds
  let current: Envelope | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const now = () => Date.now() / 1000 + offset;

  const look = async () => {
    setting = await at.call<Setting>("setting", {}, "Reading the node's settings");
    offset = setting.now - Date.now() / 1000;
    if (!setting.client && composer.childElementCount === 0) {
      composer.append(h("h3", {}, "Wallet in the browser"), wallet.element);
    }
    return setting;
  };

  /** All following elements need a client. The panel creates them after the response of the node. */
  const build = ({ chain, domain, signer, window: windowS, endpoints, has_key }: Setting) => {
    const begun = at.get<string>("flow");
    const flow = h(
      "select",
      {},
      ...FLOWS.map((name) => h("option", { value: name, selected: name === begun }, `${PURPOSES[name][0]} (${name})`)),
    );
    const purpose = h("p", { class: "svcnb-muted" });

    const how = radios("Sign with", [["browser", "a wallet in this browser"], [
      "key",
      signer ? `the key of this notebook (${signer.slice(0, 10)}…)` : "a private key",
    ]], signer ? "key" : "browser");
    const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
    const keyField = field(
      "Private key",
      key,
      "The kernel uses the key once and does not store it. Use a key of a test chain.",
    );
    const isContract = h("input", { type: "checkbox" });
    const contract = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "0x…" });
    const contractField = field(
      "Contract wallet",
      contract,
      "Address of a deployed contract. The wallet above signs for it (ERC-1271).",
    );

    const address = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "0x…" });
    const issued = h("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
    const shown = h("div");
    const digest = h("code", { class: "svcnb-digest" });
    const countdown = h("span", { class: "svcnb-countdown" });
    const result = h("div", { "aria-live": "polite" });

    const chosen = () => how.value() as With;
    const compose = () => {
      const name = flow.value as Flow;
      purpose.textContent = `${PURPOSES[name][1]} Endpoint: ${endpoints[name]}.`;
      keyField.hidden = chosen() !== "key" || signer !== "";
      wallet.element.hidden = chosen() !== "browser";
      contractField.hidden = !isContract.checked;
      const claimed = isContract.checked ? contract.value.trim() : address.value.trim();
      current = envelope(name, claimed || `0x${"0".repeat(40)}`, chain.id, issued.value.trim() || "0", domain);
      shown.replaceChildren(table(current));
      const found = digestOf(current);
      digest.textContent = found.text;
      digest.classList.toggle("svcnb-bad", !found.ok);
      tick();
    };
    const tick = () => {
      const { text, good } = validity(Number(issued.value) + windowS - now(), windowS);
      countdown.textContent = text;
      countdown.className = `svcnb-countdown ${good ? "svcnb-good" : "svcnb-bad"}`;
    };
    const present = async () => {
      const before = issued.value;
      await look();
      if (issued.value !== before) return; // keep what the user typed in the meantime
      issued.value = String(Math.floor(now()));
      compose();
    };
    const follow = () => {
      if (chosen() === "browser") address.value = wallet.address;
      else if (signer) address.value = signer;
      compose();
    };

    const sign = async () => {
      result.replaceChildren();
      if (!/^\d{1,15}$/.test(issued.value.trim())) {
        throw new FieldError(issued, "Enter a whole number of Unix seconds, or choose Use current time.");
      }
      if (isContract.checked && !ADDRESS.test(contract.value.trim())) {
        throw new FieldError(contract, "Enter the address of the contract: 0x and 40 hex digits.");
      }
      if (chosen() === "key" && !signer) {
        const asked = { key: typed(key, "Enter a private key: 0x and 64 hex digits.") };
        address.value = (await at.call<{ address: string }>("address_of", asked, "Reading the key")).address;
      }
      if (chosen() === "browser") {
        await wallet.ready();
        address.value = wallet.address;
      }
      compose();
      const typedData = current!;
      let signature: string;
      if (chosen() === "browser") {
        const ready = await wallet.ready(chain);
        signature = await signTypedData(ready.wallet, ready.address, typedData);
        await at.call("signed_in_browser", { typed_data: typedData });
      } else {
        const asked = { typed_data: typedData, key: signer ? "" : key.value };
        signature = (await at.call<{ signature: string }>("sign_here", asked, "Signing")).signature;
        key.value = "";
      }
      await judge(typedData, signature);
    };

    const judge = async (typedData: Envelope, signature: string) => {
      const name = flow.value;
      const checked = await at.call<Checked>(
        "check",
        { typed_data: typedData, signature, flow: name },
        "Checking all rules",
      );
      const same = checked.digest === digestOf(typedData).text;
      const good = same && checked.rules.every(({ holds }) => holds);
      const answer = h("div", { "aria-live": "polite" });
      result.replaceChildren(
        h("h3", {}, "Signed"),
        h(
          "table",
          {},
          row("Signature", signature),
          row("Recovered address", checked.recovered || "none: no address can be recovered from this signature"),
          row("Digest in Python", same ? "the same digest" : checked.digest),
        ),
        h(
          "div",
          { class: "svcnb-scroll", tabindex: "0", role: "group", "aria-label": "Results of the rules" },
          h(
            "table",
            { class: "svcnb-rules svcnb-stack" },
            tableHead("Rule", "Result", "Details"),
            h(
              "tbody",
              {},
              ...checked.rules.map(({ rule, what, holds, detail }) => {
                const [text, style] = VERDICTS.get(holds)!;
                return h(
                  "tr",
                  {},
                  h("td", {}, `${rule}. ${what}`),
                  h("td", { class: style }, text),
                  h("td", { class: "svcnb-muted" }, detail),
                );
              }),
            ),
          ),
        ),
        h(
          "div",
          { class: "svcnb-row" },
          at.button("Send to the service", () => send(typedData, signature, answer), {
            kind: good ? "primary" : undefined,
          }),
          good ? null : h(
            "span",
            { class: "svcnb-bad" },
            "The service will reject this signature. To see the error, send the envelope.",
          ),
        ),
        answer,
      );
    };

    const send = async (typedData: Envelope, signature: string, answer: HTMLElement, confirm = false) => {
      if (typedData.primaryType === "ConvertAccount" && !confirm) {
        const sure = at.button("Convert permanently", () => send(typedData, signature, answer, true), {
          kind: "danger",
        });
        const consequence = has_key
          ? "The account key can no longer make changes. If this wallet is lost, the account is lost."
          : "The client of this panel has no account key, so the service will reject the request.";
        answer.replaceChildren(notice("The account cannot return to API mode.", h("p", {}, consequence), sure));
        sure.focus();
        return;
      }
      const sent = await at.call<Sent>("send_envelope", { typed_data: typedData, signature, confirm }, "Sending");
      const heading = h("h3", { tabindex: "-1" }, "The service responded");
      const focused = answer.contains(document.activeElement); // the button of the last question, which disappears
      answer.replaceChildren(heading, ...answered(sent, () => heading.focus()));
      if (focused) heading.focus();
    };

    const button = at.button("Sign", sign, { kind: "primary", fields: { key } });
    composer.replaceChildren(
      h("p", { class: "svcnb-muted" }, `${chain.name || "Chain"} (chain ${chain.id}) · ${domain}`),
      h("div", { class: "svcnb-columns" }, field("Purpose", flow), how.element),
      purpose,
      keyField,
      wallet.element,
      h("label", {}, isContract, "Sign for a contract wallet"),
      contractField,
      h(
        "div",
        { class: "svcnb-columns" },
        field("Address", address),
        field("Issued at", issued, "Unix seconds, according to the clock of the server."),
      ),
      h("h3", {}, "The envelope"),
      shown,
      h(
        "p",
        {},
        h("strong", {}, "Digest "),
        digest,
        " ",
        copyButton(() => digest.textContent ?? "", "Copy", "the digest"),
      ),
      h("div", { class: "svcnb-row" }, button, at.button("Use current time", present), countdown),
      result,
    );
    flow.addEventListener("change", () => {
      at.model.set("flow", flow.value);
      at.model.save_changes();
      result.replaceChildren();
      compose();
    });
    for (const input of [address, issued, contract, isContract]) input.addEventListener("input", compose);
    how.element.addEventListener("change", follow);
    wallet.onConnected(follow);
    issued.value = String(Math.floor(now()));
    follow();
    timer = setInterval(tick, 1000);
  };

  void at.attempt(async () => {
    const found = await look();
    if (found.client) build(found);
  });
  return () => {
    clearInterval(timer);
    wallet.stop();
  };
});

function row(name: string, value: string): HTMLElement {
  return tableRow(name, value.startsWith("0x") ? copyable(value, `the ${name.toLowerCase()}`) : h("code", {}, value));
}

/** Shows the response of the service. `next` gets the focus when the focused button disappears. */
function answered(sent: Sent, next: () => void): HTMLElement[] {
  if (sent.flow === "BillingAuth") return [h("p", {}, `Credit: ${sent.balance}`)];
  if (sent.flow === "ConvertAccount") {
    return [h("p", { class: "svcnb-good" }, "The account now belongs to this wallet.")];
  }
  const made = h("table", {}, row("Wallet", sent.wallet_address), row("Derivation path", sent.derivation_path));
  if (!sent.usage_api_key) {
    const note =
      "The wallet is not part of an account until its registration on the chain. To create and register a wallet in one step, press Create wallet under Permissions.";
    return [made, h("p", { class: "svcnb-muted" }, note)];
  }
  const note = "To create and register a usage key in one step, press Create usage key under Permissions.";
  const secret = h("div");
  const warning = "The key has no permissions until it is registered on the chain. Store the key in a safe place.";
  showSecret(secret, "usage key", warning, sent.usage_api_key, next);
  return [secret, made, h("p", { class: "svcnb-muted" }, note)];
}

function radios(legend: string, choices: [value: string, label: string][], first: string) {
  const name = `svcnb-${Math.random().toString(36).slice(2)}`;
  const element = h(
    "fieldset",
    {},
    h("legend", {}, legend),
    ...choices.map(([value, label]) =>
      h("label", {}, h("input", { type: "radio", name, value, checked: value === first }), label)
    ),
  );
  const value = () => ([...element.querySelectorAll("input")].find(({ checked }) => checked))?.value ?? first;
  return { element, value };
}
