/** Matrix of permissions: a table of checkboxes that supports the arrow keys. */
import { h } from "../../lib/panel.ts";
import { brief } from "../../lib/resources.ts";

export type Kind = "action" | "wallet" | "key";

export interface Row {
  kind: Kind;
  id: string;
  name: string;
  note: string;
}

export interface Column {
  id: number;
  name: string;
}

export interface Change {
  kind: Kind;
  id: string;
  group: number;
  on: boolean;
}

export interface Shown {
  groups: Column[];
  rows: Row[];
  on: [Kind, string, number][];
}

const SECTIONS: Record<Kind, { title: string; says: string }> = {
  action: { title: "Actions", says: "is permitted" },
  wallet: { title: "Wallets", says: "can be used" },
  key: { title: "Usage keys", says: "can execute" },
};

/** Wildcard column for all groups. Only keys have this column. */
export const EVERY_GROUP = 0;
/** Maximum number of displayed rows of one kind. The filter finds the other rows. */
export const MOST_ROWS = 200;

/** Cells that the user has selected or cleared, compared with the current permissions. */
export class Ticks {
  private readonly held: Set<string>;
  private readonly changed = new Map<string, Change>();

  constructor(on: [Kind, string, number][]) {
    this.held = new Set(on.map((cell) => JSON.stringify(cell)));
  }

  private static key(kind: Kind, id: string, group: number): string {
    return JSON.stringify([kind, id, group]);
  }

  isOn(kind: Kind, id: string, group: number): boolean {
    return this.changed.get(Ticks.key(kind, id, group))?.on ?? this.held.has(Ticks.key(kind, id, group));
  }

  isChanged(kind: Kind, id: string, group: number): boolean {
    return this.changed.has(Ticks.key(kind, id, group));
  }

  set(change: Change): void {
    const key = Ticks.key(change.kind, change.id, change.group);
    if (this.held.has(key) === change.on) this.changed.delete(key);
    else this.changed.set(key, change);
  }

  get changes(): Change[] {
    return [...this.changed.values()];
  }
}

/** Creates the table. Calls `ticked` after each change. With `locked`, the user cannot change cells. */
export function matrix(shown: Shown, ticks: Ticks, filter: string, locked: boolean, ticked: () => void): HTMLElement {
  const wanted = filter.trim().toLowerCase();
  const matching = shown.rows.filter(({ name, note }) => `${name} ${note}`.toLowerCase().includes(wanted));
  const columns = [{ id: EVERY_GROUP, name: "every group" }, ...shown.groups];
  const table = h("table", { class: "svcnb-matrix" });
  table.append(
    h(
      "caption",
      { class: "svcnb-muted" },
      stay("Use the arrow keys to move between the boxes. Press the space bar to change a box."),
    ),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        ...columns.map(({ id, name }) =>
          h("th", { scope: "col", title: name }, h("span", {}, id === EVERY_GROUP ? "every group" : `${id} ${name}`))
        ),
      ),
    ),
  );
  for (const kind of ["action", "wallet", "key"] as const) {
    const rows = matching.filter((row) => row.kind === kind);
    const { title } = SECTIONS[kind];
    const body = h(
      "tbody",
      {},
      h(
        "tr",
        { class: "svcnb-section" },
        h("th", { scope: "rowgroup", colspan: columns.length + 1 }, stay(title)),
      ),
    );
    for (const row of rows.slice(0, MOST_ROWS)) body.append(line(row, columns, ticks, locked, ticked));
    if (rows.length === 0) body.append(note(columns, wanted ? "no rows match the filter" : "none"));
    if (rows.length > MOST_ROWS) {
      body.append(note(columns, `${rows.length - MOST_ROWS} more rows. To find a row, use the filter.`));
    }
    table.append(body);
  }
  walk(table);
  return h("div", { class: "svcnb-scroll", tabindex: "-1" }, table);
}

function note(columns: Column[], text: string): HTMLElement {
  return h("tr", {}, h("td", { colspan: columns.length + 1, class: "svcnb-muted" }, stay(text)));
}

