"""Exercises of the lesson on contract wallets."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import BadRequest
from svcnb.toolkit.exercises.exercise import Exercise


def _refused(answer: Any) -> str | None:
    if not isinstance(answer, BadRequest):
        return "keep the exception itself: write `except svcnb.BadRequest as error: answer = error`."
    if "ERC-1271" not in answer.message and "contract" not in answer.message.lower():
        return "that was refused for another reason: name a contract, and let a stranger sign."
    return None


def _account(answer: Any) -> str | None:
    owner = answer.owner
    if getattr(owner, "signer", None) is None:
        return "this account belongs to a wallet with a key: create it with a ContractWallet."
    if answer.describe().admin != owner.address:
        return "the chain says that the account belongs to somebody else."
    return None


EXERCISES = (
    Exercise("contract-wallets.refused", "the contract was asked, and it does not know this signer.", _refused),
    Exercise(
        "contract-wallets.account", "on chain the contract owns it; its owner only signs and pays the gas.", _account
    ),
)
