"""Exercises of lesson 8: conversion and transfer."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import ChainError
from svcnb.toolkit.exercises.choices import EXPECTED, choose
from svcnb.toolkit.exercises.exercise import Exercise, kind

AFTER = {
    "list the groups": True,
    "run an action": True,
    "create a group": False,
    "read the balance": True,
    "delete a usage key": False,
    "convert the account back": False,
}
"""Operations, and whether the old account key still permits each operation after the conversion."""


def _after(answer: Any) -> str | None:
    return choose(
        AFTER,
        answer,
        missing=("1 more operation on the list still works.", "{count} more operations on the list still work."),
        extra="{one!r} changes the account, which the old account key cannot do after the conversion.",
    )


def _never_again(answer: Any) -> str | None:
    if not isinstance(answer, Exception):
        raise TypeError
    if not isinstance(answer, ChainError):
        return f"the answer must be the svcnb.ChainError of the transfer, but the answer is {kind(answer)}."
    if answer.name == "NoAccountAccess":
        return "this wallet does not own the account: transfer the account with the wallet of the current owner."
    if answer.name != "AccountAlreadyExists":
        return f"the contract returned {answer.name or 'another error'}: transfer the account to a former owner."
    return None


EXERCISES = (
    Exercise(
        "convert-and-transfer.after",
        EXPECTED,
        "the old account key can read data, add credit and run actions, but cannot change the account.",
        _after,
    ),
    Exercise(
        "convert-and-transfer.never-again",
        "the error that was raised: write `except svcnb.ChainError as error: answer = error`",
        "a wallet that owns or previously owned an account cannot receive another account.",
        _never_again,
    ),
)
