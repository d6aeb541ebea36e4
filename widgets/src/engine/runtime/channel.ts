/**
 * Frames between this process and its host, over standard input and output.
 *
 * A frame is two little-endian numbers of 32 bits (length of the JSON text, length of the bytes that follow it), the
 * text and the bytes. Towards the host each frame is preceded by the run's secret, 16 bytes that came with the job and
 * that only this module holds: what an action manages to write by itself is no answer.
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

// Taken here: `Deno` itself is out of an action's reach.
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

/** The frame that has arrived whole, else null. */
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
 * Goes through what `receiveSync` does with a frame, so that the first one is not the first time.
 *
 * @param json Its JSON text; the bytes that come with it are those of a secret, all zero.
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

/** Waits for a frame without an event loop: a spare that nobody needs costs no CPU. Null when the host is gone. */
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
 * The answer is out, and the host is about to end this process. Until then it shall not take the core on which the host
 * was just woken, whatever the action has left behind. Where a read is pending already, it goes on as it was.
 */
export function rest(): void {
  if (!reading) reflectApply(readSync, stdin, [new Bytes(1)]);
}

/** The next frame, without keeping timers from running. Null when the host is gone. */
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

/** Tells the host that this spare is warm. Goes out before there is a secret. */
export function announce(): void {
  const greeting = new Buffer(1);
  new View(greeting).setUint8(0, 0x52);
  writeAll(greeting, 1);
}

export function setSecret(bytes: Uint8Array): void {
  bytesSet(secret, bytes);
}

/** Sends JSON text (made by the caller from primitive values, so that no `toJSON` runs) and bytes. */
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
/** Calls that the host has not answered yet, cancelled ones among them. */
const unanswered: Record<number, true> = createObject(null);
let unansweredCount = 0;
let lastCall = 0;
let reading = false;

/** Reads answers for as long as any are due: a pending read keeps the event loop from being empty. */
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

/** A call that the host answers. */
export interface Call {
  readonly id: number;
  readonly answer: Promise<Frame>;
}

/**
 * Asks the host.
 *
 * @param kind What is asked, a word of ours.
 * @param members JSON members after the first two, made from primitive values: `,"name":"value"`.
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

/** Forgets a call whose answer is not needed, and tells the host, which answers it all the same. */
export function cancel(id: number): void {
  if (waiting[id] === undefined) return;
  delete waiting[id];
  send(`{"kind":"cancel","id":${id}}`);
}
