/** Conversions of objects to strings or numbers whose count and order an action can observe. */
import { EFFECTS, some } from "./tree.ts";
import type { Tree } from "./tree.ts";

const CONVERSION = /(?<![.\w$])(?:toString|valueOf)\b|\.(?:toString|valueOf)\s*=(?!=)|\btoPrimitive\b/;
const NAMES: readonly unknown[] = ["toString", "valueOf", "toPrimitive"];

/** Returns the last name in `toString`, `"toString"`, `x.toString` or `Symbol.toPrimitive`. */
export function lastName(node: Tree): unknown {
  return node.type === "MemberExpression" ? lastName(node.property as Tree) : node.name ?? node.value;
}

/** Returns whether a conversion can have side effects: its definition is elsewhere, or its function is not simple. */
function convertsWithEffects(node: Tree): boolean {
  const [key, value] = node.type === "AssignmentExpression" ? [node.left, node.right] : [node.key, node.value];
  if (node.type === "Literal") return NAMES.includes(node.value); // an argument of `defineProperty`, for example
  if (key === undefined || value === null || !NAMES.includes(lastName(key as Tree))) return false;
  const { type } = value as Tree;
  return !/Function/.test(type) || some((value as Tree).body as Tree, (one) => EFFECTS.has(one.type));
}

/** Returns whether a source can define a conversion with side effects. This is a fast check without a syntax tree. */
export function mayConvert(source: string): boolean {
  return CONVERSION.test(source);
}

/** Returns whether a source defines a conversion with side effects. */
export function converts(source: string, tree: Tree): boolean {
  return mayConvert(source) && some(tree, convertsWithEffects);
}
