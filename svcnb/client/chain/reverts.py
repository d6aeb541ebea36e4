"""Converter from the contract's errors to `ChainError`, with a hint for each error."""

from __future__ import annotations

from typing import Any, Final

from svcnb.client.chain import abi
from svcnb.client.errors import ChainError
from svcnb.protocol.contract import Revert, decode_revert

_OWNER: Final = "Use the account's admin wallet: mine.describe() shows its address."
_MASTER: Final = (
    "Open the account with its admin wallet: svc.chain_secured.open(owner). This call finds the master hash."
)
_RIGHT: Final = (
    "Make the call with the account's admin wallet. Or add this permission to the usage key, for example: "
    "mine.usage_keys.update(key, can_create_groups=True)."
)

ADVICE: Final[dict[str, str]] = {
    "AccountDoesNotExist": (
        "Check the wallet or the hash. To create an account, call svc.chain_secured.create(owner, name). To convert "
        "an account in API mode, call svc.accounts.convert(owner)."
    ),
    "NoAccountAccess": _OWNER,
    "AccountAlreadyExists": (
        "A wallet can own only one account during its lifetime. Open the account of the wallet with "
        "svc.chain_secured.open(owner), or use a new wallet."
    ),
    "GroupDoesNotExist": "Use a group from mine.groups.list(). The number of a deleted group is not used again.",
    "PkpDoesNotExist": "Use a wallet that the group permits: mine.groups.contents(group) lists the wallets.",
    "ActionDoesNotExist": "Use an action from mine.actions.list() or mine.groups.contents(group).",
    "UsageApiKeyDoesNotExist": "Use a key from mine.usage_keys.list(). A deleted key cannot be restored.",
    "UsageApiKeyExpired": "Extend the expired key: mine.usage_keys.update(key, expires_in='30d').",
    "InsufficientBalance": "Ignore the on-chain balance, which is not money. svc.billing.balance() returns the credit.",
    "OnlyApiPayer": "Do not call this function: it is reserved for the service's payer accounts.",
    "OnlyApiPayerOrPricingOperator": "Do not call this function: it is reserved for the service's operators.",
    "OnlyApiPayerOrOwner": "Convert through the service, which makes this call: svc.accounts.convert(owner).",
    "OnlyConfigOperatorOrOwner": "Do not call this function: it is reserved for the service's operators.",
    "NotMasterAccount": _MASTER,
    "NotAllowedToCreateGroup": _RIGHT,
    "NotAllowedToDeleteGroup": _RIGHT,
    "NotAllowedToCreatePkp": _RIGHT,
    "NotAllowedToAddPkpToGroup": _RIGHT,
    "NotAllowedToRemovePkpFromGroup": _RIGHT,
    "NotAllowedToManageIPFSIdsInGroup": _RIGHT,
    "InvalidRequest": "Correct the problem that this error names. No change was made.",
    "NotContractOwner": "Do not call this function: it is reserved for the deployer of the contract.",
    "FunctionNotFound": (
        "Use a version of svcnb that supports this contract. To list the missing functions, call "
        "svc.chain_secured.drift()."
    ),
    "DirectETHTransferNotAllowed": "Send ETH to the admin wallet, which pays the gas, and not to the contract.",
}
"""Hint for each of the contract's errors (docs/service/contract.md#errors)."""

_HASHES: Final = frozenset({"apiKeyHash", "accountApiKeyHash", "usageApiKeyHash", "action"})


def refused(function: str, data: bytes) -> ChainError:
    """Returns the error for a call that the contract rejected.

    Args:
        function: Name of the called function.
        data: Revert data that the chain returned, which can be empty.
    """
    revert = decode_revert(abi, data)
    return ChainError(
        f"the contract rejected {function}, and no change was made: {_told(revert)}",
        name=revert.name,
        arguments=_arguments(revert),
        hint=ADVICE.get(
            revert.name,
            "Check that the contract is a version that svcnb supports: svc.chain_secured.drift() lists the "
            "functions that the contract does not have.",
        ),
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
