/**
 * Template process: a warmed-up process that creates copies of itself, each of which executes one run.
 *
 * Starting Deno and warming up the bootstrap takes about 60 ms of processor time. A copy (`fork`) takes 3 ms. The
 * spawner sends a message with two descriptors, the channel and the error file of a run. It receives the id of the new
 * process.
 *
 * A copy has the memory of the template and one thread. This requires four steps:
 *
 * - V8 excludes its memory from copies (`MADV_DONTFORK`). The template reverses this exclusion.
 * - V8 has no helper threads (`--single-threaded`). The template waits until Deno's threads end after ten idle seconds.
 * - Descriptors that Deno waits for (epoll, eventfd) belong to the template. A copy creates its own, with the same
 *   numbers.
 * - Random numbers would be the same in every copy, so each copy starts its own generator (see `random.ts`).
 */
import { createObject } from "./primordials.ts";

/** Flags of Linux `clone`: the copy is a child of the spawner, and its exit sends SIGCHLD. */
const CLONE_FLAGS = 0x8000n | 17n; // CLONE_PARENT, SIGCHLD
const SIGKILL = 9n;
const PR_SET_PDEATHSIG = 1n;
const MADV_DOFORK = 11;
const EPOLL_CTL_ADD = 1;
const CLOEXEC = 0o2000000;
const NONBLOCK = 0o4000;
const SCM_RIGHTS = 1;
/** Numbers of system calls, and the offset of the data in an epoll event. */
const SYSTEMS: Readonly<Record<string, { clone: bigint; eventData: number }>> = {
  x86_64: { clone: 56n, eventData: 4 },
  aarch64: { clone: 220n, eventData: 8 },
};
const FIRST_ADDRESS = 0x10000n;
const THREADS_END_MS = 30_000;
const MOST_DESCRIPTORS = 64;
const MESSAGE = "F".charCodeAt(0);

// Capture these members, because `Deno` is not accessible after the start of an action.
const { build, dlopen, permissions, UnsafePointer } = Deno;

