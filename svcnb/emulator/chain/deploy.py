"""Deployment of the diamond contract (EIP-2535) with its facets and its list of payers.

The owner sends the transactions in a fixed order, starting with nonce 0. The owner's key alone therefore determines the
contract's address, and an interrupted deployment can continue.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from svcnb.emulator.chain.bootstrap import FUNDS
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.relay import Relay, Wallet
from svcnb.emulator.chain.remote import RemoteChain
from svcnb.emulator.chain.transactions import contract_address
from svcnb.emulator.platform import abi
from svcnb.protocol import contract

ARTIFACT: Final = Path(__file__).with_name("contracts") / "artifact.json"
_ADD: Final = 0
_LOW_WEI: Final = 1_000 * 10**18
"""Balance in wei below which a wallet of the service receives `FUNDS`, on the emulator's own chain."""
_CUT: Final = "(address,uint8,bytes4[])[]"

Request = Callable[..., Awaitable[Any]]


class Creation(NamedTuple):
    """Transaction of the deployment.

    Attributes:
        to: Address of the receiver, or None to create a contract.
        data: Call data or creation code.
        what: Name of the contract or the function, for error messages.
    """

    to: str | None
    data: bytes
    what: str


class Artifact:
    """Creation code of the contracts, from ``contracts/artifact.json``."""

    def __init__(self) -> None:
        content = json.loads(ARTIFACT.read_text("utf-8"))
        self._facets: dict[str, dict[str, Any]] = content["facets"]
        self._diamond = bytes.fromhex(content["diamond"][2:])
        self._wallet = bytes.fromhex(content["wallet"][2:])

    def address(self, owner: str) -> str:
        """Returns the address of the contract that ``owner`` deploys, in lowercase with the prefix 0x."""
        return contract_address(owner, len(self._facets))

    def creations(self, owner: str) -> list[Creation]:
        """Returns the transactions that create the facets and the contract. The owner sends them in this order."""
        cuts = [
            (contract_address(owner, nonce), _ADD, [bytes.fromhex(selector[2:]) for selector in facet["selectors"]])
            for nonce, facet in enumerate(self._facets.values())
        ]
        facets = [Creation(None, bytes.fromhex(facet["bytecode"][2:]), name) for name, facet in self._facets.items()]
        arguments = abi.encode(("address", _CUT), (owner, cuts))
        return [*facets, Creation(None, self._diamond + arguments, "the contract")]

    def wallet(self, owner: str) -> bytes:
        """Returns the creation code of a contract wallet that accepts the signatures of ``owner``."""
        return self._wallet + abi.encode(("address",), (owner,))


async def missing(request: Request, artifact: Artifact, owner: str) -> list[Creation]:
    """Returns the transactions that create the missing facets and the contract, in order.

    The list is empty if the contract exists.

    Args:
        request: Function that sends a request to the chain.
        artifact: Compiled contracts.
        owner: Address of the deploying wallet.

    Raises:
        ChainUnusable: The owner has sent other transactions, so the contract can no longer have its expected address.
    """
    address = artifact.address(owner)
    if await request("eth_getCode", address, "latest") not in {"0x", None}:
        return []
    done = int(await request("eth_getTransactionCount", owner, "latest"), 16)
    creations = artifact.creations(owner)
    if done >= len(creations):
        raise ChainUnusable(
            f"the contract must be at {address}, but its owner {owner} sent {done} transactions that did not create "
            "the contract: start with a different seed or state folder"
        )
    for nonce in range(done):
        if await request("eth_getCode", contract_address(owner, nonce), "latest") in {"0x", None}:
            raise ChainUnusable(
                f"transaction {nonce} (counted from 0) of the contract's owner {owner} did not create a part of the "
                "contract: start with a different seed or state folder"
            )
    return creations[done:]


async def check_version(request: Request, address: str) -> None:
    """Checks that the contract has all functions that this version calls.

    Args:
        request: Function that sends a request to the chain.
        address: Address of the contract.

    Raises:
        ChainUnusable: A different version of svcnb deployed the contract.
    """
    facets = await _view(request, address, "facets")
    there = {selector for _, selectors in facets for selector in selectors}
    if lacking := sorted(name for name, function in contract.functions().items() if function.selector not in there):
        raise ChainUnusable(
            f"a different version of svcnb deployed the contract at {address}, which lacks these functions: "
            f"{', '.join(lacking)}. Use that version, or a different seed or state folder."
        )


