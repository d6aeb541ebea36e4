/**
 * A parameter that another one's default assigns to, and that a `var` of the same name stands for in the body.
 *
 * The language copies its value when all defaults are done (ECMA-262, FunctionDeclarationInstantiation), QuickJS before.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";

type Tree = Node & Record<string, unknown>;

const VAR = /\bvar\b/;

function children(node: Tree): Tree[] {
  return Object.values(node).flat().filter((one): one is Tree =>
    typeof one === "object" && one !== null && typeof (one as Tree).type === "string"
  );
}

/** Whether anything in a tree assigns to a name. */
function assigns(node: Tree): boolean {
  const target = node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" && node.argument;
  return (target as Tree | undefined)?.type === "Identifier" || children(node).some(assigns);
}

/** Whether some function of a source has a default that assigns to a name, in a source that declares with `var`. */
export function assignsInDefaults(source: string): boolean {
  if (!VAR.test(source)) return false;
  const within = (node: Tree): boolean =>
    ((node.params as Tree[] | undefined)?.some(assigns) ?? false) || children(node).some(within);
  return within(parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree);
}
