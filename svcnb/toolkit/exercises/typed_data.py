"""Exercises of the lesson on typed data."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.choices import choose
from svcnb.toolkit.exercises.exercise import Exercise

CHANGES = {
    "issuedAt one second later": True,
    "the address in lower case": False,
    "chainId of another chain": True,
    "the two message fields in the other order": True,
    "the envelope sent as JSON text instead of an object": False,
    "CreateWallet instead of BillingAuth": True,
}
"""Changes to an envelope, and whether the old signature stops fitting it: EIP-712 hashes types and values alone."""


def _changes(answer: Any) -> str | None:
    return choose(
        CHANGES,
        answer,
        missing="{count} more on the list change what was hashed.",
        extra="{one!r} changes how it is written, not what is hashed.",
    )


def _signed(answer: Any) -> str | None:
    from svcnb.client.signing import verify

    if answer.flow.value != "AddUsageApiKey":
        return f"this envelope is for {answer.flow.value}, and one for AddUsageApiKey is wanted."
    if not verify(answer.typed_data, answer.signature, answer.address):
        return "the signature does not lead back to message.address: sign the envelope exactly as it is."
    return None


EXERCISES = (
    Exercise(
        "typed-data.changes",
        "the digest is made of types and values; how they are spelt or wrapped does not matter.",
        _changes,
    ),
    Exercise(
        "typed-data.sign", "the envelope names the flow and the wallet, and the signature leads back to it.", _signed
    ),
)
