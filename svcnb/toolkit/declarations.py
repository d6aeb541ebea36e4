"""TypeScript declarations for editors: the functions of the service and the globals of the runtime."""

from __future__ import annotations

import json
import textwrap
from typing import Final

from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.runtime import ABSENT, Function, functions

FILE_NAME: Final = "action.d.ts"

_HEAD: Final = """\
// Declarations for actions of the {space} service: types for editors and `tsc --checkJs`.
// `svcnb types` generates this file from the list of the runtime's functions.

"""

_PROJECT: Final = {
    "compilerOptions": {
        "allowJs": True,
        "checkJs": True,
        "noEmit": True,
        "strict": True,
        # The caller chooses the parameters of main. Without this setting, the compiler reports an error for each
        # parameter.
        "noImplicitAny": False,
        "target": "esnext",
        "lib": ["esnext", "dom"],
        "types": [],
        # Every action defines main, so the compiler must treat each file as a separate program.
        "moduleDetection": "force",
    },
    "include": ["*.js", FILE_NAME],
}


def declarations(vocabulary: Vocabulary | None = None, limits: ActionLimits | None = None) -> str:
    """Returns TypeScript declarations of the functions and globals of actions: the content of ``action.d.ts``.

    Args:
        vocabulary: Names of the service. None means the names of the specification.
        limits: Limits of one run, for the comments. None means the default limits of the service.
    """
    words, most = vocabulary or Vocabulary(), limits or ActionLimits()
    space = words.namespace
    members = "\n".join(_function(each, most) for each in functions(words).values())
    # The runtime does not have these names, and no type library declares them.
    absent = "\n".join(
        f"/** @deprecated Not available. {ABSENT[name][0].upper()}{ABSENT[name][1:]}. */\ndeclare const {name}: never;"
        for name in ("Buffer", "process", "require")
    )
    return (
        f"{_HEAD.format(space=space)}"
        f"interface {space}ActionFunctions {{\n{textwrap.indent(members, '  ')}}}\n\n"
        f"interface {space}RequestHeaders {{\n"
        "  /** Returns x-request-id, or x-correlation-id if the caller sent it. Returns null for other names. */\n"
        "  get(name: string): string | null;\n"
        "  /** Returns whether `get` returns a value for a name. */\n"
        "  has(name: string): boolean;\n"
        "}\n\n"
        "/** Functions of the service that actions can call. An action cannot replace these functions. */\n"
        f"declare const {words.actions_global}: Readonly<{space}ActionFunctions>;\n"
        "/** Object without members. */\n"
        f"declare const {words.auth_global}: Readonly<Record<string, never>>;\n"
        "/** Ids of the request that started the run. An action cannot change them. */\n"
        f"declare const {words.headers_global}: Readonly<{space}RequestHeaders>;\n"
        f"/** The same objects as {words.actions_global}, {words.auth_global} and {words.headers_global}. */\n"
        f"declare const {space}: Readonly<{{\n"
        f"  Actions: typeof {words.actions_global};\n"
        f"  Auth: typeof {words.auth_global};\n"
        f"  Headers: typeof {words.headers_global};\n"
        "}>;\n\n"
        "/** Version 5 of the library ethers, for example `ethers.Wallet`, `ethers.utils` and `ethers.BigNumber`. */\n"
        "// deno-lint-ignore no-explicit-any\n"
        "declare const ethers: any;\n\n"
        "/** The global object, which is also available as globalThis. */\n"
        "declare const global: typeof globalThis;\n\n"
        f"{absent}\n"
    )


def project() -> str:
    """Returns the content of a ``jsconfig.json``, the file that makes an editor check the actions of its folder."""
    return json.dumps(_PROJECT, indent=2) + "\n"


def _function(function: Function, limits: ActionLimits) -> str:
    counted = ""
    if function.is_key_operation:
        counted = f" Counts as one of at most {limits.max_get_keys_count} key operations of a run."
    given = "; ".join(f"{name}: {kind}" for name, kind in function.parameters.items())
    result = f"Promise<{function.result}>" if function.waits else function.result
    options = f"options: {{ {given} }}" if given else ""
    return f"/** {function.says}{counted} */\n{function.name}({options}): {result};\n"