/** Returns a text that stays visible while the user scrolls the matrix horizontally. */
function stay(text: string): HTMLElement {
  return h("span", { class: "svcnb-stay" }, text);
}

function line(row: Row, columns: Column[], ticks: Ticks, locked: boolean, ticked: () => void): HTMLElement {
  const head = h(
    "th",
    { scope: "row", title: `${row.name} ${row.note}` },
    h("span", { class: "svcnb-name" }, row.name),
    h("small", { class: brief(row.note) === row.note ? "svcnb-hint" : "svcnb-hint svcnb-mono" }, brief(row.note)),
  );
  return h(
    "tr",
    {},
    head,
    ...columns.map((column) => {
      if (column.id === EVERY_GROUP && row.kind !== "key") return h("td", { "aria-hidden": "true" });
      return cell(row, column, ticks, locked, ticked);
    }),
  );
}

function cell(row: Row, { id: group, name }: Column, ticks: Ticks, locked: boolean, ticked: () => void): HTMLElement {
  const where = group === EVERY_GROUP ? "every group" : `group ${group} ${name}`;
  const box = h("input", {
    type: "checkbox",
    tabindex: "-1",
    "aria-label": `${row.name} ${SECTIONS[row.kind].says} in ${where}`,
    "aria-disabled": locked ? "true" : null,
  });
  const sign = h("span", { class: "svcnb-sign", "aria-hidden": "true" });
  const place = h("td", {}, box, sign);
  const show = () => {
    const changed = ticks.isChanged(row.kind, row.id, group);
    box.checked = ticks.isOn(row.kind, row.id, group);
    place.className = changed ? "svcnb-changed" : "";
    sign.textContent = changed ? (box.checked ? "+" : "−") : "";
  };
  box.addEventListener("click", (event) => locked && event.preventDefault());
  box.addEventListener("change", () => {
    ticks.set({ kind: row.kind, id: row.id, group, on: box.checked });
    show();
    ticked();
  });
  show();
  return place;
}

/** The Tab key stops once in the table. The arrow keys, Home and End move between cells. */
function walk(table: HTMLElement): void {
  const lines = [...table.querySelectorAll("tr")]
    .map((row) => [...row.querySelectorAll("td")].map((place) => place.querySelector("input")))
    .filter((boxes) => boxes.some((box) => box !== null));
  const first = lines.flat().find((box) => box !== null);
  first?.setAttribute("tabindex", "0");
  const go = (from: HTMLInputElement, to: HTMLInputElement | null | undefined) => {
    if (!to) return;
    from.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  };
  table.addEventListener("focusin", ({ target }) => {
    const box = target as HTMLInputElement;
    if (box.tagName !== "INPUT") return;
    table.querySelectorAll("input[tabindex='0']").forEach((other) => other.setAttribute("tabindex", "-1"));
    box.setAttribute("tabindex", "0");
  });
  table.addEventListener("keydown", (event) => {
    const box = event.target as HTMLInputElement;
    const row = lines.findIndex((boxes) => boxes.includes(box));
    if (row < 0) return;
    const column = lines[row]!.indexOf(box);
    const along = (boxes: (HTMLInputElement | null)[]) => boxes.find((other) => other !== null);
    const below = (rows: (HTMLInputElement | null)[][]) =>
      rows.map((boxes) => boxes[column]).find((other) => other !== null && other !== undefined);
    const next: Record<string, () => HTMLInputElement | null | undefined> = {
      ArrowRight: () => along(lines[row]!.slice(column + 1)),
      ArrowLeft: () => along(lines[row]!.slice(0, column).reverse()),
      ArrowDown: () => below(lines.slice(row + 1)),
      ArrowUp: () => below(lines.slice(0, row).reverse()),
      Home: () => along(lines[row]!),
      End: () => along([...lines[row]!].reverse()),
    };
    const found = next[event.key];
    if (!found || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(box, found());
  });
}
