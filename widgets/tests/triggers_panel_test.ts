/** Tests of the triggers panel with a fake model, without a kernel. */
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import triggers from "../src/panels/triggers/index.ts";
import { EVERY_MS } from "../src/panels/triggers/runs.ts";

const HOOK = {
  id: "t1",
  name: "<i>orders</i>",
  kind: "webhook",
  when: "on each POST request",
  enabled: true,
  cid: "Qm",
  address: "http://127.0.0.1/webhook/t1",
};
const DAILY = { ...HOOK, id: "t2", name: "daily", kind: "schedule", when: "0 9 * * *", enabled: false, address: "" };
const RUN = {
  id: "r1",
  status: "failed",
  attempt: 2,
  started: "2026-01-01 09:00:00 UTC",
  seconds: 0.034,
  brief: "500 thrown",
};
const BEGUN = { approved: true, email: "owner@localhost", chains: ["ethereum", "base"], cost: "$0.02" };

const commands = (model: FakeModel, name: string) => model.sent.filter((each) => each.name === name);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function approvedPanel(list: unknown[] = [HOOK, DAILY]) {
  const model = new FakeModel();
  const { el, close } = open(triggers, model);
  await model.answer(BEGUN);
  await model.answer(list);
  return { model, el, close };
}

Deno.test("without an approved token, the panel links to the approval page, and continues after the approval", async () => {
  const model = new FakeModel();
  const { el, close } = open(triggers, model);
  equal(model.last("command").name, "begin");
  await model.answer({ approved: false, page: "http://127.0.0.1/agent/authorize?challenge=c" });
  const link = find(el, "a");
  equal([link.getAttribute("href"), link.getAttribute("rel")], [
    "http://127.0.0.1/agent/authorize?challenge=c",
    "noopener noreferrer",
  ]);
  equal(el.querySelector("form, details.svcnb-new"), null);
  click(button(el, "Continue"));
  equal(model.last("command").name, "approved");
  await model.answer(BEGUN);
  equal(model.last("command").name, "read");
  equal(el.querySelector("a"), null);
  close();
});

Deno.test("if runs cannot be read, the panel shows one failure, and tries again only when the user opens the runs", async () => {
  const { model, el, close } = await approvedPanel();
  click(find(el, "[aria-label='Runs of daily']"));
  await model.fail("nothing answers", "Start the emulator");
  equal(find(el, "[role=alert] .svcnb-failure").textContent!.includes("Start the emulator"), true);
  await pause(EVERY_MS + 100);
  equal(commands(model, "runs").length, 1);
  click(find(el, "[aria-label='Runs of daily']"));
  await model.answer([RUN]);
  equal(el.querySelector(".svcnb-failure"), null);
  close();
});

Deno.test("the panel lists the triggers, and does not parse their names as HTML", async () => {
  const { el, close } = await approvedPanel();
  const rows = [...el.querySelectorAll("tbody tr")].map((row) => row.querySelector("th")!.textContent);
  equal(rows, ["<i>orders</i>", "daily"]);
  equal(el.querySelector("i"), null);
  equal([...el.querySelectorAll("[role=switch]")].map((box) => box.getAttribute("aria-label")), [
    "<i>orders</i> fires",
    "daily fires",
  ]);
  close();
});

Deno.test("a switch shows the state at the service, and returns to the old state after a failure", async () => {
  const { model, el, close } = await approvedPanel();
  const box = find<HTMLInputElement>(el, "[aria-label='daily fires']");
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  equal(model.last("command").args, { trigger: "t2", on: true });
  await model.fail("no such trigger");
  equal(box.checked, false);
  box.checked = true;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  await model.answer(null);
  equal(box.parentElement!.textContent, "on");
  close();
});

Deno.test("the deletion of a trigger requires a confirmation, and Keep cancels the deletion", async () => {
  const { model, el, close } = await approvedPanel([HOOK]);
  click(find(el, "[aria-label='Delete <i>orders</i>']"));
  equal(commands(model, "remove"), []);
  click(button(el, "Keep the trigger"));
  click(find(el, "[aria-label='Delete <i>orders</i>']"));
  click(button(el, "Delete the trigger and its runs"));
  equal(model.last("command").args, { trigger: "t1" });
  await model.answer(null);
  await model.answer([]);
  equal(find(el, ".svcnb-muted").textContent, "Authorised by owner@localhost.");
  equal(el.querySelectorAll("[role=switch]").length, 0);
  close();
});

