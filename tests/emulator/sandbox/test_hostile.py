# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Hostile actions, which end within their own limits, while normal actions continue to receive responses.

All hostile actions run concurrently, as many as the engine admits, together with normal actions. `ok` means that the
action completed, and that its response shows a failed attack.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from svcnb.emulator.sandbox.protocol import Outcome

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ENGINES = ("v8", "fast")

TIMEOUT_MS = 500
HONEST = "const main = async ({ n }) => { await null; return { n: n + 1 }; }"


def attempt(body: str) -> str:
    """Returns an action that reports the result of its attack."""
    return f"async function main() {{ try {{ return ['did', String(await (async () => {{ {body} }})())]; }} catch (e) {{ return ['failed', e.name]; }} }}"


def failed(name: str) -> tuple[str, list[str]]:
    return "ok", ["failed", name]


TIMEOUT: tuple[str, Any] = ("timeout", re.compile(rf"maximum runtime of {TIMEOUT_MS} ms and was terminated"))
MEMORY: tuple[str, Any] = ("memory", re.compile(r"maximum memory of 128 MB and was terminated"))


def throws(pattern: str) -> tuple[str, Any]:
    return "throw", re.compile(pattern)


ATTEMPTS: dict[str, tuple[str, tuple[str, Any]]] = {
    # --- time ---------------------------------------------------------------------------------------------------
    "a busy loop": ("const main = () => { for (;;); }", TIMEOUT),
    "a busy loop at top level": ("for (;;); function main() {}", TIMEOUT),
    "a loop of microtasks": ("const main = async () => { for (;;) await null; }", TIMEOUT),
    "a chain of promises": ("const f = () => Promise.resolve().then(f); const main = f;", TIMEOUT),
    "a loop of timers": ("const main = () => new Promise(() => { const f = () => setTimeout(f, 0); f(); })", TIMEOUT),
    "a promise that never settles": ("const main = () => new Promise(() => {})", ("ok", "")),
    "a thenable that never answers": ("const main = () => ({ then() {} })", ("ok", "")),
    "a runaway regular expression": ("const main = () => /^(a+)+$/.test('a'.repeat(40) + 'b')", TIMEOUT),
    "an endless generator": (
        "const main = () => { for (const x of (function* () { for (;;) yield 1; })()); }",
        TIMEOUT,
    ),
    "an endless getter while the answer is made": ("const main = () => ({ get a() { for (;;); } })", TIMEOUT),
    "an endless toJSON": ("const main = () => ({ toJSON() { for (;;); } })", TIMEOUT),
    "a lock that nobody opens": (
        "const main = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)",
        TIMEOUT,
    ),
    "an endless WebAssembly loop": (
        (
            "const main = () => new WebAssembly.Instance(new WebAssembly.Module(Uint8Array.of(0,97,115,109,1,0,0,0,1,4,1,"
            "96,0,0,3,2,1,0,7,5,1,1,102,0,0,10,9,1,7,0,3,64,12,0,11,11))).exports.f()"
        ),
        TIMEOUT,
    ),
    "swallowing every error for ever": ("const main = () => { for (;;) { try { null.x; } catch {} } }", TIMEOUT),
    "a finally that goes on": ("const main = () => { for (;;) { try { return 1; } finally { continue; } } }", TIMEOUT),
    "a timer left behind": ("const main = () => { setInterval(() => {}, 1); return 'done'; }", TIMEOUT),
    "a busy microtask left behind": (
        "const main = () => { setTimeout(() => { for (;;); }, 0); return 'done'; }",
        TIMEOUT,
    ),
    # --- memory -------------------------------------------------------------------------------------------------
    "arrays without end": ("const main = () => { const a = []; for (;;) a.push(new Array(1e5).fill(0.5)); }", MEMORY),
    "objects without end": (
        "const main = () => { const a = []; for (let i = 0;; i++) a.push({ i, s: 'x' + i }); }",
        MEMORY,
    ),
    "strings without end": (
        "const main = () => { const a = []; for (let i = 0;; i++) a.push(('x' + i).repeat(9e4).split('')); }",
        MEMORY,
    ),
    "typed arrays without end": (
        "const main = () => { const a = []; for (;;) a.push(new Uint8Array(4e6).fill(1)); }",
        MEMORY,
    ),
    "typed arrays whose refusal is caught": (
        "const main = () => { const a = []; for (;;) { try { a.push(new Uint8Array(4e7).fill(1)); } catch {} } }",
        MEMORY,
    ),
    "a Map without end": ("const main = () => { const m = new Map(); for (let i = 0;; i++) m.set(i, [i]); }", MEMORY),
    "closures without end": (
        "const main = () => { const a = []; for (;;) { const x = [1, 2, 3]; a.push(() => x); } }",
        MEMORY,
    ),
    "promises without end": (
        "const main = async () => { const a = []; for (;;) a.push(new Promise(() => {})); }",
        MEMORY,
    ),
    "WebAssembly memory without end": (
        (
            "const main = () => { const a = []; for (;;) { const m = new WebAssembly.Memory({ initial: 256 });"
            " new Uint8Array(m.buffer).fill(1); a.push(m); } }"
        ),
        MEMORY,
    ),
    "one huge buffer": (attempt("return new ArrayBuffer(2 ** 40)"), failed("RangeError")),
    "one huge string": (attempt("return 'x'.repeat(2 ** 30)"), failed("RangeError")),
    "a doubling string": (attempt("let s = 'x'; for (;;) s += s;"), failed("RangeError")),
    "one huge array": (attempt("return new Array(2 ** 32)"), failed("RangeError")),
    "deep recursion": (attempt("const f = () => f() + 1; return f();"), failed("RangeError")),
    "deep recursion through toJSON": (
        attempt("const o = { toJSON() { return JSON.stringify(o); } }; return JSON.stringify(o);"),
        failed("RangeError"),
    ),
    "deep recursion through a Proxy": (
        attempt("let p = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); return p.x;"),
        failed("RangeError"),
    ),
    "an answer nested too deep for any reader": (
        "const main = () => { let a = []; for (let i = 0; i < 2e4; i++) a = [a]; return a; }",
        ("ok", "[" * 20_001 + "]" * 20_001),
    ),
    # --- output -------------------------------------------------------------------------------------------------
    "a flood of log lines": (
        "const main = () => { for (;;) console.log('spam spam spam spam'); }",
        throws("Console log is too long, maximum 102400 bytes"),
    ),
    "a flood of empty log lines": ("const main = () => { for (;;) console.log(); }", throws("Console log is too long")),
    "one huge log line": ("const main = () => console.log('x'.repeat(5e6))", throws("Console log is too long")),
    "a flood of log lines whose refusal is caught": (
        "const main = () => { for (;;) { try { console.log('spam'.repeat(100)); } catch {} } }",
        TIMEOUT,
    ),
    "a giant answer": ("const main = () => 'x'.repeat(1048577)", throws("Response is too long, maximum 1048576 bytes")),
    "a giant answer of wide characters": (
        "const main = () => '\\u20ac'.repeat(349526)",
        throws("Response is too long"),
    ),
    "an answer that contains itself": (
        "const main = () => { const a = {}; a.a = a; return a; }",
        throws("TypeError: Converting circular"),
    ),
    "an answer that is a BigInt": ("const main = () => 1n", throws("TypeError: Do not know how to serialize a BigInt")),
    "an error with a huge text": (
        "const main = () => { throw new Error('x'.repeat(1e7)); }",
        throws(r"\AUncaught \(in promise\) Error: x{1000}"),
    ),
    "an error whose stack throws": (
        "const main = () => { const e = new Error('x'); Object.defineProperty(e, 'stack', { get() { throw 1; } }); throw e; }",
        throws(r"\AUncaught \(in promise\) Error: x\Z"),
    ),
    "an error that lies about its name": (
        "const main = () => { throw new Proxy(new Error('x'), { get() { throw new Error('y'); } }); }",
        throws(r"\AUncaught \(in promise\) "),
    ),
    "a thrown null": ("const main = () => { throw null; }", throws(r"\AUncaught \(in promise\) null\Z")),
    # --- code from text -----------------------------------------------------------------------------------------
    "eval": (attempt("return eval('1')"), failed("EvalError")),
    "indirect eval": (attempt("return (0, eval)('1')"), failed("EvalError")),
    "new Function": (attempt("return new Function('return 1')()"), failed("EvalError")),
    "the constructor of async functions": (
        attempt("return (async () => {}).constructor('return 1')()"),
        failed("EvalError"),
    ),
    "the constructor of generators": (
        attempt("return (function* () {}).constructor('yield 1')()"),
        failed("EvalError"),
    ),
    "the constructor of a host function": (
        attempt("return Svc.Actions.Encrypt.constructor('return Deno')()"),
        failed("EvalError"),
    ),
    "a timer given as text": (attempt("return setTimeout('1')"), failed("TypeError")),
    "dynamic import of a node module": (attempt("return import('node:fs')"), failed("TypeError")),
    "dynamic import of data": (attempt("return import('data:text/javascript,export default 1')"), failed("TypeError")),
    "dynamic import of a file": (attempt("return import('file:///etc/passwd')"), failed("TypeError")),
    "dynamic import with a type": (
        attempt("return import('file:///etc/passwd', { with: { type: 'text' } })"),
        failed("TypeError"),
    ),
    "import.meta": (
        "const main = () => import.meta.url",
        ("syntax", re.compile("Cannot use 'import.meta' outside a module")),
    ),
    # --- the host -----------------------------------------------------------------------------------------------
    "reading a file": (attempt("return Deno.readTextFileSync('/etc/passwd')"), failed("NotCapable")),
    "writing a file": (attempt("return Deno.writeTextFileSync('/tmp/svcnb-escape', 'x')"), failed("NotCapable")),
    "the environment": (attempt("return Deno.env.get('PATH')"), failed("NotCapable")),
    "starting a program": (attempt("return new Deno.Command('id').outputSync()"), failed("NotCapable")),
    "loading a library": (attempt("return Deno.dlopen('libc.so.6', {})"), failed("NotCapable")),
    "listening on a port": (attempt("return Deno.listen({ port: 0 })"), failed("NotCapable")),
    "connecting to a port": (attempt("return Deno.connect({ port: 22 })"), failed("NotCapable")),
    "ending the process": (attempt("return Deno.exit(0)"), failed("NotCapable")),
    "writing to the channel": (attempt("return Deno.stdout.writeSync(new Uint8Array(64))"), failed("TypeError")),
    "reading from the channel": (attempt("return Deno.stdin.readSync(new Uint8Array(64))"), failed("TypeError")),
    "Deno's inner parts": (attempt("return Deno[Deno.internal].core.ops"), failed("TypeError")),
    "Deno's inner parts by its symbols": (
        attempt(
            "return Object.getOwnPropertySymbols(Deno).length + Object.getOwnPropertySymbols(globalThis).filter((s) => globalThis[s]?.core).length"
        ),
        ("ok", ["did", "0"]),
    ),
    "process": (attempt("return process.env"), failed("ReferenceError")),
    "require": (attempt("return require('fs')"), failed("ReferenceError")),
    "a worker": (attempt("return new Worker('data:,')"), failed("TypeError")),
    "a second realm": (attempt("return new ShadowRealm()"), failed("ReferenceError")),
    "asking the person at the terminal": (attempt("return prompt('key?')"), failed("ReferenceError")),
    "storage that outlives the run": (attempt("return localStorage.getItem('x')"), failed("NotSupportedError")),
    "a cache that outlives the run": (attempt("return caches.open('x')"), failed("ReferenceError")),
    "a web socket": (attempt("return new WebSocket('ws://127.0.0.1:1')"), failed("ReferenceError")),
    "a channel to other isolates": (attempt("return new BroadcastChannel('x')"), failed("ReferenceError")),
    "a local address as data": (attempt("return (await fetch('file:///etc/passwd')).text()"), failed("TypeError")),
    "frames of the caller": (
        attempt(
            "Error.prepareStackTrace = (_, frames) => frames; const f = new Error().stack;"
            " return f.filter((x) => x.getFileName() !== '<user_provided_script>').every((x) => !x.getFunction() && !x.getThis())"
        ),
        ("ok", ["did", "true"]),
    ),
    "where the service is installed": (
        attempt(
            "try { ethers.utils.getAddress('x'); } catch (e) { return /home|work|site-packages|svcnb\\/emulator/.test(e.stack); }"
        ),
        ("ok", ["did", "false"]),
    ),
    # --- the injected objects -----------------------------------------------------------------------------------
    "replacing the namespace": (
        "Svc = {}; SvcActions = {}; const main = () => typeof Svc.Actions.Encrypt",
        ("ok", "function"),
    ),
    "replacing a function": (
        "Svc.Actions.setResponse = null; const main = () => typeof SvcActions.setResponse",
        ("ok", "function"),
    ),
    "deleting the namespace": ("delete globalThis.Svc; const main = () => typeof Svc", ("ok", "object")),
    "redefining the namespace": (
        attempt("Object.defineProperty(globalThis, 'Svc', { value: 1 })"),
        failed("TypeError"),
    ),
    "shadowing the namespace": (
        "const Svc = 1; const main = () => Svc",
        throws("SyntaxError: Identifier 'Svc' has already been declared"),
    ),
    "changing the headers": (attempt("Svc.Headers.set('x-request-id', 'forged')"), failed("TypeError")),
    "replacing fetch": ("fetch = () => 'mine'; const main = () => String(fetch).includes('mine')", ("ok", False)),
    "redefining fetch": (attempt("Object.defineProperty(globalThis, 'fetch', { value: 1 })"), failed("TypeError")),
    # --- the bootstrap's tools ----------------------------------------------------------------------------------
    "a poisoned Array iterator": (
        "Array.prototype[Symbol.iterator] = () => { throw 1; }; const main = () => [1, 2]",
        ("ok", [1, 2]),
    ),
    "a poisoned Object.prototype.toJSON": (
        "Object.prototype.toJSON = () => 'forged'; const main = () => 'honest'",
        ("ok", "honest"),
    ),
    "poisoned setters of frame members": (
        (
            "for (const k of ['kind', 'ok', 'id', 'resolve', 'reject', 'body', 'blob'])"
            " Object.defineProperty(Object.prototype, k, { set() { throw new Error('caught'); }, get() { return 'forged'; }, configurable: true });"
            " const main = async () => await Svc.Actions.getSvcActionWalletAddress({ ipfsId: 'q' })"
        ),
        ("ok", re.compile(r"\A0x[0-9a-f]{40}\Z")),
    ),
    "a poisoned Promise.prototype.then": (
        "Promise.prototype.then = function () { throw new Error('no'); }; const main = () => 'honest'",
        ("ok", "honest"),
    ),
    "poisoned typed arrays": (
        (
            "Uint8Array.prototype.set = Uint8Array.prototype.subarray = () => { throw 1; };"
            " Object.getPrototypeOf(Uint8Array.prototype).set = () => { throw 1; }; const main = () => 'honest'"
        ),
        ("ok", "honest"),
    ),
    "poisoned getters of typed arrays": (
        (
            "const a = Object.getPrototypeOf(Uint8Array.prototype); for (const k of ['length', 'buffer', 'byteLength'])"
            " Object.defineProperty(a, k, { get() { throw new Error('caught'); } }); const main = () => 'honest'"
        ),
        ("ok", "honest"),
    ),
    "a poisoned encoder": (
        (
            "const seen = []; TextEncoder.prototype.encode = (t) => { seen.push(t); return new Uint8Array(0); };"
            " const main = () => { console.log('secret'); return seen.length; }"
        ),
        ("ok", 0),
    ),
    "a poisoned JSON": (
        (
            "const seen = []; JSON.stringify = (x) => { seen.push(x); return '0'; }; JSON.parse = JSON.stringify;"
            " const main = () => { console.log('x'); return [seen.length]; }"
        ),
        ("ok", [0]),
    ),
    "a poisoned Function.prototype.call": (
        (
            "Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1; };"
            " const main = () => 'honest'"
        ),
        ("ok", "honest"),
    ),
    "a poisoned Reflect": ("Reflect.apply = () => { throw 1; }; const main = () => 'honest'", ("ok", "honest")),
    "stealing the secret through a species": (
        (
            "const seen = []; Object.defineProperty(Uint8Array, Symbol.species, { get() { seen.push(1); return Uint8Array; } });"
            " const main = () => { console.log('x'); return seen.length; }"
        ),
        ("ok", 0),
    ),
    "a rejection that nobody handles": (
        "Promise.reject(new Error('stray')); const main = () => new Promise(() => {})",
        throws(r"Uncaught \(in promise\) Error: stray"),
    ),
    "hiding a rejection from the host": (
        (
            "addEventListener('unhandledrejection', (e) => e.stopImmediatePropagation());"
            " Promise.reject(new Error('stray')); const main = () => new Promise(() => {})"
        ),
        throws("stray"),
    ),
    # --- operations ---------------------------------------------------------------------------------------------
    "more keys than allowed": (
        "const main = async () => { for (;;) await Svc.Actions.getSvcActionPrivateKey(); }",
        throws("too many key operations: at most 10 are allowed per execution"),
    ),
    "more keys than allowed, at once": (
        (
            "const main = async () => (await Promise.allSettled(Array.from({ length: 500 }, () => Svc.Actions.getSvcActionPrivateKey())))"
            ".filter((x) => x.status === 'fulfilled').length"
        ),
        ("ok", 10),
    ),
    "a key that was not given": (
        "const main = () => Svc.Actions.getPrivateKey({ pkpId: '0x00000000000000000000000000000000000000bb' })",
        throws("may not use the wallet"),
    ),
    "an endless stream of operations": (
        "const main = async () => { for (;;) await Svc.Actions.Encrypt({ pkpId: '0x00000000000000000000000000000000000000aa', message: 'x' }); }",
        TIMEOUT,
    ),
    "a hundred thousand operations at once": (
        (
            "const main = async () => { const a = []; for (let i = 0; i < 1e5; i++)"
            " a.push(Svc.Actions.Decrypt({ pkpId: '0x', ciphertext: '00' })); await Promise.allSettled(a); }"
        ),
        TIMEOUT,
    ),
    "more requests than allowed": (
        (
            "const main = async () => { let n = 0; for (;;) { try { await fetch('http://localhost/'); }"
            " catch (e) { if (/too many/.test(e.message)) throw e; n++; } } }"
        ),
        throws("too many outbound requests: at most 50 are allowed per execution"),
    ),
}

