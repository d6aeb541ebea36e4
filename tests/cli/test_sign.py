"""`svcnb sign` creates the same signatures as other libraries."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from svcnb.cli.sign import FLOWS
from svcnb.exit_codes import ExitCode

VECTORS = json.loads((Path(__file__).resolve().parents[1] / "vectors/eip712.json").read_text(encoding="utf-8"))[
    "vectors"
]
ONE_OF_EACH = {case["typed_data"]["primaryType"]: case for case in VECTORS}


@pytest.mark.parametrize(("flow", "primary_type"), sorted(FLOWS.items()))
def test_a_signature_equals_that_of_another_library(svcnb, tmp_path: Path, flow: str, primary_type: str) -> None:
    case = ONE_OF_EACH[primary_type]
    wallet = tmp_path / "wallet.key"
    wallet.write_text(case["private_key"] + "\n")
    domain, message = case["typed_data"]["domain"], case["typed_data"]["message"]
    done = svcnb(
        *("sign", flow, "--wallet-key-file", str(wallet)),
        *("--chain-id", domain["chainId"], "--issued-at", message["issuedAt"]),
    )
    assert json.loads(done.stdout) == {name: case[name] for name in ("address", "typed_data", "signature")}


def test_the_error_for_an_invalid_key_does_not_contain_the_key(svcnb) -> None:
    done = svcnb(
        "sign", "create-wallet", "--wallet-key-file", "-", "--chain-id", "1", "--issued-at", "1", stdin="ab" * 31
    )
    assert done.returncode == ExitCode.USAGE
    assert "64 hex digits" in done.stderr
    assert "abab" not in done.stderr


def test_the_error_for_an_unknown_flow_lists_the_flows(svcnb) -> None:
    done = svcnb("sign", "transfer", "--wallet-key-file", "-")
    assert done.returncode == ExitCode.USAGE
    assert "convert-account" in done.stderr
