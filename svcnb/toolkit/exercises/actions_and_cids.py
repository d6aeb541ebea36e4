"""Exercises of the lesson on actions and CIDs."""

from __future__ import annotations

from typing import Any

from svcnb.protocol.action import Action
from svcnb.toolkit.exercises.choices import choose
from svcnb.toolkit.exercises.exercise import Exercise

CHANGES = {
    "a space after the last brace": True,
    "a comment reworded": True,
    "the file saved under another name": False,
    "other js_params": False,
    "Windows line ends instead of Unix ones": True,
}
"""Things one may change, and whether the CID follows: it is made of the source's UTF-8 bytes (specification 1.3)."""


def _changes(answer: Any) -> str | None:
    return choose(
        CHANGES,
        answer,
        missing="{count} on the list still move the CID: which of them change a byte of the source?",
        extra="one of yours leaves every byte of the source as it was.",
    )


def _derived(answer: Any) -> str | None:
    if not isinstance(answer, Action):
        return "the answer is an Action: what derive() returns."
    if answer.template_cid is None:
        return "this action was written by hand: derive it, so that the template's bytes stay as audited."
    return None


EXERCISES = (
    Exercise("cids.changes", "every byte counts, and nothing but bytes.", _changes),
    Exercise("cids.derive", "a new constant, a new CID, a new key; the audited template is unchanged.", _derived),
)
