/** Details of one run: its parameters, response, output and timeline. */
import { dollars, duration, tableRow } from "../../lib/dom.ts";
import { copyable, h } from "../../lib/panel.ts";
import { type TraceView, waterfall } from "../../lib/waterfall.ts";
import { moment, type Row, status } from "./table.ts";

export interface Detail extends Row {
  cid: string;
  key_hash: string;
  params: string;
  response: string;
  /** Whether this machine recorded the parameters and the response. */
  has_values: boolean;
  logs: string;
  trace: TraceView | null;
  /** Reason why the timeline cannot be read. Missing or empty if the service did not record a timeline. */
  untraced?: string;
}

export function detail(run: Detail, close: () => void): HTMLElement {
  const { action, started_at, elapsed, cost_cents, cid, key, key_hash, error, params, response, logs, trace } = run;
  return h(
    "div",
    {
      class: "svcnb-card svcnb-run",
      onkeydown: (event: Event) => {
        if ((event as KeyboardEvent).key === "Escape") close();
      },
    },
    h(
      "div",
      { class: "svcnb-row" },
      h("h3", { tabindex: "-1" }, `${action}, ${moment(started_at)}`),
      h("button", { type: "button", class: "svcnb-quiet", onclick: close }, "Close"),
    ),
    h(
      "table",
      {},
      tableRow("Status", status(run.status)),
      tableRow("Duration", `${duration(elapsed)}, ${cost_cents ? dollars(cost_cents) : "nothing charged"}`),
      tableRow("CID", copyable(cid, "the CID")),
      key_hash ? tableRow("Key", `${key} `, h("code", {}, key_hash)) : null,
    ),
    error ? part("Error", error, "svcnb-bad") : null,
    run.has_values ? part("Parameters", params) : null,
    response ? part("Response", response) : null,
    run.has_values ? null : h(
      "p",
      { class: "svcnb-hint" },
      "Only the machine that started the run stores its parameters and response.",
    ),
    logs ? part("Logs", logs) : null,
    trace ? h("h3", {}, "Timeline") : null,
    trace ? waterfall(trace) : h(
      "p",
      { class: "svcnb-hint" },
      `No timeline: ${run.untraced || "only an emulator records timelines, and only of runs that it started"}.`,
    ),
  );
}

function part(title: string, text: string, colour?: string): HTMLElement {
  return h("div", {}, h("h3", {}, title), h("pre", { tabindex: "0", class: colour }, text));
}
