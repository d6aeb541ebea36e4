/**
 * QuickJS-ng in WebAssembly (the binary of npm `quickjs-wasi`), with the functions that runs of actions need.
 *
 * Values of the engine are addresses in its linear memory. The host never frees them, because it overwrites the whole
 * memory before the next run.
 */

/** Used exports of the binary. All numbers except lengths are addresses. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  readonly __stack_pointer: WebAssembly.Global<"i32">;
  _initialize(): void;
  wasm_malloc(size: number): number;
  wasm_free(at: number): void;
  qjs_init(): number;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_promise_rejection_handler(on: number): void;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_gc_threshold(bytes: number): void;
  qjs_run_gc(): void;
  qjs_eval(code: number, length: number, file: number, flags: number): number;
  qjs_compile(code: number, length: number, file: number, flags: number, how: number, size: number): number;
  qjs_eval_bytecode(code: number, length: number): number;
  qjs_call(f: number, self: number, count: number, list: number): number;
  qjs_get_global(): number;
  qjs_get_undefined(): number;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_set_prop_string(object: number, name: number, value: number): number;
  qjs_new_host_function(name: number, length: number, count: number): number;
  qjs_new_string(text: number, length: number): number;
  qjs_new_number(value: number): number;
  qjs_new_uint8_array(data: number, length: number): number;
  qjs_get_typed_array_buffer(value: number, offset: number, length: number, element: number): number;
  qjs_get_array_buffer(value: number, length: number): number;
  qjs_get_string_len(value: number, length: number): number;
  qjs_get_float64(value: number): number;
  qjs_get_bool(value: number): number;
  qjs_get_class_name(value: number): number;
  qjs_is_exception(value: number): number;
  qjs_is_proxy(value: number): number;
  qjs_is_undefined(value: number): number;
  qjs_get_exception(): number;
  qjs_throw(value: number): number;
  qjs_get_value_ptr(value: number): number;
  qjs_execute_pending_job(): number;
}

/** Address of a value of the engine. */
export type Value = number;

/** Functions that the engine calls in its host. An exception from any of these unwinds the engine and ends the run. */
export interface Host {
  /** Handles a call of a function from `hostFunction`. If it returns null, the engine throws the value from `raise`. */
  call(name: string, args: readonly Value[]): Value | null;
  /** Called at intervals while code runs. */
  interrupt(): void;
  /** Called when a promise rejects without a handler, or when it receives a handler later. */
  rejection(promise: number, reason: Value, handled: boolean): void;
}

/** Memory content from which runs start. */
export interface Image {
  /** Number of zero bytes at the beginning, which are most of the stack. `memory` does not contain them. */
  readonly zeros: number;
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly stackPointer: number;
}

/** Returns the total memory size of an image, in bytes. */
export function sizeOf({ zeros, memory }: Image): number {
  return zeros + memory.length;
}

const PAGE = 65536;
const STACK_BYTES = 960 * 1024;
// The image alone is larger than QuickJS's default threshold, so garbage collection would run continuously.
const COLLECT_BYTES = 32 * 2 ** 20;
const STRIP_SOURCE = 16; // flag of `qjs_compile`

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Exception that no code inside the engine caught. */
export class Thrown extends Error {
  readonly value: Value;

  constructor(value: Value, text: string) {
    super(text);
    this.value = value;
  }
}

export class Vm {
  /** Host of the engine. Set this property before any code runs. */
  host: Host | null = null;
  #exports: Exports;
  #bytes: Uint8Array<ArrayBuffer>;

  constructor(module: WebAssembly.Module) {
    const memory = () => this.#view();
    const instance = new WebAssembly.Instance(module, {
      env: {
        host_call: (name: number, length: number, _self: Value, count: number, list: number) =>
          this.host!.call(this.#ascii(name, length), this.#list(list, count)) ?? 0,
        host_interrupt: () => {
          this.host!.interrupt();
          return 0;
        },
        host_promise_rejection: (promise: Value, reason: Value, handled: number) =>
          this.host!.rejection(this.#exports.qjs_get_value_ptr(promise), reason, handled !== 0),
        host_get_timezone_offset: () => 0,
        host_module_normalize: () => 0,
        host_module_load: () => 0,
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, out: number) => {
          new DataView(memory().buffer).setBigUint64(out, BigInt(Date.now()) * 1_000_000n, true);
          return 0;
        },
        random_get: (at: number, length: number) => {
          crypto.getRandomValues(memory().subarray(at, at + length));
          return 0;
        },
        fd_close: () => 52,
        fd_fdstat_get: () => 8,
        fd_seek: () => 52,
        fd_write: () => 8,
      },
    });
    this.#exports = instance.exports as unknown as Exports;
    this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer);
  }

