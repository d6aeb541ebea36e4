"""Runtime environment of an action: the functions of the service and the globals of JavaScript.

One table for the linter and for the declarations that editors read.

Source: specification 1.9; reference facts 4.3, 5.2, 5.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svcnb.protocol.vocabulary import Vocabulary


@dataclass(frozen=True)
class Function:
    """One function of the service.

    Attributes:
        name: Its name in the vocabulary.
        parameters: Members of its one argument, with their TypeScript types; none means no argument.
        result: TypeScript type of its result.
        says: What it does, in a sentence.
        waits: Whether it returns a promise.
        reveals: Whether its result is a private key.
        is_key_operation: Whether it counts as a key operation.
    """

    name: str
    result: str
    says: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    waits: bool = True
    reveals: bool = False
    is_key_operation: bool = False


def functions(vocabulary: Vocabulary) -> dict[str, Function]:
    """Returns the functions of ``<Namespace>.Actions`` by name."""
    wallet = {"pkpId": "string"}
    action = {"ipfsId": "string"}
    listed = (
        Function(
            vocabulary.private_key_function,
            "`0x${string}`",
            "The private key of a wallet that the caller's key and this action may use: 0x and 64 digits.",
            wallet,
            reveals=True,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_private_key_function,
            "`0x${string}`",
            "This action's own private key, which follows from its CID: 0x and 64 digits.",
            reveals=True,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_public_key_function,
            "`0x${string}`",
            "The compressed public key of any action.",
            action,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_wallet_address_function,
            "`0x${string}`",
            "The address of any action's own wallet, lower case.",
            action,
            is_key_operation=True,
        ),
        Function(
            "Encrypt",
            "string",
            "Encrypts a text for a wallet (AES-256-GCM); answers hex.",
            wallet | {"message": "string"},
        ),
        Function("Decrypt", "string", "Decrypts what Encrypt answered.", wallet | {"ciphertext": "string"}),
        Function(
            "setResponse",
            "void",
            "Sets the response, unless main returns one; the last call counts.",
            {"response": "unknown"},
            waits=False,
        ),
        Function(
            "showImportDetails",
            "unknown",
            "Tells which modules were imported, and their hashes.",
            waits=False,
        ),
    )
    return {each.name: each for each in listed}


def namespaces(vocabulary: Vocabulary) -> dict[str, str]:
    """Returns the service's global names, each with its member of the namespace; empty for the whole namespace."""
    return {
        vocabulary.namespace: "",
        vocabulary.actions_global: "Actions",
        vocabulary.auth_global: "Auth",
        vocabulary.headers_global: "Headers",
    }


GLOBALS: Final = frozenset(
    [
        "AbortController",
        "AbortSignal",
        "AggregateError",
        "Array",
        "ArrayBuffer",
        "AsyncDisposableStack",
        "Atomics",
        "BigInt",
        "BigInt64Array",
        "BigUint64Array",
        "Blob",
        "Boolean",
        "ByteLengthQueuingStrategy",
        "CompressionStream",
        "CountQueuingStrategy",
        "Crypto",
        "CryptoKey",
        "CustomEvent",
        "DOMException",
        "DataView",
        "Date",
        "DecompressionStream",
        "DisposableStack",
        "Error",
        "ErrorEvent",
        "EvalError",
        "Event",
        "EventTarget",
        "File",
        "FileReader",
        "FinalizationRegistry",
        "Float16Array",
        "Float32Array",
        "Float64Array",
        "FormData",
        "Function",
        "Headers",
        "Infinity",
        "Int16Array",
        "Int32Array",
        "Int8Array",
        "Intl",
        "Iterator",
        "JSON",
        "Map",
        "Math",
        "MessageChannel",
        "MessageEvent",
        "MessagePort",
        "NaN",
        "Number",
        "Object",
        "Performance",
        "PerformanceEntry",
        "PerformanceMark",
        "PerformanceMeasure",
        "ProgressEvent",
        "Promise",
        "PromiseRejectionEvent",
        "Proxy",
        "QuotaExceededError",
        "RangeError",
        "ReadableByteStreamController",
        "ReadableStream",
        "ReadableStreamBYOBReader",
        "ReadableStreamBYOBRequest",
        "ReadableStreamDefaultController",
        "ReadableStreamDefaultReader",
        "ReferenceError",
        "Reflect",
        "RegExp",
        "Request",
        "Response",
        "Set",
        "SharedArrayBuffer",
        "String",
        "SubtleCrypto",
        "SuppressedError",
        "Symbol",
        "SyntaxError",
        "Temporal",
        "TextDecoder",
        "TextDecoderStream",
        "TextEncoder",
        "TextEncoderStream",
        "TransformStream",
        "TransformStreamDefaultController",
        "TypeError",
        "URIError",
        "URL",
        "URLPattern",
        "URLSearchParams",
        "Uint16Array",
        "Uint32Array",
        "Uint8Array",
        "Uint8ClampedArray",
        "WeakMap",
        "WeakRef",
        "WeakSet",
        "WebAssembly",
        "WritableStream",
        "WritableStreamDefaultController",
        "WritableStreamDefaultWriter",
        "arguments",
        "atob",
        "btoa",
        "clearInterval",
        "clearTimeout",
        "console",
        "crypto",
        "decodeURI",
        "decodeURIComponent",
        "encodeURI",
        "encodeURIComponent",
        "escape",
        "eval",
        "ethers",
        "fetch",
        "global",
        "globalThis",
        "isFinite",
        "isNaN",
        "parseFloat",
        "parseInt",
        "performance",
        "queueMicrotask",
        "self",
        "setInterval",
        "setTimeout",
        "structuredClone",
        "undefined",
        "unescape",
    ]
)
"""Available names. Names that exist but are not usable are in `ABSENT` instead."""

ABSENT: Final[Mapping[str, str]] = {
    "Buffer": "use Uint8Array, TextEncoder, or ethers.utils.arrayify and hexlify",
    "Deno": "files, environment and processes are out of reach",
    "Worker": "an action runs in one thread",
    "XMLHttpRequest": "use fetch",
    "WebSocket": "use fetch: an action cannot keep a connection",
    "__dirname": "there are no files",
    "__filename": "there are no files",
    "alert": "use console.log",
    "document": "there is no page",
    "exports": "an action is a script: define main",
    "localStorage": "nothing stays between runs",
    "module": "an action is a script: define main",
    "process": "there is no environment; pass values in js_params",
    "require": 'write import ... from "name@1.2.3" at the top, or use what is there (ethers, fetch, crypto)',
    "sessionStorage": "nothing stays between runs",
    "window": "use globalThis",
}
"""Names that are common in actions and do not work, with their alternatives."""
