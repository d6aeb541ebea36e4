/** Frames between a worker and the page with the service, sent as messages. See `runtime/channel.ts`. */
import "./shipped.ts"; // receives the first message, which is not a frame

export interface Frame {
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly blob: Uint8Array<ArrayBuffer>;
}

const HEADER = 8;
const SECRET = 16;
const READY = 0x52;

const post = postMessage.bind(globalThis) as (bytes: Uint8Array, moved: ArrayBuffer[]) => void;
const secret = new Uint8Array(SECRET);
const frames: Frame[] = [];
let input = new Uint8Array();
let wake: (() => void) | null = null;

/** Collects received bytes. A message can contain parts of several frames. */
function take(bytes: Uint8Array<ArrayBuffer>): void {
  const joined = new Uint8Array(input.length + bytes.length);
  joined.set(input);
  joined.set(bytes, input.length);
  input = joined;
  while (input.length >= HEADER) {
    const header = new DataView(input.buffer, input.byteOffset);
    const [jsonLength, blobLength] = [header.getUint32(0, true), header.getUint32(4, true)];
    const begin = HEADER + jsonLength;
    if (input.length < begin + blobLength) return;
    const body = JSON.parse(new TextDecoder().decode(input.subarray(HEADER, begin)));
    frames.push({ body, blob: input.slice(begin, begin + blobLength) });
    input = input.subarray(begin + blobLength);
  }
}

addEventListener("message", ({ data }) => {
  take(data as Uint8Array<ArrayBuffer>);
  wake?.();
});

export async function receive(): Promise<Frame | null> {
  while (frames.length === 0) await new Promise<void>((resolve) => wake = resolve);
  return frames.shift()!;
}

/** Same as `receive`, because a worker cannot wait without its event loop. */
export const receiveSync = receive;

function write(bytes: Uint8Array<ArrayBuffer>): void {
  post(bytes, [bytes.buffer]);
}

export function announce(): void {
  write(new Uint8Array([READY]));
}

export function setSecret(bytes: Uint8Array): void {
  secret.set(bytes);
}

export function send(json: string, blob: Uint8Array = new Uint8Array()): void {
  const text = new TextEncoder().encode(json);
  const frame = new Uint8Array(SECRET + HEADER + text.length + blob.length);
  frame.set(secret);
  const header = new DataView(frame.buffer);
  header.setUint32(SECRET, text.length, true);
  header.setUint32(SECRET + 4, blob.length, true);
  frame.set(text, SECRET + HEADER);
  frame.set(blob, SECRET + HEADER + text.length);
  write(frame);
}

/** Never called, because the code in the image makes the calls. */
export function call(): never {
  throw new Error("only code inside the image can call the service");
}
