"""Exercises of lesson 1: quickstart."""

from __future__ import annotations

from typing import Any

from svcnb.client.errors import Forbidden, ServiceError
from svcnb.protocol.signature import personal_digest, recover_address
from svcnb.toolkit.exercises.exercise import Exercise


def _length(run: Any) -> str | None:
    response = run.response
    if not isinstance(response, dict) or not {"message", "address", "signature"} <= set(response):
        return "the object that main returns must still have the fields message, address and signature."
    if not all(isinstance(response[name], str) for name in ("message", "address", "signature")):
        return "message, address and signature must be strings, as in the lesson's action."
    if "length" not in response:
        return "the object that main returns does not have the field length yet."
    return _signed_length(response)


def _signed_length(response: dict[str, Any]) -> str | None:
    if response["length"] != len(response["message"]):
        return f"length is {response['length']!r}, but the message has {len(response['message'])} characters."
    try:
        signer = recover_address(personal_digest(response["message"]), bytes.fromhex(response["signature"][2:]))
    except ValueError:
        return "the signature is not valid: return the result of signer.signMessage(message)."
    if signer.lower() != str(response["address"]).lower():
        return "the signature does not match the message and the address: sign the same message that you return."
    return None


def _refused(error: Any) -> str | None:
    if isinstance(error, Forbidden):
        return None
    if isinstance(error, ServiceError):
        return f"this error has status {error.status}. Run an action that no group permits, with the same usage key."
    if isinstance(error, type) and issubclass(error, Exception):
        return "the answer is the class of the exception: write `except svcnb.Forbidden as error: answer = error`."
    raise TypeError


EXERCISES = (
    Exercise(
        "quickstart.length",
        "a Run, the result of runner.run(...)",
        "the changed source has its own CID, so a group must permit it before the key can run it.",
        _length,
    ),
    Exercise(
        "quickstart.refused",
        "the error that was raised: write `except svcnb.Forbidden as error: answer = error`",
        "a usage key runs only the actions that its groups permit.",
        _refused,
    ),
)
