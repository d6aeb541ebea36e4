/** Tests of the permissions panel with a fake model, without a kernel. */
import { DOMParser } from "linkedom";
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import permissions from "../src/panels/permissions/index.ts";
import { drawing } from "../src/lib/drawing.ts";

Object.assign(globalThis, { DOMParser });

const KEY = "0x" + "11".repeat(32);
const ADD = "0x" + "22".repeat(32);
const WALLET = "0x" + "33".repeat(20);
const STATE = {
  ready: true,
  managed: true,
  creates: true,
  groups: [{ id: 1, name: "signers" }, { id: 2, name: "desk" }],
  rows: [
    { kind: "action", id: "*", name: "every action", note: "including actions of other accounts" },
    { kind: "action", id: ADD, name: "<b>add</b>", note: ADD },
    { kind: "wallet", id: "*", name: "every wallet", note: "" },
    { kind: "wallet", id: WALLET, name: "ops", note: WALLET },
    { kind: "key", id: KEY, name: "runner", note: KEY },
  ],
  on: [["action", ADD, 1], ["key", KEY, 1]],
  warnings: [],
};

const tick = (el: HTMLElement, label: string) => {
  const box = find<HTMLInputElement>(el, `input[aria-label="${label}"]`);
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change", { bubbles: true }));
  return box;
};
const commands = (model: FakeModel, name: string) => model.sent.filter((each) => each.name === name);

async function opened(changes: Record<string, unknown> = {}) {
  const model = new FakeModel({ state: { ...STATE, ...changes } });
  const { el, close } = open(permissions, model);
  await model.answer(null);
  return { model, el, close };
}

Deno.test("the panel reads the account when it opens", () => {
  const model = new FakeModel({ state: { ...STATE, ready: false, groups: [], rows: [], on: [] } });
  const { el, close } = open(permissions, model);
  equal(model.last("command").name, "read");
  equal(el.querySelectorAll("input[type=checkbox]").length, 0);
  close();
});

Deno.test("if the service does not respond, the panel shows what to do, and Refresh reads the account again", async () => {
  const model = new FakeModel({ state: { ...STATE, ready: false, groups: [], rows: [], on: [] } });
  const { el, close } = open(permissions, model);
  await model.fail("cannot connect to http://127.0.0.1:1", "Start the emulator");
  equal(find(el, "[role=alert] .svcnb-failure").textContent!.includes("Start the emulator"), true);
  click(button(el, "Refresh"));
  await model.answer(null);
  equal(el.querySelector(".svcnb-failure"), null);
  close();
});

Deno.test("the label of every cell contains the permission and the group, and names are not parsed as HTML", async () => {
  const { el, close } = await opened();
  const labels = [...el.querySelectorAll("input[type=checkbox]")].map((box) => box.getAttribute("aria-label"));
  equal(labels.slice(0, 4), [
    "every action is permitted in group 1 signers",
    "every action is permitted in group 2 desk",
    "<b>add</b> is permitted in group 1 signers",
    "<b>add</b> is permitted in group 2 desk",
  ]);
  equal(labels.slice(-3), [
    "runner can execute in every group",
    "runner can execute in group 1 signers",
    "runner can execute in group 2 desk",
  ]);
  equal(el.querySelector("b"), null);
  close();
});

Deno.test("a changed cell is not sent, but shown with its calls and cost until the user changes it back", async () => {
  const { model, el, close } = await opened();
  const box = tick(el, "ops can be used in group 1 signers");
  equal(box.parentElement!.className, "svcnb-changed");
  const { name, args } = model.last("command");
  equal([name, args], ["preview", { changes: [{ kind: "wallet", id: WALLET, group: 1, on: true }] }]);
  await model.answer({ calls: ["svc.groups.add_wallet(1, ...)"], writes: [], cost: "$0.01", warnings: [] });
  const pending = find(el, ".svcnb-pending");
  equal(find(pending, "h3").textContent, "1 change by 1 call, cost: $0.01");
  equal(find(pending, "pre").textContent, "svc.groups.add_wallet(1, ...)");
  tick(el, "ops can be used in group 1 signers");
  equal(el.querySelector(".svcnb-pending"), null);
  equal(commands(model, "apply"), []);
  close();
});

