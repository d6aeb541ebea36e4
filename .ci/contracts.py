"""Checks the contracts with Slither: ``pip install slither-analyzer``, then ``python .ci/contracts.py``.

Exits with 1 if Slither finds a problem of a kind that `docs/contract.md` does not explain. The script uses the compiler
that `svcnb fetch --compiler` downloads. Slither can only run a compiler that is an executable file, but this compiler
is a JavaScript package. Therefore, Slither calls this script, which passes the request to the compiler.
"""

from __future__ import annotations

import inspect
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, Final

from svcnb import tools
from svcnb.emulator.chain import compile as compiler

JUDGED: Final = frozenset(
    {
        "assembly",
        "low-level-calls",
        "missing-zero-check",
        "naming-convention",
        "timestamp",
        "unindexed-event-address",
        "unused-return",
        "unused-state",
    }
)
"""Kinds of findings that the maintainers have reviewed. `docs/contract.md` explains why they are acceptable."""


def answer_as_compiler() -> None:
    """Reads a request in Solidity's standard JSON format, and prints the syntax trees and ABIs of the contracts.

    The function omits the bytecode, because its generation takes most of the time.
    """
    if "--version" in sys.argv:
        sys.stdout.write(f"solc, the solidity compiler commandline interface\nVersion: {tools.SOLC_VERSION}+commit.0\n")
        return
    request = json.load(sys.stdin)
    files = {path: Path(source["urls"][0]).read_text("utf-8") for path, source in request["sources"].items()}
    request["sources"] = {path: {"content": text} for path, text in files.items()}
    request["settings"]["outputSelection"] = {"*": {"": ["ast"], "*": ["abi"]}}
    (answer,) = compiler._run(json.dumps([request]))  # noqa: SLF001 - a tool of the same project
    code: dict[str, Any] = {"object": "", "sourceMap": "", "linkReferences": {}}
    for contracts in answer["contracts"].values():
        for each in contracts.values():
            each["evm"] = {"bytecode": code, "deployedBytecode": code, "methodIdentifiers": {}}
            each |= {"userdoc": {}, "devdoc": {}, "metadata": ""}
    json.dump(answer, sys.stdout)


def findings() -> list[dict[str, Any]]:
    """Returns the findings of all detectors, in Slither's format."""
    from crytic_compile import CryticCompile
    from crytic_compile.platform.solc_standard_json import SolcStandardJson
    from slither import Slither
    from slither.detectors import all_detectors
    from slither.detectors.abstract_detector import AbstractDetector

    request = SolcStandardJson()
    for file in sorted(compiler.CONTRACTS.rglob("*.sol")):
        request.add_source_file(str(file))
    with tempfile.TemporaryDirectory() as folder:
        solc = Path(folder, "solc")
        solc.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(__file__).resolve()}" "$@"\n')
        solc.chmod(0o700)
        slither = Slither(CryticCompile(request, solc=str(solc)))
    for _, detector in inspect.getmembers(all_detectors, inspect.isclass):
        if issubclass(detector, AbstractDetector) and detector is not AbstractDetector:
            slither.register_detector(detector)
    return [found for results in slither.run_detectors() for found in results]


if __name__ == "__main__":
    if sys.argv[1:]:
        answer_as_compiler()
        sys.exit()
    found = findings()
    for (impact, check), count in sorted(Counter((each["impact"], each["check"]) for each in found).items()):
        sys.stdout.write(f"{count:3} {impact.lower()}: {check}\n")
    new = [each["description"] for each in found if each["check"] not in JUDGED]
    sys.stdout.write("\n".join([*new, f"{len(found)} findings, {len(new)} of a new kind", ""]))
    sys.exit(bool(new))
