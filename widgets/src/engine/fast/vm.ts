/**
 * QuickJS-ng in WebAssembly, as far as runs of actions need it (the binary of npm `quickjs-wasi`).
 *
 * Values of the engine are addresses in its linear memory. Nobody frees them: the whole memory is overwritten before
 * the next run.
 */

/** What the binary exports, as far as it is used; every number but a length is an address. */
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

/** The address of a value of the engine. */
export type Value = number;

/** What the engine asks of its host. An exception of any of these unwinds the engine: the run is over. */
export interface Host {
  /** A function made by `hostFunction` was called. Null throws what `raise` was given. */
  call(name: string, args: readonly Value[]): Value | null;
  /** Called now and then while code runs. */
  interrupt(): void;
  /** A promise was rejected that nobody handles, or one was handled after all. */
  rejection(promise: number, reason: Value, handled: boolean): void;
}

/** A memory to start runs from. */
export interface Image {
  /** Bytes that are zero at its beginning: most of the stack. They are not part of `memory`. */
  readonly zeros: number;
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly stackPointer: number;
}

/** Bytes of the whole memory of an image. */
export function sizeOf({ zeros, memory }: Image): number {
  return zeros + memory.length;
}

const PAGE = 65536;
const STACK_BYTES = 960 * 1024;
// The image alone is larger than QuickJS's own threshold: collecting it again and again would be all it does.
const COLLECT_BYTES = 32 * 2 ** 20;
const STRIP_SOURCE = 16; // of `qjs_compile`

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** An exception of the engine that nobody inside it caught. */
export class Thrown extends Error {
  readonly value: Value;

  constructor(value: Value, text: string) {
    super(text);
    this.value = value;
  }
}

export class Vm {
  /** Who is asked; set before anything runs. */
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

  /** All of the memory as it is now. */
  snapshot(): Image {
    const bytes = this.#view();
    const words = new Int32Array(bytes.buffer);
    let zeros = 0;
    while (words[zeros] === 0) zeros++;
    const memory = bytes.slice(zeros * words.BYTES_PER_ELEMENT);
    return { zeros: bytes.length - memory.length, memory, stackPointer: this.#exports.__stack_pointer.value };
  }

  /** Puts the memory back; what lies beyond the image becomes zero. */
  restore(image: Image): void {
    const missing = sizeOf(image) - this.#view().length;
    if (missing > 0) this.#exports.memory.grow(Math.ceil(missing / PAGE));
    const bytes = this.#view();
    bytes.fill(0, 0, image.zeros);
    bytes.set(image.memory, image.zeros);
    if (bytes.length > sizeOf(image)) bytes.fill(0, sizeOf(image));
    this.#exports.__stack_pointer.value = image.stackPointer;
  }

  /** Lets go of the memory, whoever still holds this object. It is of no use afterwards. */
  drop(): void {
    this.host = null;
    this.#exports = null as unknown as Exports;
    this.#bytes = new Uint8Array();
  }

  /** Bytes of the whole memory. It never shrinks. */
  get size(): number {
    return this.#view().length;
  }

  /** Refuses allocations past so many bytes in use. */
  limit(bytes: number): void {
    this.#exports.qjs_set_memory_limit(bytes);
  }

  collect(): void {
    this.#exports.qjs_run_gc();
  }

  /**
   * Runs a script in the global scope.
   *
   * @throws {Thrown} It threw.
   */
  evaluate(source: string, file: string): Value {
    const [code, length] = this.#put(encoder.encode(source));
    const value = this.#exports.qjs_eval(code, length, this.#name(file), 0);
    this.#exports.wasm_free(code);
    return this.#checked(value);
  }

  /**
   * Compiles a script for `run`. Its functions have no text of their own.
   *
   * @throws {Thrown} It does not parse.
   */
  compile(source: string, file: string): Uint8Array {
    const [text, length] = this.#put(encoder.encode(source));
    const out = this.#exports.wasm_malloc(4);
    const code = this.#exports.qjs_compile(text, length, this.#name(file), 0, STRIP_SOURCE, out);
    if (code === 0) throw new Thrown(this.#exports.qjs_get_exception(), "a script that does not parse");
    const size = new DataView(this.#view().buffer).getUint32(out, true);
    return this.#view().slice(code, code + size);
  }

  /** Runs what the same build of the engine compiled. @throws {Thrown} It threw. */
  run(code: Uint8Array): Value {
    const [at, length] = this.#put(code);
    const value = this.#exports.qjs_eval_bytecode(at, length);
    this.#exports.wasm_free(at);
    return this.#checked(value);
  }

  /** @throws {Thrown} It threw. */
  call(f: Value, ...args: Value[]): Value {
    const list = this.#exports.wasm_malloc(4 * Math.max(1, args.length));
    const view = new DataView(this.#view().buffer);
    args.forEach((value, i) => view.setUint32(list + 4 * i, value, true));
    return this.#checked(this.#exports.qjs_call(f, this.undefined, args.length, list));
  }

  /** Runs what waits as a microtask until nothing does; `failed` gets what one throws. */
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

  /** The text of a string; half surrogates become U+FFFD. */
  text(value: Value): string {
    const out = this.#exports.wasm_malloc(4);
    const at = this.#exports.qjs_get_string_len(value, out);
    const length = new DataView(this.#view().buffer).getUint32(out, true);
    return decoder.decode(this.#view().subarray(at, at + length));
  }

  number(value: Value): number {
    return this.#exports.qjs_get_float64(value);
  }

  /** A view of the bytes of a typed array: valid until the engine allocates. */
  bytes(value: Value): Uint8Array<ArrayBuffer> {
    const out = this.#exports.wasm_malloc(16);
    const buffer = this.#exports.qjs_get_typed_array_buffer(value, out, out + 4, out + 8);
    const data = this.#exports.qjs_get_array_buffer(buffer, out + 12);
    const view = new DataView(this.#view().buffer);
    const from = data + view.getUint32(out, true);
    return this.#view().subarray(from, from + view.getUint32(out + 4, true));
  }

  /** A view of the memory itself: valid until the engine allocates. */
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

  /** The engine's own name for the kind of an object. */
  className(value: Value): Value {
    return this.#exports.qjs_get_class_name(value);
  }

  /** Makes `value` the exception of the host function that is being called; it then answers null. */
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
    if (this.#bytes.length === 0) this.#bytes = new Uint8Array(this.#exports.memory.buffer as ArrayBuffer); // it grew
    return this.#bytes;
  }

  /** Copies bytes into the engine's memory, a zero behind them. */
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