async def settings_calls(request: Request, address: str, *, payers: Sequence[str], admin_payer: str) -> list[Creation]:
    """Returns the calls that the owner must send to set the contract's payers, their number and the admin payer.

    The list contains no call for a value that the contract already has.

    Args:
        request: Function that sends a request to the chain.
        address: Address of the contract.
        payers: Addresses of the wallets that send the writes of accounts in API mode.
        admin_payer: Address of the wallet that manages the payers.
    """
    settings = (
        ("setApiPayers", "api_payers", tuple(payers)),
        ("setAdminApiPayerAccount", "adminApiPayerAccount", admin_payer),
        ("setRequestedApiPayerCount", "requestedApiPayerCount", len(payers)),
    )
    return [
        Creation(address, contract.function(setter).encode_call(abi, (value,)), setter)
        for setter, getter, value in settings
        if await _view(request, address, getter) != value
    ]


async def _view(request: Request, address: str, name: str) -> Any:
    function = contract.function(name)
    answer = await request("eth_call", {"to": address, "data": "0x" + function.encode_call(abi, ()).hex()}, "latest")
    return function.decode_result(abi, bytes.fromhex(answer[2:]))


async def complete(
    chain: LocalChain | RemoteChain,
    relay: Relay,
    artifact: Artifact,
    *,
    owner: Wallet,
    payers: Sequence[str],
    admin_payer: str,
) -> None:
    """Completes the deployment: funds the wallets, deploys the contract, and sets its payers.

    On an external chain, the function does not fund the wallets, and starts to poll for events of the contract.

    Args:
        chain: Chain on which to deploy.
        relay: Relay that sends the owner's transactions. The caller must lock the owner wallet with `Relay.holding`.
        artifact: Compiled contracts.
        owner: Wallet that deploys the contract.
        payers: Addresses of the wallets that send the writes of accounts in API mode.
        admin_payer: Address of the wallet that manages the payers.

    Raises:
        ChainUnusable: The deployment failed, or a different version of svcnb deployed the contract.
        ChainUnavailable: The chain does not respond.
    """
    address = artifact.address(owner.address)
    if isinstance(chain, LocalChain):
        await _fund(chain, (owner.address, admin_payer, *payers))
    creations = await missing(chain.request, artifact, owner.address)
    await _send(chain, relay, owner, creations)
    if not creations:
        await check_version(chain.request, address)
    calls = await settings_calls(chain.request, address, payers=payers, admin_payer=admin_payer)
    await _send(chain, relay, owner, calls)
    if isinstance(chain, RemoteChain):
        await chain.follow(address)


async def _fund(chain: LocalChain, wallets: Sequence[str]) -> None:
    asking = (chain.request("eth_getBalance", wallet, "latest") for wallet in wallets)
    for wallet, balance in zip(wallets, await asyncio.gather(*asking), strict=True):
        if int(balance, 16) < _LOW_WEI:
            await chain.add_balance(wallet, FUNDS)


async def _send(chain: LocalChain | RemoteChain, relay: Relay, owner: Wallet, calls: list[Creation]) -> None:
    if isinstance(chain, LocalChain):
        receipts = await relay.send_all(owner, [(call.to, call.data) for call in calls])
        for call, receipt in zip(calls, receipts, strict=True):
            _check(call, receipt)
        return
    for call in calls:  # on an external chain, the gas of a call depends on the call before it
        try:
            _check(call, await relay.send(owner, call.to, call.data))
        except ChainUnavailable as error:
            raise ChainUnusable(
                f"the transaction for {call.what} did not succeed: {error.message}. Check that {owner.address} has "
                "ether on this chain, and start again with the same seed or state folder."
            ) from error


def _check(call: Creation, receipt: dict[str, Any]) -> None:
    if receipt["status"] != "0x1":
        raise ChainUnusable(
            f"the transaction {receipt['transactionHash']} for {call.what} failed: start with a different seed or "
            "state folder"
        )
