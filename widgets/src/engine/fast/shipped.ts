/** What the process of the `fast` engine is given beside its code. In a page, `page/shipped.ts` takes its place. */

/** The image of memory that each run starts from, packed. */
export const image: Uint8Array = Deno.readFileSync(new URL("./fast.image", import.meta.url));

/** The names that actions see, as JSON. */
export const names: string = Deno.args[0]!;
