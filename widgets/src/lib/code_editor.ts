/**
 * Loads the code editor. Its bundle is large, so the kernel sends it only once to a page, when the first panel requests
 * it. All other panels of the page use the same bundle. The kernel identifies the bundle by its content, so the page
 * loads the new bundle after an upgrade.
 */
import type { Module } from "../codemirror/interface.ts";

/** Message about the bundle: its hash, and optionally its text. */
interface Bundle {
  hash: string;
  script?: string;
}

type Ask = (name: string, args: Record<string, unknown>, label?: string) => Promise<Bundle>;

const KEPT = Symbol.for("svcnb.codemirror");
const page = globalThis as { [KEPT]?: Map<string, Promise<Module>> };

/** Returns the editor's module. Requests its text from the kernel only if no panel of this page has it. */
export async function codeEditor(ask: Ask, load: (script: string) => Promise<Module> = imported): Promise<Module> {
  const kept = page[KEPT] ??= new Map();
  const { hash } = await ask("editor_bundle", { with_script: false });
  const known = kept.get(hash);
  if (known) return known;
  const loading = ask("editor_bundle", { with_script: true }, "Loading the editor").then(({ script }) => load(script!));
  kept.set(hash, loading);
  // Discard a failed load, for example after the kernel has stopped, so that a later call can repeat it.
  loading.catch(() => kept.delete(hash));
  return loading;
}

async function imported(script: string): Promise<Module> {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  try {
    return await import(url);
  } finally {
    URL.revokeObjectURL(url);
  }
}
