"""Exercises of lesson 5: typed data."""

from __future__ import annotations

from typing import Any

from svcnb.toolkit.exercises.choices import choice
from svcnb.toolkit.exercises.exercise import Exercise

CHANGES = {
    "issuedAt one second later": True,
    "the address in lower case": False,
    "chainId of another chain": True,
    "the fields of the type CreateWallet in a different order": True,
    "whitespace between the members of the JSON text": False,
    "CreateWallet instead of BillingAuth": True,
}
"""Changes to an envelope, and whether each one invalidates the signature.

EIP-712 hashes only types and values, so a change of only the JSON format does not invalidate the signature."""


def _signed(answer: Any) -> str | None:
    from svcnb.client.signing import verify

    if answer.flow.value != "AddUsageApiKey":
        return f"this envelope is for {answer.flow.value}: sign an envelope for AddUsageApiKey."
    if not verify(answer.typed_data, answer.signature, answer.address):
        return (
            "the address recovered from the signature is not message.address: do not change "
            "the envelope after signing it."
        )
    return None


EXERCISES = (
    choice(
        "typed-data.changes",
        CHANGES,
        "the digest depends only on types and values, so the format of the JSON does not matter.",
        missing=(
            "1 more change on the list changes the hashed data.",
            "{count} more changes on the list change the hashed data.",
        ),
        extra="{one!r} changes only the format of the envelope, not the hashed data.",
    ),
    Exercise(
        "typed-data.sign",
        "a signed envelope, the result of svc.chain_secured.sign(...)",
        "the envelope contains the kind of request and the wallet, and recovery returns the address of this wallet.",
        _signed,
    ),
)
