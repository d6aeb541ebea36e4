/** Input of the `fast` engine's process besides its code. In a page, `page/shipped.ts` replaces this module. */

/** Compressed memory image from which each run starts. */
export const image: Uint8Array = Deno.readFileSync(new URL("./fast.image", import.meta.url));

/** Names that are visible to actions, as JSON text. */
export const names: string = Deno.args[0]!;

/** Whether there is no other engine. */
export const alone = false;