Deno.test("the panel reads new runs regularly while it shows them, and stops when it closes", async () => {
  const { model, el, close } = await approvedPanel();
  click(find(el, "[aria-label='Runs of daily']"));
  await model.answer([]);
  equal(find(el, "section[aria-label=Runs] [role=status]").textContent, "No runs yet. New runs appear here.");
  await pause(EVERY_MS + 100);
  equal(commands(model, "runs").length, 2);
  await model.answer([RUN]);
  const cells = [...find(el, "section[aria-label=Runs] tbody tr").querySelectorAll("td")].map((each) =>
    each.textContent
  );
  equal(cells, ["2026-01-01 09:00:00 UTC", "✕ failed", "34 ms", "2", "500 thrown"]);
  close();
  await pause(EVERY_MS + 100);
  equal(commands(model, "runs").length, 2);
});

Deno.test("a late response for one trigger is not shown as the runs of another trigger", async () => {
  const { model, el, close } = await approvedPanel();
  click(find(el, "[aria-label='Runs of daily']"));
  const late = model.last("command").id;
  click(find(el, "[aria-label='Runs of <i>orders</i>']"));
  await model.answer([]);
  model.say({ type: "answer", id: late, ok: true, value: [RUN] });
  await settled();
  equal(el.querySelectorAll("section[aria-label=Runs] tbody tr").length, 0);
  close();
});

Deno.test("an opened run shows its input and its error", async () => {
  const { model, el, close } = await approvedPanel();
  click(find(el, "[aria-label='Runs of daily']"));
  await model.answer([RUN]);
  click(button(el, RUN.started));
  equal([model.last("command").name, model.last("command").args], ["run", { trigger: "t2", run: "r1" }]);
  await model.answer({ ...RUN, input: '{"n": "<b>1</b>"}', result: "", logs: "", error: "500 thrown\n at main" });
  const parts = [...el.querySelectorAll("[aria-label='One run'] pre")].map((
    pre,
  ) => [pre.getAttribute("aria-label"), pre.textContent]);
  equal(parts, [["Error", "500 thrown\n at main"], ["Received", '{"n": "<b>1</b>"}']]);
  close();
});

Deno.test("a webhook shows its address, and the user can send a test request", async () => {
  const { model, el, close } = await approvedPanel();
  click(find(el, "[aria-label='Runs of <i>orders</i>']"));
  await model.answer([]);
  equal(find(el, "section[aria-label=Runs] code").textContent, HOOK.address);
  find<HTMLTextAreaElement>(el, "section[aria-label=Runs] textarea").value = '{"n": 7}';
  click(button(el, "Send"));
  equal(model.last("command").args, { trigger: "t1", body: '{"n": 7}' });
  await model.answer({ run: "r1" });
  await model.answer([RUN]);
  equal(find(el, "section[aria-label=Runs] tbody tr").className, "svcnb-chosen");
  close();
});

Deno.test("during typing, the panel explains a schedule or shows why it is invalid", async () => {
  const { model, el, close } = await approvedPanel([]);
  const cron = find<HTMLInputElement>(el, "input[placeholder='0 9 * * MON']");
  const type = async (text: string) => {
    cron.value = text;
    cron.dispatchEvent(new Event("input", { bubbles: true }));
    await pause(350);
  };
  await type("0 9 * * *");
  equal([model.last("command").name, model.last("command").args], ["schedule", { cron: "0 9 * * *" }]);
  await model.answer({ says: "At 09:00 (UTC)", times: ["Thu 2026-01-01 09:00:00 UTC"] });
  equal(find(el, "ol[aria-label='Next times']").textContent, "Thu 2026-01-01 09:00:00 UTC");
  await type("never");
  await model.fail("never is no schedule", "Five fields");
  equal(find(el, ".svcnb-meaning .svcnb-bad").textContent, "✕ never is no schedule");
  equal(el.querySelector("ol[aria-label='Next times']"), null);
  close();
});

Deno.test("the panel creates the trigger from the form, and then clears the usage key", async () => {
  const { model, el, close } = await approvedPanel([]);
  find<HTMLInputElement>(el, "input[placeholder=orders]").value = "nightly";
  const [hook, schedule] = [...el.querySelectorAll<HTMLInputElement>("input[type=radio]")];
  hook!.checked = false;
  schedule!.checked = true;
  schedule!.dispatchEvent(new Event("change", { bubbles: true }));
  find<HTMLInputElement>(el, "input[placeholder='0 9 * * MON']").value = "0 3 * * *";
  const key = find<HTMLInputElement>(el, "input[type=password]");
  key.value = "secret";
  key.dispatchEvent(new Event("input", { bubbles: true }));
  equal(find(el, "details.svcnb-new .svcnb-row .svcnb-muted").textContent, "free");
  click(button(el, "Create"));
  const args = model.last("command").args as Record<string, unknown>;
  equal([args.name, args.kind, (args.config as Record<string, string>).cron, args.usage_key], [
    "nightly",
    "schedule",
    "0 3 * * *",
    "secret",
  ]);
  await model.answer(DAILY);
  equal(key.value, "");
  await model.answer([DAILY]);
  equal(model.last("command").name, "runs");
  await settled();
  close();
});