Deno.test("a late preview of older changes does not replace the preview of newer changes", async () => {
  const { model, el, close } = await opened();
  tick(el, "ops can be used in group 1 signers");
  const first = model.last("command").id;
  tick(el, "ops can be used in group 2 desk");
  await model.answer({ calls: ["two"], writes: [], cost: "$0.02", warnings: [] });
  model.say({
    type: "answer",
    id: first,
    ok: true,
    value: { calls: ["one"], writes: [], cost: "$0.01", warnings: [] },
  });
  await settled();
  equal(find(el, ".svcnb-pending pre").textContent, "two");
  close();
});

Deno.test("the panel applies the calls that it showed, and dangerous changes have a different button", async () => {
  const { model, el, close } = await opened();
  tick(el, "every wallet can be used in group 1 signers");
  await model.answer({
    calls: ["svc.groups.update(1)"],
    writes: [],
    cost: "$0.01",
    warnings: ["reaches the master wallet"],
  });
  equal(find(el, ".svcnb-pending .svcnb-notice").textContent!.includes("reaches the master wallet"), true);
  const apply = button(el, "Apply anyway");
  equal(apply.className, "svcnb-danger");
  click(apply);
  const { name, args } = model.last("command");
  const changes = [{ kind: "wallet", id: "*", group: 1, on: true }];
  equal([name, args], ["apply", { changes, calls: ["svc.groups.update(1)"] }]);
  model.set("state", { ...STATE, on: [...STATE.on, ["wallet", "*", 1]] });
  await model.answer(null);
  equal(el.querySelector(".svcnb-pending"), null);
  equal(find<HTMLInputElement>(el, 'input[aria-label="every wallet can be used in group 1 signers"]').checked, true);
  close();
});

Deno.test("changes can be discarded", async () => {
  const { model, el, close } = await opened();
  tick(el, "runner can execute in group 1 signers");
  await model.answer({ calls: ["svc.usage_keys.update()"], writes: [], cost: "$0.01", warnings: [] });
  click(button(el, "Discard"));
  equal(find<HTMLInputElement>(el, 'input[aria-label="runner can execute in group 1 signers"]').checked, true);
  equal(el.querySelector(".svcnb-changed"), null);
  close();
});

Deno.test("the matrix has one tab stop, and the arrow keys move between its checkboxes", async () => {
  const { el, close } = await opened();
  const stop = () =>
    [...el.querySelectorAll("input[type=checkbox][tabindex='0']")].map((box) =>
      box.ariaLabel ?? box.getAttribute("aria-label")
    );
  const press = (key: string) => {
    const event = Object.assign(new Event("keydown", { bubbles: true, cancelable: true }), { key });
    find(el, "input[type=checkbox][tabindex='0']").dispatchEvent(event);
  };
  equal(stop(), ["every action is permitted in group 1 signers"]);
  for (
    const [key, there] of [
      ["ArrowRight", "every action is permitted in group 2 desk"],
      ["ArrowRight", "every action is permitted in group 2 desk"],
      ["ArrowDown", "<b>add</b> is permitted in group 2 desk"],
      ["ArrowDown", "every wallet can be used in group 2 desk"],
      ["ArrowDown", "ops can be used in group 2 desk"],
      ["ArrowDown", "runner can execute in group 2 desk"],
      ["Home", "runner can execute in every group"],
      ["ArrowUp", "runner can execute in every group"],
      ["End", "runner can execute in group 2 desk"],
    ] as const
  ) {
    press(key);
    equal(stop(), [there], key);
  }
  close();
});

Deno.test("without its owner's wallet, a ChainSecured account is shown, but its cells cannot be changed", async () => {
  const { model, el, close } = await opened({ managed: false });
  equal(find(el, ".svcnb-notice").textContent!.includes("ChainSecured"), true);
  const box = find(el, "input[type=checkbox]");
  equal(box.getAttribute("aria-disabled"), "true");
  const event = new Event("click", { bubbles: true, cancelable: true });
  box.dispatchEvent(event);
  equal(event.defaultPrevented, true);
  equal(commands(model, "preview"), []);
  close();
});

