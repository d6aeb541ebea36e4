"""Exercises of the first lesson."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import Forbidden, ServiceError
from svcnb.protocol.signature import personal_digest, recover_address
from svcnb.toolkit.exercises.exercise import Exercise


def _length(run: Any) -> str | None:
    response = run.response
    if not isinstance(response, dict) or "message" not in response:
        return "let main return an object that still has message, address and signature."
    if "length" not in response:
        return "the object that main returns has no member named length yet."
    if response["length"] != len(response["message"]):
        return f"length is {response['length']!r}; a JavaScript string knows its own length: look at message.length."
    signer = recover_address(personal_digest(response["message"]), bytes.fromhex(response["signature"][2:]))
    if signer.lower() != str(response["address"]).lower():
        return "the signature does not belong to the message and address beside it: sign the same message you return."
    return None


def _refused(error: Any) -> str | None:
    if isinstance(error, Forbidden):
        return None
    if isinstance(error, ServiceError):
        return f"that is a {error.status}. Run another action, one that no group permits, with the same usage key."
    return "keep the exception itself: write `except svcnb.Forbidden as error: answer = error`."


EXERCISES = (
    Exercise(
        "quickstart.length", "a changed source has a CID of its own, so the group had to permit it anew.", _length
    ),
    Exercise("quickstart.refused", "a usage key runs what its groups permit, and nothing else.", _refused),
)
