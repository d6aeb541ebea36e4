import type { Vm } from "./internals.ts";
export interface Imported {
  readonly specifier: string;
}
export async function linkImports(_source: string, _vm: Vm): Promise<{ source: string; imported: Imported[] } | null> {
  return null;
}
