"""Exercises of lesson 9: auditing the chain."""

from __future__ import annotations

from typing import Any, Final

from svcnb.toolkit.exercises.exercise import Exercise

_LOST: Final = (
    ("account", "belongs to "),
    ("account", "is in API mode"),
    ("usage key 'runner'", "is valid until "),
    ("usage key 'runner'", "can execute in group 1"),
)
"""Permissions that the lesson's account has lost since its conversion.

Each entry contains the subject and the first words of the permission."""


def _culprit(answer: Any) -> str | None:
    if "every action" not in answer.what:
        return f"this entry is {answer.what!r}: find the entry that permits every action."
    if answer.event != "ActionAddedToGroup":
        return f"this entry removes the permission ({answer.what!r}): find the entry that granted this permission."
    return None


def _lost(answer: Any) -> str | None:
    changes = list(answer)
    if not changes:
        return (
            "the list is empty: call seen.diff(blocks[0]) to compare the state before the conversion with the current "
            "state."
        )
    if any(change.change != "-" for change in changes):
        return "the list contains added permissions: keep only the changes whose `change` is '-'."
    found = {
        (subject, begins)
        for subject, begins in _LOST
        if any(each.subject == subject and each.permission.startswith(begins) for each in changes)
    }
    if len(changes) > len(_LOST):
        return f"{len(changes)} changes are too many: start at the block before the conversion, blocks[0]."
    if missing := len(_LOST) - len(found):
        return (
            f"the list does not contain {missing} of the lost permissions: start at the block before the "
            "conversion, blocks[0]."
        )
    return None


EXERCISES = (
    Exercise(
        "audit.culprit",
        "one entry of the audit, an element of ours.audit()",
        "the entry contains the block, the time, the sender and the transaction.",
        _culprit,
    ),
    Exercise(
        "audit.lost",
        "a list of changes, the result of seen.diff(first_block)",
        "the account had these permissions before the conversion and does not have them now.",
        _lost,
    ),
)
