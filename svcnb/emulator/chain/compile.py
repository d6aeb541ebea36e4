"""Developer tool that compiles the contracts and writes two files, the artifacts, to the repository.

Writes the interface (ABI, selectors and topics) to ``svcnb/protocol/account_config.json``, which the client and the
emulator use. Writes the creation code to ``contracts/artifact.json``, which only the emulator uses. The output is
reproducible. A test compiles the sources again and compares the bytes.

Run this module with ``python -m svcnb.emulator.chain.compile``.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from svcnb import tools
from svcnb.protocol import contract
from svcnb.protocol.keccak import keccak256
from svcnb.tools.fetch import fetch_solc

CONTRACTS: Final = Path(__file__).with_name("contracts")
ARTIFACT: Final = CONTRACTS / "artifact.json"
FACETS: Final = (
    "DiamondFacet",
    "AccountsFacet",
    "UsageKeysFacet",
    "ResourcesFacet",
    "ListsFacet",
    "PermissionsFacet",
    "ServiceFacet",
    "BillingFacet",
)
DIAMOND: Final = "Diamond"
WALLET: Final = "ContractWallet"
THROUGH_IR: Final = ("UsageKeysFacet",)
"""Contracts that only the IR-based code generator can compile.

The IR-based generator takes five times as long as the default generator, which compiles the other contracts."""
MAX_CODE_BYTES: Final = 24_576
"""Maximum code size of a contract on an unmodified chain, in bytes (EIP-170)."""

SETTINGS: Final[dict[str, Any]] = {
    # All chains on which the service can run support the opcodes of Cancun.
    "evmVersion": "cancun",
    "optimizer": {"enabled": True, "runs": 200},
    # Append no metadata hash, so that the bytes depend only on the code and not on comments or paths.
    "metadata": {"appendCBOR": False, "bytecodeHash": "none"},
}
_OUTPUTS: Final = ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"]
_TIMEOUT_S: Final = 120


class CompileFailed(RuntimeError):
    """Error for sources that the compiler rejects, a contract that is too large, or a compiler that cannot run."""


@dataclass(frozen=True)
class Compiled:
    """Content of the two files that this tool writes.

    Attributes:
        interface: Content of ``account_config.json``.
        artifact: Content of ``artifact.json``.
    """

    interface: dict[str, Any]
    artifact: dict[str, Any]


def sources() -> dict[str, str]:
    """Returns the content of each Solidity file, by its path relative to the contracts folder."""
    return {
        path.relative_to(CONTRACTS).as_posix(): path.read_text("utf-8") for path in sorted(CONTRACTS.rglob("*.sol"))
    }


def compile_contracts() -> Compiled:
    """Compiles the contracts with the downloaded compiler, without network access.

    Returns:
        Content of both artifacts.

    Raises:
        CompileFailed: The compiler cannot run, or the sources cause an error or a warning. A contract is larger than
            `MAX_CODE_BYTES`.
        svcnb.tools.ToolMissing: Deno is not installed.
    """
    files = sources()
    everything = (*FACETS, DIAMOND, WALLET)
    plain = tuple(name for name in everything if name not in THROUGH_IR)
    answers = _run(json.dumps([_request(files, plain, via_ir=False), _request(files, THROUGH_IR, via_ir=True)]))
    if problems := [problem["formattedMessage"] for answer in answers for problem in answer.get("errors", ())]:
        raise CompileFailed("\n".join(problems))
    built = {name: found for answer in answers for file in answer["contracts"].values() for name, found in file.items()}
    for name in everything:
        size = len(built[name]["evm"]["deployedBytecode"]["object"]) // 2
        if size > MAX_CODE_BYTES:
            raise CompileFailed(
                f"{name} has {size} bytes of code, but a chain accepts at most {MAX_CODE_BYTES}: split the contract"
            )
    facets = {name: _selectors(built[name]["abi"]) for name in FACETS}
    return Compiled(
        interface=_interface([entry for name in (*FACETS, DIAMOND) for entry in built[name]["abi"]], files),
        artifact={
            "compiler": {
                "name": "solc",
                "version": tools.SOLC_VERSION,
                "settings": SETTINGS,
                "through_ir": list(THROUGH_IR),
            },
            "sources_sha256": digest(files),
            "diamond": "0x" + built[DIAMOND]["evm"]["bytecode"]["object"],
            "facets": {
                name: {
                    "selectors": selectors,
                    "bytecode": "0x" + built[name]["evm"]["bytecode"]["object"],
                }
                for name, selectors in facets.items()
            },
            "wallet": "0x" + built[WALLET]["evm"]["bytecode"]["object"],
        },
    )


def main() -> None:
    """Downloads the compiler if it is missing, compiles the contracts, and writes both artifacts."""
    fetch_solc(click.echo)
    compiled = compile_contracts()
    for path, content in ((contract.INTERFACE, compiled.interface), (ARTIFACT, compiled.artifact)):
        path.write_text(as_text(content), "utf-8")
        click.echo(f"{path.name}: {path.stat().st_size} bytes")


def as_text(content: dict[str, Any]) -> str:
    """Formats an artifact as JSON text, exactly as in the file in the repository."""
    return json.dumps(content, indent=1) + "\n"


def _request(files: dict[str, str], names: tuple[str, ...], *, via_ir: bool) -> dict[str, Any]:
    wanted = {path: {Path(path).stem: _OUTPUTS} for path in files if Path(path).stem in names}
    return {
        "language": "Solidity",
        "sources": {path: {"content": text} for path, text in files.items()},
        "settings": {**SETTINGS, "viaIR": via_ir, "outputSelection": wanted},
    }


def _run(request: str) -> list[dict[str, Any]]:
    command = [
        str(tools.deno()),
        "run",
        "--quiet",
        "--no-prompt",
        "--no-config",
        f"--lock={tools.SOLC_LOCK}",
        "--frozen",
        "--cached-only",
        f"--allow-read={tools.deno_folder()}",
        "--allow-env",
        str(CONTRACTS / "compile.mjs"),
    ]
    done = subprocess.run(
        command,
        input=request,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=_TIMEOUT_S,
        env=tools.deno_environment(),
        check=False,
    )
    if done.returncode:
        raise CompileFailed(f"the compiler stopped with exit code {done.returncode}: {done.stderr.strip()[-2000:]}")
    answers: list[dict[str, Any]] = json.loads(done.stdout)
    return answers


def _interface(entries: list[dict[str, Any]], files: dict[str, str]) -> dict[str, Any]:
    """Returns the content of ``account_config.json``: the combined ABI, and each signature with its selector or topic.

    Entries that several contracts declare appear once in the ABI.
    """
    unique = {
        json.dumps(entry, sort_keys=True): entry
        for entry in entries
        if entry["type"] not in {"constructor", "fallback"}
    }
    abi = sorted(unique.values(), key=lambda entry: (entry["type"], entry.get("name", "")))
    named = {
        kind: {
            contract.signature(entry): "0x" + keccak256(contract.signature(entry).encode())[:length].hex()
            for entry in abi
            if entry["type"] == kind
        }
        for kind, length in (("function", 4), ("error", 4), ("event", 32))
    }
    return {"sources_sha256": digest(files), "abi": abi, **{f"{kind}s": found for kind, found in named.items()}}


def _selectors(abi: list[dict[str, Any]]) -> list[str]:
    return sorted(
        "0x" + keccak256(contract.signature(entry).encode())[:4].hex() for entry in abi if entry["type"] == "function"
    )


def digest(files: dict[str, str]) -> str:
    """Returns the SHA-256 hash of the names and contents of `sources`."""
    digest = hashlib.sha256()
    for name, text in files.items():
        digest.update(f"{name}\0{len(text.encode())}\0".encode() + text.encode())
    return digest.hexdigest()


if __name__ == "__main__":
    main()
