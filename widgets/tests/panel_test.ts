/** Tests of the code that all panels share, with a fake model and without a kernel. */
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import { h, panel, PanelError } from "../src/lib/panel.ts";
import { Wire } from "../src/lib/wire.ts";

const counter = panel("Counter", (at) => {
  at.body.append(at.button("Count", () => at.call("count", { by: 2 }, "Counting"), { kind: "primary" }));
});

Deno.test("a command is sent with its arguments, and the call returns the response", async () => {
  const model = new FakeModel();
  const wire = new Wire(model);
  const answer = wire.call("count", { by: 2 });
  const { name, args } = model.last("command");
  equal([name, args], ["count", { by: 2 }]);
  await model.answer(7);
  equal(await answer, 7);
  wire.close();
});

Deno.test("each command receives its own response, in any order", async () => {
  const model = new FakeModel();
  const wire = new Wire(model);
  const [first, second] = [wire.call("first"), wire.call("second")];
  const [one, two] = model.sent.map(({ id }) => id);
  model.say({ type: "answer", id: two, ok: true, value: "two" });
  model.say({ type: "answer", id: one, ok: true, value: "one" });
  equal([await first, await second], ["one", "two"]);
  wire.close();
});

Deno.test("None from a kernel in the page becomes null, in responses and in the state", async () => {
  const model = new FakeModel({ chosen: undefined });
  const wire = new Wire(model);
  const answer = wire.call("rules");
  model.say({ json: JSON.stringify({ type: "answer", id: model.last("command").id, ok: true, value: [null] }) });
  equal(await answer, [null]);
  wire.close();
  const seen: unknown[] = [];
  const { close } = open(panel("State", (at) => at.watch("chosen", (value) => seen.push(value))), model);
  equal(seen, [null]);
  close();
});

Deno.test("a failure is shown with its hint and consequences, and can be closed", async () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  click(button(el, "Count"));
  await model.fail("no credit", "Add credit", ["Nothing was charged."]);
  const alert = find(el, "[role=alert] .svcnb-failure");
  for (const text of ["no credit", "Add credit", "Nothing was charged."]) {
    equal(alert.textContent!.includes(text), true, text);
  }
  click(find(el, "[aria-label='Close this message']"));
  equal(el.querySelector(".svcnb-failure"), null);
  close();
});

Deno.test("a long number in a failure is shortened in the middle, and the complete number can be copied", async () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  const number = "1".repeat(6) + "2".repeat(65) + "3".repeat(6);
  click(button(el, "Count"));
  await model.fail(`not permitted (${number}) in 1 group`);
  equal(find(el, ".svcnb-failure strong").textContent, "not permitted (111111…333333 Copy) in 1 group");
  equal(find(el, ".svcnb-failure code").getAttribute("title"), number);
  let copied = "";
  Object.defineProperty(navigator, "clipboard", {
    configurable: true,
    value: { writeText: (text: string) => Promise.resolve(void (copied = text)) },
  });
  click(find(el, "[aria-label='Copy the whole number']"));
  await settled();
  equal(copied, number);
  close();
});

Deno.test("a failure shows the wallet without gas, and on an emulator a button adds ETH to the wallet", async () => {
  const wallet = `0x${"ab".repeat(20)}`;
  for (const hasFaucet of [true, false]) {
    const model = new FakeModel();
    const { el, close } = open(counter, model);
    click(button(el, "Count"));
    const error = { type: "InsufficientFunds", message: "no gas", hint: "Send ETH", consequences: [], wallet };
    model.say({ type: "answer", id: model.last("command").id, ok: false, error });
    await settled();
    equal(find(el, ".svcnb-failure code").textContent, wallet);
    equal(model.last("command").name, "has_faucet");
    await model.answer(hasFaucet);
    if (hasFaucet) {
      click(button(el, "Add test ETH"));
      const { name, args } = model.last("command");
      equal([name, args], ["fund", { address: wallet }]);
      await model.answer("10 ETH");
      equal(el.querySelector(".svcnb-failure"), null);
      equal(find(el, ".svcnb-good").textContent, "✓ 10 ETH added to the wallet. Try again.");
    } else equal(find(el, ".svcnb-failure").textContent!.includes("Add test ETH"), false);
    close();
  }
});

Deno.test("an error next to a field begins with a capital letter, unless it begins with a name", async () => {
  for (
    const [message, shown] of [["a key is missing", "A key is missing"], ["owner.json is empty", "owner.json is empty"]]
  ) {
    const input = h("input", {});
    const model = new FakeModel();
    const { el, close } = open(
      panel("Form", (at) => at.body.append(input, at.button("Go", () => at.call("go"), { fields: { file: input } }))),
      model,
    );
    click(button(el, "Go"));
    const error = { type: "InvalidArgument", message, hint: "", consequences: [], field: "file" };
    model.say({ type: "answer", id: model.last("command").id, ok: false, error });
    await settled();
    equal(find(el, ".svcnb-field-error").textContent, shown);
    close();
  }
});