# The engine `fast` lacks the functions of these attacks, so they end before they reach their limits.
AT_A_TRAP = {"a lock that nobody opens", "an endless WebAssembly loop", "WebAssembly memory without end"}


@dataclass(frozen=True)
class Siege:
    """Concurrent run of all attacks, with the results of the attacks and of the normal actions."""

    outcomes: dict[str, Outcome]
    honest: list[tuple[int, Outcome]]


@pytest.fixture(scope="module")
def siege(room: Any) -> Siege:
    def run(name: str) -> Outcome:
        source, (how, _) = ATTEMPTS[name]
        outcome: Outcome = room.run(source, timeout_ms=TIMEOUT_MS if how == "timeout" else 300_000)
        return outcome

    honest: list[tuple[int, Outcome]] = []
    # Run fewer attacks concurrently than the engine can, because this tests isolation and not the length of the queue.
    with ThreadPoolExecutor(5) as attackers:
        hostile = {name: attackers.submit(run, name) for name in ATTEMPTS}
        # Run one normal action after each attack, while four other attacks continue.
        for _ in as_completed(hostile.values()):
            honest.append((len(honest), room.run(HONEST, {"n": len(honest)})))
    return Siege({name: future.result() for name, future in hostile.items()}, honest)


def test_at_least_sixty_attempts_are_made():
    assert len(ATTEMPTS) >= 60


