/** Globals of an action: the language and the web interfaces of the service, without access to the host. */
import { defineProperty } from "./primordials.ts";

/**
 * Interfaces beyond the language that actions can use. The bootstrap removes all other own properties of the global
 * object.
 */
export const WEB = `
  AbortController AbortSignal Blob ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy Crypto CryptoKey
  CustomEvent DOMException DecompressionStream ErrorEvent Event EventTarget File FileReader FormData Headers
  MessageChannel MessageEvent MessagePort Performance PerformanceEntry PerformanceMark PerformanceMeasure
  ProgressEvent PromiseRejectionEvent QuotaExceededError ReadableByteStreamController ReadableStream
  ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController ReadableStreamDefaultReader
  Request Response SubtleCrypto TextDecoder TextDecoderStream TextEncoder TextEncoderStream TransformStream
  TransformStreamDefaultController URL URLPattern URLSearchParams WebAssembly WritableStream
  WritableStreamDefaultController WritableStreamDefaultWriter atob btoa clearInterval clearTimeout console crypto
  performance queueMicrotask self setInterval setTimeout structuredClone
`;

export const LANGUAGE = `
  AggregateError Array ArrayBuffer AsyncDisposableStack Atomics BigInt BigInt64Array BigUint64Array Boolean DataView Date
  DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity Int16Array
  Int32Array Int8Array Intl Iterator JSON Map Math NaN Number Object Promise Proxy RangeError ReferenceError Reflect
  RegExp Set SharedArrayBuffer String SuppressedError Symbol SyntaxError Temporal TypeError URIError Uint16Array
  Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt undefined unescape
`;

/** Removes all globals that are not on the lists, and defines the replacements that actions expect. */
export function arrangeGlobals(): void {
  const refusals = denoRefusals();
  const kept = new Set([...WEB.split(/\s+/), ...LANGUAGE.split(/\s+/)]);
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!kept.has(name) && !Reflect.deleteProperty(globalThis, name)) {
      throw new Error(`the global ${name} cannot be removed`);
    }
  }
  define("global", globalThis);
  define("Worker", undefined);
  define("Deno", refusals);
  for (const name of ["localStorage", "sessionStorage"]) {
    defineProperty(globalThis, name, {
      get() {
        throw new DOMException(`${name} is not supported in actions`, "NotSupportedError");
      },
      enumerable: true,
      configurable: true,
    });
  }
}

function define(name: string, value: unknown): void {
  defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

/** Members of `Deno` that actions can try to use, by the access that they would need. */
const REFUSED: Readonly<Record<string, string>> = {
  read: "readFile readFileSync readTextFile readTextFileSync readDir readDirSync readLink readLinkSync realPath " +
    "realPathSync stat statSync lstat lstatSync open openSync cwd watchFs",
  write:
    "writeFile writeFileSync writeTextFile writeTextFileSync mkdir mkdirSync remove removeSync rename renameSync " +
    "copyFile copyFileSync create createSync truncate truncateSync chmod chmodSync symlink symlinkSync link linkSync " +
    "makeTempDir makeTempDirSync makeTempFile makeTempFileSync chdir",
  net:
    "listen listenTls listenDatagram connect connectTls connectQuic serve resolveDns createHttpClient upgradeWebSocket",
  run: "run kill Command spawn exit",
  ffi: "dlopen",
  sys: "hostname loadavg networkInterfaces osRelease osUptime systemMemoryInfo uid gid memoryUsage execPath",
};

function denoRefusals(): object {
  const { NotCapable, PermissionDenied } = Deno.errors;
  const refuse = (name: string, access: string) => {
    throw new NotCapable(`Deno.${name} requires ${access} access, which actions do not have`);
  };
  const facade: Record<string, unknown> = { errors: { NotCapable, PermissionDenied } };
  for (const [access, names] of Object.entries(REFUSED)) {
    for (const name of names.split(" ")) {
      facade[name] = function () {
        refuse(name, access);
      };
    }
  }
  const env: Record<string, unknown> = {};
  for (const name of ["get", "set", "has", "delete", "toObject"]) {
    env[name] = () => refuse(`env.${name}`, "env");
  }
  facade.env = Object.freeze(env);
  return Object.freeze(facade);
}
