/** Calls to the service from inside the realm. The surrounding process owns the real channel. */
import { ask } from "./host.ts";
import {
  createObject,
  Error,
  jsonParse,
  PromiseConstructor,
  RangeError,
  TypeError,
} from "../../runtime/primordials.ts";

export interface Frame {
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  readonly blob: Uint8Array<ArrayBuffer>;
}

interface Waiting {
  resolve(frame: Frame): void;
  reject(error: unknown): void;
}

export interface Call {
  readonly id: number;
  readonly answer: Promise<Frame>;
}

const waiting: Record<number, Waiting> = createObject(null);
let lastCall = 0;

/** Sends a frame. An end frame does not return. */
export function send(json: string, blob?: Uint8Array): void {
  ask("send", json, blob);
}

export function call(kind: string, members: string, blob?: Uint8Array): Call {
  const id = ++lastCall;
  const answer = new PromiseConstructor<Frame>((resolve: (frame: Frame) => void, reject: (error: unknown) => void) => {
    waiting[id] = { resolve, reject };
  });
  send(`{"kind":"${kind}","id":${id}${members}}`, blob);
  return { id, answer };
}

export function cancel(id: number): void {
  if (waiting[id] === undefined) return;
  delete waiting[id];
  send(`{"kind":"cancel","id":${id}}`);
}

/** Receives a response. The process calls this function. */
export function settle(id: number, body: string, blob: Uint8Array<ArrayBuffer>): void {
  const caller = waiting[id];
  if (caller === undefined) return;
  delete waiting[id];
  const parsed = jsonParse(body);
  const { error } = parsed;
  if (error === undefined) caller.resolve({ body: parsed, blob });
  else caller.reject(named(error.name, error.message));
}

function named(name: string, message: string): Error {
  if (name === "TypeError") return new TypeError(message);
  if (name === "RangeError") return new RangeError(message);
  const error = new Error(message);
  if (name !== "Error") error.name = name;
  return error;
}
