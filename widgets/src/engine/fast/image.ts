/**
 * Creates the image from which each process of the `fast` engine starts. The image contains QuickJS after the
 * evaluation of ethers and all interfaces. This module runs during the build of the package.
 */
import { LANGUAGE, WEB as WEB_NAMES } from "../runtime/globals.ts";
import type { Entries } from "./execution.ts";
import { OWN_FILE } from "../own_file.ts";
import { DEFINITION } from "./spread_name.ts";
import { Thrown, Vm } from "./vm.ts";
import type { Host, Image, Value } from "./vm.ts";
import { TYPED_ARRAY } from "./typed_array.ts";
import { WEB } from "./web.ts";

const MAILBOX_BYTES = 1 << 14;
const HEADER = 4;

type Member = [name: string, enumerable: 0 | 1, length: number];

function members(owner: object): Member[] {
  return Object.entries(Object.getOwnPropertyDescriptors(owner)).map(([name, { value, enumerable }]) => [
    name,
    enumerable ? 1 : 0,
    typeof value === "function" ? value.length : -1,
  ]);
}

/** Returns the own members of all built-ins of V8, in order. Members that QuickJS does not have become traps. */
function shapes(): object {
  const found: Record<string, object> = {};
  // deno-lint-ignore no-explicit-any
  const realm = globalThis as any;
  for (const name of [...LANGUAGE.trim().split(/\s+/), ...WEB_NAMES.trim().split(/\s+/), TYPED_ARRAY]) {
    const value = name === TYPED_ARRAY ? Object.getPrototypeOf(Uint8Array) : realm[name];
    if (/^[a-z]/.test(name)) continue; // not a class
    if ((typeof value !== "object" && typeof value !== "function") || value === null || value === realm) continue;
    found[name] = {
      statics: members(value),
      members: value.prototype === undefined ? null : members(value.prototype),
    };
  }
  return found;
}

/** Host for the evaluation of libraries. The libraries need only a logarithm from the host. */
class Maker implements Host {
  readonly #vm: Vm;

  constructor(vm: Vm) {
    this.#vm = vm;
  }

  call(name: string, args: readonly Value[]): Value {
    const [asked, ...texts] = args.map((value) => this.#vm.text(value));
    if (name !== "ask" || asked !== "math") {
      throw new Error(`the image called its host during its creation: ${name} ${asked} ${texts.join(" ")}`);
    }
    return this.#vm.newString(JSON.stringify({ value: WEB.math!(...texts) }));
  }

  interrupt(): void {}

  rejection(): never {
    throw new Error("a promise was rejected during the creation of the image");
  }
}

/** Compiles the bundle of the realm in a separate engine, so that the image contains no remains of the compilation. */
function compiled(module: WebAssembly.Module, realm: string): Uint8Array {
  const vm = new Vm(module);
  vm.host = new Maker(vm);
  vm.initialize();
  return vm.compile(realm, OWN_FILE);
}

/** Evaluates the bundle of the realm and returns the image file. */
export function makeImage(module: WebAssembly.Module, realm: string): Uint8Array {
  const vm = new Vm(module);
  vm.host = new Maker(vm);
  vm.initialize();
  const hosts: readonly [name: string, count: number][] = [
    ["ask", 1],
    ["compute", 2],
    ["encode", 1],
    ["decode", 4],
    ["brand", 1],
  ];
  const host = vm.evaluate("globalThis.__host = {}", OWN_FILE);
  for (const [name, count] of hosts) vm.setMember(host, name, vm.hostFunction(name, count));
  vm.setMember(vm.global, "__evaluate", vm.hostFunction("evaluate", 1));
  vm.evaluate(`globalThis.__shapes = ${JSON.stringify(shapes())}`, OWN_FILE);
  vm.evaluate(`globalThis.__order = ${JSON.stringify(Object.keys(globalThis))}`, OWN_FILE);
  const mailbox = vm.evaluate(
    `new Uint8Array(globalThis.__mailbox = new ArrayBuffer(${MAILBOX_BYTES}))`,
    OWN_FILE,
  );
  const place = vm.bytes(mailbox).byteOffset;
  vm.evaluate(DEFINITION, OWN_FILE);
  let entry: Value;
  try {
    vm.run(compiled(module, realm));
    entry = vm.member(vm.global, "__entry");
    vm.evaluate("delete globalThis.__entry", OWN_FILE);
  } catch (error) {
    if (error instanceof Thrown) throw new Error(`the image: ${vm.text(error.value)}`);
    throw error;
  }
  const entries: Entries = {
    prepare: vm.member(entry, "prepare"),
    start: vm.member(entry, "start"),
    settle: vm.member(entry, "settle"),
    fire: vm.member(entry, "fire"),
    stray: vm.member(entry, "stray"),
    finish: vm.member(entry, "finish"),
    mailbox: place,
    mailboxBytes: MAILBOX_BYTES,
  };
  vm.collect();
  const { zeros, memory, stackPointer } = vm.snapshot();
  const head = new TextEncoder().encode(JSON.stringify({ zeros, stackPointer, entries }));
  const file = new Uint8Array(HEADER + head.length + memory.length);
  new DataView(file.buffer).setUint32(0, head.length, true);
  file.set(head, HEADER);
  file.set(memory, HEADER + head.length);
  return file;
}

/** Reads an image file from `makeImage`. */
export function readImage(file: Uint8Array<ArrayBuffer>): { image: Image; entries: Entries } {
  const length = new DataView(file.buffer, file.byteOffset).getUint32(0, true);
  const { zeros, stackPointer, entries } = JSON.parse(new TextDecoder().decode(file.subarray(HEADER, HEADER + length)));
  return { image: { zeros, memory: file.subarray(HEADER + length), stackPointer }, entries };
}
