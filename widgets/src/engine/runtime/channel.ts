/**
 * Frames between this process and its host, over standard input and output.
 *
 * A frame consists of two little-endian 32-bit numbers, a JSON text and a binary part. The numbers are the lengths of
 * the text and of the binary part. Each frame to the host starts with the run's 16-byte secret, which the job contains
 * and only this module can read. The host therefore ignores bytes that an action writes itself.
 */
import {
  Buffer,
  Bytes,
  bytesLength,
  bytesSet,
  createObject,
  decode,
  encode,
  Error,
  jsonParse,
  PromiseConstructor,
  promiseThen,
  reflectApply,
  View,
  viewGet,
  viewPut,
} from "./primordials.ts";

const HEADER = 8;
const SECRET = 16;

// Capture these members, because `Deno` is not accessible after the start of an action.
const { stdin, stdout } = Deno;
const { read, readSync } = stdin;
const { writeSync } = stdout;

const secret = new Bytes(SECRET);
let capacity = 1 << 16;
let input = new Buffer(capacity);
let filled = 0;

export interface Frame {
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly blob: Uint8Array<ArrayBuffer>;
}

function enlarge(wanted: number): void {
  const larger = new Buffer(wanted);
  bytesSet(new Bytes(larger), new Bytes(input, 0, filled));
  input = larger;
  capacity = wanted;
}

/** Returns the next complete frame, or null. */
function takeFrame(): Frame | null {
  if (filled < HEADER) return null;
  const header = new View(input);
  const jsonLength = viewGet(header, 0, true);
  const blobLength = viewGet(header, 4, true);
  const total = HEADER + jsonLength + blobLength;
  if (filled < total) {
    if (capacity < total) enlarge(total);
    return null;
  }
  const body = jsonParse(decode(new Bytes(input, HEADER, jsonLength)));
  const blob = new Bytes(blobLength);
  bytesSet(blob, new Bytes(input, HEADER + jsonLength, blobLength));
  bytesSet(new Bytes(input), new Bytes(input, total, filled - total));
  filled -= total;
  return { body, blob };
}

/**
 * Executes the steps of `receiveSync` with a frame, to warm up their code.
 *
 * @param json JSON text of the frame. Its binary part is a secret of zero bytes.
 */
export function rehearseReceiving(json: string): void {
  const text = encode(json);
  const header = new View(input);
  viewPut(header, 0, bytesLength(text), true);
  viewPut(header, 4, SECRET, true);
  bytesSet(new Bytes(input), text, HEADER);
  filled = HEADER + bytesLength(text) + SECRET;
  setSecret(takeFrame()!.blob);
}

/** Waits for a frame without an event loop, so an unused spare needs no CPU. Returns null if the host has exited. */
export function receiveSync(): Frame | null {
  for (;;) {
    const frame = takeFrame();
    if (frame !== null) return frame;
    const count = reflectApply(readSync, stdin, [new Bytes(input, filled)]) as number | null;
    if (count === null || count === 0) return null;
    filled += count;
  }
}

/**
 * Blocks this process after it has sent its result, until the host kills it. Otherwise, remaining work of the action
 * could use the core on which the host wakes up. If a read is already pending, the process continues normally.
 */
export function rest(): void {
  if (!reading) reflectApply(readSync, stdin, [new Bytes(1)]);
}

/** Returns the next frame, while timers can run. Returns null if the host has exited. */
export async function receive(): Promise<Frame | null> {
  for (;;) {
    const frame = takeFrame();
    if (frame !== null) return frame;
    const count = await reflectApply(read, stdin, [new Bytes(input, filled)]) as number | null;
    if (count === null) return null;
    filled += count;
  }
}

function writeAll(buffer: ArrayBuffer, length: number): void {
  let from = 0;
  while (from < length) {
    from += reflectApply(writeSync, stdout, [new Bytes(buffer, from)]) as number;
  }
}

/** Notifies the host that this spare is ready. At this time, the process has no secret yet. */
export function announce(): void {
  const greeting = new Buffer(1);
  new View(greeting).setUint8(0, 0x52);
  writeAll(greeting, 1);
}

export function setSecret(bytes: Uint8Array): void {
  bytesSet(secret, bytes);
}

/** Sends JSON text and bytes. The caller creates the text from primitive values, so that no `toJSON` runs. */
export function send(json: string, blob?: Uint8Array): void {
  const text = encode(json);
  const textLength = bytesLength(text);
  const blobLength = blob === undefined ? 0 : bytesLength(blob);
  const total = SECRET + HEADER + textLength + blobLength;
  const frame = new Buffer(total);
  const bytes = new Bytes(frame);
  bytesSet(bytes, secret);
  const header = new View(frame);
  viewPut(header, SECRET, textLength, true);
  viewPut(header, SECRET + 4, blobLength, true);
  bytesSet(bytes, text, SECRET + HEADER);
  if (blob !== undefined) bytesSet(bytes, blob, SECRET + HEADER + textLength);
  writeAll(frame, total);
}

interface Waiting {
  resolve(frame: Frame): void;
  reject(error: unknown): void;
}

const waiting: Record<number, Waiting> = createObject(null);
/** Calls without a response, including cancelled calls. */
const unanswered: Record<number, true> = createObject(null);
let unansweredCount = 0;
let lastCall = 0;
let reading = false;

/** Reads responses while any are pending. A pending read keeps the event loop alive. */
function pump(): void {
  if (reading || unansweredCount === 0) return;
  reading = true;
  if (filled === capacity) enlarge(capacity * 2);
  const arriving = reflectApply(read, stdin, [new Bytes(input, filled)]) as Promise<number | null>;
  promiseThen(arriving, (count) => {
    reading = false;
    if (count === null) return;
    filled += count;
    for (let frame = takeFrame(); frame !== null; frame = takeFrame()) settle(frame);
    pump();
  }, () => {});
}

function settle(frame: Frame): void {
  const { id, error } = frame.body;
  if (unanswered[id]) {
    delete unanswered[id];
    unansweredCount--;
  }
  const caller = waiting[id];
  if (caller === undefined) return;
  delete waiting[id];
  if (error === undefined) caller.resolve(frame);
  else caller.reject(named(error.name, error.message));
}

function named(name: string, message: string): Error {
  if (name === "TypeError") return new globalTypeError(message);
  if (name === "RangeError") return new globalRangeError(message);
  const error = new Error(message);
  if (name !== "Error") error.name = name;
  return error;
}

const globalTypeError = TypeError;
const globalRangeError = RangeError;

/** Pending call to the host. */
export interface Call {
  readonly id: number;
  readonly answer: Promise<Frame>;
}

/**
 * Calls the host.
 *
 * @param kind Kind of the call, a constant.
 * @param members JSON members after the first two, created from primitive values: `,"name":"value"`.
 */
export function call(kind: string, members: string, blob?: Uint8Array): Call {
  const id = ++lastCall;
  const answer = new PromiseConstructor<Frame>((resolve, reject) => {
    waiting[id] = { resolve, reject };
  });
  send(`{"kind":"${kind}","id":${id}${members}}`, blob);
  unanswered[id] = true;
  unansweredCount++;
  pump();
  return { id, answer };
}

/** Cancels a call and notifies the host, which still sends a response. */
export function cancel(id: number): void {
  if (waiting[id] === undefined) return;
  delete waiting[id];
  send(`{"kind":"cancel","id":${id}}`);
}
