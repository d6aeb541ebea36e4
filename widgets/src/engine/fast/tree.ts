/** Syntax tree of a source. */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";

export type Tree = Node & Record<string, unknown>;

/** @throws {SyntaxError} The parser rejects the source. */
export function parse(source: string): Tree {
  return parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree;
}

export function children(node: Tree): Tree[] {
  return Object.values(node).flat().filter((one): one is Tree =>
    typeof one === "object" && one !== null && typeof (one as Tree).type === "string"
  );
}

/** Returns whether a node or one of its descendants passes a test. */
export function some(node: Tree, test: (node: Tree) => boolean): boolean {
  return test(node) || children(node).some((child) => some(child, test));
}

/** Types of nodes whose evaluation can have side effects. */
export const EFFECTS = new Set([
  "AssignmentExpression",
  "AwaitExpression",
  "CallExpression",
  "NewExpression",
  "TaggedTemplateExpression",
  "ThrowStatement",
  "UpdateExpression",
  "YieldExpression",
]);

/**
 * Returns whether the evaluation of an expression can have side effects. The evaluation does not call functions that it
 * creates.
 */
export function hasEffects(node: Tree): boolean {
  return EFFECTS.has(node.type) || (!/Function/.test(node.type) && children(node).some(hasEffects));
}
