"""Client of the AccountConfig contract. It sends writes through a payer, and converts reverts to HTTP errors.

Source: docs/service/contract.md#errors-over-http.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

from svcnb.emulator.errors import EndpointFailure, ServiceError
from svcnb.emulator.http.routing import Caller
from svcnb.protocol import contract
from svcnb.protocol.limits import MAX_CHAIN_TEXT_BYTES

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain
    from svcnb.emulator.chain.errors import ContractRevert

T = TypeVar("T")

PERMISSION_DENIED: Final = "Permission denied"
ONLY_ADMIN_WALLET: Final = (
    f"{PERMISSION_DENIED}: only the admin wallet can change an account in ChainSecured mode. Send the change as a "
    "transaction of this wallet to the contract whose address GET get_node_chain_config returns."
)
_DENIALS: Final = frozenset({"NotMasterAccount", "UsageApiKeyExpired"})
_PAYER_DENIED: Final = "NoAccountAccess"
"""Name of the contract's error for a payer's write to an account in ChainSecured mode."""
_DENIAL_PREFIX: Final = "NotAllowedTo"
_MISSING: Final = frozenset(
    {
        "AccountDoesNotExist",
        "GroupDoesNotExist",
        "PkpDoesNotExist",
        "ActionDoesNotExist",
        "UsageApiKeyDoesNotExist",
    }
)
_LARGE: Final = 1 << 64
_NO_REASON: Final = (
    "the contract reverted without a reason, probably because the call needs too much gas. Send shorter names and "
    "descriptions, or request fewer list entries with a smaller page_size."
)

WRITE_ERRORS: Final = frozenset({400, 403, 404})
"""HTTP statuses of the errors of a managed write. The body of these errors is a JSON string."""


class ContractCalls:
    """Client of the AccountConfig contract. It converts reverts to HTTP errors.

    Args:
        chain: The chain with the contract.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    async def write(self, function: str, *arguments: Any) -> Any:
        """Sends a managed write: a transaction that a payer wallet sends for an account in API mode.

        The method waits until a block contains the transaction.

        Returns:
            The return value of the function.

        Raises:
            EndpointFailure: The contract reverted the call, or the strings in the arguments are too long.
            Unavailable: The chain does not respond, or rejected the transaction.
        """
        require_short_texts(function, arguments)
        return await _with_http_errors(self._chain.write(function, *arguments))

    async def write_together(self, *calls: tuple[str, tuple[Any, ...]]) -> None:
        """Sends several managed writes. On the emulator's own chain, either all of the writes take effect or none.

        On an external chain, the service sends the writes in sequence. If a write fails, the earlier writes stay in
        effect. Raises the same errors as `write`.
        """
        for function, arguments in calls:
            require_short_texts(function, arguments)
        await _with_http_errors(self._chain.write_together(*calls))

    async def view(self, function: str, *arguments: Any) -> Any:
        """Calls a view function of the contract and returns its result. Raises the same errors as `write`."""
        return await _with_http_errors(self._chain.view(function, *arguments))


async def _with_http_errors(call: Awaitable[T]) -> T:
    from svcnb.emulator.chain.errors import ContractRevert

    try:
        return await call
    except ContractRevert as revert:
        raise failure_of(revert) from revert


def require_short_texts(function: str, arguments: Sequence[Any]) -> None:
    """Rejects strings that the contract cannot store.

    Raises:
        EndpointFailure: 400 if the total length of the strings exceeds `MAX_CHAIN_TEXT_BYTES`.
    """
    kinds = contract.function(function).inputs
    texts = [argument for kind, argument in zip(kinds, arguments, strict=True) if kind == "string"]
    held = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if held > MAX_CHAIN_TEXT_BYTES:
        raise EndpointFailure(
            400,
            (
                f"the name and the description together have {held} bytes of UTF-8, but the contract accepts at most "
                f"{MAX_CHAIN_TEXT_BYTES} bytes: send shorter texts"
            ),
        )


def require_master(caller: Caller) -> None:
    """Rejects usage keys. The call requires the account key.

    Raises:
        EndpointFailure: 403 if the key is not an account key.
    """
    if not caller.is_master:
        raise EndpointFailure(403, PERMISSION_DENIED)


def require_owner(caller: Caller) -> None:
    """Rejects usage keys and all keys of a ChainSecured account, where only the admin wallet can write.

    The contract also rejects these keys. Use this function for calls that begin with a lookup. The service must check
    the permission before it checks whether an object exists (docs/service/permissions.md#permission-of-each-endpoint).

    Raises:
        EndpointFailure: 403 if the key is not the account key of a managed account.
    """
    if not caller.managed:
        raise EndpointFailure(403, ONLY_ADMIN_WALLET)
    require_master(caller)


def failure_of(revert: ContractRevert) -> ServiceError:
    """Converts a contract's revert to the HTTP error for the caller."""
    if revert.name == _PAYER_DENIED:
        return EndpointFailure(403, ONLY_ADMIN_WALLET)
    if revert.name in _DENIALS or revert.name.startswith(_DENIAL_PREFIX):
        return EndpointFailure(403, PERMISSION_DENIED)
    if not revert.name:
        return EndpointFailure(400, _NO_REASON)
    return EndpointFailure(404 if revert.name in _MISSING else 400, error_text(revert.name, revert.args_))


def error_text(name: str, arguments: tuple[Any, ...]) -> str:
    """Returns a contract error as text, with hashes in hex."""
    return f"{name}({', '.join(_shown(argument) for argument in arguments)})"


def _shown(argument: object) -> str:
    if isinstance(argument, int) and not isinstance(argument, bool) and argument >= _LARGE:
        return f"0x{argument:064x}"
    return str(argument)
