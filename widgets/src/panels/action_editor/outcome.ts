/** Result of a run: the response or the error, the console output, and the timeline. */
import { dollars } from "../../lib/dom.ts";
import { copyButton, h } from "../../lib/panel.ts";
import { type TraceView, waterfall } from "../../lib/waterfall.ts";

export type Outcome =
  & { logs: string; trace: TraceView | null }
  & (
    | { ok: true; cid: string; response: string; elapsed: number; cost_cents: number; notes: string[] }
    | {
      ok: false;
      stage: string;
      name: string;
      message: string;
      line: number | null;
      column: number | null;
      stack: string;
    }
  );

const STAGES: Record<string, string> = { compile: "Syntax error", limit: "Limit exceeded", run: "Uncaught error" };

/** Shows the result of a run. `goTo` moves the editor to the position of an error. */
export function outcome(found: Outcome, goTo: (line: number, column: number) => void): HTMLElement {
  const parts: (HTMLElement | null)[] = found.ok ? succeeded(found) : failed(found, goTo);
  return h(
    "div",
    { class: "svcnb-outcome" },
    ...parts,
    found.logs ? h("h3", {}, "Logs") : null,
    found.logs ? h("pre", { class: "svcnb-logs", tabindex: "0" }, found.logs) : null,
    found.trace ? h("h3", {}, "Timeline") : null,
    found.trace ? waterfall(found.trace) : null,
  );
}

function succeeded(found: Outcome & { ok: true }): (HTMLElement | null)[] {
  const { response, elapsed, cost_cents, notes } = found;
  const seconds = elapsed < 1 ? `${Math.round(elapsed * 1_000)} ms` : `${elapsed.toFixed(2)} s`;
  return [
    h("h3", { class: "svcnb-good" }, "✓ Response"),
    h("pre", { class: "svcnb-response", tabindex: "0" }, response),
    h(
      "div",
      { class: "svcnb-row" },
      copyButton(() => response),
      h("span", { class: "svcnb-muted" }, `${seconds}, about ${dollars(cost_cents)}`),
    ),
    ...notes.map((note) => h("p", { class: "svcnb-hint" }, note)),
  ];
}

function failed(found: Outcome & { ok: false }, goTo: (line: number, column: number) => void): (HTMLElement | null)[] {
  const { stage, name, message, line, column, stack } = found;
  return [
    h("h3", { class: "svcnb-bad" }, `✗ ${STAGES[stage] ?? "The run failed"}`),
    h(
      "pre",
      { class: "svcnb-error", tabindex: "0" },
      name && !message.startsWith(name) ? `${name}: ${message}` : message,
    ),
    line === null ? null : h(
      "button",
      { type: "button", class: "svcnb-quiet", onclick: () => goTo(line, column ?? 1) },
      `Go to line ${line}`,
    ),
    stack && stack !== message ? h("details", {}, h("summary", {}, "Stack"), h("pre", { tabindex: "0" }, stack)) : null,
    h("p", { class: "svcnb-hint" }, "Nothing was charged."),
  ];
}