@pytest.mark.parametrize("name", ATTEMPTS)
def test_an_attempt_ends_within_its_limits(name: str, siege: Siege):
    how, expected = ATTEMPTS[name][1]
    outcome = siege.outcomes[name]

    if outcome.error_kind == "unsupported":
        # The run ended with a trap, so the attack had no effect. Loops and decompression bombs must reach their limits.
        assert how not in {"timeout", "memory"} or name in AT_A_TRAP
        return
    seen = "ok" if outcome.ok else outcome.error_kind
    answer = outcome.response if outcome.ok else outcome.error
    assert seen == how, (seen, answer)
    if isinstance(expected, re.Pattern):
        assert expected.search(str(answer)), answer
    else:
        assert answer == expected
    if how == "timeout":
        assert TIMEOUT_MS / 1000 <= outcome.elapsed_s < TIMEOUT_MS / 1000 + 60  # the margin is for busy machines
    assert len(outcome.logs.encode()) <= 102_400


def test_normal_actions_succeed_during_and_after_the_attacks(siege: Siege, room: Any):
    assert len(siege.honest) == len(ATTEMPTS)
    assert [outcome.response for _, outcome in siege.honest] == [{"n": n + 1} for n, _ in siege.honest]
    assert room.value(HONEST, {"n": 41}) == {"n": 42}


def test_no_attempt_reached_the_file_system(siege: Siege):
    assert siege.outcomes
    assert not Path("/tmp/svcnb-escape").exists()  # noqa: S108 - the very place one attempt writes to
