/** Table of runs. The panel creates it again after a change, and keyboard users keep their position. */
import { cell, counted, dollars, duration, h } from "../../lib/dom.ts";

export interface Row {
  id: string;
  origin: string;
  /** Start of the run, in Unix seconds. */
  started_at: number;
  action: string;
  key: string;
  status: string;
  elapsed: number;
  cost_cents: number;
  error: string;
}

export interface Table {
  element: HTMLElement;
  show(rows: Row[], count: number): void;
  /** Marks the open run. Null means that no run is open. */
  open(id: string | null): void;
  focus(id: string): void;
}

const SIGNS: Record<string, [string, string]> = {
  success: ["✓", "svcnb-good"],
  failed: ["✗", "svcnb-bad"],
  refused: ["⊘", "svcnb-bad"],
  running: ["…", "svcnb-warn"],
  queued: ["…", "svcnb-warn"],
};
const NUMBERS = new Set(["Duration", "Cost"]);
const ORIGINS: Record<string, string> = { client: "this machine", service: "the emulator", trigger: "triggers" };

/** Returns a status as a sign and a word. */
export function status(name: string): HTMLElement {
  const [sign, colour] = SIGNS[name] ?? ["", ""];
  return h("span", { class: colour }, `${sign} ${name}`);
}

/** Returns a time by the clock of the user's machine. */
export function moment(seconds: number): string {
  const time = new Date(seconds * 1_000);
  const today = time.toDateString() === new Date().toDateString();
  return today ? time.toLocaleTimeString() : time.toLocaleString();
}

function head(name: string): HTMLElement {
  return h("th", { scope: "col", class: NUMBERS.has(name) ? "svcnb-number" : null }, name);
}

export function table(opened: (id: string) => void): Table {
  const body = h("tbody");
  const more = h("p", { class: "svcnb-muted", hidden: true });
  const heads = ["Started", "Action", "Status", "Duration", "Cost", "Key", "Recorded by", "Error"];
  let current: string | null = null;

  function line(row: Row): HTMLElement {
    const { id, started_at, action, key, origin, elapsed, cost_cents, error } = row;
    return h(
      "tr",
      { "data-run": id },
      h(
        "td",
        {},
        h(
          "button",
          {
            type: "button",
            class: "svcnb-quiet",
            "aria-label": `Open the run of ${action}, ${moment(started_at)}`,
            onclick: () => opened(id),
          },
          moment(started_at),
        ),
      ),
      cell("Action", action, "svcnb-cut", action),
      cell("Status", status(row.status)),
      cell("Duration", duration(elapsed), "svcnb-number"),
      cell("Cost", cost_cents ? dollars(cost_cents) : "–", "svcnb-number"),
      cell("Key", key, "svcnb-cut", key),
      cell("Recorded by", ORIGINS[origin] ?? origin),
      cell("Error", error, "svcnb-error-text", error),
    );
  }

  function mark(): void {
    for (const tr of body.querySelectorAll<HTMLElement>("tr")) {
      if (tr.dataset.run === current) tr.setAttribute("aria-current", "true");
      else tr.removeAttribute("aria-current");
    }
  }

  function buttonOf(id: string): HTMLElement | null {
    const tr = [...body.querySelectorAll<HTMLElement>("tr")].find(({ dataset }) => dataset.run === id);
    return tr?.querySelector("button") ?? null;
  }

  return {
    element: h(
      "div",
      {},
      h(
        "div",
        { class: "svcnb-scroll svcnb-runs", tabindex: "0", role: "group", "aria-label": "Runs, newest first" },
        h("table", { class: "svcnb-stack" }, h("thead", {}, h("tr", {}, ...heads.map(head))), body),
      ),
      more,
    ),
    show(rows, count): void {
      const focused = (document.activeElement?.closest?.("tr[data-run]") as HTMLElement | null)?.dataset.run;
      body.replaceChildren(...rows.map(line));
      more.hidden = count <= rows.length;
      more.textContent = `The table shows the newest ${rows.length} runs. The charts also include ${
        counted(count - rows.length, "older run")
      }.`;
      mark();
      if (focused !== undefined) buttonOf(focused)?.focus();
    },
    open(id): void {
      current = id;
      mark();
    },
    focus: (id) => buttonOf(id)?.focus(),
  };
}
