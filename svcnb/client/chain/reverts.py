"""Errors of the contract, each with a hint."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.errors import ChainError
from svcnb.protocol.contract import Revert, decode_revert

_OWNER: Final = "Only the account's admin wallet may: mine.describe() shows which one that is."
_MASTER: Final = "Open the account with its admin wallet, which finds the master hash: svc.chain_secured.open(owner)."
_RIGHT: Final = "Let the account's owner do it, or give the usage key this right: mine.usage_keys.update(key, ...)."

ADVICE: Final[dict[str, str]] = {
    "AccountDoesNotExist": "Check the wallet or the hash: svc.chain_secured.create(owner, name) opens a new account, "
    "svc.accounts.convert(owner) hands over one in API mode.",
    "NoAccountAccess": _OWNER,
    "AccountAlreadyExists": "A wallet owns at most one account, and one that was ever admin is no target again: open "
    "what it has with svc.chain_secured.open(owner), or use a fresh wallet.",
    "GroupDoesNotExist": "mine.groups.list() shows what there is; the number of a removed group never comes back.",
    "PkpDoesNotExist": "The group does not permit this wallet: mine.groups.contents(group) shows what it permits.",
    "ActionDoesNotExist": "mine.actions.list() and mine.groups.contents(group) show what is there.",
    "UsageApiKeyDoesNotExist": "mine.usage_keys.list() shows what there is; a removed key cannot come back.",
    "UsageApiKeyExpired": "The key's time is over: mine.usage_keys.update(key, expires_in='30d') gives it more.",
    "InsufficientBalance": "This on-chain figure is no money and nothing uses it; credit is svc.billing.balance().",
    "OnlyApiPayer": "Only the service's own payers may call this.",
    "OnlyApiPayerOrPricingOperator": "Only the service's own operators may call this.",
    "OnlyApiPayerOrOwner": "The service relays this call: svc.accounts.convert(owner) asks it to.",
    "OnlyConfigOperatorOrOwner": "Only the service's own operators may call this.",
    "NotMasterAccount": _MASTER,
    "NotAllowedToCreateGroup": _RIGHT,
    "NotAllowedToDeleteGroup": _RIGHT,
    "NotAllowedToCreatePkp": _RIGHT,
    "NotAllowedToAddPkpToGroup": _RIGHT,
    "NotAllowedToRemovePkpFromGroup": _RIGHT,
    "NotAllowedToManageIPFSIdsInGroup": _RIGHT,
    "InvalidRequest": "Correct what the reason names; nothing was changed.",
    "NotContractOwner": "Only whoever deployed the contract may call this.",
    "FunctionNotFound": "The deployed contract is of another version: svc.chain_secured.drift() lists what it lacks.",
    "DirectETHTransferNotAllowed": "The contract takes no ETH: send it to the admin wallet, which pays the gas.",
}
"""Hint for each of the contract's errors (reference facts 6.6)."""

_HASHES: Final = frozenset({"apiKeyHash", "accountApiKeyHash", "usageApiKeyHash", "action"})


def refused(function: str, data: bytes) -> ChainError:
    """Returns the error of a call that the contract refused.

    Args:
        function: The function that was called.
        data: The revert data as the chain returned it, possibly empty.
    """
    revert = decode_revert(data)
    return ChainError(
        f"the contract refused {function}: {_told(revert)}; nothing was changed",
        name=revert.name,
        arguments=_arguments(revert),
        hint=ADVICE.get(revert.name, "Is this the AccountConfig contract? svc.chain_secured.drift() compares it."),
    )


def _told(revert: Revert) -> str:
    if not revert.name:
        return f"unknown reason 0x{revert.args[0].hex()[:72]}" if revert.args else "no reason given"
    named = zip(revert.names, _arguments(revert), strict=False)
    return f"{revert.name}({', '.join(f'{name}={value}' if name else str(value) for name, value in named)})"


def _arguments(revert: Revert) -> tuple[object, ...]:
    names = revert.names or ("",) * len(revert.args)
    return tuple(_readable(name, value) for name, value in zip(names, revert.args, strict=False))


def _readable(name: str, value: Any) -> object:
    if isinstance(value, bytes):
        return "0x" + value.hex()
    return f"0x{value:064x}" if name in _HASHES and isinstance(value, int) else value
