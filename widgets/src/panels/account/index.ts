/** Account set-up: create or open an account in either mode, see its key once, add credit, convert. */
import { copyButton, field, h, panel, PanelError } from "../../lib/panel.ts";

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

const dollars = (cents: number) => `$${(cents / 100).toFixed(2)}`;

export default panel("Account", (at) => {
  const begin = h("div", { class: "svcnb-columns" });
  const secret = h("div", { "aria-live": "polite" });
  const opened = h("div", { hidden: true });
  at.body.append(begin, secret, opened);

  // --- before: create or open -----------------------------------------------------------------------------------

  const owner = h("p", { class: "svcnb-muted" });
  const ownerKey = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const ownerField = field("Private key of the owner", ownerKey, "It stays in the kernel and is saved nowhere.");
  at.watch<string>("owner_address", (address) => {
    owner.textContent = address ? `Its owner: ${address}` : "";
    ownerField.hidden = address !== "";
  });
  const withOwner = async () => {
    if (ownerKey.value) {
      await at.call("use_owner", { key: ownerKey.value }, "Reading the key");
      ownerKey.value = "";
    }
  };

  const name = h("input", { type: "text", autocomplete: "off", placeholder: "treasury" });
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const own = at.button("Open the client's own", () => at.call("open_with_key", {}, "Opening the account"));
  own.hidden = true;
  begin.append(
    h(
      "section",
      { class: "svcnb-card", "aria-label": "API mode" },
      h("h3", {}, "API mode"),
      h("p", { class: "svcnb-muted" }, "The service manages the account; a key opens it."),
      field("Name", name),
      at.button("Create", async () => {
        const made = await at.call<{ api_key: string }>("create", { name: name.value }, "Creating the account");
        showKey(made.api_key);
      }, { kind: "primary" }),
      h("hr", {}),
      field("Account key or usage key", key, "It stays in the kernel and is not saved with the notebook."),
      h(
        "div",
        { class: "svcnb-row" },
        at.button("Open", async () => {
          if (!key.value.trim()) {
            throw new PanelError({ type: "NoKey", message: "No key was typed.", hint: "Paste a key." });
          }
          await at.call("open_with_key", { api_key: key.value }, "Opening the account");
          key.value = "";
        }),
        own,
      ),
    ),
  );
  const chainName = h("input", { type: "text", autocomplete: "off", placeholder: "treasury" });
  const chainCard = h(
    "section",
    { class: "svcnb-card", "aria-label": "ChainSecured mode" },
    h("h3", {}, "ChainSecured mode"),
    h("p", { class: "svcnb-muted" }, "A wallet owns the account on the chain; it signs every change and pays its gas."),
    owner,
    ownerField,
    field("Name on the chain", chainName),
    h(
      "div",
      { class: "svcnb-row" },
      at.button("Create on the chain", async () => {
        await withOwner();
        await at.call("create_on_chain", { name: chainName.value }, "Opening the account on the chain");
      }, { kind: "primary" }),
      at.button("Open what it owns", async () => {
        await withOwner();
        await at.call("open_on_chain", {}, "Looking for the account");
      }),
    ),
  );
  begin.append(chainCard);

  /** The one moment in which the key is shown; it is nowhere but here and in the kernel. */
  const showKey = (text: string) => {
    const done = h("button", { type: "button", class: "svcnb-primary" }, "I stored it");
    done.addEventListener("click", () => {
      secret.replaceChildren();
      find(opened, "button")?.focus();
    });
    secret.replaceChildren(
      h(
        "div",
        { class: "svcnb-notice" },
        h(
          "div",
          {},
          h("strong", {}, "This is the account key. It is shown this once."),
          h("p", {}, "Whoever has it owns the account, and a lost key cannot be replaced. Store it in a safe place."),
          h("code", { class: "svcnb-key" }, text),
          h("div", { class: "svcnb-row" }, copyButton(() => text, "Copy the key"), done),
        ),
      ),
    );
    done.focus();
  };

  // --- after: credit and conversion -----------------------------------------------------------------------------

  const facts = h("table", {});
  const page = h("div", { "aria-live": "polite" });
  const amount = h("select", {});
  const method = h("select", {}, h("option", { value: "card" }, "card"), h("option", { value: "crypto" }, "crypto"));
  const refresh = at.button("Read the credit", () => at.call("refresh", {}, "Reading the credit"));

  const pay = async () => {
    const asked = { cents: Number(amount.value), method: method.value };
    const begun = await at.call<{ page: string; payment: string }>("pay", asked, "Beginning the payment");
    const link = h("a", { href: begun.page, target: "_blank", rel: "noopener" }, "Open the processor's page");
    page.replaceChildren(
      h(
        "div",
        { class: "svcnb-notice" },
        h(
          "div",
          {},
          h("strong", {}, `Pay ${dollars(asked.cents)} at the processor.`),
          begun.page
            ? h(
              "p",
              {},
              link,
              " in another tab. The credit appears here when it is through; Cancel only ends the waiting.",
            )
            : h(
              "p",
              {},
              `Payment ${begun.payment}: finish it with the processor's client library or in its dashboard.`,
            ),
        ),
      ),
    );
    if (begun.page) link.focus();
    try {
      await at.call("wait_for_payment", {}, "Waiting for the payment");
    } finally {
      page.replaceChildren();
    }
  };

  const steps = h("div", { "aria-live": "polite" });
  const convert = at.button("Convert to ChainSecured …", async () => {
    await withOwner();
    const refused = await at.call("convert", {}, "Looking at what would happen").then(() => null, (error) => error);
    if (!(refused instanceof PanelError) || refused.type !== "NotConfirmed") throw refused;
    const sure = at.button("Convert, for good", async () => {
      await at.call("convert", { confirm: true }, "Converting");
      steps.replaceChildren();
    }, { kind: "danger" });
    const back = h("button", { type: "button" }, "Leave it as it is");
    back.addEventListener("click", () => {
      steps.replaceChildren();
      convert.focus();
    });
    steps.replaceChildren(
      h(
        "div",
        { class: "svcnb-failure" },
        h(
          "div",
          {},
          h("strong", {}, refused.message),
          h("ul", {}, ...refused.consequences.map((text) => h("li", {}, text))),
          h("div", { class: "svcnb-row" }, sure, back),
        ),
      ),
    );
    back.focus(); // the harmless one
  });
  const conversion = h(
    "details",
    {},
    h("summary", {}, "Hand the account to a wallet"),
    h(
      "p",
      { class: "svcnb-muted" },
      "From API mode to ChainSecured. Irreversible, so it is shown first and asked again.",
    ),
    convert,
    steps,
  );
  opened.append(
    h("div", { class: "svcnb-scroll" }, facts),
    h(
      "section",
      { class: "svcnb-card", "aria-label": "Credit" },
      h("h3", {}, "Credit"),
      h("div", { class: "svcnb-columns" }, field("Amount", amount), field("Pay by", method)),
      h("div", { class: "svcnb-row" }, at.button("Add credit", pay, { kind: "primary" }), refresh),
      page,
    ),
    conversion,
  );

  at.watch<State>("state", ({ mode, address, hash, balance }) => {
    begin.hidden = mode !== "";
    opened.hidden = mode === "";
    conversion.hidden = mode !== "api";
    if (mode === "api") conversion.insertBefore(ownerField, convert);
    else chainCard.insertBefore(ownerField, owner.nextSibling);
    const rows: [string, string][] = [
      ["Mode", mode === "chain" ? "ChainSecured: a wallet owns it" : "API mode"],
      [mode === "chain" ? "Owner" : "Wallet of the account", address],
      ["Account hash", hash],
      ["Credit", balance || "not read yet"],
    ];
    facts.replaceChildren(
      ...rows.filter(([, value]) => value).map(([label, value]) =>
        h(
          "tr",
          {},
          h("th", { scope: "row" }, label),
          h("td", {}, value.startsWith("0x") ? h("code", {}, value) : value),
        )
      ),
    );
  });

  void at.attempt(async () => {
    const { packages, has_key } = await at.call<Setting>("setting", {}, "Opening");
    amount.replaceChildren(...packages.map((cents) => h("option", { value: cents }, dollars(cents))));
    own.hidden = !has_key;
  });
});

function find(element: HTMLElement, selector: string): HTMLElement | null {
  return element.querySelector(selector);
}
