"""Exercises of lesson 3: keys that an action can use."""

from __future__ import annotations

from typing import Any

from svcnb.protocol.signature import personal_digest, recover_address
from svcnb.toolkit.exercises.choices import choice
from svcnb.toolkit.exercises.exercise import Exercise

WHO = {
    "two accounts with the same source get the same action key": True,
    "an action can get a wallet's key only if one group contains both": True,
    "an action can get another action's private key": False,
    "anyone can find an action's address": True,
    "only the action that encrypted a text can decrypt it": False,
    "an action keeps its key when a comment changes": False,
}
"""Sentences about keys, and whether each one is true."""


def _witness(answer: Any) -> str | None:
    run, found = answer
    found = getattr(found, "response", found)
    response = run.response
    if not isinstance(response, dict) or not {"fact", "signature"} <= set(response):
        return "the action must return an object with the fields fact and signature."
    if not all(isinstance(response[name], str) for name in ("fact", "signature")):
        return "fact and signature must be strings: return { fact, signature: await self.signMessage(fact) }."
    if not isinstance(found, dict) or not {"address", "publicKey"} <= set(found):
        return "the second item must be the result of `look` for your action: runner.run(look, cid=run.cid).response."
    return _own_signature(response, found)


def _own_signature(response: dict[str, Any], found: dict[str, Any]) -> str | None:
    if response["fact"] != response["fact"].upper():
        return "fact must be in capital letters: fact.toUpperCase()."
    try:
        signer = recover_address(personal_digest(response["fact"]), bytes.fromhex(response["signature"][2:]))
    except ValueError:
        return "the signature is not valid: return the result of self.signMessage(fact)."
    if signer.lower() != str(found["address"]).lower():
        return (
            f"{signer} signed the fact, but the address that `look` found is {found['address']}. Sign the fact that "
            "you return, with the key of getSvcActionPrivateKey(), and look up run.cid."
        )
    return None


EXERCISES = (
    choice(
        "keys.who",
        WHO,
        "groups control access to a wallet's key, and the source determines the action's own key.",
        missing=("1 more sentence on the list is true.", "{count} more sentences on the list are true."),
        extra="{one!r} is false: access to a wallet's key depends on groups, but an action's own key depends on its "
        "source.",
    ),
    Exercise(
        "keys.witness",
        "a pair: the Run of your action, and the result of `look` for its CID",
        "anyone who has the source can find the address of the key with which this program signs.",
        _witness,
    ),
)
