/** Wallet that owns a ChainSecured account: a browser wallet, a key file, a private key, or a contract wallet. */
import { copyable, field, FieldError, type Fields, h, type Panel, typed } from "../../lib/panel.ts";

const KINDS = [
  ["browser", "a wallet in this browser"],
  ["file", "a key file"],
  ["key", "a private key"],
] as const;

/** Returns an element in which the user chooses the owner's wallet, and which then shows the wallet. */
export function ownerChooser(at: Panel): { element: HTMLElement; ready: () => Promise<void>; fields: Fields } {
  const kind = h("select", {}, ...KINDS.map(([value, label]) => h("option", { value }, label)));
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const file = h("input", { type: "file", accept: ".json,application/json" });
  const password = h("input", { type: "password", autocomplete: "off" });
  const contract = h("input", { type: "text", autocomplete: "off", spellcheck: "false", placeholder: "0x…" });

  const keyField = field("Private key of the owner", key, "The key stays in the kernel and is not saved.");
  const fileFields = h(
    "div",
    { class: "svcnb-columns" },
    field("Key file", file, "Encrypted JSON (version 3), the format that wallets export."),
    field("Password of the key file", password),
  );
  const chosen = h("p", {});
  const fields: Fields = { owner_key: key, file, password };
  const use = at.button("Use this wallet", () => take(), { fields });
  const useFile = at.button("Use this key file", () => take(), { fields });
  const connect = at.button("Connect a wallet", () => take());
  const change = at.button("Use another wallet", async () => {
    await at.call("forget_owner");
    kind.focus();
  }, { kind: "quiet" });
  const choice = h("div", {}, field("Wallet of the owner", kind), keyField, fileFields);
  choice.append(h("div", { class: "svcnb-row" }, connect, use, useFile));
  const useContract = at.button("Use the contract wallet", async () => {
    await at.call("use_contract_wallet", { address: typed(contract, "Enter the address of the contract.") });
    contract.value = "";
  }, { fields: { contract } });
  const contractPart = h(
    "details",
    {},
    h("summary", {}, "Sign for a contract wallet"),
    field(
      "Address of the contract wallet",
      contract,
      "The contract must be deployed. The wallet above signs for it (ERC-1271).",
    ),
    useContract,
  );
  const known = h("div", {}, h("div", { class: "svcnb-row" }, chosen, change), contractPart);
  const element = h("div", {}, choice, known);

  const show = () => {
    keyField.hidden = use.hidden = kind.value !== "key";
    fileFields.hidden = useFile.hidden = kind.value !== "file";
    connect.hidden = kind.value !== "browser";
  };
  kind.addEventListener("change", show);
  show();

  async function take(): Promise<void> {
    if (kind.value === "browser") {
      await at.call("use_browser_wallet", {}, "Waiting for the wallet");
    } else if (kind.value === "key") {
      await at.call("use_owner", { key: typed(key, "Enter a private key: 0x and 64 hex digits.") }, "Reading the key");
      key.value = "";
    } else {
      const selected = file.files?.[0];
      if (!selected) throw new FieldError(file, "Choose a key file.");
      const args = { text: await selected.text(), password: password.value, name: selected.name };
      await at.call("use_key_file", args, "Opening the key file");
      password.value = file.value = "";
    }
  }

  at.watch<string>("owner_address", (address) => {
    const lost = choice.contains(document.activeElement);
    choice.hidden = address !== "";
    known.hidden = address === "";
    chosen.replaceChildren(...(address ? ["Owner: ", copyable(address, "the owner's address")] : []));
    if (lost && address) change.focus(); // the element with the focus is now hidden
  });
  return { element, fields, ready: async () => void (at.get<string>("owner_address") || await take()) };
}
