/**
 * Permissions panel: a matrix of permissions in each group. The user selects cells, and sees the cost and risks before
 * a change.
 */
import { counted, notice } from "../../lib/dom.ts";
import { field, h, type Panel, panel, refill } from "../../lib/panel.ts";
import { newGroup, newUsageKey, newWallet, NOTHING, type Resources } from "../../lib/resources.ts";
import { explainer } from "./explain.ts";
import { EVERY_GROUP, matrix, type Shown, Ticks } from "./matrix.ts";
import { type Write, writeList } from "./writes.ts";

interface State extends Shown {
  ready: boolean;
  managed: boolean;
  /** Whether the user can create wallets, groups and keys in this panel. */
  creates: boolean;
  /** Address of the wallet that owns the account. Empty if the service manages the account. */
  owner: string;
  warnings: string[];
}

interface Preview {
  calls: string[];
  /** Transactions that the owner's wallet will sign. Empty if the service manages the account. */
  writes: Write[];
  cost: string;
  warnings: string[];
}

export default panel("Permissions", (at) => {
  const notes = h("div", {});
  const place = h("div", {});
  const pending = h("div", { "aria-live": "polite" });
  const filter = h("input", { type: "search", autocomplete: "off", spellcheck: "false" });
  const explain = explainer(at);
  let state: State = at.get("state");
  let ticks = new Ticks([]);

  const draw = () => refill(place, matrix(state, ticks, filter.value, !state.managed && !state.owner, changed));
  const forget = () => {
    ticks = new Ticks(state.on);
    pending.replaceChildren();
    draw();
  };
  let asked = 0;
  const changed = () => {
    asked += 1;
    const mine = asked;
    const changes = ticks.changes;
    if (changes.length === 0) return pending.replaceChildren();
    at.attempt(async () => {
      const preview = await at.call<Preview>("preview", { changes }, "Calculating the calls");
      if (mine === asked) pending.replaceChildren(summary(at, changes, preview, forget));
    });
  };

  const read = () => at.attempt(() => at.call("read", {}, "Reading the account"));
  /** Wallets, groups and keys in the format of the forms. */
  const held = (): Resources => ({
    ...NOTHING,
    mode: state.owner ? "chain" : "api",
    groups: state.groups,
  });
  const form = h("div", { "aria-live": "polite" });
  const creators = [newWallet, newGroup, newUsageKey].map((creator) => creator(at, form, held, () => {}));
  const make = h("div", { class: "svcnb-row" }, ...creators.map(({ button }) => button));
  filter.addEventListener("input", draw);
  at.body.append(
    notes,
    make,
    form,
    h("div", { class: "svcnb-row" }, field("Filter", filter), at.button("Refresh", () => read())),
    place,
    pending,
    explain.element,
  );
  at.watch<State>("state", (now) => {
    state = now;
    notes.replaceChildren(...remarks(state));
    make.hidden = !state.creates;
    // Keep changes that are not applied yet, because the user can create a wallet in the meantime.
    const kept = ticks.changes.filter(({ kind, id, group }) =>
      state.rows.some((row) => row.kind === kind && row.id === id) &&
      (group === EVERY_GROUP || state.groups.some((column) => column.id === group))
    );
    ticks = new Ticks(state.on);
    for (const change of kept) ticks.set(change);
    draw();
    changed();
    explain.offer(state.rows);
    for (const { update } of creators) update();
  });
  at.rereads(["account", "resources"], () => void read());
  void read();
});

function remarks({ ready, managed, owner, groups, warnings }: State): HTMLElement[] {
  const found: HTMLElement[] = [];
  if (owner) {
    found.push(
      h("p", { class: "svcnb-muted" }, "Changes are transactions of ", h("code", {}, owner), ", which pays the gas."),
    );
  } else if (ready && !managed) {
    found.push(listNotice("The panel cannot change permissions with this key.", [
      "If the account is ChainSecured, only its owner can change permissions. Under Account, open the account with the owner's wallet.",
      "Otherwise, the service does not have an account for this key. Under Account, open an account with another key.",
    ]));
  }
  if (ready && groups.length === 0) {
    found.push(h("p", { class: "svcnb-muted" }, "The account has no groups. To create a group, press Create group."));
  }
  if (warnings.length > 0) found.push(listNotice("Warnings", warnings));
  return found;
}

function listNotice(title: string, texts: string[]): HTMLElement {
  return notice(
    title,
    texts.length === 1 ? h("p", {}, texts[0]) : h("ul", {}, ...texts.map((text) => h("li", {}, text))),
  );
}

/** Summary of the changes: the calls, their cost, warnings, and the button that applies them. */
function summary(
  at: Panel,
  changes: unknown[],
  { calls, cost, writes, warnings }: Preview,
  forget: () => void,
): HTMLElement {
  const apply = at.button(
    warnings.length > 0 ? "Apply anyway" : "Apply",
    async () => {
      await at.call("apply", { changes, calls }, "Applying");
      forget();
    },
    { kind: warnings.length > 0 ? "danger" : "primary" },
  );
  const discard = h("button", { type: "button", onclick: forget }, "Discard");
  return h(
    "div",
    { class: "svcnb-card svcnb-pending" },
    h("h3", {}, `${counted(changes.length, "change")} by ${counted(calls.length, "call")}, cost: ${cost}`),
    warnings.length > 0 && listNotice("Warnings for these changes", warnings),
    writes.length > 0 && writeList(writes),
    h("pre", { tabindex: "0", "aria-label": "The calls as Python code" }, h("code", {}, calls.join("\n"))),
    h("p", { class: "svcnb-hint" }, "A new permission can take a few seconds to take effect."),
    h("div", { class: "svcnb-row" }, apply, discard),
  );
}
