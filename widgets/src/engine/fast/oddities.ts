/**
 * What QuickJS does in another order than the language says, seen before a source runs.
 *
 * A parameter that another one's default assigns to, and that a `var` of the same name stands for in the body: its value
 * is copied when all defaults are done (ECMA-262, FunctionDeclarationInstantiation), in QuickJS before.
 *
 * A computed key that is an object: when and how often it becomes text shows if its conversion has effects.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";

type Tree = Node & Record<string, unknown>;
type Test = (node: Tree) => boolean;

const VAR = /\bvar\b/;
const CONVERSION = /(?<![.\w$])(?:toString|valueOf)\b|\.(?:toString|valueOf)\s*=(?!=)|\btoPrimitive\b/;
const CONVERSIONS: readonly unknown[] = ["toString", "valueOf", "toPrimitive"];
const EFFECTS = new Set([
  "AssignmentExpression",
  "AwaitExpression",
  "CallExpression",
  "NewExpression",
  "TaggedTemplateExpression",
  "ThrowStatement",
  "UpdateExpression",
  "YieldExpression",
]);

function some(node: Tree, test: Test): boolean {
  if (test(node)) return true;
  return Object.values(node).flat().some((one) =>
    typeof one === "object" && one !== null && typeof (one as Tree).type === "string" && some(one as Tree, test)
  );
}

const assigns: Test = (node) => {
  const target = node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" && node.argument;
  return (target as Tree | undefined)?.type === "Identifier";
};

const assignsInDefault: Test = (node) =>
  (node.params as Tree[] | undefined)?.some((one) => some(one, assigns)) ?? false;

/** The last name of `toString`, `"toString"`, `x.toString` and `Symbol.toPrimitive`. */
function lastName(node: Tree): unknown {
  return node.type === "MemberExpression" ? lastName(node.property as Tree) : node.name ?? node.value;
}

/** A conversion that may do more than answer: one whose function is not here, or is not plain. */
const convertsWithEffects: Test = (node) => {
  const [key, value] = node.type === "AssignmentExpression" ? [node.left, node.right] : [node.key, node.value];
  if (node.type === "Literal") return CONVERSIONS.includes(node.value); // handed to `defineProperty` and its like
  if (key === undefined || value === null || !CONVERSIONS.includes(lastName(key as Tree))) return false;
  const { type } = value as Tree;
  return !/Function/.test(type) || some((value as Tree).body as Tree, (one) => EFFECTS.has(one.type));
};

const hasComputedKey: Test = (node) => {
  const key = (node.type === "MemberExpression" ? node.property : node.key) as Tree | undefined;
  return node.computed === true && key?.type !== "Literal" && lastName(key!) !== "toPrimitive";
};

/**
 * Says what of a source would come out otherwise.
 *
 * @throws {SyntaxError} The parser does not read it.
 */
export function oddity(source: string): string | null {
  const [declares, converts] = [VAR.test(source), CONVERSION.test(source)];
  if (!declares && !converts) return null;
  const tree = parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree;
  if (declares && some(tree, assignsInDefault)) return "a default that assigns";
  return converts && some(tree, convertsWithEffects) && some(tree, hasComputedKey)
    ? "a key that converts itself"
    : null;
}
