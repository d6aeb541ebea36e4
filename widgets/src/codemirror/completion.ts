/** Completions in the editor: the service's functions, ethers, globals, and the names of the action itself. */
import type { Completion, CompletionContext, CompletionResult, CompletionSource } from "@codemirror/autocomplete";
import { snippetCompletion } from "@codemirror/autocomplete";
import { localCompletionSource } from "@codemirror/lang-javascript";
import { syntaxTree } from "@codemirror/language";
import type { Names } from "./interface.ts";
import { ETHERS } from "./ethers_names.ts";

const PATH = /(?:[A-Za-z_$][\w$]*\s*\.\s*)*[A-Za-z_$]?[\w$]*$/;
const SILENT = new Set(["String", "TemplateString", "LineComment", "BlockComment", "RegExp"]);

/** Returns a completion source for the names that the kernel sends. */
export function actionCompletions(names: Names): CompletionSource {
  const table = optionsByOwner({ ...ETHERS, ...names });
  return (context: CompletionContext): CompletionResult | null => {
    const around = syntaxTree(context.state).resolveInner(context.pos, -1);
    if (SILENT.has(around.name)) return null;
    const path = context.matchBefore(PATH);
    if (!path) return null;
    const parts = path.text.split(".").map((part) => part.trim());
    const start = parts.at(-1) ?? "";
    const owner = parts.slice(0, -1).join(".");
    if (owner === "" && start === "" && !context.explicit) return null;
    const from = context.pos - start.length;
    const known = table.get(owner);
    if (owner !== "") return known ? { from, options: known, validFor: /^[\w$]*$/ } : null;
    const local = localCompletionSource(context)?.options ?? [];
    return { from, options: [...local, ...known ?? []], validFor: /^[\w$]*$/ };
  };
}

function optionsByOwner(names: Names): Map<string, Completion[]> {
  return new Map(
    Object.entries(names).map(([owner, members]) => [
      owner,
      members.map(({ name, detail, says, insert, kind }): Completion => {
        const option = { label: name, detail, info: says, type: kind, boost: says ? 2 : 0 };
        return insert ? snippetCompletion(insert, option) : option;
      }),
    ]),
  );
}
