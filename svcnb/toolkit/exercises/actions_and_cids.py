"""Exercises of lesson 2, actions and CIDs."""

from __future__ import annotations

from typing import Any

from svcnb.protocol.action import Action
from svcnb.protocol.cid import cid
from svcnb.protocol.nesting import parse
from svcnb.toolkit.exercises.choices import EXPECTED, choose
from svcnb.toolkit.exercises.exercise import Exercise

CHANGES = {
    "a space after the last brace": True,
    "a comment reworded": True,
    "the file saved under another name": False,
    "other js_params": False,
    "Windows line ends instead of Unix ones": True,
}
"""Possible changes, and whether each changes the CID, which is computed from the UTF-8 bytes of the source."""

TEMPLATE_CID = "QmNtSqC1JXBzJ1U3H88CWkBmDfb5yTbwZT6AhjU7iEssRd"
"""CID of the lesson's template."""

_TAKEN_CENTS = (500, 90_000)


def _changes(answer: Any) -> str | None:
    return choose(
        CHANGES,
        answer,
        missing="{count} more on the list change a byte of the source, and so the CID.",
        extra="{one!r} changes no byte of the source.",
    )


def _derived(answer: Any) -> str | None:
    if not isinstance(answer, Action):
        raise TypeError
    template, const, constant = answer.source.rpartition("const ")
    # The action editor provides only the source, so the template is recognised by its bytes.
    if answer.template_cid is None and (not const or cid(template) != TEMPLATE_CID):
        return "this action was not derived. payer.derive(...) keeps the audited bytes of the template."
    if answer.template_cid not in {None, TEMPLATE_CID}:
        return "this action was derived from another template: use the lesson's `payer`."
    name, _, value = constant.partition(" = ")
    if name != "LIMIT":
        return f"the template reads a constant named LIMIT, and this action defines {name}: pass name='LIMIT'."
    cents = parse(value.strip().removesuffix(";")).get("cents")
    if not isinstance(cents, int) or isinstance(cents, bool):
        return "the template compares LIMIT.cents with a number: derive it with {'cents': a whole number}."
    if cents in _TAKEN_CENTS:
        return f"{cents} cents is the limit of an action that the lesson derived already: choose another limit."
    return None


EXERCISES = (
    Exercise("cids.changes", EXPECTED, "every byte of the source counts, and nothing else.", _changes),
    Exercise(
        "cids.derive",
        "an Action, the result of payer.derive(...), or editor.action",
        "a new constant gives a new CID and a new key; the audited template is unchanged.",
        _derived,
    ),
)
