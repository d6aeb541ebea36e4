"""Access to the chain of a service's accounts: its node, its time, and calls of its contract."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client._http import is_loopback
from svcnb.client.calls import Call, Flow, ask, now
from svcnb.client.chain import rpc
from svcnb.client.chain.reverts import refused
from svcnb.client.config import Config
from svcnb.client.errors import ChainError, ConfigError
from svcnb.client.models.node import ChainConfig
from svcnb.client.resources import node
from svcnb.protocol.abi import AbiError
from svcnb.protocol.contract import function, functions

SKEW_WARNING_S: Final = 120.0
"""Clock difference that causes a warning: signatures are valid for 300 seconds either way (specification 5.6.7)."""

_ZERO: Final = "0x" + "00" * 20


class ClockSkew(UserWarning):
    """This machine's clock is far from the service's; signatures are corrected by the difference."""


class ChainAccess:
    """Chain access of one client. Caches what cannot change.

    Args:
        config: The client's settings.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._node: ChainConfig | None = None
        self._checked = False
        self._selectors: frozenset[bytes] | None = None
        self._warned = False

    # --- where and when -----------------------------------------------------------------------------------------

    def node(self) -> Flow[ChainConfig]:
        """Chain id and contract, as the service reports them."""
        if self._node is None:
            self._node = yield from node.chain_config()
        return self._node

    def url(self) -> Flow[str]:
        """Address of a node: the client's ``rpc_url``, else the one that the service reports.

        Raises:
            ConfigError: Neither is set.
        """
        told = self.config.rpc_url or (yield from self.node()).rpc_url
        if not told:
            raise ConfigError(
                "the service does not tell an address of its chain's node, and none was given",
                hint="Choose a node of that chain: svcnb.Client(rpc_url=...), or SVC_RPC_URL. "
                "svc.node.chain_config() names the chain.",
            )
        return told

    def time(self) -> Flow[int]:
        """The service's time in whole Unix seconds, from the header of a new response.

        Not cached: it takes one free call, and a signature with a wrong time is useless.
        """
        answer = yield from ask(
            Call("GET", "/get_node_chain_config", lambda _, answer: answer, key=False, patience="read")
        )
        try:
            told = parsedate_to_datetime(answer.headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError):
            _, here = yield from now()
            return int(here)
        # The header counts whole seconds. The best estimate is the middle of that second, half-way through the
        # exchange.
        self._warn_of(told + 0.5 - (answer.sent_at + answer.elapsed / 2))
        return int(told)

    def _warn_of(self, skew: float) -> None:
        # On one machine, service and client have the same clock. A difference means that the service's clock was set on
        # purpose.
        own = is_loopback(urlsplit(self.config.base_url).hostname or "")
        if abs(skew) > SKEW_WARNING_S and not own and not self._warned:
            self._warned = True
            warnings.warn(
                f"the service's clock is {timedelta(seconds=round(abs(skew)))} {'ahead of' if skew > 0 else 'behind'} "
                "this machine's; signatures carry the service's time, but set this clock right",
                ClockSkew,
                stacklevel=2,
            )

    # --- requests -----------------------------------------------------------------------------------------------

    def rpc(self, method: str, *params: Any) -> Flow[Any]:
        """Sends a request to the chain's node; see `svcnb.client.chain.rpc.request`."""
        return (yield from rpc.request((yield from self.url()), method, params))

    def batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> Flow[list[Any]]:
        """Sends many requests to the chain's node; see `svcnb.client.chain.rpc.batch`."""
        return (yield from rpc.batch((yield from self.url()), requests))

    def view(self, name: str, *arguments: Any, sender: str = _ZERO, block: int | None = None) -> Flow[Any]:
        """Calls a function of the contract without a transaction, and returns its result.

        Args:
            name: The function.
            *arguments: Its arguments.
            sender: The caller that the node assumes.
            block: State at the end of this block; the latest when None.

        Raises:
            ChainError: The contract refused (by name, with a hint), or the chain could not be queried.
        """
        what = function(name)
        contract = (yield from self.node()).contract_address
        data = yield from self.call(contract, what.encode_call(arguments), sender=sender, block=block, name=name)
        try:
            return what.decode_result(data)
        except AbiError:
            raise ChainError(
                f"what stands at {contract} did not answer {name} as AccountConfig does",
                hint="Is the node one of the service's chain? svc.chain_secured.drift() compares chain and contract.",
            ) from None

    def call(self, to: str, data: bytes, *, sender: str = _ZERO, block: int | None = None, name: str) -> Flow[bytes]:
        """Calls any contract without a transaction.

        Raises:
            ChainError: The contract refused, or the chain could not be queried.
        """
        transaction = {"from": sender, "to": to, "data": "0x" + data.hex()}
        try:
            answer = yield from self.rpc("eth_call", transaction, "latest" if block is None else hex(block))
        except rpc.RpcError as error:
            if (reason := error.revert_data) is not None:
                raise refused(name, reason) from None
            raise
        return bytes.fromhex(str(answer).removeprefix("0x"))

    # --- checks of chain and contract ---------------------------------------------------------------------------

    def require_same_chain(self) -> Flow[int]:
        """Returns the chain id, after a check that node and service use the same chain.

        Raises:
            ChainError: They do not use the same one, or there is no contract at the service's address.
        """
        told = yield from self.node()
        if not self._checked:
            seen, code = yield from self.batch(
                [("eth_chainId", ()), ("eth_getCode", (told.contract_address, "latest"))]
            )
            for answer in (seen, code):
                if isinstance(answer, rpc.RpcError):
                    raise answer
            if int(seen, 16) != told.chain_id:
                raise ChainError(
                    f"the node is on chain {int(seen, 16)}, the service on chain {told.chain_id}",
                    hint="Choose a node of the service's chain: rpc_url=..., or SVC_RPC_URL.",
                )
            if str(code) in ("0x", ""):
                raise ChainError(
                    f"there is no contract at {told.contract_address} on chain {told.chain_id}",
                    hint="The node may still be catching up, or is of another network with the same id.",
                )
            self._checked = True
        return told.chain_id

    def missing(self) -> Flow[tuple[str, ...]]:
        """Returns functions of this version's interface that the deployed contract's own list (the loupe) lacks."""
        if self._selectors is None:
            facets = yield from self.view("facets")
            self._selectors = frozenset(bytes(selector) for _, selectors in facets for selector in selectors)
        known = self._selectors
        return tuple(sorted(name for name, entry in functions().items() if entry.selector not in known))
