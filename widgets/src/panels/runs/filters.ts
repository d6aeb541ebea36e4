/** Filters of the displayed runs. */
import { h, uniqueId } from "../../lib/panel.ts";

export interface Filters {
  action: string;
  key: string;
  status: string;
  origin: string;
  everyone: boolean;
}

/** Available choices by value, with their displayed names. */
export type Choices = Record<"action" | "key" | "status", Record<string, string>>;

interface Sources {
  history: boolean;
  service: boolean;
  triggers: boolean;
}

export interface FilterRow {
  element: HTMLElement;
  set(filters: Filters): void;
  offer(choices: Choices, sources: Sources): void;
  isFiltering(): boolean;
}

const ORIGINS = { client: "this machine", service: "the emulator", trigger: "triggers" };

export function filterRow(changed: (filters: Filters) => void): FilterRow {
  const selects = { action: select(), key: select(), status: select(), origin: select() };
  const everyone = h("input", { type: "checkbox" });
  let chosen: Filters = { action: "", key: "", status: "", origin: "", everyone: false };
  const tell = () =>
    changed({
      action: selects.action.value || "",
      key: selects.key.value || "",
      status: selects.status.value || "",
      origin: selects.origin.value || "",
      everyone: everyone.checked,
    });
  for (const control of [...Object.values(selects), everyone]) control.addEventListener("change", tell);
  const shared = h("label", { hidden: true }, everyone, "Include other accounts of this emulator");

  /** Replace options only if they differ, because a replacement closes an open list. */
  function fill(name: keyof typeof selects, offered: Record<string, string>): void {
    const control = selects[name];
    const wanted: [string, string][] = [["", "all"], ...Object.entries(offered)];
    if (chosen[name] && !(chosen[name] in offered)) wanted.push([chosen[name], chosen[name]]);
    const key = JSON.stringify(wanted);
    if (control.dataset.options !== key) {
      control.dataset.options = key;
      control.replaceChildren(
        ...wanted.map(([value, text]) => h("option", { value, selected: value === chosen[name] }, text)),
      );
    }
    pick(control, chosen[name]);
  }

  return {
    element: h(
      "div",
      {},
      h(
        "div",
        { class: "svcnb-filters" },
        labelled("Action", selects.action),
        labelled("Key", selects.key),
        labelled("Status", selects.status),
        labelled("Recorded by", selects.origin),
      ),
      shared,
    ),
    set(filters): void {
      chosen = filters;
      everyone.checked = filters.everyone;
      for (const name of ["action", "key", "status", "origin"] as const) pick(selects[name], filters[name]);
    },
    offer(choices, sources): void {
      fill("action", choices.action);
      fill("key", choices.key);
      fill("status", choices.status);
      const { triggers, service } = sources;
      fill("origin", {
        client: ORIGINS.client,
        ...(service ? { service: ORIGINS.service } : {}),
        ...(triggers ? { trigger: ORIGINS.trigger } : {}),
      });
      shared.hidden = !service;
    },
    isFiltering: () => Boolean(chosen.action || chosen.key || chosen.status || chosen.origin),
  };
}

function select(): HTMLSelectElement {
  return h("select", {}, h("option", { value: "" }, "all"));
}

function pick(control: HTMLSelectElement, value: string): void {
  for (const option of control.querySelectorAll("option")) option.selected = option.getAttribute("value") === value;
}

function labelled(label: string, control: HTMLElement): HTMLElement {
  control.id = uniqueId("filter");
  return h("div", {}, h("label", { for: control.id }, label), control);
}
