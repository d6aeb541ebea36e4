/**
 * Small charts of many runs: counts over time, durations and costs. Each bar has its number next to it, and shapes and
 * words distinguish the results.
 */
import { counted, dollars, duration } from "../../lib/dom.ts";
import { h } from "../../lib/panel.ts";

export interface Summary {
  count: number;
  succeeded: number;
  width_s: number;
  buckets: { at: number; succeeded: number; failed: number }[];
  /** Percentiles, each with its duration in seconds. The percentile 100 is the longest run. */
  latency_s: [number, number][];
  /** Actions with their cost in cents. */
  spend: [string, number][];
  total_cents: number;
}

export function charts(summary: Summary): HTMLElement[] {
  if (summary.count === 0) return [];
  return [timeline(summary), latency(summary), spend(summary)];
}

function timeline({ count, succeeded, width_s, buckets }: Summary): HTMLElement {
  const most = Math.max(1, ...buckets.map((bucket) => bucket.succeeded + bucket.failed));
  const share = Math.round(succeeded / count * 100);
  const told = `${counted(count, "run")}, ${succeeded} succeeded (${share} percent), at most ${
    counted(most, "run")
  } in ${span(width_s)}`;
  return card(
    "Runs",
    `${count}`,
    `${share} % succeeded`,
    h(
      "div",
      { class: "svcnb-timeline", role: "img", "aria-label": told },
      ...buckets.map(({ at, succeeded, failed }) =>
        h(
          "div",
          { title: `${new Date(at * 1_000).toLocaleString()}: ${succeeded} succeeded, ${failed} failed` },
          h("span", { class: "svcnb-failed", style: `height:${failed / most * 100}%` }),
          h("span", { class: "svcnb-succeeded", style: `height:${succeeded / most * 100}%` }),
        )
      ),
    ),
    h(
      "small",
      { class: "svcnb-hint" },
      h("span", { class: "svcnb-swatch svcnb-succeeded" }),
      "succeeded ",
      h("span", { class: "svcnb-swatch svcnb-failed" }),
      `failed. Each bar covers ${span(width_s)}.`,
    ),
  );
}

function latency({ latency_s }: Summary): HTMLElement {
  const median = latency_s.find(([rank]) => rank === 50);
  const most = Math.max(...latency_s.map(([, seconds]) => seconds), Number.MIN_VALUE);
  return card(
    "Duration",
    median ? duration(median[1]) : "–",
    "median",
    bars(
      latency_s.map(([rank, seconds]) => [rank === 100 ? "slowest" : `${rank} %`, seconds / most, duration(seconds)]),
    ),
    h("small", { class: "svcnb-hint" }, "Percentage of runs that took at most this time"),
  );
}

function spend({ spend, total_cents }: Summary): HTMLElement {
  const most = Math.max(1, ...spend.map(([, cents]) => cents));
  return card(
    "Cost",
    dollars(total_cents),
    "of the shown runs",
    bars(
      spend.map(([name, cents]) => [name.length > 18 ? `${name.slice(0, 17)}…` : name, cents / most, dollars(cents)]),
    ),
  );
}

function card(title: string, number: string, note: string, ...children: HTMLElement[]): HTMLElement {
  return h(
    "div",
    { class: "svcnb-card" },
    h("h3", {}, title),
    h("div", {}, h("strong", { class: "svcnb-figure" }, number), " ", h("span", { class: "svcnb-muted" }, note)),
    ...children,
  );
}

function bars(rows: [string, number, string][]): HTMLElement {
  return h(
    "table",
    { class: "svcnb-bars" },
    ...rows.map(([name, share, text]) =>
      h(
        "tr",
        {},
        h("th", { scope: "row" }, name),
        h(
          "td",
          {},
          h(
            "span",
            { class: "svcnb-track" },
            h("span", { class: "svcnb-bar svcnb-bar-fetch", style: `left:0;width:${(share * 100).toFixed(1)}%` }),
          ),
        ),
        h("td", { class: "svcnb-number" }, text),
      )
    ),
  );
}

function span(seconds: number): string {
  for (const [size, word] of [[86_400, "day"], [3_600, "hour"], [60, "minute"]] as const) {
    if (seconds >= size) {
      return seconds === size ? `a ${word}`.replace("a hour", "an hour") : `${seconds / size} ${word}s`;
    }
  }
  return seconds === 1 ? "a second" : `${seconds} seconds`;
}
