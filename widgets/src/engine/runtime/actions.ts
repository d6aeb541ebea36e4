/** Namespace of the service inside an action: `Svc.Actions`, `Svc.Auth`, `Svc.Headers` and their short names. */
import { bounded } from "./call_limits.ts";
import { call } from "./channel.ts";
import type { Imported } from "./imports.ts";
import type { Names } from "./job.ts";
import {
  defineProperty,
  freeze,
  jsonStringify,
  promiseThen,
  RangeError,
  reflectApply,
  stringTrim,
  TypeError,
} from "./primordials.ts";
import type { Responses } from "./response.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** Returns a required string argument. Rejects a blank string before any call to the host. */
function text(from: Arguments | undefined, name: string, of: string, blank: "allowed" | "refused" = "refused"): string {
  const value = from === undefined || from === null ? undefined : from[name];
  if (typeof value !== "string") {
    throw new TypeError(`${of} needs {${name}} as a string, got ${value === null ? "null" : typeof value}`);
  }
  if (blank === "refused" && stringTrim(value) === "") throw new RangeError(`${of}: ${name} must not be blank`);
  return value;
}

function ask(kind: string, members: string): Promise<string> {
  return promiseThen(call(kind, bounded(members, "Actions")).answer, (frame) => frame.body.value) as unknown as Promise<
    string
  >;
}

export interface Namespace {
  readonly actions: object;
  readonly auth: object;
  readonly headers: Headers;
}

/** Creates the objects of the namespace. All of them except the headers are immutable. */
export function makeNamespace(names: Names, responses: Responses, imported: () => readonly Imported[]): Namespace {
  const actions = freeze({
    Encrypt: async (args: Arguments) => {
      const pkpId = text(args, "pkpId", "Encrypt");
      const message = text(args, "message", "Encrypt");
      return await ask("encrypt", `,"pkpId":${jsonStringify(pkpId)},"message":${jsonStringify(message)}`);
    },
    Decrypt: async (args: Arguments) => {
      const pkpId = text(args, "pkpId", "Decrypt");
      const ciphertext = text(args, "ciphertext", "Decrypt");
      return await ask("decrypt", `,"pkpId":${jsonStringify(pkpId)},"ciphertext":${jsonStringify(ciphertext)}`);
    },
    [names.privateKey]: async (args: Arguments) => {
      return await ask("wallet_key", `,"pkpId":${jsonStringify(text(args, "pkpId", names.privateKey))}`);
    },
    [names.actionPrivateKey]: async () => await ask("action_key", ""),
    [names.actionPublicKey]: async (args: Arguments) => {
      return await ask("action_public_key", `,"ipfsId":${jsonStringify(text(args, "ipfsId", names.actionPublicKey))}`);
    },
    [names.actionWalletAddress]: async (args: Arguments) => {
      const ipfsId = text(args, "ipfsId", names.actionWalletAddress);
      return await ask("action_address", `,"ipfsId":${jsonStringify(ipfsId)}`);
    },
    setResponse: ({ response }: { response?: unknown }): void => {
      responses.store(response);
    },
    showImportDetails: () => imported(),
  });
  return { actions, auth: freeze({}), headers: readOnlyHeaders() };
}

/** Defines the namespace on the global object. An action cannot replace the namespace. */
export function installNamespace(names: Names, { actions, auth, headers }: Namespace): void {
  hold(names.namespace, freeze({ Actions: actions, Auth: auth, Headers: headers }));
  hold(names.actions, actions);
  hold(names.auth, auth);
  hold(names.headers, headers);
}

function hold(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: false, enumerable: true, configurable: false });
}

const setHeader = Headers.prototype.set;

/** Sets the headers of a namespace. Call this function before the action runs. */
export function fillHeaders({ headers }: Namespace, values: Readonly<Record<string, string>>): void {
  for (const name in values) reflectApply(setHeader, headers, [name, values[name]]);
  lock(headers);
}

/**
 * Makes headers immutable, even for `Headers.prototype.set.call`. Deno stores names, values and its guard in symbol
 * properties, which an action can find. The `fast` engine keeps these properties private and checks whether the object
 * is frozen.
 */
function lock(headers: Headers): void {
  const of = headers as unknown as Record<symbol, unknown>;
  const state = Object.getOwnPropertySymbols(headers);
  if (state.length === 0) {
    freeze(headers);
    return;
  }
  for (const key of state) if (key.description === "guard") of[key] = "immutable";
  for (const _ of headers) break; // creates the cache of the iteration, which the next steps also lock
  for (const key of Object.getOwnPropertySymbols(headers)) {
    defineProperty(headers, key, { value: deepFrozen(of[key]), writable: false, configurable: false });
  }
}

function deepFrozen(value: unknown): unknown {
  if (Array.isArray(value)) {
    for (const member of value) deepFrozen(member);
    freeze(value);
  }
  return value;
}

/** Creates read-only headers. Does not freeze them, because Deno stores a cache on the object during an iteration. */
function readOnlyHeaders(): Headers {
  const headers = new Headers();
  for (const name of ["append", "delete", "set"]) {
    defineProperty(headers, name, {
      value() {
        throw new TypeError("Headers are read-only");
      },
    });
  }
  return headers;
}
