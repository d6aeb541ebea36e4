/** Input of a `fast` engine's worker, which the first message contains. */
export interface Shipped {
  readonly names: string;
  readonly image: Uint8Array<ArrayBuffer>;
  readonly quickjs: Uint8Array<ArrayBuffer>;
  readonly secp256k1: Uint8Array<ArrayBuffer>;
}

const found = await new Promise<Shipped>((resolve) => {
  addEventListener("message", ({ data }) => resolve(data as Shipped), { once: true });
});

export const { image, names } = found;
export const alone = true;
export const quickjs = await WebAssembly.compile(found.quickjs);
export const secp256k1 = await WebAssembly.compile(found.secp256k1);
