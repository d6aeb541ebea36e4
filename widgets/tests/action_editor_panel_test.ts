/** Tests of the action editor with a fake model, without a kernel. A text area replaces the large editor. */
import { button, click, equal, FakeModel, find, open, settled } from "./fake.ts";
import type { Editor, Mark, Module, Options } from "../src/codemirror/interface.ts";
import { mountPlain } from "../src/lib/plain_editor.ts";
import { actionEditor } from "../src/panels/action_editor/index.ts";

const SOURCE = "async function main({ n }) {\n  return n + 1;\n}\n";
// CID of "hello" and the hash of this CID, from the shared vectors (ipfs-unixfs-importer and ethers).
const HELLO_CID = "QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX";
const HELLO_HASH = hashOf(HELLO_CID);

interface HashVectors {
  hashed_cid: { cid: string; hashed_cid: string }[];
}

function hashOf(cid: string): string {
  const file = new URL("../../tests/vectors/hashes.json", import.meta.url);
  const { hashed_cid } = JSON.parse(Deno.readTextFileSync(file)) as HashVectors;
  const found = hashed_cid.find((each) => each.cid === cid);
  if (!found) throw new Error(`no vector for ${cid}`);
  return found.hashed_cid;
}

const SETUP = { names: {}, base: SOURCE, params: '{ "n": 41 }', name: "add", has_key: true, examples: [] };
const ACCOUNT = {
  registered: { [HELLO_HASH]: "greeting" },
  groups: [
    { id: 1, name: "greeters", every: false, hashes: [HELLO_HASH] },
    { id: 2, name: "all", every: true, hashes: [] },
    { id: 3, name: "others", every: false, hashes: [] },
  ],
};

/** Fake kernel that responds to each command with the prepared answer of the same name. */
class Kernel extends FakeModel {
  readonly marked: Mark[][] = [];
  wentTo: number | null = null;
  mounted: Record<string, Editor> = {};

  constructor(readonly answers: Record<string, unknown>) {
    super({ source: SOURCE });
  }

  override send(message: unknown): void {
    super.send(message);
    const { type, id, name } = message as Record<string, string>;
    if (type !== "command" || !(name! in this.answers)) return;
    const value = this.answers[name!];
    const failed = value instanceof Error;
    const error = failed
      ? { type: "Forbidden", message: value.message, hint: "Ask for a grant.", consequences: [] }
      : null;
    queueMicrotask(() => this.say({ type: "answer", id, ok: !failed, value: failed ? null : value, error }));
  }

  module: Module = {
    mount: (parent: HTMLElement, options: Options): Editor => {
      const editor = {
        ...mountPlain(parent, options),
        mark: (marks: readonly Mark[]) => void this.marked.push([...marks]),
        goTo: (line: number) => void (this.wentTo = line),
      };
      this.mounted[options.label] = editor;
      return editor;
    },
  };

  args(name: string): Record<string, unknown> | undefined {
    return this.sent.findLast((message) => message.name === name)?.args as Record<string, unknown> | undefined;
  }
}

const RESOURCES = {
  mode: "api",
  wallets: [{ address: "0x00000000000000000000000000000000000000aa", name: "wallet 1", master: false }],
  groups: [{ id: 1, name: "greeters" }],
  keys: [],
  run_key: "",
  client_key: "",
};
const QUIET = {
  setup: SETUP,
  look_up: ACCOUNT,
  lint: { marks: [], missing: "" },
  keep: null,
  shared: { mode: "" },
  resources: RESOURCES,
};

async function opened(answers: Record<string, unknown> = {}) {
  const model = new Kernel({ ...QUIET, ...answers });
  const view = open(actionEditor(() => Promise.resolve(model.module)), model);
  await settled();
  await settled();
  return { model, ...view };
}