Deno.test("a failure disappears when the user tries again", async () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  click(button(el, "Count"));
  await model.fail("no credit");
  click(button(el, "Count"));
  equal(el.querySelector(".svcnb-failure"), null);
  await model.answer(1);
  close();
});

Deno.test("a second press of a button has no effect while its command runs", async () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  click(button(el, "Count"));
  click(button(el, "Count"));
  equal(model.sent.filter(({ type }) => type === "command").length, 1);
  equal(button(el, "Count").getAttribute("aria-busy"), "true");
  await model.answer(1);
  equal(button(el, "Count").getAttribute("aria-busy"), null);
  click(button(el, "Count"));
  equal(model.sent.filter(({ type }) => type === "command").length, 2);
  await model.answer(2);
  close();
});

Deno.test("the panel shows a running command with the kernel's progress, and can cancel the command", async () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  click(button(el, "Count"));
  const { id } = model.last("command");
  model.say({ type: "begun", id });
  await new Promise((resolve) => setTimeout(resolve, 250));
  equal(find(el, "[role=status]").textContent, "Counting …");
  model.say({ type: "progress", id, text: "Half way" });
  equal(find(el, "[role=status]").textContent, "Half way …");
  click(button(el, "Cancel"));
  equal(model.last("cancel"), { type: "cancel", id });
  await model.fail("the operation was stopped");
  equal(find(el, "[role=status]").textContent, "");
  equal(button(el, "Cancel").hasAttribute("hidden"), true);
  close();
});

Deno.test("the panel reports a kernel that does not respond, and removes the report after a message", async () => {
  const model = new FakeModel();
  const wire = new Wire(model, 10);
  const told: (string | null)[] = [];
  wire.onSilence = (failure) => told.push(failure && failure.message);
  const answer = wire.call("count");
  await new Promise((resolve) => setTimeout(resolve, 30));
  equal(told.at(-1), "The kernel does not respond.");
  model.say({ type: "begun", id: model.last("command").id });
  equal(told.at(-1), null);
  await model.answer(1);
  await answer;
  wire.close();
});

Deno.test("cancelling a command that the kernel never started ends the command", async () => {
  const model = new FakeModel();
  const wire = new Wire(model);
  const answer = wire.call("count").catch((error: PanelError) => error.type);
  wire.running[0]!.cancel();
  equal(await answer, "Cancelled");
  wire.close();
});

Deno.test("if the kernel no longer exists, every command fails immediately", async () => {
  const model = new FakeModel();
  model.send = () => {
    throw new Error("disposed");
  };
  const wire = new Wire(model);
  equal(await wire.call("count").catch((error: PanelError) => error.type), "NoKernel");
  wire.close();
});

Deno.test("a question from the kernel is shown, and only the first reply is sent", async () => {
  const model = new FakeModel();
  const wire = new Wire(model);
  let asked = 0;
  wire.onAsk("sign", (ask) => {
    asked += 1;
    ask.reply({ signature: ask.args.digest });
    ask.reply("again");
  });
  model.say({ type: "ask", id: "ask-1", name: "sign", args: { digest: "0x12" } });
  await settled();
  equal(model.last("shown"), { type: "shown", id: "ask-1" });
  const replies = model.sent.filter(({ type }) => type === "reply");
  equal(replies, [{ type: "reply", id: "ask-1", ok: true, value: { signature: "0x12" } }]);
  equal(asked, 1);
  wire.close();
});

Deno.test("a question that another view answered is withdrawn, and a late reply is not sent", () => {
  const model = new FakeModel();
  const wire = new Wire(model);
  let withdrawn = false;
  let late = () => {};
  wire.onAsk("sign", (ask) => {
    ask.signal.addEventListener("abort", () => withdrawn = true);
    late = () => ask.reply("late");
  });
  model.say({ type: "ask", id: "ask-1", name: "sign", args: {} });
  model.say({ type: "settled", id: "ask-1" });
  late();
  equal(withdrawn, true);
  equal(model.sent.filter(({ type }) => type === "reply"), []);
  wire.close();
});

Deno.test("a view requests open questions when it opens, and removes its listeners when it closes", () => {
  const model = new FakeModel();
  const { el, close } = open(counter, model);
  equal(model.sent, [{ type: "hello" }]);
  equal(find(el, "section").getAttribute("data-lm-suppress-shortcuts"), "true");
  close();
  equal(model.listening("msg:custom"), 0);
});

Deno.test("text from a service is never parsed as HTML", () => {
  const element = h("p", {}, "<img src=x onerror=alert(1)>");
  equal(element.children.length, 0);
});
