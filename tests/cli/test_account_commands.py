"""Commands for accounts that a wallet owns."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from svcnb import LocalSigner
from svcnb.exit_codes import ExitCode
from svcnb.launch import Emulator

pytestmark = pytest.mark.chain


@pytest.fixture
def wallet(emulator: Emulator, tmp_path: Path):
    """Function that creates a wallet with gas, and returns its signer and the file with its key."""

    def make(name: str) -> tuple[LocalSigner, str]:
        signer = LocalSigner.random()
        emulator.faucet(signer.address)
        file = tmp_path / name
        file.write_text(signer.reveal() + "\n")
        file.chmod(0o600)
        return signer, str(file)

    return make


@pytest.fixture
def at(svcnb, emulator: Emulator):
    """Function that runs `svcnb account` with the shared emulator."""
    return lambda *arguments, **options: svcnb("account", *arguments, SVC_BASE_URL=emulator.base_url, **options)


def test_the_commands_open_transfer_and_audit_an_account(at, wallet) -> None:
    owner, key = wallet("owner")
    made = json.loads(at("create", "treasury", "--chain-secured", "--wallet-key-file", key, "--json").stdout)
    assert made["owner"] == owner.address
    heir, heir_key = wallet("heir")
    asked = at("transfer", heir.address, "--wallet-key-file", key, stdin="n\n")
    assert asked.returncode != ExitCode.OK
    assert f"will belong to {heir.address}" in asked.stderr
    assert "Continue?" in asked.stderr
    assert asked.stdout == ""
    done = at("transfer", heir.address, "--wallet-key-file", key, "--json", stdin="y\n")
    assert json.loads(done.stdout)["admin"] == heir.address
    told = json.loads(at("audit", made["api_key_hash"], "--json").stdout)
    assert [entry["event"] for entry in told] == ["AccountCreated", "ChainSecuredAccountOwnershipTransferred"]
    refused = at("transfer", owner.address, "--wallet-key-file", heir_key, "--yes")
    assert refused.returncode == ExitCode.FAILED
    assert "AccountAlreadyExists" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_an_account_in_api_mode_is_converted_after_a_confirmation(at, wallet, emulator: Emulator) -> None:
    made = json.loads(at("create", "api", "--json").stdout)
    owner, key = wallet("owner")
    done = at("convert", "--wallet-key-file", key, "--yes", SVC_API_KEY=made["api_key"])
    assert owner.address in done.stdout, done.stderr
    vault = emulator.contract_wallet(owner.address)
    again = at("convert", "--wallet-key-file", key, "--contract-wallet", vault, "--yes", SVC_API_KEY=made["api_key"])
    assert again.returncode == ExitCode.FAILED
    assert "already" in again.stderr


def test_no_command_shows_a_private_key(at, wallet, tmp_path: Path) -> None:
    signer, key = wallet("owner")
    bad = tmp_path / "bad"
    bad.write_text(signer.reveal()[:-2])
    for arguments in (("--wallet-key-file", key), ("--wallet-key-file", str(bad)), ("--contract-wallet", "0x12")):
        done = at("create", "x", *arguments)
        assert done.returncode == ExitCode.USAGE
        assert signer.reveal()[2:40] not in done.stdout + done.stderr
    done = at("create", "x", "--chain-secured", "--wallet-key-file", str(bad))
    assert done.returncode == ExitCode.USAGE
    assert signer.reveal()[2:40] not in done.stdout + done.stderr


def test_a_chain_secured_account_creates_wallets_and_keys(svcnb, wallet, emulator: Emulator, tmp_path: Path) -> None:
    owner, key = wallet("owner")
    pending = {"SVCNB_PENDING": str(tmp_path / "pending"), "SVC_BASE_URL": emulator.base_url}
    at = partial(svcnb, "chain-secured", **pending)
    made = json.loads(at("create", "treasury", "--wallet-key-file", key, "--json").stdout)
    emulator.credit(owner.address, 500)
    minted = at("mint-wallet", "--wallet-key-file", key)
    assert minted.stdout.startswith("0x"), minted.stderr
    saved = tmp_path / "runner.key"
    key_made = at("mint-key", "runner", "--wallet-key-file", key, "--save", str(saved), "--json")
    assert key_made.returncode == ExitCode.OK, key_made.stderr
    assert saved.read_text().strip() not in key_made.stdout
    opened = json.loads(at("open", "--wallet-key-file", key, "--json").stdout)
    assert (opened["admin"], opened["api_key_hash"]) == (owner.address, made["api_key_hash"])
    assert (opened["wallets"], opened["usage_keys"]) == (2, 1)
    assert json.loads(at("pending", "--json").stdout) == []
    told = json.loads(at("audit", made["api_key_hash"], "--json").stdout)
    assert told[0]["event"] == "AccountCreated"
    unknown = at("resume", "00", "--wallet-key-file", key)
    assert unknown.returncode != ExitCode.OK
    assert "Traceback" not in unknown.stderr