function type(el: HTMLElement, label: string, text: string): void {
  const area = find<HTMLTextAreaElement>(el, `textarea[aria-label="${label}"]`);
  area.value = text;
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

Deno.test("the list of keys shows the client's usage key by its name", async () => {
  const mine = { ...RESOURCES, client_key: "night shift" };
  for (const [resources, label] of [[RESOURCES, "the account's key"], [mine, "usage key night shift of the client"]]) {
    const { el, close } = await opened({ resources, shared: { mode: "api" } });
    const labels = [...el.querySelectorAll("option")].map(({ textContent }) => textContent);
    equal(labels.includes(label as string), true);
    equal(labels.filter((text) => text === "the account's key" || text!.startsWith("usage key")).length, 1);
    close();
  }
});

Deno.test("in ChainSecured mode, a run without a usage key is not sent, and the field shows what to do", async () => {
  const { model, el, close } = await opened({ resources: { ...RESOURCES, mode: "chain" }, shared: { mode: "chain" } });
  click(button(el, "Run"));
  await settled();
  equal(model.args("run"), undefined);
  equal(find(el, "select[aria-invalid] + .svcnb-field-error").textContent!.includes("Press Create usage key."), true);
  close();
});

Deno.test("messages about an account disappear after another account is opened", async () => {
  const { model, el, close } = await opened({ shared: { mode: "api" }, register: null });
  click(button(el, "Register"));
  await settled();
  await settled();
  equal(el.textContent!.includes("Registered as add. To run"), true);
  model.say({ type: "tell", name: "session", args: { changed: ["account"], session: { balance: "" } } });
  equal(el.textContent!.includes("Registered as add. To run"), false);
  close();
});

Deno.test("the CID and its hash change with every keystroke, without a message to the kernel", async () => {
  const { model, el, close } = await opened();
  const before = model.sent.length;
  type(el, "Source of the action", "hello");
  equal(find(el, ".svcnb-cid").textContent, HELLO_CID);
  equal(find(el, ".svcnb-hashed").textContent, HELLO_HASH);
  equal(model.sent.length, before);
  close();
});

Deno.test("the editor shows the changed bytes until the user compares with this version", async () => {
  const { el, close } = await opened();
  type(el, "Source of the action", SOURCE.replace("+ 1", "+ 22"));
  equal(find(el, ".svcnb-change").textContent, "1 → 22");
  equal(el.textContent!.includes("1 → 2 bytes, from byte 42 (line 2)"), true, el.textContent!);
  click(button(el, "Compare with this version"));
  equal(el.querySelector(".svcnb-change"), null);
  close();
});

Deno.test("during typing, the editor shows the registered name and the groups of the CID", async () => {
  const { el, close } = await opened();
  const standing = () => find(el, ".svcnb-standing").textContent!;
  equal(standing().includes("not registered"), true, standing());
  type(el, "Source of the action", "hello");
  equal(standing().includes("Registered as greeting"), true, standing());
  equal(standing().includes("permitted in 2 of 3 groups"), true, standing());
  equal(standing().includes("all (2), which permits every action"), true, standing());
  close();
});

Deno.test("a run sends the current source and parameters, and shows the response, the logs and the timeline", async () => {
  const row = {
    label: "fetch GET",
    kind: "fetch",
    from_ms: 1,
    at_ms: 3,
    failed: false,
    refused: "",
    memory_bytes: null,
  };
  const trace = { engine: "v8", elapsed_ms: 4, waited_ms: 2, rows: [row], more: 0 };
  const run = { ok: true, cid: "Qm", response: "42", logs: "got 41", elapsed: 0.05, cost_cents: 1, notes: [], trace };
  const { model, el, close } = await opened({ run });
  type(el, "Parameters", '{ "n": 41 }');
  click(button(el, "Run"));
  await settled();
  equal(model.args("run"), { source: SOURCE, params: '{ "n": 41 }' });
  equal(find(el, ".svcnb-response").textContent, "42");
  equal(find(el, ".svcnb-logs").textContent, "got 41");
  equal(find(el, ".svcnb-bar-fetch").getAttribute("style"), "left:25.00%;width:50.00%");
  close();
});

Deno.test("a run that throws an error marks the line, and a button moves the cursor to that line", async () => {
  const run = {
    ok: false,
    stage: "run",
    name: "TypeError",
    message: "x is no function",
    line: 2,
    column: 5,
    stack: "",
    logs: "",
    trace: null,
  };
  const { model, el, close } = await opened({ run });
  click(button(el, "Run"));
  await settled();
  equal(find(el, ".svcnb-error").textContent, "TypeError: x is no function");
  equal(model.marked.at(-1)!.map(({ line, severity }) => [line, severity]), [[2, "error"]]);
  click(button(el, "Go to line 2"));
  equal(model.wentTo, 2);
  close();
});

Deno.test("an example replaces the source, and is not shown as a change", async () => {
  const examples = [{ name: "Sign", source: "const main = () => 7;\n", params: "{}" }];
  const { el, close } = await opened({ setup: { ...SETUP, examples } });
  find(el, "select option").setAttribute("selected", "");
  click(button(el, "Use this example"));
  await settled();
  equal(find<HTMLTextAreaElement>(el, "textarea").value, "const main = () => 7;\n");
  equal(el.querySelector(".svcnb-change"), null);
  close();
});

Deno.test("a new run removes the result of an earlier signature check", async () => {
  const signature = `0x${"ab".repeat(65)}`;
  const run = { ok: true, cid: "Qm", response: JSON.stringify(signature), logs: "", elapsed: 0.1, cost_cents: 1 };
  const { el, model, close } = await opened({
    run: { ...run, notes: [], trace: null },
    verify: { recovered: "0x12", wallet: "wallet 1" },
  });
  click(button(el, "Run"));
  await settled();
  click(button(el, "Check the signature"));
  await settled();
  equal(el.textContent!.includes("✓ Signed by wallet 1"), true);
  model.answers.run = new Error("not permitted");
  click(button(el, "Run"));
  await settled();
  equal(el.textContent!.includes("✓ Signed by wallet 1"), false);
  close();
});

Deno.test("a run that fails without a wallet in its parameters shows a hint about the wallet", async () => {
  const failed = { ok: false, stage: "run", name: "RangeError", message: "blank", line: null, column: null, stack: "" };
  const { el, close } = await opened({ run: { ...failed, logs: "", trace: null } });
  type(el, "Parameters", '{ "wallet": "", "message": "hello" }');
  click(button(el, "Run"));
  await settled();
  equal(el.textContent!.includes("The parameters contain no wallet."), true);
  type(el, "Parameters", '{ "wallet": "0xaa", "message": "" }');
  click(button(el, "Run"));
  await settled();
  equal(el.textContent!.includes("The parameters contain no wallet."), false);
  close();
});

Deno.test("parameters that are not valid JSON cause an error and are not sent", async () => {
  const { model, el, close } = await opened();
  type(el, "Parameters", "{ n: 41 }");
  click(button(el, "Run"));
  await settled();
  equal(el.textContent!.includes("not valid JSON"), true);
  equal(model.args("run"), undefined);
  equal(button(el, "Run").getAttribute("aria-busy"), null);
  close();
});

Deno.test("a rejected run shows its hint, and Check permission explains the rejection", async () => {
  const explained = {
    permitted: false,
    reason: "no group permits the action",
    key: "'runner'",
    group: 7,
    repairs: [{ says: "permits the action", code: "svc.groups.add_action(...)", cost_cents: 1 }],
    warnings: [],
  };
  const { el, model, close } = await opened({ run: new Error("not permitted"), explain: explained });
  click(button(el, "Run"));
  await settled();
  equal(find(el, "[role=alert] .svcnb-failure").textContent!.includes("Ask for a grant."), true);
  click(button(el, "Check permission"));
  await settled();
  equal(el.textContent!.includes("✗ Not permitted"), true);
  equal(el.textContent!.includes("svc.groups.add_action(...)"), true);
  click(button(el, "Permit in group 7"));
  await settled();
  equal(model.args("allow")!.group, 7);
  close();
});

Deno.test("after a pause in typing, the editor marks and lists the findings of the linter", async () => {
  const mark = { line: 1, column: 7, severity: "error", message: "there is no main", hint: "Define it." };
  const { model, el, close } = await opened({ lint: { marks: [mark], missing: "" } });
  type(el, "Source of the action", "const x = 1;");
  await new Promise((resolve) => setTimeout(resolve, 400));
  equal(model.marked.at(-1), [mark]);
  equal(el.textContent!.includes("The linter found 1 error: line 1: there is no main."), true);
  equal(model.get("source"), "const x = 1;");
  close();
});

Deno.test("the editor shows a derived action, and a button opens its source", async () => {
  const derive = {
    source: SOURCE + 'const CONST = "x";\n',
    added: 'const CONST = "x";\n',
    cid: "QmDerived",
    hashed_cid: "0x",
  };
  const { model, el, close } = await opened({ derive });
  find<HTMLTextAreaElement>(el, "textarea[placeholder]").value = '"x"';
  click(button(el, "Derive"));
  await settled();
  equal(model.args("derive"), { source: SOURCE, constant: '"x"', name: "CONST", version: 1 });
  equal(find(el, ".svcnb-derived").textContent, "QmDerived");
  click(button(el, "Edit the derived action"));
  equal(find<HTMLTextAreaElement>(el, "textarea").value, derive.source);
  equal(el.querySelector(".svcnb-derived"), null, "it was derived from the previous source");
  close();
});

Deno.test("the editor shows a source that Python or another view sets", async () => {
  const { model, el, close } = await opened();
  model.set("source", "hello");
  equal(find(el, ".svcnb-cid").textContent, HELLO_CID);
  close();
});

Deno.test("without a key, the panel does not read the account", async () => {
  const { model, el, close } = await opened({ setup: { ...SETUP, has_key: false } });
  equal(model.args("look_up"), undefined);
  equal(find(el, ".svcnb-standing").textContent!.includes("No account is open"), true);
  close();
});

Deno.test("users can edit the source before the large editor loads, and also if it fails to load", async () => {
  const model = new Kernel(QUIET);
  const { el, close } = open(actionEditor(() => Promise.reject(new Error("the kernel stopped"))), model);
  type(el, "Source of the action", "hello");
  equal(find(el, ".svcnb-cid").textContent, HELLO_CID);
  await settled();
  await settled();
  equal(find<HTMLTextAreaElement>(el, "textarea").value, "hello");
  equal(find(el, "[role=alert] .svcnb-failure").textContent!.includes("the kernel stopped"), true);
  close();
});

Deno.test("a closed view removes its listeners", async () => {
  const { model, close } = await opened();
  close();
  equal(model.listening("change:source"), 0);
  equal(model.listening("msg:custom"), 0);
});
