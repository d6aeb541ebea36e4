"""Access to the chain that stores a service's accounts: requests to a node, the service's time, and contract calls."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from svcnb.client._http import is_loopback
from svcnb.client.calls import Call, Flow, ask, now
from svcnb.client.chain import abi, rpc
from svcnb.client.chain.reverts import refused
from svcnb.client.config import Config
from svcnb.client.errors import ChainError, ConfigError
from svcnb.client.models.node import ChainConfig
from svcnb.client.resources import node
from svcnb.protocol.contract import AbiError, function, functions
from svcnb.protocol.limits import CLOCK_SKEW_WARNING_S

_ZERO: Final = "0x" + "00" * 20


class ClockSkew(UserWarning):
    """Warning that the clock of this machine differs from the service's clock by more than two minutes.

    The client signs with the time of the service, so signatures are valid nevertheless.
    """


class ChainAccess:
    """Access of one client to the chain, with a cache for constant values.

    Args:
        config: Settings of the client.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self._node: ChainConfig | None = None
        self._checked = False
        self._selectors: frozenset[bytes] | None = None
        self._warned = False

    # --- addresses and time -------------------------------------------------------------------------------------

    def node(self) -> Flow[ChainConfig]:
        """Returns the chain id and the address of the contract, as the service reports them."""
        if self._node is None:
            self._node = yield from node.chain_config()
        return self._node

    def url(self) -> Flow[str]:
        """Returns the address of a chain node.

        The result is the client's ``rpc_url``. If ``rpc_url`` is not set, the result is the address that the service
        reports.

        Raises:
            ConfigError: ``rpc_url`` is not set, and the service does not report an address.
        """
        told = self.config.rpc_url or (yield from self.node()).rpc_url
        if not told:
            raise ConfigError(
                "the address of a chain node is not set, and the service does not return an address",
                hint="Pass the address of a node of the service's chain: svcnb.Client(rpc_url=url). "
                "Or set SVC_RPC_URL. svc.node.chain_config() returns the chain id.",
            )
        return told

    def time(self) -> Flow[int]:
        """Returns the service's time in whole Unix seconds, from a header of a new response.

        The client does not cache the time, because the call is free and the service rejects signatures with a wrong
        time. If the response has no valid ``Date`` header, the result is the time of this machine.
        """
        answer = yield from ask(
            Call("GET", "/get_node_chain_config", lambda _, answer: answer, key=False, timeout_class="read")
        )
        if answer.date is None or answer.clock_skew is None:
            _, here = yield from now()
            return int(here)
        self._warn_of(answer.clock_skew)
        return int(answer.date)

    def _warn_of(self, skew: float) -> None:
        # A service on this machine uses the same clock as the client. A difference means that someone changed the
        # emulator's clock deliberately.
        own = is_loopback(urlsplit(self.config.base_url).hostname or "")
        if abs(skew) > CLOCK_SKEW_WARNING_S and not own and not self._warned:
            self._warned = True
            warnings.warn(
                f"the service's clock is {timedelta(seconds=round(abs(skew)))} {'ahead of' if skew > 0 else 'behind'} "
                f"this machine's clock. Correct this machine's clock. The client signs with the service's time.",
                ClockSkew,
                stacklevel=2,
            )

    # --- requests -----------------------------------------------------------------------------------------------

    def rpc(self, method: str, *params: Any) -> Flow[Any]:
        """Sends a request to the chain node; see `svcnb.client.chain.rpc.request`."""
        return (yield from rpc.request((yield from self.url()), method, params))

    def batch(self, requests: Sequence[tuple[str, Sequence[Any]]]) -> Flow[list[Any]]:
        """Sends many requests to the chain node; see `svcnb.client.chain.rpc.batch`."""
        return (yield from rpc.batch((yield from self.url()), requests))

    def view(self, name: str, *arguments: Any, sender: str = _ZERO) -> Flow[Any]:
        """Calls a function of the contract without a transaction, and returns its result.

        Args:
            name: Name of the function.
            *arguments: Arguments of the function.
            sender: Address that the contract treats as the caller. The default is the zero address.

        Raises:
            ChainError: The contract rejected the call, or the chain could not be queried. After a rejection, the
                exception contains the name of the contract's error and a hint.
        """
        what = function(name)
        contract = (yield from self.node()).contract_address
        data = yield from self.call(contract, what.encode_call(abi, arguments), sender=sender, name=name)
        try:
            return what.decode_result(abi, data)
        except AbiError:
            raise ChainError(
                f"the contract at {contract} returned a response to {name} that does not match the AccountConfig "
                "contract",
                hint="Check that the node belongs to the service's chain: svc.node.chain_config() returns the chain "
                "id. To list missing functions of the contract, call svc.chain_secured.drift().",
            ) from None

    def call(self, to: str, data: bytes, *, sender: str = _ZERO, name: str) -> Flow[bytes]:
        """Calls any contract without a transaction, and returns the result as bytes.

        Args:
            to: Address of the contract.
            data: Call data.
            sender: Address that the contract treats as the caller. The default is the zero address.
            name: Name of the called function, for error messages.

        Raises:
            ChainError: The contract rejected the call, or the chain could not be queried.
        """
        transaction = {"from": sender, "to": to, "data": "0x" + data.hex()}
        try:
            answer = yield from self.rpc("eth_call", transaction, "latest")
        except rpc.RpcError as error:
            if (reason := error.revert_data) is not None:
                raise refused(name, reason) from None
            raise
        return bytes.fromhex(str(answer).removeprefix("0x"))

    # --- checks of chain and contract ---------------------------------------------------------------------------

    def require_same_chain(self) -> Flow[int]:
        """Checks that the node and the service use the same chain, and returns the chain id.

        Raises:
            ChainError: The node and the service use different chains, or there is no contract at the address that the
                service reports.
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
                    f"the node is on chain {int(seen, 16)}, but the service uses chain {told.chain_id}",
                    hint="Pass the address of a node of the service's chain: svcnb.Client(rpc_url=url). "
                    "Or set SVC_RPC_URL.",
                )
            if str(code) in ("0x", ""):
                raise ChainError(
                    f"there is no contract at {told.contract_address} on chain {told.chain_id}",
                    hint="Wait if the node is still synchronising. Otherwise, pass the address of a node of the right "
                    "network: svcnb.Client(rpc_url=url), or set SVC_RPC_URL.",
                )
            self._checked = True
        return told.chain_id

    def missing(self) -> Flow[tuple[str, ...]]:
        """Returns the names of functions that this client uses, but the deployed contract does not list (EIP-2535)."""
        if self._selectors is None:
            facets = yield from self.view("facets")
            self._selectors = frozenset(bytes(selector) for _, selectors in facets for selector in selectors)
        known = self._selectors
        return tuple(sorted(name for name, entry in functions().items() if entry.selector not in known))
