/** Settings of a run: a wallet in its parameters, and the key that runs it. */
import { copyButton, field, FieldError, h, type Panel } from "../../lib/panel.ts";
import { newUsageKey, newWallet, offer, type Resources, walletLabel } from "../../lib/resources.ts";

/**
 * Returns the name of the parameter for the wallet: a parameter that already contains a wallet, or an empty parameter
 * with a suitable name. If neither exists, returns `wallet`.
 */
export function walletMember(params: Record<string, unknown>, wallets: string[]): string {
  const isWallet = (value: unknown) => typeof value === "string" && wallets.includes(value.toLowerCase());
  return Object.keys(params).find((name) => isWallet(params[name])) ??
    Object.keys(params).find((name) => params[name] === "" && /wallet|pkp|address/i.test(name)) ?? "wallet";
}

/** Returns whether the parameters have an empty member for a wallet. */
export function lacksWallet(text: string): boolean {
  try {
    const params = JSON.parse(text) as unknown;
    return typeof params === "object" && params !== null &&
      Object.entries(params).some(([name, value]) => value === "" && /wallet|pkp/i.test(name));
  } catch {
    return false;
  }
}

/** Returns the parameters with a wallet, or null if the text is not a JSON object. */
export function withWallet(text: string, address: string, wallets: string[]): string | null {
  let params: unknown;
  try {
    params = text.trim() ? JSON.parse(text) : {};
  } catch {
    return null;
  }
  if (typeof params !== "object" || params === null || Array.isArray(params)) return null;
  const given = params as Record<string, unknown>;
  return JSON.stringify({ ...given, [walletMember(given, wallets)]: address }, null, 2);
}

interface Work {
  params: () => string;
  setParams: (text: string) => void;
  resources: () => Resources;
  keyChanged: () => void;
}

export function runWith(at: Panel, work: Work) {
  const wallet = h("select");
  const key = h("select");
  const note = h("p", { class: "svcnb-bad", role: "alert", hidden: true });
  const walletForm = h("div", { "aria-live": "polite" });
  const keyForm = h("div", { "aria-live": "polite" });

  const copy = copyButton(() => wallet.value, "Copy", "the wallet's address");
  const insert = () => {
    note.hidden = true;
    copy.hidden = !wallet.value;
    if (!wallet.value) return;
    const addresses = work.resources().wallets.map(({ address }) => address.toLowerCase());
    const text = withWallet(work.params(), wallet.value, addresses);
    if (text === null) {
      note.hidden = false;
      note.textContent =
        "The wallet cannot be added, because the parameters are not a JSON object. Enter an object, for example {}.";
    } else work.setParams(text);
  };
  wallet.addEventListener("change", insert);
  key.addEventListener("change", () => {
    at.attempt(async () => {
      await at.call("choose_key", { which: key.value });
      work.keyChanged();
    });
  });
  const createWallet = newWallet(at, walletForm, work.resources, (address) => {
    const known = [...wallet.options].some(({ value }) => value === address);
    if (!known) wallet.append(h("option", { value: address }, walletLabel({ address, name: "new wallet" })));
    wallet.value = address;
    insert();
    wallet.focus();
  });
  const createKey = newUsageKey(at, keyForm, work.resources, () => work.keyChanged());

  const walletPart = h(
    "div",
    { hidden: true },
    h(
      "div",
      { class: "svcnb-row" },
      field("Wallet", wallet),
      copy,
      createWallet.button,
    ),
    note,
    walletForm,
  );
  const keyPart = h(
    "div",
    { hidden: true },
    h("div", { class: "svcnb-row" }, field("Run with", key), createKey.button),
    keyForm,
  );
  return {
    walletPart,
    keyPart,
    /** Throws an error if only a usage key can run the action, but no usage key is chosen. */
    requireKey(): void {
      if (work.resources().mode === "chain" && !key.value) {
        throw new FieldError(key, "A ChainSecured account needs a usage key to run actions. Press Create usage key.");
      }
    },
    /** Address of the chosen wallet. Empty if no wallet is chosen. */
    wallet: () => wallet.value,
    offer({ mode, wallets, keys, run_key, client_key }: Resources): void {
      walletPart.hidden = keyPart.hidden = mode === "";
      const named = wallets.filter(({ master }) => !master);
      offer(wallet, [["", "none"], ...named.map((each): [string, string] => [each.address, walletLabel(each)])]);
      copy.hidden = !wallet.value;
      const usable = keys.filter(({ usable }) => usable);
      const own = client_key ? `usage key ${client_key} of the client` : "the account's key";
      const account: [string, string][] = [["", mode === "chain" ? "choose a usage key" : own]];
      offer(
        key,
        [...account, ...usable.map(({ hash, name }): [string, string] => [hash, `usage key ${name}`])],
        run_key,
      );
      createWallet.update();
      createKey.update();
    },
  };
}
