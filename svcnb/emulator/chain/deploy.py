"""Deployment of the contract: first the facets, then the diamond with their addresses, then its payers.

The owner sends them in a fixed order, starting with its first nonce. So the owner's key alone determines the contract's
address, and an interrupted deployment continues where it stopped.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from svcnb.emulator.chain.errors import ChainUnusable
from svcnb.emulator.chain.transactions import contract_address
from svcnb.protocol import contract
from svcnb.protocol.abi import encode

ARTIFACT: Final = Path(__file__).with_name("contracts") / "artifact.json"
DEFAULT_PAYERS: Final = 3
"""The number of payers that the contract requests by default."""
_ADD: Final = 0
_CUT: Final = "(address,uint8,bytes4[])[]"

Request = Callable[..., Awaitable[Any]]


class Creation(NamedTuple):
    """A transaction that deployment needs.

    Attributes:
        to: The receiver, None to create a contract.
        data: Its data.
        what: Name for error texts.
    """

    to: str | None
    data: bytes
    what: str


class Artifact:
    """The compiled contracts."""

    def __init__(self) -> None:
        content = json.loads(ARTIFACT.read_text("utf-8"))
        self._facets: dict[str, dict[str, Any]] = content["facets"]
        self._diamond = bytes.fromhex(content["diamond"][2:])
        self._wallet = bytes.fromhex(content["wallet"][2:])

    def address(self, owner: str) -> str:
        """Address of an owner's contract, lowercase 0x."""
        return contract_address(owner, len(self._facets))

    def creations(self, owner: str) -> list[Creation]:
        """Transactions of the owner, from nonce 0 on."""
        cuts = [
            (contract_address(owner, nonce), _ADD, [bytes.fromhex(selector[2:]) for selector in facet["selectors"]])
            for nonce, facet in enumerate(self._facets.values())
        ]
        facets = [Creation(None, bytes.fromhex(facet["bytecode"][2:]), name) for name, facet in self._facets.items()]
        arguments = encode(("address", _CUT), (owner, cuts))
        return [*facets, Creation(None, self._diamond + arguments, "the contract")]

    def wallet(self, owner: str) -> bytes:
        """Creation code of a contract wallet."""
        return self._wallet + encode(("address",), (owner,))


async def missing(request: Request, artifact: Artifact, owner: str) -> list[Creation]:
    """The remaining transactions of the deployment, in order.

    Args:
        request: Sends a request to the chain.
        artifact: The compiled contracts.
        owner: The deploying wallet.

    Raises:
        ChainUnusable: The owner has sent another transaction before, so the contract cannot get its address any more.
    """
    address = artifact.address(owner)
    if await request("eth_getCode", address, "latest") not in {"0x", None}:
        return []
    done = int(await request("eth_getTransactionCount", owner, "latest"), 16)
    creations = artifact.creations(owner)
    if done >= len(creations):
        raise ChainUnusable(
            f"the contract belongs at {address}, and its owner {owner} sent {done} transactions without creating it: "
            "start with another seed or state folder, whose owner is fresh"
        )
    for nonce in range(done):
        if await request("eth_getCode", contract_address(owner, nonce), "latest") in {"0x", None}:
            raise ChainUnusable(
                f"transaction {nonce} of the contract's owner {owner} did not create a facet: "
                "start with another seed or state folder, whose owner is fresh"
            )
    return creations[done:]


async def check_version(request: Request, address: str) -> None:
    """Checks whether the contract has the functions that this version calls.

    Args:
        request: Sends a request to the chain.
        address: The contract.

    Raises:
        ChainUnusable: It was deployed by another version.
    """
    loupe = contract.function("facets")
    answer = await request("eth_call", {"to": address, "data": "0x" + loupe.encode_call(()).hex()}, "latest")
    there = {selector for _, selectors in loupe.decode_result(bytes.fromhex(answer[2:])) for selector in selectors}
    if lacking := sorted(name for name, function in contract.functions().items() if function.selector not in there):
        raise ChainUnusable(
            f"the contract at {address} was deployed by another version of svcnb and lacks {', '.join(lacking)}: "
            "use that version, or start with another seed or state folder"
        )


async def settings_calls(request: Request, address: str, *, payers: Sequence[str], admin_payer: str) -> list[Creation]:
    """The owner's calls that update the contract's payers to the given ones.

    Args:
        request: Sends a request to the chain.
        address: The contract.
        payers: The wallets that relay managed writes.
        admin_payer: The wallet that manages them.
    """

    async def ask(name: str) -> Any:
        function = contract.function(name)
        answer = await request("eth_call", {"to": address, "data": "0x" + function.encode_call(()).hex()}, "latest")
        return function.decode_result(bytes.fromhex(answer[2:]))

    wanted: list[tuple[str, Any]] = []
    if tuple(await ask("api_payers")) != tuple(payers):
        wanted.append(("setApiPayers", list(payers)))
    if await ask("adminApiPayerAccount") != admin_payer:
        wanted.append(("setAdminApiPayerAccount", admin_payer))
    if await ask("requestedApiPayerCount") != len(payers):
        wanted.append(("setRequestedApiPayerCount", len(payers)))
    return [Creation(address, contract.function(name).encode_call((value,)), name) for name, value in wanted]
