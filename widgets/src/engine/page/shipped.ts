/** Input of a `fast` engine's worker, which the first message contains. Gzip can compress each file. */
export interface Shipped {
  readonly names: string;
  readonly image: Uint8Array<ArrayBuffer>;
  readonly quickjs: Uint8Array<ArrayBuffer>;
  readonly secp256k1: Uint8Array<ArrayBuffer>;
}

const found = await new Promise<Shipped>((resolve) => {
  addEventListener("message", ({ data }) => resolve(data as Shipped), { once: true });
});

export const { names } = found;
export const alone = true;
export const image = await decompressed(found.image);
export const quickjs = await WebAssembly.compile(await decompressed(found.quickjs));
export const secp256k1 = await WebAssembly.compile(await decompressed(found.secp256k1));

async function decompressed(file: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  if (file[0] !== 0x1f || file[1] !== 0x8b) return file;
  const stream = new Blob([file]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
