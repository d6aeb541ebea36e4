"""Exercises of lesson 7: contract wallets."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import BadRequest
from svcnb.toolkit.exercises.exercise import Exercise, raised


def _refused(answer: BadRequest) -> str | None:
    if "ERC-1271" not in answer.message and "contract" not in answer.message.lower():
        return (
            "this request failed for a different reason. Use the contract as the wallet, and sign with a key that "
            "does not belong to the contract's owner."
        )
    return None


def _account(answer: Any) -> str | None:
    first, second = answer
    for which, account in (("first", first), ("second", second)):
        if getattr(account.owner, "signer", None) is None:
            return f"a key owns the {which} account: create it with a svcnb.ContractWallet."
        if account.describe().admin != account.owner.address:
            return f"on the chain, the {which} account belongs to another wallet: create a new account."
    if first.owner.address == second.owner.address or first.api_key_hash == second.api_key_hash:
        return (
            "both answers are the same account: deploy another contract wallet with "
            "emu.contract_wallet(contract_owner.address)."
        )
    return None


EXERCISES = (
    raised(
        "contract-wallets.refused",
        BadRequest,
        "of a wallet request with a wrong signature",
        "the service asked the contract, and the contract did not accept this signer.",
        _refused,
    ),
    Exercise(
        "contract-wallets.account",
        "a pair of accounts: the lesson's `ours`, and the one that you created",
        "on the chain, the contract owns the account. The owner of the contract only signs and pays for gas.",
        _account,
    ),
)
