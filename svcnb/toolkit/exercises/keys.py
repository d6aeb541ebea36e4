"""Exercises of the lesson on keys that an action can hold."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.choices import choose
from svcnb.toolkit.exercises.exercise import Exercise

WHO = {
    "two accounts with the same source get the same action key": True,
    "a wallet's key needs a group that holds wallet and action": True,
    "an action can get another action's private key": False,
    "anybody can look up an action's address": True,
    "a sealed text can be read by the action that sealed it alone": False,
    "an action keeps its key when a comment changes": False,
}
"""Sentences about keys, and whether they are true (reference facts 4.2 to 4.5)."""


def _who(answer: Any) -> str | None:
    return choose(
        WHO,
        answer,
        missing="{count} more on the list are true.",
        extra="{one!r} is not so: a wallet's key follows its groups, an action's key its source.",
    )


def _witness(answer: Any) -> str | None:
    from svcnb.client.signing import recover

    run, address = answer
    response = run.response
    if response["fact"] != response["fact"].upper():
        return "fact comes back in capital letters: fact.toUpperCase()."
    address = address.response if hasattr(address, "response") else address
    address = address["address"] if isinstance(address, dict) else address
    if recover(response["fact"], response["signature"]).lower() != str(address).lower():
        return "the signature does not lead to that address: sign the same fact you return, and look up run.cid."
    return None


EXERCISES = (
    Exercise("keys.who", "a group opens a wallet's key, the source alone opens the action's own.", _who),
    Exercise("keys.witness", "whoever knows the source knows which key this program signs with.", _witness),
)
