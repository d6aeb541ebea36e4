"""Fixtures for ChainSecured tests: wallets with gas, accounts, and web3 as an independent reader of the chain."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

from svcnb import Action, Client, LocalSigner
from svcnb.protocol.contract import abi

ADD = Action("const main = ({ n }) => n + 1;", name="increment")


@pytest.fixture(autouse=True)
def own_folders(monkeypatch, tmp_path):
    """Separates the tests from the records and settings of the current user."""
    for name in ("BASE_URL", "API_KEY", "TRIGGERS_URL", "RPC_URL", "SERVICE_NAME", "PROCESSOR_NAME"):
        monkeypatch.delenv(f"SVC_{name}", raising=False)
    monkeypatch.delenv("SVCNB_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("SVCNB_PENDING", str(tmp_path / "pending"))
    return tmp_path


@pytest.fixture
def svc(emulator) -> Client:
    """Returns a client without a key."""
    client: Client = emulator.client()
    return client


@pytest.fixture
def fund(emulator) -> Callable[..., LocalSigner]:
    """Returns a function that creates wallets with gas."""

    def make(signer: LocalSigner | None = None) -> LocalSigner:
        signer = signer or LocalSigner.random()
        emulator.faucet(signer.address)
        return signer

    return make


@pytest.fixture
def owner(fund) -> LocalSigner:
    """Returns a new wallet with ten ETH."""
    signer: LocalSigner = fund()
    return signer


@pytest.fixture
def mine(svc, owner):
    """Returns a new ChainSecured account."""
    return svc.chain_secured.create(owner, "treasury")


@pytest.fixture
def action() -> Action:
    """Returns an action that adds one to a number."""
    return ADD


class Witness:
    """Reader of the contract that uses web3 instead of the client."""

    def __init__(self, emulator: Any) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from dependencies, at import
            from web3 import HTTPProvider, Web3
        self.web3 = Web3(HTTPProvider(emulator.rpc_url))
        address = self.web3.to_checksum_address(emulator.contract_address)
        self.contract = self.web3.eth.contract(address=address, abi=abi())

    def read(self, name: str, *arguments: Any) -> Any:
        return self.contract.functions[name](*arguments).call()

    def nonce(self, address: str) -> int:
        return self.web3.eth.get_transaction_count(self.web3.to_checksum_address(address))

    @property
    def block(self) -> int:
        return self.web3.eth.block_number


@pytest.fixture
def witness(emulator) -> Witness:
    """Returns a reader of the chain that uses another library than the client."""
    return Witness(emulator)
