/** Tests that a page loads the editor's bundle only once. */
import { equal } from "./fake.ts";
import type { Module } from "../src/codemirror/interface.ts";
import { codeEditor } from "../src/lib/code_editor.ts";

class Kernel {
  readonly asked: boolean[] = [];
  constructor(private readonly hash: string, private readonly failures = 0) {}
  ask = (_name: string, args: Record<string, unknown>) => {
    this.asked.push(args.with_script as boolean);
    if (args.with_script && this.scripts <= this.failures) return Promise.reject(new Error("the kernel stopped"));
    return Promise.resolve({ hash: this.hash, ...(args.with_script ? { script: `text of ${this.hash}` } : {}) });
  };
  get scripts(): number {
    return this.asked.filter(Boolean).length;
  }
}

const load = (script: string) => Promise.resolve({ script } as unknown as Module);

Deno.test("many panels of a page load the editor once, even if they open at the same time", async () => {
  const kernel = new Kernel("one");
  const modules = await Promise.all(Array.from({ length: 5 }, () => codeEditor(kernel.ask, load)));
  equal(kernel.scripts, 1);
  equal(new Set(modules).size, 1);
  await codeEditor(new Kernel("one").ask, () => Promise.reject(new Error("loaded twice")));
});

Deno.test("a page loads another version of the editor in addition to the old version", async () => {
  const [old, next] = [new Kernel("old"), new Kernel("next")];
  await codeEditor(old.ask, load);
  equal(await codeEditor(next.ask, load), { script: "text of next" });
});

Deno.test("after a failed load, the next panel loads the bundle again", async () => {
  const kernel = new Kernel("flaky", 1);
  const failed = await codeEditor(kernel.ask, load).catch((error: Error) => error.message);
  equal(failed, "the kernel stopped");
  equal(await codeEditor(kernel.ask, load), { script: "text of flaky" });
});
