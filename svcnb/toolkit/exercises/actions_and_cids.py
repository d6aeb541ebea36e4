"""Exercises of lesson 2: actions and CIDs."""

from __future__ import annotations

from svcnb.protocol.action import Action
from svcnb.protocol.cid import cid
from svcnb.protocol.nesting import parse
from svcnb.toolkit.exercises.choices import choice
from svcnb.toolkit.exercises.exercise import Exercise

CHANGES = {
    "a space after the last brace": True,
    "a comment with other words": True,
    "the file saved under another name": False,
    "different js_params": False,
    "Windows line endings instead of Unix ones": True,
}
"""Possible changes, and whether each one changes the CID. The UTF-8 bytes of the source determine the CID."""

TEMPLATE_CID = "QmNtSqC1JXBzJ1U3H88CWkBmDfb5yTbwZT6AhjU7iEssRd"
"""CID of the lesson's template."""

_TAKEN_CENTS = (500, 90_000)


def _derived(answer: Action) -> str | None:
    template, const, constant = answer.source.rpartition("const ")
    # The action editor provides only the source, so the check recognises the template by its bytes.
    if answer.template_cid is None and (not const or cid(template) != TEMPLATE_CID):
        return (
            "the answer is not a derived action: use payer.derive(...), which keeps the audited bytes of the template."
        )
    if answer.template_cid not in {None, TEMPLATE_CID}:
        return "this action was derived from a different template: use the lesson's `payer`."
    return _limit(constant)


def _limit(constant: str) -> str | None:
    name, _, value = constant.partition(" = ")
    if name != "LIMIT":
        return f"the template reads a constant named LIMIT, but this action defines {name}: pass name='LIMIT'."
    try:
        limit = parse(value.strip().removesuffix(";"))
    except ValueError:
        return 'the constant must be JSON, with names in double quotes: {"cents": 1200}.'
    cents = limit.get("cents") if isinstance(limit, dict) else None
    if not isinstance(cents, int) or isinstance(cents, bool):
        return "the template compares LIMIT.cents with a number: derive the action with {'cents': an integer}."
    if cents in _TAKEN_CENTS:
        return f"{cents} cents is already the limit of an action that the lesson derived: choose another limit."
    return None


EXERCISES = (
    choice(
        "cids.changes",
        CHANGES,
        "the CID depends on every byte of the source, and on nothing else.",
        missing=(
            "1 more change on the list changes a byte of the source, and therefore the CID.",
            "{count} more changes on the list change a byte of the source, and therefore the CID.",
        ),
        extra="{one!r} does not change any byte of the source.",
    ),
    Exercise(
        "cids.derive",
        "an Action, the result of payer.derive(...), or editor.action",
        "a new constant results in a new CID and a new key, but the audited template is unchanged.",
        _derived,
        Action,
    ),
)
