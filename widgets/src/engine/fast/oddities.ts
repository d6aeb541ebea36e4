/**
 * Detects code that QuickJS executes differently from V8, before a source runs:
 *
 * - A default value that assigns to another parameter, which a `var` of the same name redeclares in the body. The
 *   language copies the parameter after all defaults (ECMA-262, FunctionDeclarationInstantiation). QuickJS copies
 *   the parameter before the defaults.
 * - A constructor whose class gets another prototype during the evaluation of the arguments of `super`.
 * - `with`, functions in blocks that also declare the same name, variables named `arguments`, Unicode properties, and
 *   iterators that an asynchronous loop closes.
 */
import { lastName } from "./conversions.ts";
import { EFFECTS, parse, some } from "./tree.ts";
import type { Tree } from "./tree.ts";
import { ESCAPED, NEWER } from "./unicode.ts";

type Test = (node: Tree) => boolean;

const VAR = /\bvar\b/;
/** QuickJS has a newer Unicode version than V8. */
const PROPERTIES = /\\[pP]\{/;
/** Elements on a prototype reveal which built-in functions set elements and which define them. */
const ON_PROTOTYPE =
  /\bdefinePropert(?:y|ies)\s*\(\s*(?:Array|Object)\.prototype\b|\b(?:Array|Object)\.prototype\s*\.\s*__define/;
/** V8 skips getters of array-like objects whose length is close to the maximum number. */
const SPREADABLE = /\bisConcatSpreadable\b/;
const ARGUMENTS = /\barguments\b/;
const PROTOTYPES = /\bsetPrototypeOf\b/;
const SUPER = /\bsuper\s*\[/;
const CONSTRUCTS = /\bsuper\s*\(/;
const WITH = /\bwith\s*\(/;
const AWAITING = /\bfor\s+await\b|\byield\s*\*/;
const ITERATOR = /\biterator\b/;
const GETTER = /\bget\s*\[|\bdefinePropert|__defineGetter__/;
const FUNCTION = /\bfunction(?:\s*\*)?\s*([\w$]+)/g;
const DECLARED = /\b(?:let|const|class)\b([\w$\s,]+|\s*[{[][^=;)]*)/g;
const NAME = /[\w$]+/g;
const assigns: Test = (node) => {
  const target = node.type === "AssignmentExpression" ? node.left : node.type === "UpdateExpression" && node.argument;
  return (target as Tree | undefined)?.type === "Identifier";
};

const assignsInDefault: Test = (node) =>
  (node.params as Tree[] | undefined)?.some((one) => some(one, assigns)) ?? false;

const assignsToSuper: Test = (node) => {
  const target = (node.type === "AssignmentExpression" ? node.left : node.argument) as Tree | undefined;
  if (node.type !== "AssignmentExpression" && node.type !== "UpdateExpression") return false;
  return target!.type === "MemberExpression" && target!.computed === true && (target!.object as Tree).type === "Super";
};

const isArguments: Test = ({ type, name }) => type === "Identifier" && name === "arguments";

const declaresArguments: Test = (node) => node.type === "VariableDeclarator" && some(node.id as Tree, isArguments);

/** For `super`, V8 looks up the constructor after it evaluates the arguments, and QuickJS looks it up before. */
const constructsWithEffects: Test = (node) =>
  node.type === "CallExpression" && (node.callee as Tree).type === "Super" &&
  (node.arguments as Tree[]).some((one) => some(one, ({ type }) => EFFECTS.has(type)));

/** Returns whether the prototype of an object can change, except that of the object under construction. */
function setsPrototype(tree: Tree): boolean {
  const own = new Set<unknown>();
  const isNamed = (node: Tree) => node.type !== "MemberExpression" && lastName(node) === "setPrototypeOf";
  some(tree, ({ type, callee, arguments: list }) => {
    if (type === "CallExpression" && (list as Tree[])[0]?.type === "ThisExpression") {
      own.add((callee as Tree).property ?? callee);
    }
    return false;
  });
  return some(tree, (node) => isNamed(node) && !own.has(node));
}

const isWith: Test = (node) => node.type === "WithStatement";

/** Returns whether a block declares the name of a function in a block. The engines resolve such names differently. */
function mixesNames(source: string): boolean {
  const names = [...source.matchAll(FUNCTION)].map(([, name]) => name);
  const functions = new Set(names);
  if (functions.size < names.length || functions.has("arguments")) return true;
  for (const [, list] of source.matchAll(DECLARED)) {
    for (const [name] of list!.matchAll(NAME)) if (functions.has(name)) return true;
  }
  return false;
}

/** Matches a function declaration in a block, unless the block is a function body. */
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

/** Matches iterators that can end early. V8 closes them differently if one of their promises rejects. */
const isCloseable: Test = (node) =>
  (/^Function/.test(node.type) && node.generator === true && node.async !== true) ||
  ((node.type === "Property" || node.type === "MethodDefinition") && lastName(node.key as Tree) === "return");

const isAsyncGenerator: Test = (node) => /^Function/.test(node.type) && node.async === true && node.generator === true;

const delegates: Test = (node) =>
  (node.type === "ForOfStatement" && node.await === true) ||
  (node.type === "YieldExpression" && node.delegate === true);

/**
 * Returns whether `Symbol.iterator` can be the name of a getter. QuickJS reads the iterator of a spread value twice.
 *
 * A read or the key of a method is not a getter. In all other places, `defineProperty` can receive the name.
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

/** Returns whether a node is `value.iterator`, where `value` is not `Symbol`. */
function isNameAlone(node: Tree): boolean {
  return node.computed !== true && (node.object as Tree).type === "Identifier" &&
    (node.object as Tree).name !== "Symbol" && (node.object as Tree).name !== "globalThis";
}

/**
 * Returns the part of a source that would have a different result, or null.
 *
 * @throws {SyntaxError} The parser rejects the source.
 */
export function oddity(source: string): string | null {
  if (PROPERTIES.test(source)) return "a regular expression with Unicode properties";
  if (NEWER.test(source) || ESCAPED.test(source)) return "a character of a newer Unicode version";
  if (SPREADABLE.test(source)) return "Symbol.isConcatSpreadable";
  if (ON_PROTOTYPE.test(source)) return "a member that is defined on the prototype of all objects or arrays";
  const declares = VAR.test(source);
  const [spreads, waits] = [
    source.includes("...") && ITERATOR.test(source) && GETTER.test(source),
    AWAITING.test(source),
  ];
  const [mixes, has, inherits] = [mixesNames(source), WITH.test(source), SUPER.test(source)];
  const [takes, changes] = [ARGUMENTS.test(source), PROTOTYPES.test(source) && CONSTRUCTS.test(source)];
  if (!declares && !spreads && !waits && !mixes && !has && !inherits && !takes && !changes) return null;
  const tree = parse(source);
  if (declares && some(tree, assignsInDefault)) return "a default value that contains an assignment";
  if (takes && some(tree, declaresArguments)) return "a variable with the name arguments";
  if (has && some(tree, isWith)) return "a with statement";
  if (changes && setsPrototype(tree) && some(tree, constructsWithEffects)) {
    return "a class whose prototype may change while the arguments of super are evaluated";
  }
  if (inherits && some(tree, assignsToSuper)) return "an assignment to a computed member of super";
  if (spreads && hasIteratorGetter(tree)) return "a getter that may define Symbol.iterator";
  const asynchronous = waits && (/\bfor\s+await\b/.test(source) || some(tree, isAsyncGenerator));
  if (asynchronous && some(tree, delegates) && some(tree, isCloseable)) {
    return "an asynchronous loop over an iterator that can be closed";
  }
  return mixes && hasFunctionInBlock(tree) ? "two functions with the same name, one of them in a block" : null;
}
