"""Runtime environment of actions: the functions of the service and the globals of JavaScript.

The linter and the declarations for editors use these tables.

Source: docs/service/runtime.md#functions, docs/service/keys.md#formats-of-keys, docs/service/runtime.md#response,
    docs/service/runtime.md#globals.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from svcnb.protocol.vocabulary import Vocabulary


@dataclass(frozen=True)
class Function:
    """Function of the service that actions can call.

    Attributes:
        name: Name of the function.
        parameters: Properties of the function's single argument, with their TypeScript types. Empty for a function
            without an argument.
        result: TypeScript type of the function's result.
        says: Description in one sentence.
        waits: Whether the function returns a promise.
        reveals: Whether the function's result is a private key.
        is_key_operation: Whether a call counts as a key operation.
    """

    name: str
    result: str
    says: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    waits: bool = True
    reveals: bool = False
    is_key_operation: bool = False


_WALLET: Final = {"pkpId": "string"}
_ACTION: Final = {"ipfsId": "string"}
_COMMON_FUNCTIONS: Final = (
    Function(
        "Encrypt",
        "string",
        "Encrypts a text for a wallet with AES-256-GCM, and returns the result as hex.",
        _WALLET | {"message": "string"},
    ),
    Function(
        "Decrypt", "string", "Decrypts a result of Encrypt, and returns the text.", _WALLET | {"ciphertext": "string"}
    ),
    Function(
        "setResponse",
        "void",
        "Sets the response, unless main returns a value. The last call takes effect.",
        {"response": "unknown"},
        waits=False,
    ),
    Function("showImportDetails", "unknown", "Returns the imported modules and their hashes.", waits=False),
)
"""Functions whose names do not depend on the vocabulary."""


def functions(vocabulary: Vocabulary) -> dict[str, Function]:
    """Returns the functions of ``<Namespace>.Actions``, with their names as keys."""
    key_functions = (
        Function(
            vocabulary.private_key_function,
            "`0x${string}`",
            "Returns the private key of a wallet that the caller's key and this action can use: 0x and 64 hex digits.",
            _WALLET,
            reveals=True,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_private_key_function,
            "`0x${string}`",
            "Returns this action's own private key, which is derived from its CID: 0x and 64 hex digits.",
            reveals=True,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_public_key_function,
            "`0x${string}`",
            "Returns the compressed public key of the action whose CID is ipfsId.",
            _ACTION,
            is_key_operation=True,
        ),
        Function(
            vocabulary.action_wallet_address_function,
            "`0x${string}`",
            "Returns the address of the action whose CID is ipfsId, in lower case.",
            _ACTION,
            is_key_operation=True,
        ),
    )
    return {each.name: each for each in (*key_functions, *_COMMON_FUNCTIONS)}


def namespaces(vocabulary: Vocabulary) -> dict[str, str]:
    """Returns the globals that the service adds to JavaScript, with the names of the globals as keys.

    Each value is the name of the namespace's property that is equal to the global, for example ``Actions``. For the
    namespace itself, the value is an empty string.
    """
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
"""Names of the JavaScript globals that actions can use. `ABSENT` contains common names that are not available."""

ABSENT: Final[Mapping[str, str]] = {
    "Buffer": "use Uint8Array, TextEncoder, or ethers.utils.arrayify and hexlify",
    "Deno": "use js_params and fetch: actions cannot access files, the environment or processes",
    "Worker": "run the code in main: an action has only one thread",
    "XMLHttpRequest": "use fetch",
    "WebSocket": "use fetch: an action cannot keep a connection",
    "__dirname": "pass data in js_params: actions cannot access files",
    "__filename": "pass data in js_params: actions cannot access files",
    "alert": "use console.log",
    "document": "return data from main: an action does not run in a web page",
    "exports": "define main: an action is a script, not a module",
    "localStorage": "use fetch and an external store: the service does not store data between runs",
    "module": "define main: an action is a script, not a module",
    "process": "pass values in js_params: actions cannot access environment variables",
    "require": 'write import ... from "name@1.2.3" at the top, or use the available globals (ethers, fetch, crypto)',
    "sessionStorage": "use fetch and an external store: the service does not store data between runs",
    "window": "use globalThis",
}
"""Names that are common in JavaScript but not available in actions, with their alternatives."""
