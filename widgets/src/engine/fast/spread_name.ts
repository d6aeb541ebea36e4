/** What stands around the value of an object spread while QuickJS runs it (`spreads.ts`). */

/** A name of the script scope, which no member of any object shows. */
export const SPREAD = "$$spread";
export const BEFORE = `${SPREAD}(`;
export const BEHIND = `,${SPREAD})`;

/** Defines it in the image. */
export const DEFINITION =
  `const ${SPREAD} = ((box) => (value) => typeof value === "string" ? box(value) : value)(Object)`;
