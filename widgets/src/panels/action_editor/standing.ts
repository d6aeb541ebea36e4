/** What the account knows of the action: its name there, and the groups that permit it. */
import { h, type Panel } from "../../lib/panel.ts";

export interface Account {
  /** Name by hashed CID. */
  registered: Record<string, string>;
  groups: { id: number; name: string; every: boolean; hashes: string[] }[];
}

export interface Standing {
  element: HTMLElement;
  /** Says what holds for this action now; quick, so that it follows every keystroke. */
  show(hashed: string): void;
  /** Reads the account again. */
  read(): void;
  /** There is no key, so nothing can be read. */
  closed(): void;
}

export function standing(look: () => Promise<Account>, at: Panel): Standing {
  const text = h("div", { class: "svcnb-standing" }, h("p", { class: "svcnb-muted" }, "Not read yet."));
  let account: Account | null = null;
  let shown = "";
  const show = (hashed: string) => {
    shown = hashed;
    if (account) text.replaceChildren(...told(account, hashed));
  };
  const refresh = at.button("Read again", async () => {
    account = await look();
    show(shown);
  }, { kind: "quiet" });
  return {
    element: h("div", { class: "svcnb-card" }, h("h3", {}, "In this account"), text, refresh),
    show,
    read: () => refresh.click(),
    closed(): void {
      refresh.hidden = true;
      text.replaceChildren(h("p", { class: "svcnb-muted" }, "The client has no key, so no account is compared with."));
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
    permitting.length === 0 ? h("p", {}, "This CID is permitted in no group.") : h(
      "div",
      {},
      h("p", { class: "svcnb-good" }, `✓ This CID is permitted in ${permitting.length} of ${groups.length} groups:`),
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
