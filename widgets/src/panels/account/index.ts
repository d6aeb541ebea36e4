/**
 * Account panel, which creates or opens an account in either mode. The panel shows a new key once, adds credit, and
 * converts or transfers the account.
 */
import { confirmed } from "../../lib/confirm.ts";
import { tableRow } from "../../lib/dom.ts";
import { copyable, field, h, panel, refill, typed } from "../../lib/panel.ts";
import { showSecret } from "../../lib/secret.ts";
import { BrowserWallet } from "../signing/browser_wallet.ts";
import { answerRequests } from "../signing/requests.ts";
import { creditPart } from "./credit.ts";
import { ownerChooser } from "./owner.ts";
import { pendingPart } from "./pending.ts";

interface State {
  mode: "" | "api" | "chain";
  address: string;
  hash: string;
  balance: string;
}

interface Setting {
  packages: number[];
  has_key: boolean;
}

export default panel("Account", (at) => {
  const requests = h("div", { "aria-live": "polite" });
  const begin = h("div", { class: "svcnb-columns" });
  const secret = h("div", { "aria-live": "polite" });
  const opened = h("div", { hidden: true });
  at.body.append(requests, begin, secret, opened);
  const wallet = new BrowserWallet(at);
  answerRequests(at, requests, wallet);

  // --- before: create or open -----------------------------------------------------------------------------------

  const name = h("input", { type: "text", autocomplete: "off", placeholder: "treasury" });
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  begin.append(
    h(
      "section",
      { class: "svcnb-card", "aria-label": "API mode" },
      h("h3", {}, "API mode"),
      h(
        "p",
        { class: "svcnb-muted" },
        "The service manages the account, and you use it with a key. Choose this mode for a first test.",
      ),
      field("Name", name),
      at.button("Create", async () => {
        const args = { name: typed(name, "Enter a name for the account.") };
        const made = await at.call<{ api_key: string }>("create", args, "Creating the account");
        const warning =
          "Anyone who has this key controls the account, and a lost key cannot be replaced. Store the key in a safe place.";
        showSecret(secret, "account key", warning, made.api_key, () => opened.querySelector("button")?.focus());
      }, { kind: "primary", fields: { name } }),
      h("hr", {}),
      field("Account key or usage key", key, "The key stays in the kernel and is not saved with the notebook."),
      at.button("Open", async () => {
        await at.call(
          "open_with_key",
          { api_key: typed(key, "Enter an account key or a usage key.") },
          "Opening the account",
        );
        key.value = "";
      }, { fields: { key } }),
    ),
  );
  const owner = ownerChooser(at);
  const chainName = h("input", { type: "text", autocomplete: "off", placeholder: "treasury" });
  const chainCard = h(
    "section",
    { class: "svcnb-card", "aria-label": "ChainSecured mode" },
    h("h3", {}, "ChainSecured mode"),
    h("p", { class: "svcnb-muted" }, "A wallet owns the account on the chain, signs each change and pays the gas."),
    field("Name on the chain", chainName),
    h(
      "div",
      { class: "svcnb-row" },
      at.button("Create on the chain", async () => {
        const args = { name: typed(chainName, "Enter a name for the account.") };
        await owner.ready();
        await at.call("create_on_chain", args, "Creating the account on the chain");
      }, { kind: "primary", fields: { ...owner.fields, chain_name: chainName } }),
      at.button("Open the wallet's account", async () => {
        await owner.ready();
        await at.call("open_on_chain", {}, "Searching for the account");
      }, { fields: owner.fields }),
    ),
  );
  begin.append(chainCard);

  // --- after: credit, conversion, transfer ------------------------------------------------------------------------

  const facts = h("table", { class: "svcnb-facts" });
  const credit = creditPart(at);
  const pending = pendingPart(at);

  const steps = h("div", { "aria-live": "polite" });
  const convert: HTMLButtonElement = at.button("Convert to ChainSecured …", async () => {
    await owner.ready();
    await confirmed(
      at,
      steps,
      convert,
      "Convert permanently",
      (confirm) => at.call("convert", { confirm }, confirm ? "Converting" : "Checking the consequences"),
    );
  }, { fields: owner.fields });
  const conversion = h(
    "details",
    {},
    h("summary", {}, "Conversion to ChainSecured"),
    h(
      "p",
      { class: "svcnb-muted" },
      "Converts the account from API mode to ChainSecured. The conversion is irreversible. The panel shows the consequences first.",
    ),
    convert,
    steps,
  );

  const to = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "0x…" });
  const question = h("div", { "aria-live": "polite" });
  const hand: HTMLButtonElement = at.button("Transfer the account …", async () => {
    const args = { to: typed(to, "Enter the address of the new owner.") };
    await confirmed(
      at,
      question,
      hand,
      "Transfer permanently",
      (confirm) => at.call("transfer", { ...args, confirm }, confirm ? "Transferring" : "Checking the consequences"),
    );
    if (at.get<State>("state").mode === "") to.value = "";
  }, { fields: { to } });
  const transfer = h(
    "details",
    {},
    h("summary", {}, "Transfer the account to another wallet"),
    field("New owner", to, "Address of a wallet that can sign on this chain."),
    hand,
    question,
  );

  const leave = at.button("Use another account", () => at.call("leave", {}, "Closing the account"), { kind: "quiet" });
  opened.append(
    h("div", { class: "svcnb-scroll" }, facts),
    h("div", { class: "svcnb-row" }, leave),
    credit.element,
    conversion,
    transfer,
  );
  at.body.append(pending.element);

  at.watch<State>("state", ({ mode, address, hash, balance }) => {
    const lost = (mode === "" ? opened : begin).contains(document.activeElement);
    begin.hidden = mode !== "";
    opened.hidden = mode === "";
    conversion.hidden = mode !== "api";
    transfer.hidden = mode !== "chain";
    // Move the element only if necessary, because a moved element loses the focus. A change of the credit also calls
    // this function.
    const place = mode === "api" ? conversion : mode === "" ? chainCard : owner.element.parentElement;
    if (owner.element.parentElement !== place) {
      place?.insertBefore(owner.element, mode === "api" ? convert : place.children[2] ?? null);
    }
    const rows: [string, string][] = [
      ["Mode", mode === "chain" ? "ChainSecured: a wallet owns the account" : "API mode"],
      [mode === "chain" ? "Owner" : "Wallet of the account", address],
      ["Account hash", hash],
      ["Credit", balance || "not loaded yet"],
    ];
    refill(
      facts,
      ...rows.filter(([, value]) => value).map(([label, value]) =>
        tableRow(label, value.startsWith("0x") ? copyable(value, label.toLowerCase()) : value)
      ),
    );
    // The element with the focus is now hidden.
    if (lost) (mode === "" ? name : opened.querySelector("button"))?.focus();
  });

  void at.attempt(async () => {
    const { packages, has_key } = await at.call<Setting>("setting", {}, "Opening");
    credit.offer(packages);
    if (has_key && at.get<State>("state").mode === "") await at.call("open_with_key", {}, "Opening the account");
    await pending.read();
  });
  at.rereads(["account", "resources"], () => void pending.read().catch(() => {}));
  return () => wallet.stop();
});
