"""Only one function parses JSON from other sources, and first checks its nesting depth (`svcnb.protocol.nesting`)."""

from __future__ import annotations

import ast
from pathlib import Path

OWN_TEXT = {
    "lite/precompile.py": "the lock file of the runtime, which the build wrote",
    "lite/page/__init__.py": "the configuration of the page, which JupyterLite wrote during the build",
    "lite/packages.py": "the lock file of the runtime, checked by hash when it was fetched",
    "lite/substitutes/tree_sitter.py": "the tree that the parser of the page wrote",
    "protocol/nesting.py": "the place",
    "protocol/contract.py": "the contract's interface, part of the package",
    "launch.py": "the ready line of the emulator",
    "cli/_serve.py": "what the launching process writes",
    "emulator/sandbox/frames.py": "measured there, with limits of its own",
    "emulator/sandbox/packages.py": "hashes of packages, written by the emulator",
    "emulator/sandbox/process.py": "lines of the emulator's own spawner",
    "emulator/sandbox/spawner.py": "lines of the emulator",
    "emulator/actions/store.py": "a column that the emulator writes, with limits",
    "emulator/billing/store.py": "a column that the emulator writes",
    "emulator/chain/compile.py": "the compiler's answer",
    "emulator/chain/connection.py": "lines of the emulator's own chain process",
    "emulator/chain/deploy.py": "the compiled contract, part of the package",
    "emulator/chain/journal.py": "the emulator's own journal",
    "emulator/chain/genesis.py": "the first block, as this package wrote it",
    "emulator/chain/page_node.py": "the answer of the chain in the page",
    "toolkit/cookbook/project/contract.py": "interfaces and answers that its user names, in a script of the project",
    "toolkit/cookbook/recipes/webhook_voucher/test_webhook_voucher.py": "a body that the test made",
    "toolkit/cookbook/recipes/daily_attestation/verify.py": "reports that its user names, in a script of the project",
    "toolkit/cookbook/recipes/signed_records/verify.py": "receipts that its user names, in a script of the project",
}


def test_json_of_files_callers_and_services_is_measured_before_it_is_parsed(root: Path) -> None:
    found = {
        str(file.relative_to(root / "svcnb"))
        for file in (root / "svcnb").rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in {"load", "loads"} and ast.unparse(node.value) == "json"
    }
    assert found == set(OWN_TEXT)
