/** Code to insert into a source for QuickJS, around the values of object spreads and around some keys. */

/** Names in the script scope, which are not members of any object. */
export const SPREAD = "$$spread";
export const KEY = "$$key";

/** Returns the text before and after a value that a function of that name receives. */
export function around(name: string): [before: string, behind: string] {
  return [`${name}(`, `,${name})`];
}

/** All texts to insert into a source. */
export const INSERTED: readonly string[] = [...around(SPREAD), ...around(KEY)];

/**
 * Defines both functions in the image. A key that is an object is a trap, because V8 converts it at a different time.
 */
export const DEFINITION =
  `const ${SPREAD} = ((box) => (value) => typeof value === "string" ? box(value) : value)(Object),` +
  `${KEY} = ((ask) => (key) => (typeof key === "object" && key !== null) || typeof key === "function"` +
  '? ask("trap", "a computed key that is an object") : key)(__host.ask)';