Deno.test("the panel shows the owner each decoded transaction and its gas before it sends anything", async () => {
  const owner = "0x" + "44".repeat(20);
  const { model, el, close } = await opened({ managed: false, owner });
  equal(find(el, ".svcnb-muted code").textContent, owner);
  equal(find(el, "input[type=checkbox]").getAttribute("aria-disabled"), null);
  tick(el, "ops can be used in group 1 signers");
  const write = {
    what: "permits wallet <b>ops</b> in group 1",
    function: "addPkpToGroup",
    arguments: [["groupId", "1"], ["pkp", WALLET]],
    gas: 91_234,
    cost: "0.000091 ETH",
    max_cost: "0.0002 ETH",
    first_of_several: false,
  };
  const calls = ["mine.groups.add_wallet(1, ...)"];
  await model.answer({ calls, cost: "at most 0.0002 ETH of gas", writes: [write], warnings: [] });
  equal(find(el, ".svcnb-pending h3").textContent, "1 change by 1 call, cost: at most 0.0002 ETH of gas");
  const said = find(el, ".svcnb-writes li").textContent!;
  for (const part of [write.what, "91,234 gas, 0.000091 ETH, at most 0.0002 ETH", "addPkpToGroup", "pkp" + WALLET]) {
    equal(said.includes(part), true, part);
  }
  equal(said.includes("first of several"), false);
  equal(commands(model, "apply"), []);
  click(button(el, "Apply"));
  equal((model.last("command").args as { calls: string[] }).calls, calls);
  tick(el, "every wallet can be used in group 1 signers");
  await model.answer({ calls, cost: "", writes: [{ ...write, first_of_several: true }], warnings: [] });
  equal(find(el, ".svcnb-writes").textContent!.includes("first of several"), true);
  close();
});

Deno.test("an open form changes when an account in another mode is opened", async () => {
  const { model, el, close } = await opened();
  const form = () => find(el, ".svcnb-form");
  click(button(el, "Create wallet"));
  equal(form().textContent!.includes("A new wallet costs one cent."), true);
  const named = find(form(), ".svcnb-field").parentElement!;
  equal(named.hidden, true);
  model.set("state", { ...STATE, owner: `0x${"cd".repeat(20)}` });
  equal(form().textContent!.includes("A new wallet costs one cent."), false);
  equal(named.hidden, false);
  close();
});

Deno.test("the filter shows only rows whose name or hash contains the text", async () => {
  const { el, close } = await opened();
  const filter = find<HTMLInputElement>(el, "input[type=search]");
  filter.value = WALLET.slice(0, 12).toUpperCase().replace("0X", "0x");
  filter.dispatchEvent(new Event("input", { bubbles: true }));
  equal([...el.querySelectorAll(".svcnb-name")].map((name) => name.textContent), ["ops"]);
  close();
});

Deno.test("the panel draws an explanation, and shows the commands that fix the problem", async () => {
  const { model, el, close } = await opened();
  click(button(el, "Explain"));
  equal(model.last("command").name, "explain");
  await model.answer({
    allowed: false,
    reason: "no group permits the wallet",
    graph: '<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Refused"><text>signers</text></svg>',
    repairs: [{ says: "permit it", code: "svc.groups.add_wallet(1, ...)", cost_cents: 1 }],
    warnings: ["beware"],
  });
  equal(find(el, "section[aria-label] [role=status]").textContent, "✕ Refused: no group permits the wallet");
  equal(find(el, ".svcnb-drawing").textContent, "signers");
  equal(find(el, "section[aria-label] pre").textContent, "svc.groups.add_wallet(1, ...)");
  close();
});

Deno.test("a drawing contains only shapes and text, without scripts, links and event handlers", () => {
  const svg = drawing(
    '<svg xmlns="http://www.w3.org/2000/svg" onload="a()"><script>a()</script><a href="x"><text>y</text></a>' +
      '<g onclick="a()"><text>kept</text><image href="x"/><foreignObject><p>x</p></foreignObject></g></svg>',
  );
  equal(svg.outerHTML.includes("kept"), true);
  for (const gone of ["script", "onload", "onclick", "href", "image", "foreignObject"]) {
    equal(svg.outerHTML.includes(gone), false, gone);
  }
});
