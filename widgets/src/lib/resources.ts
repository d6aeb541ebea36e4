/** Wallets, groups and usage keys of the open account, and the forms that create them. */
import { field, h } from "./dom.ts";
import { type Fields, type Panel, typed } from "./panel.ts";
import { showSecret } from "./secret.ts";
import { PanelError } from "./wire.ts";

export interface Resources {
  mode: "" | "api" | "chain";
  wallets: { address: string; name: string; master: boolean }[];
  groups: { id: number; name: string }[];
  keys: { hash: string; name: string; usable: boolean }[];
  run_key: string;
  /** Name of the client's usage key. Empty for the key of an account. */
  client_key: string;
}

export const NOTHING: Resources = { mode: "", wallets: [], groups: [], keys: [], run_key: "", client_key: "" };

/** Reads the resources, and reads them again after a change of the session. Calls `shown` with the result. */
export function followResources(at: Panel, shown: (found: Resources) => void): { read: () => Promise<void> } {
  let asked = 0;
  const read = async () => {
    const mine = asked += 1;
    const found = await at.call<Resources>("resources", {}, "Reading the account");
    if (mine === asked) shown(found);
  };
  at.rereads(["account", "resources", "key"], () => void read().catch(() => shown(NOTHING)));
  return { read };
}

/** Shortens a hash or an address, so that both of its ends are visible. */
export function brief(text: string): string {
  return /^(0x[0-9a-f]{40,}|Qm\w{44})$/i.test(text) ? `${text.slice(0, 8)}…${text.slice(-6)}` : text;
}

export function walletLabel({ address, name }: { address: string; name: string }): string {
  return `${name} ${brief(address)}`;
}

/** Replaces the options of a select. Keeps the selected option if it still exists. */
export function offer(select: HTMLSelectElement, options: [value: string, label: string][], chosen = select.value) {
  select.replaceChildren(
    ...options.map(([value, label]) => h("option", { value, selected: value === chosen }, label)),
  );
}

/** Button, and the form that it opens in `place`. */
export interface Creator {
  button: HTMLButtonElement;
  open(): void;
  /** Refreshes the options of the form if the form is open. */
  update(): void;
}

interface Form {
  label: string;
  /** Fields of the form. The function creates them each time the form opens. */
  content: () => { element: HTMLElement; first: HTMLElement };
  /** Creates the resource, and shows the result in place of the form, with the focus. */
  create: (place: HTMLElement, done: () => void) => Promise<void>;
  note: () => string;
  update?: () => void;
}

function creator(at: Panel, place: HTMLElement, { label, content, create, note, update }: Form): Creator {
  const hint = h("p", { class: "svcnb-hint" });
  const button = h("button", { type: "button", "aria-expanded": "false" }, label);
  const refresh = () => {
    update?.();
    hint.textContent = note();
  };
  const close = () => {
    place.replaceChildren();
    button.setAttribute("aria-expanded", "false");
    button.focus();
  };
  const open = () => {
    const { element, first } = content();
    const fields: Fields = element.contains(first) ? { name: first } : {};
    const made = at.button("Create", () => create(place, close), { kind: "primary", fields });
    const form = h(
      "section",
      { class: "svcnb-card svcnb-form", "aria-label": label },
      h("h3", {}, label),
      element,
      hint,
      h("div", { class: "svcnb-row" }, made, h("button", { type: "button", onclick: close }, "Cancel")),
    );
    form.addEventListener("keydown", (event) => {
      const { key, target } = event as KeyboardEvent;
      if (key === "Escape") close();
      else if (key === "Enter" && (target as HTMLElement).tagName === "INPUT") made.click();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    refresh();
    place.replaceChildren(form);
    button.setAttribute("aria-expanded", "true");
    (first.isConnected && !first.closest("[hidden]") ? first : made).focus();
  };
  button.addEventListener("click", open);
  return { button, open, update: refresh };
}

const cost = (mode: Resources["mode"], what: string) =>
  mode === "chain"
    ? "The owner's wallet sends a transaction. The panel shows the transaction before you sign."
    : `A new ${what} costs one cent.`;

const nameInput = (placeholder: string) => h("input", { type: "text", autocomplete: "off", placeholder });

export function newWallet(
  at: Panel,
  place: HTMLElement,
  now: () => Resources,
  made: (address: string) => Promise<void> | void,
): Creator {
  let name = nameInput("signer");
  let named = h("div");
  return creator(at, place, {
    label: "Create wallet",
    // In API mode, wallets have no names.
    update: () => named.hidden = now().mode !== "chain",
    content: () => {
      name = nameInput("signer");
      named = h("div", {}, field("Name", name));
      return { element: named, first: name };
    },
    note: () => `The service derives the private key of the wallet. ${cost(now().mode, "wallet")}`,
    create: async (_place, done) => {
      const args = { name: now().mode === "chain" ? typed(name, "Enter a name for the wallet.") : "" };
      const { address } = await at.call<{ address: string }>("new_wallet", args, "Creating the wallet");
      done();
      await made(address);
    },
  });
}

export function newGroup(
  at: Panel,
  place: HTMLElement,
  now: () => Resources,
  made: (id: number) => Promise<void> | void,
): Creator {
  let name = nameInput("signers");
  return creator(at, place, {
    label: "Create group",
    content: () => {
      name = nameInput("signers");
      return { element: field("Name", name), first: name };
    },
    note: () => `The actions of a group can use the wallets of the group. ${cost(now().mode, "group")}`,
    create: async (_place, done) => {
      const { id } = await at.call<{ id: number }>(
        "new_group",
        { name: typed(name, "Enter a name for the group.") },
        "Creating the group",
      );
      done();
      await made(id);
    },
  });
}

export function newUsageKey(
  at: Panel,
  place: HTMLElement,
  now: () => Resources,
  made: (hash: string) => Promise<void> | void,
): Creator {
  let name = nameInput("runner");
  let group = h("select");
  let fields = h("div");
  let none = h("p");
  const update = () => {
    const groups = now().groups;
    const chosen = group.value || String(groups.at(-1)?.id);
    offer(group, groups.map(({ id, name }) => [String(id), `${name || "group"} (${id})`]), chosen);
    fields.hidden = groups.length === 0;
    none.hidden = groups.length > 0;
  };
  return creator(at, place, {
    label: "Create usage key",
    update,
    content: () => {
      name = nameInput("runner");
      group = h("select");
      fields = h("div", { class: "svcnb-columns" }, field("Name", name), field("Can run actions of", group));
      none = h("p", {}, "The account has no groups. Create a group first.");
      return { element: h("div", {}, fields, none), first: name };
    },
    note: () => `The key can only run the actions of the chosen group. ${cost(now().mode, "usage key")}`,
    create: async (place, done) => {
      if (now().groups.length === 0) {
        throw new PanelError({ type: "NoGroup", message: "The account has no groups.", hint: "Create a group first." });
      }
      const args = { name: typed(name, "Enter a name for the usage key."), groups: [Number(group.value)] };
      const created = await at.call<{ secret: string; hash: string }>("new_usage_key", args, "Creating the usage key");
      showSecret(
        place,
        "usage key",
        "Anyone who has this key can run these actions at your cost. Store the key in a safe place.",
        created.secret,
        done,
      );
      await made(created.hash);
    },
  });
}
