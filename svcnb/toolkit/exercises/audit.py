"""Exercises of the lesson on auditing the chain."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.exercise import Exercise


def _culprit(answer: Any) -> str | None:
    if "every action" not in answer.what:
        return f"this one did {answer.what!r}: look for the entry that permits every action."
    return None


def _lost(answer: Any) -> str | None:
    changes = list(answer)
    if not changes:
        return "nothing changed between these two blocks: choose an earlier first block."
    if any(change.change != "-" for change in changes):
        return "some of these came: keep those that went, whose change is '-'."
    return None


EXERCISES = (
    Exercise("audit.culprit", "the entry tells block, time, sender and transaction.", _culprit),
    Exercise("audit.lost", "these permissions were there, and are not any more.", _lost),
)
