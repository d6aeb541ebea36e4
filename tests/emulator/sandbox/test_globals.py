# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Global objects of an action.

Source: docs/service/runtime.md#globals; docs/service/conformance.md#runtime, items 42, 44, 46 and 49.
"""

from __future__ import annotations

from typing import Any

import pytest

from svcnb.protocol.vocabulary import Vocabulary

pytestmark = pytest.mark.engine


def test_the_globals_of_the_service_exist(room: Any):
    names = [
        "ethers",
        "fetch",
        "Request",
        "Response",
        "Headers",
        "URL",
        "URLSearchParams",
        "TextEncoder",
        "TextDecoder",
        "AbortController",
        "AbortSignal",
        "crypto",
        "atob",
        "btoa",
        "setTimeout",
        "clearTimeout",
        "setInterval",
        "clearInterval",
        "queueMicrotask",
        "structuredClone",
        "WebAssembly",
        "Blob",
        "FormData",
        "ReadableStream",
        "performance",
        "console",
        "Intl",
        "Svc",
        "SvcActions",
        "SvcAuth",
        "SvcHeaders",
        "global",
        "globalThis",
    ]
    source = "const main = (names) => names.filter((name) => typeof globalThis[name] === 'undefined')"
    assert room.value(source, names) == []


def test_the_globals_of_the_host_are_absent(room: Any):
    names = [
        "Worker",
        "process",
        "Buffer",
        "require",
        "module",
        "exports",
        "__dirname",
        "WebSocket",
        "EventSource",
        "BroadcastChannel",
        "caches",
        "navigator",
        "location",
        "alert",
        "confirm",
        "prompt",
        "close",
        "setImmediate",
        "importScripts",
        "viem",
        "ShadowRealm",
        "Navigator",
        "GPU",
    ]
    source = "const main = (names) => names.filter((name) => typeof globalThis[name] !== 'undefined')"
    assert room.value(source, names) == []


def test_local_storage_and_worker_fail_with_errors(room: Any):
    assert "not supported" in room.error("const main = () => localStorage.setItem('a', 'b')")
    assert "TypeError: Worker is not a constructor" in room.error("const main = () => new Worker('x.js')")


@pytest.mark.parametrize(
    "call",
    [
        "Deno.readTextFile('/etc/hostname')",
        "Deno.writeTextFile('/tmp/x', 'x')",
        "Deno.env.get('HOME')",
        "Deno.env.toObject()",
        "Deno.listen({ port: 0 })",
        "Deno.Command('id')",
        "Deno.run({ cmd: ['id'] })",
        "Deno.dlopen('x', {})",
        "Deno.hostname()",
        "Deno.exit(0)",
    ],
)
def test_access_to_the_machine_is_a_permission_error(call: str, room: Any):
    assert "Uncaught (in promise) NotCapable: Deno." in room.error(f"const main = async () => {call}")


def test_the_version_is_undefined_and_deno_cannot_be_extended(room: Any):
    assert room.value("const main = () => [typeof Deno.version, Object.isFrozen(Deno)]") == ["undefined", True]


@pytest.mark.parametrize("code", ["eval('1')", "new Function('return 1')", "(0, eval)('1')"])
def test_code_from_strings_is_an_eval_error(code: str, room: Any):
    assert "EvalError: Code generation from strings disallowed" in room.error(f"const main = () => {code}")


def test_global_is_the_global_object(room: Any):
    assert room.value("var mine = 1; const main = () => [global === globalThis, global.mine]") == [True, 1]


def test_the_names_of_the_service_are_one_object_each(room: Any):
    source = "const main = () => [Svc.Actions === SvcActions, Svc.Auth === SvcAuth, Svc.Headers === SvcHeaders, Object.keys(Svc.Auth)]"
    assert room.value(source) == [True, True, True, []]


def test_the_functions_are_those_of_the_service(room: Any):
    assert sorted(room.value("const main = () => Object.keys(Svc.Actions)")) == sorted(
        [
            "Encrypt",
            "Decrypt",
            "getPrivateKey",
            "getSvcActionPrivateKey",
            "getSvcActionPublicKey",
            "getSvcActionWalletAddress",
            "setResponse",
            "showImportDetails",
        ]
    )


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        ("Svc = {}", "Cannot assign to read only property 'Svc' of object '#<Object>'"),
        ("delete globalThis.SvcActions", "Cannot delete property 'SvcActions'"),
        ("Svc.Actions.setResponse = null", "Cannot assign to read only property 'setResponse'"),
        ("delete SvcActions.Encrypt", "Cannot delete property 'Encrypt'"),
        ("Svc.Headers = 1", "Cannot assign to read only property 'Headers'"),
        ("SvcHeaders.get = 1; SvcHeaders.set = 1", "Cannot assign to read only property 'set'"),
        ("Svc.Actions.more = 1", "object is not extensible"),
    ],
)
def test_the_namespace_cannot_be_changed(statement: str, text: str, room: Any):
    strict = room.error(f"'use strict'; const main = () => {{ {statement}; }}")
    assert strict.startswith("Uncaught (in promise) TypeError: ")
    assert text.partition(" of object")[0] in strict
    sloppy = f"const before = Svc.Actions.setResponse; {statement}; const main = () => SvcActions.setResponse === before && SvcHeaders instanceof Headers && !SvcActions.more"
    assert room.value(sloppy) is True


def test_headers_contain_the_ids_of_the_request_and_are_read_only(room: Any):
    host = room.host(headers={"x-request-id": "id-1", "x-correlation-id": "mine"})
    source = "const main = () => [Svc.Headers.get('X-Request-Id'), SvcHeaders.get('x-correlation-id'), [...Svc.Headers.keys()]]"
    assert room.value(source, host=host) == ["id-1", "mine", ["x-correlation-id", "x-request-id"]]
    assert room.value(source, host=room.host(headers={"x-request-id": "id-2"})) == ["id-2", None, ["x-request-id"]]
    assert "TypeError" in room.error("const main = () => Svc.Headers.append('x-request-id', 'x')")


def test_the_names_of_the_service_determine_the_names_in_actions(new_room: Any):
    room = new_room(spares=1, vocabulary=Vocabulary(service="acme"))
    source = (
        "const main = async () => [typeof Svc, Acme.Actions === AcmeActions, typeof AcmeHeaders.get, typeof AcmeAuth,"
        " await Acme.Actions.getAcmeActionPrivateKey(), Object.keys(Acme.Actions).filter((k) => /Svc/.test(k))]"
    )
    typeof_svc, *rest, key, left = room.value(source)
    assert (typeof_svc, rest, left) == ("undefined", [True, "function", "object"], [])
    assert key == "0x" + room.custody.action_secret("QmRunningAction").hex()


def test_web_interfaces_work(room: Any):
    source = """
    const main = async () => {
      const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode('abc'));
      const wasm = Uint8Array.of(0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11);
      const { instance } = await WebAssembly.instantiate(wasm);
      const started = performance.now();
      await new Promise((done) => setTimeout(done, 20));
      return {
        digest: ethers.utils.hexlify(new Uint8Array(digest)),
        sum: instance.exports.add(40, 2),
        waited: performance.now() - started >= 19,
        base64: [atob('aGk='), btoa('hi')],
        clone: structuredClone(new Map([[1, { a: [2] }]])).get(1),
        url: new URL('../b?x=1#y', 'https://host.example/a/c').href,
        aborted: await new Promise((done) => { const c = new AbortController(); c.signal.onabort = () => done(true); c.abort(); }),
        text: await new Response(new Blob(['blob']).stream()).text(),
        local: new Intl.NumberFormat('de-DE').format(1234.5),
        zone: new Date(0).getTimezoneOffset(),
      };
    };"""
    assert room.value(source) == {
        "digest": "0xba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",  # FIPS 180-4, example of "abc"
        "sum": 42,
        "waited": True,
        "base64": ["hi", "aGk="],
        "clone": {"a": [2]},
        "url": "https://host.example/b?x=1#y",
        "aborted": True,
        "text": "blob",
        "local": "1.234,5",
        "zone": 0,
    }


def test_random_numbers_differ_between_runs(room: Any):
    source = (
        "const main = () => [crypto.randomUUID(), Math.random(), ethers.utils.hexlify(ethers.utils.randomBytes(32))]"
    )
    first, second = room.value(source), room.value(source)
    assert all(a != b for a, b in zip(first, second, strict=True))
