/**
 * What QuickJS does in another order than the language says, seen before a source runs.
 *
 * A parameter that another one's default assigns to, and that a `var` of the same name stands for in the body: its value
 * is copied when all defaults are done (ECMA-262, FunctionDeclarationInstantiation), in QuickJS before.
 *
 * A computed key that is an object: when and how often it becomes text shows if its conversion has effects.
 *
 * `with`, functions in blocks beside declarations of their name, properties of Unicode, and what an asynchronous loop
 * closes.
 */
import type { Node } from "acorn";
import { parser } from "../runtime/parser.ts";

type Tree = Node & Record<string, unknown>;
type Test = (node: Tree) => boolean;

const VAR = /\bvar\b/;
const CONVERSION = /(?<![.\w$])(?:toString|valueOf)\b|\.(?:toString|valueOf)\s*=(?!=)|\btoPrimitive\b/;
/** QuickJS has a newer Unicode than V8. */
const PROPERTIES = /\\[pP]\{/;
/** Which built-ins set elements and which define them shows where a prototype has an element. */
const ON_PROTOTYPE =
  /\bdefinePropert(?:y|ies)\s*\(\s*(?:Array|Object)\.prototype\b|\b(?:Array|Object)\.prototype\s*\.\s*__define/;
const ARGUMENTS = /\b(?:var|let|const)\s+arguments\b/;
const SUPER = /\bsuper\s*\[/;
const WITH = /\bwith\s*\(/;
const AWAITING = /\bfor\s+await\b|\byield\s*\*/;
const ITERATOR = /\biterator\b/;
const GETTER = /\bget\s*\[|\bdefinePropert|__defineGetter__/;
const FUNCTION = /\bfunction\s*\*?\s*([\w$]+)/g;
const DECLARED = /\b(?:let|const|class)\b([\w$\s,]+|\s*[{[][^=;)]*)/g;
const NAME = /[\w$]+/g;
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

const assignsToSuper: Test = (node) => {
  const target = (node.type === "AssignmentExpression" ? node.left : node.argument) as Tree | undefined;
  if (node.type !== "AssignmentExpression" && node.type !== "UpdateExpression") return false;
  return target!.type === "MemberExpression" && target!.computed === true && (target!.object as Tree).type === "Super";
};

const isWith: Test = (node) => node.type === "WithStatement";

/** Whether a name that a block declares is also that of a function in a block: which one a function sees differs. */
function mixesNames(source: string): boolean {
  const names = [...source.matchAll(FUNCTION)].map(([, name]) => name);
  const functions = new Set(names);
  if (functions.size < names.length || functions.has("arguments")) return true;
  for (const [, list] of source.matchAll(DECLARED)) {
    for (const [name] of list!.matchAll(NAME)) if (functions.has(name)) return true;
  }
  return false;
}

/** A function declared in a block that is no function's own. */
const isInBlock: Test = (node) =>
  node.type === "BlockStatement" && (node.body as Tree[]).some(({ type }) => type === "FunctionDeclaration") ||
  node.type === "SwitchCase" && (node.consequent as Tree[]).some(({ type }) => type === "FunctionDeclaration");

function hasFunctionInBlock(tree: Tree): boolean {
  const bodies = new Set<unknown>();
  some(tree, (node) => {
    if (/Function/.test(node.type)) bodies.add(node.body);
    return false;
  });
  return some(tree, (node) => isInBlock(node) && !bodies.has(node));
}

/** What can end early, and is closed otherwise than in V8 when a promise that it hands out is rejected. */
const isCloseable: Test = (node) =>
  (/^Function/.test(node.type) && node.generator === true && node.async !== true) ||
  ((node.type === "Property" || node.type === "MethodDefinition") && lastName(node.key as Tree) === "return");

const isAsyncGenerator: Test = (node) => /^Function/.test(node.type) && node.async === true && node.generator === true;

const delegates: Test = (node) =>
  (node.type === "ForOfStatement" && node.await === true) ||
  (node.type === "YieldExpression" && node.delegate === true);

/**
 * Where `Symbol.iterator` may be the name of a getter: QuickJS asks twice for an iterator that it spreads.
 *
 * It is none where it is read or is the key of a method. Anywhere else it may be handed to `defineProperty`.
 */
function hasIteratorGetter(tree: Tree): boolean {
  const plain = new Set<unknown>();
  const isIterator = (node: Tree) => node.type === "MemberExpression" && lastName(node) === "iterator";
  some(tree, (node) => {
    if (node.type === "MemberExpression" && node.computed === true) plain.add(node.property);
    const isMethod = node.type === "Property" || node.type === "MethodDefinition" || node.type === "PropertyDefinition";
    if (isMethod && node.kind !== "get" && node.computed === true) plain.add(node.key);
    return false;
  });
  return some(tree, (node) => {
    if (isIterator(node)) return !plain.has(node) && !isNameAlone(node);
    if (node.type === "Literal") return node.value === "iterator";
    return node.type === "Property" && node.computed !== true && lastName(node.key as Tree) === "iterator";
  });
}

/** `value.iterator`, where `value` is not `Symbol`. */
function isNameAlone(node: Tree): boolean {
  return node.computed !== true && (node.object as Tree).type === "Identifier" &&
    (node.object as Tree).name !== "Symbol" && (node.object as Tree).name !== "globalThis";
}

/**
 * Says what of a source would come out otherwise.
 *
 * @throws {SyntaxError} The parser does not read it.
 */
export function oddity(source: string): string | null {
  if (PROPERTIES.test(source)) return "a regular expression with properties of Unicode";
  if (ARGUMENTS.test(source)) return "a variable that is named arguments";
  if (ON_PROTOTYPE.test(source)) return "a member that is defined on the prototype of all objects or arrays";
  const [declares, converts] = [VAR.test(source), CONVERSION.test(source)];
  const [spreads, waits] = [
    source.includes("...") && ITERATOR.test(source) && GETTER.test(source),
    AWAITING.test(source),
  ];
  const [mixes, has, inherits] = [mixesNames(source), WITH.test(source), SUPER.test(source)];
  if (!declares && !converts && !spreads && !waits && !mixes && !has && !inherits) return null;
  const tree = parser().parse(source, { ecmaVersion: "latest", sourceType: "script" }) as unknown as Tree;
  if (declares && some(tree, assignsInDefault)) return "a default that assigns";
  if (has && some(tree, isWith)) return "with";
  if (inherits && some(tree, assignsToSuper)) return "an assignment to a computed member of super";
  if (spreads && hasIteratorGetter(tree)) return "a getter that may be one of Symbol.iterator";
  const asynchronous = waits && (/\bfor\s+await\b/.test(source) || some(tree, isAsyncGenerator));
  if (asynchronous && some(tree, delegates) && some(tree, isCloseable)) {
    return "an asynchronous loop over what can be closed";
  }
  if (mixes && hasFunctionInBlock(tree)) return "a function in a block, and another of its name";
  return converts && some(tree, convertsWithEffects) && some(tree, hasComputedKey)
    ? "a key that converts itself"
    : null;
}
