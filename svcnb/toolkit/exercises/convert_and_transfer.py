"""Exercises of lesson 8: conversion and transfer."""

from __future__ import annotations

from svcnb.client.errors import ChainError
from svcnb.toolkit.exercises.choices import choice
from svcnb.toolkit.exercises.exercise import raised

AFTER = {
    "list the groups": True,
    "run an action": True,
    "create a group": False,
    "read the balance": True,
    "delete a usage key": False,
    "convert the account back": False,
}
"""Operations, and whether the old account key still permits each operation after the conversion."""


def _never_again(answer: ChainError) -> str | None:
    if answer.name == "NoAccountAccess":
        return "this wallet does not own the account: transfer the account with the wallet of the current owner."
    if answer.name != "AccountAlreadyExists":
        return f"the contract returned {answer.name or 'another error'}: transfer the account to a former owner."
    return None


EXERCISES = (
    choice(
        "convert-and-transfer.after",
        AFTER,
        "the old account key can read data, add credit and run actions, but cannot change the account.",
        missing=("1 more operation on the list still works.", "{count} more operations on the list still work."),
        extra="{one!r} changes the account, which the old account key cannot do after the conversion.",
    ),
    raised(
        "convert-and-transfer.never-again",
        ChainError,
        "of the transfer",
        "a wallet that owns or previously owned an account cannot receive another account.",
        _never_again,
    ),
)
