/** Account set-up: create or open an account, see its key once, watch its credit. */
import { copyButton, field, h, panel } from "../../lib/panel.ts";

interface State {
  address: string;
  balance: string;
}

export default panel("Account", (at) => {
  const begin = h("div", { class: "svcnb-columns" });
  const opened = h("div", { hidden: true });
  const secret = h("div", { "aria-live": "polite" });
  at.body.append(begin, secret, opened);

  const show = ({ address, balance }: State) => {
    begin.hidden = address !== "";
    opened.hidden = address === "";
    opened.replaceChildren(
      h(
        "table",
        {},
        h("tr", {}, h("th", { scope: "row" }, "Wallet of the account"), h("td", {}, h("code", {}, address))),
        h("tr", {}, h("th", { scope: "row" }, "Credit"), h("td", {}, balance)),
      ),
      at.button("Refresh", () => at.call("refresh", {}, "Reading the credit")),
    );
  };

  /** The one moment in which the key is shown; it is nowhere but here and in the kernel. */
  const showKey = (key: string) => {
    const code = h("code", { class: "svcnb-key" }, key);
    const done = h("button", { type: "button", class: "svcnb-primary" }, "I stored it");
    done.addEventListener("click", () => secret.replaceChildren());
    secret.replaceChildren(
      h(
        "div",
        { class: "svcnb-notice" },
        h(
          "div",
          {},
          h("strong", {}, "This is the account key. It is shown this once."),
          h("p", {}, "Whoever has it owns the account, and a lost key cannot be replaced. Store it in a safe place."),
          code,
          h("div", { class: "svcnb-row" }, copyButton(() => key, "Copy the key"), done),
        ),
      ),
    );
    done.focus();
  };

  const name = h("input", { type: "text", autocomplete: "off", placeholder: "treasury" });
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  begin.append(
    h(
      "div",
      { class: "svcnb-card" },
      h("h3", {}, "Create an account"),
      field("Name", name),
      at.button("Create", async () => {
        const made = await at.call<{ api_key: string }>("create", { name: name.value }, "Creating the account");
        showKey(made.api_key);
      }, { kind: "primary" }),
    ),
    h(
      "div",
      { class: "svcnb-card" },
      h("h3", {}, "Open an account"),
      field("Account key or usage key", key, "It stays in the kernel and is not saved with the notebook."),
      at.button("Open", async () => {
        await at.call("open_with_key", { api_key: key.value }, "Opening the account");
        key.value = "";
      }),
    ),
  );
  at.watch<State>("state", show);
});
