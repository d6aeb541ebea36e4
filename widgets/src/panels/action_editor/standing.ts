/** State of the action in the account: its name, and the groups that permit it. The user can change both. */
import { clearFieldError, counted } from "../../lib/dom.ts";
import { field, FieldError, h, type Panel, typed } from "../../lib/panel.ts";
import { newGroup, offer, type Resources } from "../../lib/resources.ts";

export interface Account {
  /** Names of the registered actions, by hashed CID. */
  registered: Record<string, string>;
  groups: { id: number; name: string; every: boolean; hashes: string[] }[];
}

export interface Standing {
  element: HTMLElement;
  /** Shows the state of an action. This is fast enough for a call after every key press. */
  show(hashed: string): void;
  /** Reads the account again. */
  read(): void;
  /** Sets the available groups. */
  offer(found: Resources): void;
  /** Returns a button that permits the action and the chosen wallet in a group. */
  permitter(group: number): HTMLElement;
  /** Clears the state, because the client has no key to read the account. */
  closed(): void;
}

interface Work {
  source: () => string;
  /** Address of the wallet for the run. Empty if no wallet is chosen. */
  wallet: () => string;
  name: HTMLInputElement;
  editor: HTMLElement;
  registered: () => void;
  resources: () => Resources;
}

export function standing(look: () => Promise<Account>, at: Panel, work: Work): Standing {
  const text = h("div", { class: "svcnb-standing" }, h("p", { class: "svcnb-muted" }, "Not loaded yet."));
  const said = h("p", { role: "status", class: "svcnb-good" });
  let account: Account | null = null;
  let shown = "";
  const show = (hashed: string) => {
    if (hashed !== shown) said.textContent = "";
    shown = hashed;
    if (account) text.replaceChildren(...told(account, hashed));
  };
  const read = async () => {
    account = await look();
    show(shown);
  };
  at.onSession((changed) => {
    if (changed.has("account")) said.textContent = "";
  });
  const refresh = at.button("Refresh", read, { kind: "quiet" });

  const register = at.button("Register", async () => {
    const args = { source: work.source(), name: typed(work.name, "Enter a name for the action.") };
    await at.call("register", args, "Registering");
    await read();
    work.registered();
    said.textContent = `Registered as ${args.name}. To run the action, permit it in a group.`;
  }, { fields: { name: work.name, source: work.editor } });

  const permit = async (id: number) => {
    const args = { source: work.source(), group: id, wallet: work.wallet() };
    await at.call("allow", args, "Permitting the action");
    await read();
    said.textContent = `Permitted in group ${id}${args.wallet ? ", with the chosen wallet" : ""}.`;
  };
  const group = h("select");
  const form = h("div", { "aria-live": "polite" });
  const allow = at.button("Permit in group", async () => {
    if (!group.value) throw new FieldError(group, "Create a group first: press Create group.");
    await permit(Number(group.value));
  });
  const create = newGroup(at, form, work.resources, (id) => {
    const known = [...group.options].some(({ value }) => value === String(id));
    if (!known) group.append(h("option", { value: id }, `group ${id}`));
    group.value = String(id);
    allow.focus();
  });
  const controls = h(
    "div",
    {},
    h("div", { class: "svcnb-row" }, field("Name of the action", work.name), register),
    h("div", { class: "svcnb-row" }, field("Group", group), allow, create.button),
    h("p", { class: "svcnb-hint" }, "Permits this action, and the wallet chosen under Parameters, in the group."),
    form,
    said,
  );
  controls.hidden = true;
  return {
    element: h("div", { class: "svcnb-card" }, h("h3", {}, "In this account"), text, refresh, controls),
    show,
    read: () => refresh.click(),
    offer({ mode, groups }): void {
      controls.hidden = refresh.hidden = mode === "";
      create.update();
      const named = groups.map(({ id, name }): [string, string] => [String(id), `${name || "group"} (${id})`]);
      offer(group, named.length > 0 ? named : [["", "no groups yet"]], group.value);
      if (groups.length > 0) clearFieldError(group);
      if (!group.value && groups.length > 0) group.value = String(groups.at(-1)!.id);
    },
    permitter(id): HTMLElement {
      const done = h("span", { class: "svcnb-good", role: "status" });
      const button = at.button(`Permit in group ${id}`, async () => {
        await permit(id);
        done.textContent = `✓ Permitted in group ${id}. Run the action again.`;
      });
      return h("div", { class: "svcnb-row" }, button, done);
    },
    closed(): void {
      account = null;
      controls.hidden = refresh.hidden = true;
      text.replaceChildren(
        h(
          "p",
          { class: "svcnb-muted" },
          "No account is open. To register and permit this action, create or open an account.",
        ),
      );
    },
  };
}

function told({ registered, groups }: Account, hashed: string): HTMLElement[] {
  const name = registered[hashed];
  const permitting = groups.filter(({ every, hashes }) => every || hashes.includes(hashed));
  return [
    name === undefined
      ? h("p", {}, "This CID is not registered.")
      : h("p", { class: "svcnb-good" }, `✓ Registered as ${name || "(without a name)"}.`),
    permitting.length === 0 ? h("p", {}, "No group permits this CID.") : h(
      "div",
      {},
      h(
        "p",
        { class: "svcnb-good" },
        `✓ This CID is permitted in ${permitting.length} of ${counted(groups.length, "group")}:`,
      ),
      h(
        "ul",
        {},
        ...permitting.map(({ id, name, every }) =>
          h("li", {}, `${name || "group"} (${id})${every ? ", which permits every action" : ""}`)
        ),
      ),
    ),
  ];
}
