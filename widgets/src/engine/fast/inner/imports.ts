/** This engine does not support imports. The process passes an action with imports to the other engine. */
import type { Linked } from "../../runtime/imports.ts";

export type { Imported } from "../../runtime/imports.ts";

// deno-lint-ignore require-await
export async function linkImports(): Promise<Linked | null> {
  return null;
}

export function forgetHandover(): void {}