  /** Starts the engine with an empty realm. */
  initialize(): void {
    this.#exports._initialize();
    if (this.#exports.qjs_init() !== 0) throw new Error("the engine does not start");
    this.#exports.qjs_set_max_stack_size(STACK_BYTES);
    this.#exports.qjs_set_gc_threshold(COLLECT_BYTES);
    this.#exports.qjs_set_interrupt_handler(1);
    this.#exports.qjs_set_promise_rejection_handler(1);
  }

  /** Returns the current content of the whole memory. */
  snapshot(): Image {
    const bytes = this.#view();
    const words = new Int32Array(bytes.buffer);
    let zeros = 0;
    while (words[zeros] === 0) zeros++;
    const memory = bytes.slice(zeros * words.BYTES_PER_ELEMENT);
    return { zeros: bytes.length - memory.length, memory, stackPointer: this.#exports.__stack_pointer.value };
  }

  /** Restores the memory. Sets all bytes beyond the image to zero. */
  restore(image: Image): void {
    const missing = sizeOf(image) - this.#view().length;
    if (missing > 0) this.#exports.memory.grow(Math.ceil(missing / PAGE));
    const bytes = this.#view();
    bytes.fill(0, 0, image.zeros);
    bytes.set(image.memory, image.zeros);
    if (bytes.length > sizeOf(image)) bytes.fill(0, sizeOf(image));
    this.#exports.__stack_pointer.value = image.stackPointer;
  }

  /** Releases the memory, even if other code still refers to this object. Do not use the object afterwards. */
  drop(): void {
    this.host = null;
    this.#exports = null as unknown as Exports;
    this.#bytes = new Uint8Array();
  }

  /** Total memory size in bytes. The memory never shrinks. */
  get size(): number {
    return this.#view().length;
  }

  /** Limits the allocated memory to a number of bytes. */
  limit(bytes: number): void {
    this.#exports.qjs_set_memory_limit(bytes);
  }

  collect(): void {
    this.#exports.qjs_run_gc();
  }

  /**
   * Runs a script in the global scope.
   *
   * @throws {Thrown} The script threw an exception.
   */
  evaluate(source: string, file: string): Value {
    const [code, length] = this.#put(encoder.encode(source));
    const value = this.#exports.qjs_eval(code, length, this.#name(file), 0);
    this.#exports.wasm_free(code);
    return this.#checked(value);
  }

  /**
   * Compiles a script for `run`. Its functions have no source text.
   *
   * @throws {Thrown} The script has a syntax error.
   */
  compile(source: string, file: string): Uint8Array {
    const [text, length] = this.#put(encoder.encode(source));
    const out = this.#exports.wasm_malloc(4);
    const code = this.#exports.qjs_compile(text, length, this.#name(file), 0, STRIP_SOURCE, out);
    if (code === 0) throw new Thrown(this.#exports.qjs_get_exception(), "a script that does not parse");
    const size = new DataView(this.#view().buffer).getUint32(out, true);
    return this.#view().slice(code, code + size);
  }

  /** Runs code that the same build of the engine compiled. @throws {Thrown} The code threw an exception. */
  run(code: Uint8Array): Value {
    const [at, length] = this.#put(code);
    const value = this.#exports.qjs_eval_bytecode(at, length);
    this.#exports.wasm_free(at);
    return this.#checked(value);
  }

  /** @throws {Thrown} The function threw an exception. */
  call(f: Value, ...args: Value[]): Value {
    const list = this.#exports.wasm_malloc(4 * Math.max(1, args.length));
    const view = new DataView(this.#view().buffer);
    args.forEach((value, i) => view.setUint32(list + 4 * i, value, true));
    return this.#checked(this.#exports.qjs_call(f, this.undefined, args.length, list));
  }

  /** Runs all microtasks until none is left. `failed` receives their exceptions. */
  drain(failed: (error: Value) => void): void {
    for (let more = 1; more !== 0;) {
      more = this.#exports.qjs_execute_pending_job();
      if (more < 0) failed(this.#exports.qjs_get_exception());
    }
  }

  get undefined(): Value {
    return this.#exports.qjs_get_undefined();
  }

  get global(): Value {
    return this.#exports.qjs_get_global();
  }

  member(object: Value, name: string): Value {
    return this.#checked(this.#exports.qjs_get_prop_string(object, this.#name(name)));
  }

  setMember(object: Value, name: string, value: Value): void {
    this.#exports.qjs_set_prop_string(object, this.#name(name), value);
  }

  hostFunction(name: string, count: number): Value {
    return this.#exports.qjs_new_host_function(this.#name(name), name.length, count);
  }

  newString(text: string): Value {
    const [at, length] = this.#put(encoder.encode(text));
    const value = this.#exports.qjs_new_string(at, length);
    this.#exports.wasm_free(at);
    return value;
  }

  newNumber(value: number): Value {
    return this.#exports.qjs_new_number(value);
  }

  newBytes(data: Uint8Array): Value {
    const [at, length] = this.#put(data);
    return this.#exports.qjs_new_uint8_array(at, length);
  }

  /** Returns the text of a string. Replaces unpaired surrogates with U+FFFD. */
  text(value: Value): string {
    const out = this.#exports.wasm_malloc(4);
    const at = this.#exports.qjs_get_string_len(value, out);
    const length = new DataView(this.#view().buffer).getUint32(out, true);
    return decoder.decode(this.#view().subarray(at, at + length));
  }

  number(value: Value): number {
    return this.#exports.qjs_get_float64(value);
  }

  /** Returns a view of the bytes of a typed array. The view is valid until the engine allocates memory. */
  bytes(value: Value): Uint8Array<ArrayBuffer> {
    const out = this.#exports.wasm_malloc(16);
    const buffer = this.#exports.qjs_get_typed_array_buffer(value, out, out + 4, out + 8);
    const data = this.#exports.qjs_get_array_buffer(buffer, out + 12);
    const view = new DataView(this.#view().buffer);
    const from = data + view.getUint32(out, true);
    return this.#view().subarray(from, from + view.getUint32(out + 4, true));
  }

  /** Returns a view of the memory. The view is valid until the engine allocates memory. */
  memory(at: number, length: number): Uint8Array<ArrayBuffer> {
    return this.#view().subarray(at, at + length);
  }

  truth(value: Value): boolean {
    return this.#exports.qjs_get_bool(value) === 1;
  }

  isUndefined(value: Value): boolean {
    return this.#exports.qjs_is_undefined(value) === 1;
  }

  isProxy(value: Value): boolean {
    return this.#exports.qjs_is_proxy(value) === 1;
  }

  /** Returns the engine's internal name for the kind of an object. */
  className(value: Value): Value {
    return this.#exports.qjs_get_class_name(value);
  }

  /** Sets the exception of the current host function, which must then return null. */
  raise(value: Value): null {
    this.#exports.qjs_throw(value);
    return null;
  }

  #checked(value: Value): Value {
    if (value === 0) throw new RangeError("out of memory");
    if (this.#exports.qjs_is_exception(value) === 0) return value;
    const error = this.#exports.qjs_get_exception();
    throw new Thrown(error, "an exception inside the engine");
  }

  #view(): Uint8Array<ArrayBuffer> {
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer); // grown
    return this.#bytes;
  }

  /** Copies bytes into the engine's memory, followed by a zero byte. */
  #put(data: Uint8Array): [at: number, length: number] {
    const at = this.#exports.wasm_malloc(data.length + 1);
    if (at === 0) throw new RangeError("out of memory");
    const bytes = this.#view();
    bytes.set(data, at);
    bytes[at + data.length] = 0;
    return [at, data.length];
  }

  #name(text: string): number {
    return this.#put(encoder.encode(text))[0];
  }

  #ascii(at: number, length: number): string {
    const bytes = this.#view();
    let text = "";
    for (let i = at; i < at + length; i++) text += String.fromCharCode(bytes[i]!);
    return text;
  }

  #list(at: number, count: number): Value[] {
    const view = new DataView(this.#view().buffer);
    return Array.from({ length: count }, (_, i) => view.getUint32(at + 4 * i, true));
  }
}
