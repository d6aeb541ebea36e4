"""Calls of the AccountConfig contract through a payer, with refusals as HTTP answers (reference facts 6.7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from svcnb.emulator.errors import EndpointFailure, ServiceError
from svcnb.emulator.http.caller import Caller
from svcnb.protocol import contract
from svcnb.protocol.limits import MAX_CHAIN_TEXT_BYTES

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain
    from svcnb.emulator.chain.errors import ContractRevert

PERMISSION_DENIED: Final = "Permission denied"
_DENIALS: Final = frozenset({"NotMasterAccount", "NoAccountAccess", "UsageApiKeyExpired"})
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
    "The contract gave up without a reason, as it does when a call needs more gas than it may use: send shorter texts, "
    "or ask for fewer entries at a time"
)

WRITE_ERRORS: Final = frozenset({400, 403, 404})
"""Statuses with a JSON string that a managed write may end with."""


class ContractCalls:
    """Calls of the AccountConfig contract, with its refusals as HTTP answers.

    Args:
        chain: The chain with the contract.
    """

    def __init__(self, chain: Chain) -> None:
        self._chain = chain

    async def write(self, function: str, *arguments: Any) -> Any:
        """Sends a managed write and waits until it is in a block.

        Args:
            function: Name of the contract's function.
            *arguments: Its arguments.

        Returns:
            The return value of the function.

        Raises:
            EndpointFailure: The contract refused; nothing was sent.
            Unavailable: The chain cannot be reached.
        """
        from svcnb.emulator.chain.errors import ContractRevert

        require_short_texts(function, arguments)
        try:
            return await self._chain.write(function, *arguments)
        except ContractRevert as revert:
            raise failure_of(revert) from revert

    async def write_together(self, *calls: tuple[str, tuple[Any, ...]]) -> None:
        """Sends managed writes that must all happen; refusals as in `write`."""
        from svcnb.emulator.chain.errors import ContractRevert

        for function, arguments in calls:
            require_short_texts(function, arguments)
        try:
            await self._chain.write_together(*calls)
        except ContractRevert as revert:
            raise failure_of(revert) from revert

    async def view(self, function: str, *arguments: Any) -> Any:
        """Reads from the contract; refusals as in `write`."""
        from svcnb.emulator.chain.errors import ContractRevert

        try:
            return await self._chain.view(function, *arguments)
        except ContractRevert as revert:
            raise failure_of(revert) from revert


def require_short_texts(function: str, arguments: Sequence[Any]) -> None:
    """Refuses texts that the contract cannot store.

    Args:
        function: Name of the contract's function.
        arguments: Its arguments.

    Raises:
        EndpointFailure: 400, the texts are longer than `MAX_CHAIN_TEXT_BYTES` together.
    """
    kinds = contract.function(function).inputs
    texts = [argument for kind, argument in zip(kinds, arguments, strict=True) if kind == "string"]
    held = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    if held > MAX_CHAIN_TEXT_BYTES:
        raise EndpointFailure(
            400,
            f"The name and the description hold {held} bytes of UTF-8 together; the contract can take at most "
            f"{MAX_CHAIN_TEXT_BYTES} bytes: send shorter texts",
        )


def require_master(caller: Caller) -> None:
    """Refuses usage keys, before any other check of the call.

    Raises:
        EndpointFailure: 403, the key is not an account key.
    """
    if not caller.is_master:
        raise EndpointFailure(403, PERMISSION_DENIED)


def require_owner(caller: Caller) -> None:
    """Refuses usage keys, and every key of a ChainSecured account, where only the admin wallet writes.

    The contract refuses both too. This is for calls that look something up first, since permission is checked before
    existence (specification 5.5, reference facts 3.1).

    Raises:
        EndpointFailure: 403, the key is not the account key of a managed account.
    """
    require_master(caller)
    if not caller.managed:
        raise EndpointFailure(403, PERMISSION_DENIED)


def failure_of(revert: ContractRevert) -> ServiceError:
    """Converts a contract's refusal to the error for the caller.

    Args:
        revert: The decoded refusal.
    """
    if revert.name in _DENIALS or revert.name.startswith(_DENIAL_PREFIX):
        return EndpointFailure(403, PERMISSION_DENIED)
    if not revert.name:
        return EndpointFailure(400, _NO_REASON)
    return EndpointFailure(404 if revert.name in _MISSING else 400, error_text(revert.name, revert.args_))


def error_text(name: str, arguments: tuple[Any, ...]) -> str:
    """A contract error as text, hashes in hex.

    Args:
        name: The error's name.
        arguments: Its arguments.
    """
    return f"{name}({', '.join(_shown(argument) for argument in arguments)})"


def _shown(argument: object) -> str:
    if isinstance(argument, int) and not isinstance(argument, bool) and argument >= _LARGE:
        return f"0x{argument:064x}"
    return str(argument)