const SYMBOLS = {
  syscall: { parameters: ["i64", "i64", "i64", "i64", "i64", "i64"], result: "i64" },
  prctl: { parameters: ["i32", "i64", "i64", "i64", "i64"], result: "i32" },
  setsid: { parameters: [], result: "i32" },
  recvmsg: { parameters: ["i32", "buffer", "i32"], result: "i64" },
  write: { parameters: ["i32", "buffer", "u64"], result: "i64" },
  read: { parameters: ["i32", "buffer", "u64"], result: "i64" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  readlink: { parameters: ["buffer", "buffer", "u64"], result: "i64" },
  dup3: { parameters: ["i32", "i32", "i32"], result: "i32" },
  epoll_create1: { parameters: ["i32"], result: "i32" },
  epoll_ctl: { parameters: ["i32", "i32", "i32", "buffer"], result: "i32" },
  eventfd: { parameters: ["u32", "i32"], result: "i32" },
  madvise: { parameters: ["u64", "u64", "i32"], result: "i32" },
  usleep: { parameters: ["u32"], result: "i32" },
  _exit: { parameters: ["i32"], result: "void" },
} as const;

/** Epoll instance: its descriptors, and the eventfds that it watches. */
interface Poll {
  readonly descriptors: number[];
  readonly watched: readonly { descriptor: number; event: Uint8Array<ArrayBuffer> }[];
}

export class Template {
  readonly #library = dlopen("libc.so.6", SYMBOLS);
  readonly #c = this.#library.symbols;
  readonly #system = SYSTEMS[build.arch]!;
  /** Descriptors of this process that a copy replaces. */
  readonly #channels: number[] = [];
  readonly #errors: number[] = [];
  readonly #events: number[] = [];
  readonly #polls: Poll[] = [];

  /** Creates copies until the spawner has exited. Returns in each copy, but never in the template. */
  serve(): void {
    this.#awaitThreads();
    this.#survey();
    const byte = outside(1);
    const control = outside(64);
    const vector = words(address(byte), 1n);
    // struct msghdr: name, length of name, vectors, number of vectors, control data, length of control data, flags.
    const message = words(0n, 0n, address(vector), 1n, address(control), 0n, 0n);
    const header = new DataView(control.buffer);
    const reply = new Int32Array(new ArrayBuffer(4));
    const memory = this.#copied();
    byte[0] = MESSAGE;
    this.#c.write(0, byte, 1n);
    for (;;) {
      message[5] = BigInt(control.length);
      const count = this.#c.recvmsg(0, message as unknown as Uint8Array<ArrayBuffer>, CLOEXEC_RECEIVED);
      if (count <= 0n) this.#c._exit(0);
      if (header.getInt32(12, true) !== SCM_RIGHTS || message[5]! < 24n) this.#c._exit(1);
      const channel = header.getInt32(16, true);
      const errors = header.getInt32(20, true);
      // V8 excludes newly mapped memory from copies, so this is necessary before each copy. Gaps in the address space
      // are harmless.
      this.#c.madvise(FIRST_ADDRESS, memory, MADV_DOFORK);
      const pid = Number(this.#c.syscall(this.#system.clone, CLONE_FLAGS, 0n, 0n, 0n, 0n));
      if (pid === 0) {
        this.#become(channel, errors);
        return;
      }
      reply[0] = pid;
      this.#c.write(0, reply as unknown as Uint8Array<ArrayBuffer>, 4n);
      this.#c.close(channel);
      this.#c.close(errors);
    }
  }

  /** Waits for the end of Deno's threads for blocking work. A copy does not have them, but would wait for them. */
  #awaitThreads(): void {
    for (let waited = 0; !/^Threads:\t1$/m.test(this.#text("/proc/self/status")); waited += 100) {
      if (waited >= THREADS_END_MS) this.#c._exit(1);
      this.#c.usleep(100_000);
    }
  }

  #text(path: string): string {
    const descriptor = this.#c.open(zeroEnded(path), CLOEXEC);
    if (descriptor < 0) return "";
    const bytes = outside(1 << 16);
    let text = "";
    for (;;) {
      const count = Number(this.#c.read(descriptor, bytes, BigInt(bytes.length)));
      if (count <= 0) break;
      text += latin1(bytes, count);
    }
    this.#c.close(descriptor);
    return text;
  }

  #link(descriptor: number): string {
    const bytes = outside(256);
    const count = Number(this.#c.readlink(zeroEnded(`/proc/self/fd/${descriptor}`), bytes, 256n));
    return count < 0 ? "" : latin1(bytes, count);
  }

  /** Finds the descriptors that a copy must replace. */
  #survey(): void {
    const [channel, errors] = [this.#link(0), this.#link(2)];
    const polls: Record<string, Poll> = createObject(null);
    for (let descriptor = 0; descriptor < MOST_DESCRIPTORS; descriptor++) {
      const link = this.#link(descriptor);
      if (link === channel) this.#channels.push(descriptor);
      else if (link === errors) this.#errors.push(descriptor);
      else if (link === "anon_inode:[eventfd]") this.#events.push(descriptor);
    }
    for (let descriptor = 0; descriptor < MOST_DESCRIPTORS; descriptor++) {
      if (this.#link(descriptor) !== "anon_inode:[eventpoll]") continue;
      const info = this.#text(`/proc/self/fdinfo/${descriptor}`);
      // Two descriptors of one instance watch the same files.
      const list = info.slice(info.indexOf("tfd:"));
      (polls[list] ??= { descriptors: [], watched: this.#watched(list) }).descriptors.push(descriptor);
    }
    for (const list of Object.keys(polls)) this.#polls.push(polls[list]!);
  }

  #watched(list: string): Poll["watched"] {
    return [...list.matchAll(/tfd:\s+(\d+) events:\s+([0-9a-f]+) data:\s+([0-9a-f]+)/g)]
      .map(([, descriptor, events, data]) => {
        const event = outside(this.#system.eventData + 8);
        const view = new DataView(event.buffer);
        view.setUint32(0, parseInt(events!, 16), true);
        view.setBigUint64(this.#system.eventData, BigInt(`0x${data}`), true);
        return { descriptor: Number(descriptor), event };
      })
      .filter(({ descriptor }) => this.#events.includes(descriptor)); // only the template handles signals
  }

  /**
   * Returns the size of the part of the address space that a copy can contain. The rest is kernel pages and the stack.
   * The stack is always copied.
   */
  #copied(): bigint {
    const [, own] = /^([0-9a-f]+)-[0-9a-f]+ .*\[vvar/m.exec(this.#text("/proc/self/maps"))!;
    return BigInt(`0x${own}`) - FIRST_ADDRESS;
  }

  /** First steps of a copy. */
  #become(channel: number, errors: number): void {
    const c = this.#c;
    c.prctl(Number(PR_SET_PDEATHSIG), SIGKILL, 0n, 0n, 0n);
    c.setsid();
    for (const descriptor of this.#channels) c.dup3(channel, descriptor, descriptor > 2 ? CLOEXEC : 0);
    for (const descriptor of this.#errors) c.dup3(errors, descriptor, descriptor > 2 ? CLOEXEC : 0);
    for (const descriptor of this.#events) replace(c, c.eventfd(0, CLOEXEC | NONBLOCK), [descriptor]);
    for (const { descriptors, watched } of this.#polls) {
      replace(c, c.epoll_create1(CLOEXEC), descriptors);
      for (const { descriptor, event } of watched) c.epoll_ctl(descriptors[0]!, EPOLL_CTL_ADD, descriptor, event);
    }
    c.close(channel);
    c.close(errors);
    this.#library.close();
    permissions.revokeSync({ name: "ffi" });
  }
}

/** Flag `MSG_CMSG_CLOEXEC`: a program that this process starts does not inherit the received descriptors. */
const CLOEXEC_RECEIVED = 0x40000000;

function replace(
  c: { dup3(from: number, to: number, flags: number): number; close(descriptor: number): number },
  made: number,
  descriptors: readonly number[],
): void {
  for (const descriptor of descriptors) c.dup3(made, descriptor, CLOEXEC);
  c.close(made);
}

function address(of: Uint8Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>): bigint {
  return BigInt(UnsafePointer.value(UnsafePointer.of(of)));
}

/** Allocates bytes outside V8's heap, where the garbage collector does not move them. */
function outside(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new ArrayBuffer(length));
}

function words(...values: bigint[]): BigUint64Array<ArrayBuffer> {
  const made = new BigUint64Array(new ArrayBuffer(values.length * 8));
  made.set(values);
  return made;
}

function zeroEnded(text: string): Uint8Array<ArrayBuffer> {
  const encoded = new TextEncoder().encode(`${text}\0`);
  const made = outside(encoded.length);
  made.set(encoded);
  return made;
}

function latin1(bytes: Uint8Array, count: number): string {
  let text = "";
  for (let i = 0; i < count; i += 8192) {
    text += String.fromCharCode(...bytes.subarray(i, Math.min(i + 8192, count)));
  }
  return text;
}
