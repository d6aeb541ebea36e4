/**
 * Timeline of a run. Each row shows an event, its time, the wait for the service as a bar, and the isolate's memory.
 */
import { h, tableHead } from "./dom.ts";

export interface TraceRow {
  label: string;
  kind: string;
  /** Start of the wait, in milliseconds from the start of the run. */
  from_ms: number;
  /** Time of the event, in milliseconds from the start of the run. */
  at_ms: number;
  failed: boolean;
  /** Reason why the service rejected the operation. Empty if it did not. */
  refused: string;
  memory_bytes: number | null;
}

export interface TraceView {
  engine: string;
  elapsed_ms: number;
  waited_ms: number;
  rows: TraceRow[];
  /** Number of events that the timeline does not show. */
  more: number;
}

const KILOBYTE = 1024;
const MEGABYTE = 1024 * KILOBYTE;
const NARROWEST_PERCENT = 0.8;

export function waterfall(trace: TraceView): HTMLElement {
  const whole = Math.max(trace.elapsed_ms, 0.001);
  const more = trace.more > 0 ? ` Events that are not shown: ${trace.more}.` : "";
  return h(
    "div",
    { class: "svcnb-scroll", tabindex: "0", role: "group", "aria-label": "Timeline" },
    h(
      "table",
      { class: "svcnb-waterfall" },
      tableHead("ms", "event", "time", "memory"),
      h("tbody", {}, ...trace.rows.map((row) => line(row, whole))),
    ),
    h(
      "small",
      { class: "svcnb-hint" },
      `Engine: ${trace.engine}. The action waited ${trace.waited_ms.toFixed(1)} of ${trace.elapsed_ms.toFixed(1)} ms ` +
        `for the service.${more}`,
    ),
  );
}

function line(row: TraceRow, whole: number): HTMLElement {
  const left = Math.min(row.from_ms / whole * 100, 100 - NARROWEST_PERCENT);
  const width = Math.min(Math.max((row.at_ms - row.from_ms) / whole * 100, NARROWEST_PERCENT), 100 - left);
  const bar = h("span", {
    class: `svcnb-bar svcnb-bar-${row.failed ? "failed" : row.kind}`,
    style: `left:${left.toFixed(2)}%;width:${width.toFixed(2)}%`,
  });
  const memory = row.memory_bytes === null ? "" : size(row.memory_bytes);
  return h(
    "tr",
    {},
    h("td", { class: "svcnb-number" }, row.at_ms.toFixed(1)),
    h("td", {}, row.label, row.refused && h("div", { class: "svcnb-bad" }, row.refused)),
    h("td", {}, h("span", { class: "svcnb-track" }, bar)),
    h("td", { class: "svcnb-number" }, memory),
  );
}

function size(bytes: number): string {
  return bytes < MEGABYTE ? `${Math.round(bytes / KILOBYTE)} kB` : `${(bytes / MEGABYTE).toFixed(1)} MB`;
}
