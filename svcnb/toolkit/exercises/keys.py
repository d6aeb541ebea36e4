"""Exercises of lesson 3, keys that an action can use."""

from __future__ import annotations

from typing import Any

from svcnb.protocol.signature import personal_digest, recover_address
from svcnb.toolkit.exercises.choices import EXPECTED, choose
from svcnb.toolkit.exercises.exercise import Exercise

WHO = {
    "two accounts with the same source get the same action key": True,
    "a wallet's key needs a group that holds wallet and action": True,
    "an action can get another action's private key": False,
    "anybody can look up an action's address": True,
    "a sealed text can be read by the action that sealed it alone": False,
    "an action keeps its key when a comment changes": False,
}
"""Sentences about keys, and whether they are true."""


def _who(answer: Any) -> str | None:
    return choose(
        WHO,
        answer,
        missing="{count} more on the list are true.",
        extra="{one!r} is false: a wallet's key depends on groups, an action's own key depends on its source.",
    )


def _witness(answer: Any) -> str | None:
    run, found = answer
    found = getattr(found, "response", found)
    response = run.response
    if not isinstance(response, dict) or not {"fact", "signature"} <= set(response):
        return "the action must return an object with fact and signature."
    if not isinstance(found, dict) or not {"address", "publicKey"} <= set(found):
        return "the second part must be what `look` returns for your action: clerk.run(look, cid=run.cid).response."
    if response["fact"] != response["fact"].upper():
        return "fact must be in capital letters: fact.toUpperCase()."
    signer = recover_address(personal_digest(response["fact"]), bytes.fromhex(response["signature"][2:]))
    if signer.lower() != str(found["address"]).lower():
        return (
            f"{signer} signed, but the address that `look` found is {found['address']}. Sign the fact that you return, "
            "with the key of getSvcActionPrivateKey(), and look up run.cid."
        )
    return None


EXERCISES = (
    Exercise(
        "keys.who", EXPECTED, "groups give access to a wallet's key; the source gives access to the action's own key.",
        _who,
    ),
    Exercise(
        "keys.witness",
        "a pair: the Run of your action, and what `look` returned for its CID",
        "anyone who knows the source can find out which key this program signs with.",
        _witness,
    ),
)  # fmt: skip
