/** Tests of the runs panel with a fake model, without a kernel. */
import { DOMParser } from "linkedom";
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import runs from "../src/panels/runs/index.ts";
import { dollars, duration } from "../src/lib/dom.ts";

Object.assign(globalThis, { DOMParser });

const ROW = {
  id: "r1",
  origin: "client",
  started_at: 1_767_225_600,
  action: "add",
  key: "night shift",
  status: "success",
  elapsed: 0.25,
  cost_cents: 1,
  error: "",
};
const FAILED = { ...ROW, id: "r2", status: "failed", cost_cents: 0, error: "Uncaught Error: five" };
const SUMMARY = {
  count: 4,
  succeeded: 3,
  width_s: 60,
  buckets: [{ at: 0, succeeded: 1, failed: 1 }, { at: 60, succeeded: 2, failed: 0 }],
  latency_s: [[50, 0.25], [95, 1], [99, 1], [100, 2]],
  spend: [["add", 3]],
  total_cents: 3,
};
const CHOICES = {
  action: { Qm1: "add" },
  key: { "0x1": "night shift" },
  status: { success: "success", failed: "failed" },
};
const FILTERS = { action: "", key: "", status: "", origin: "", everyone: false };
const SOURCES = { history: true, service: true, triggers: false };
const ANSWER = { state: "s1", rows: [ROW, FAILED], summary: SUMMARY, choices: CHOICES, sources: SOURCES };

/** Opens the panel, and responds to its first command. */
async function opened(answer: unknown = ANSWER) {
  const model = new FakeModel({ filters: FILTERS });
  const view = open(runs, model);
  await model.answer(answer);
  return { model, ...view };
}

Deno.test("the list shows the status of each run as a symbol and a word, its duration and its cost", async () => {
  const { el, close } = await opened();
  const cells = [...el.querySelectorAll("tr[data-run]")].map((line) =>
    [...line.querySelectorAll("td")].slice(1).map(({ textContent }) => textContent)
  );
  equal(cells, [
    ["add", "✓ success", "250 ms", "$0.01", "night shift", "this machine", ""],
    ["add", "✗ failed", "250 ms", "–", "night shift", "this machine", "Uncaught Error: five"],
  ]);
  equal(el.textContent!.includes("The charts also include 2 older runs."), true);
  close();
});

Deno.test("the kernel draws more charts when the user opens them, and again after Update charts", async () => {
  const { model, el, close } = await opened();
  const more = [...el.querySelectorAll("details")].find((each) => each.textContent!.includes("More charts"))!;
  equal(model.sent.some(({ name }) => name === "draw"), false);
  (more as HTMLDetailsElement).open = true;
  more.dispatchEvent(new Event("toggle"));
  equal(model.last("command").name, "draw");
  const svg = (text: string) => `<svg xmlns="http://www.w3.org/2000/svg" role="img"><text>${text}</text></svg>`;
  await model.answer([svg("Latency"), svg("Spend")]);
  equal([...more.querySelectorAll("svg")].map(({ textContent }) => textContent), ["Latency", "Spend"]);
  click(button(el, "Update charts"));
  await model.answer([svg("Latency")]);
  equal(more.querySelectorAll("svg").length, 1);
  close();
});

Deno.test("charts describe their numbers in words", async () => {
  const { el, close } = await opened();
  const [timeline] = el.querySelectorAll("[role=img]");
  equal(timeline!.getAttribute("aria-label"), "4 runs, 3 succeeded (75 percent), at most 2 runs in a minute");
  equal(find(el, ".svcnb-timeline .svcnb-failed").getAttribute("style"), "height:50%");
  const figures = [...el.querySelectorAll(".svcnb-figure")].map(({ textContent }) => textContent);
  equal(figures, ["4", "250 ms", "$0.03"]);
  close();
});

Deno.test("a response without changes does not redraw the list", async () => {
  const { model, el, close } = await opened();
  const line = find(el, "tr[data-run]");
  click(button(el, "Refresh"));
  equal(model.last("command").args, { seen: "s1" });
  await model.answer({ state: "s1" });
  equal(find(el, "tr[data-run]") === line, true);
  close();
});

Deno.test("a changed filter is sent, and the panel reads the list again", async () => {
  const { model, el, close } = await opened();
  const [action] = el.querySelectorAll("select");
  equal([...action!.querySelectorAll("option")].map(({ textContent }) => textContent), ["all", "add"]);
  for (const option of action!.querySelectorAll("option")) {
    option.toggleAttribute("selected", option.getAttribute("value") === "Qm1");
  }
  action!.dispatchEvent(new Event("change"));
  await settled();
  equal(model.last("command").name, "choose");
  equal(model.last("command").args, { filters: { ...FILTERS, action: "Qm1" } });
  model.set("filters", { ...FILTERS, action: "Qm1" });
  await model.answer(null);
  equal(model.last("command").args, { seen: "" });
  await model.answer({ ...ANSWER, rows: [], summary: { ...SUMMARY, count: 0 } });
  equal(el.textContent!.includes("No runs match these filters."), true);
  close();
});

Deno.test("an opened run shows its parameters and its error, and Escape closes the run", async () => {
  const { model, el, close } = await opened();
  click(find(el, "tr[data-run=r2] button"));
  equal(model.last("command").args, { number: "r2" });
  await model.answer({
    ...FAILED,
    cid: "Qm1",
    key_hash: "0x1",
    params: '{ "n": 5 }',
    response: "",
    has_values: true,
    logs: "got 5",
    trace: null,
  });
  const shown = find(el, ".svcnb-run");
  for (const text of ["✗ failed", "Uncaught Error: five", '{ "n": 5 }', "got 5", "No timeline"]) {
    equal(shown.textContent!.includes(text), true, text);
  }
  equal(find(el, "tr[data-run=r2]").getAttribute("aria-current"), "true");
  shown.dispatchEvent(Object.assign(new Event("keydown", { bubbles: true }), { key: "Escape" }));
  equal(el.querySelector(".svcnb-run"), null);
  equal(find(el, "tr[data-run=r2]").hasAttribute("aria-current"), false);
  close();
});

Deno.test("an empty list shows that there are no runs yet", async () => {
  const { el, close } = await opened({ ...ANSWER, rows: [], summary: { ...SUMMARY, count: 0 } });
  equal(el.textContent!.includes("No runs yet."), true);
  equal(el.querySelector(".svcnb-timeline"), null);
  close();
});

Deno.test("if the service does not respond, the panel shows one failure and keeps the rows", async () => {
  const { model, el, close } = await opened();
  click(button(el, "Refresh"));
  await model.fail("no emulator answers", "Start one.");
  equal(find(el, "[role=alert] .svcnb-failure").textContent!.includes("Start one."), true);
  equal(el.querySelectorAll("tr[data-run]").length, 2);
  close();
});

Deno.test("a button pauses and resumes the updates of the list", async () => {
  const { el, close } = await opened();
  click(button(el, "Pause updates"));
  click(button(el, "Resume updates"));
  equal(button(el, "Pause updates").disabled, false);
  close();
});

Deno.test("durations and amounts are shown in readable units", () => {
  equal([0.0004, 0.25, 1.26, 123].map(duration), ["0 ms", "250 ms", "1.3 s", "123 s"]);
  equal([0, 1, 250].map(dollars), ["$0.00", "$0.01", "$2.50"]);
});
