"""Reads the key from a request's headers, and describes what is wrong with it."""

from __future__ import annotations

from starlette.datastructures import Headers

from svcnb.emulator.errors import StructuredError
from svcnb.protocol.wire.values import looks_like_hash


def presented_key(headers: Headers) -> str:
    """The key of a request.

    ``Authorization: Bearer`` is read first, then ``X-Api-Key``. Spaces around the key are ignored, and an empty key
    counts as none (reference facts 2.1).

    Args:
        headers: The request's headers.

    Raises:
        StructuredError: 401, the request has no key.
    """
    scheme, _, token = headers.get("authorization", "").strip().partition(" ")
    if scheme.lower() == "bearer" and (token := token.strip()):
        return token
    if key := headers.get("x-api-key", "").strip():
        return key
    raise StructuredError(
        401,
        "No API key was sent.",
        fix="Send the header X-Api-Key: <API_KEY> or Authorization: Bearer <API_KEY>.",
        docs="authentication",
        headers={"WWW-Authenticate": "Bearer"},
    )


def refuse_hash(key: str) -> None:
    """Refuses a text in the form of a precomputed hash. Hashes are public, so they give no access.

    Args:
        key: The presented text.

    Raises:
        StructuredError: 401, it is ``0x`` and 64 hex digits.
    """
    if looks_like_hash(key):
        raise StructuredError(
            401,
            "The key sent looks like a precomputed hash (0x and 64 hex digits), and a hash is no credential.",
            fix="Send the key itself. A wallet that owns a ChainSecured account signs X-Wallet-Auth for billing calls.",
            docs="authentication",
            headers={"WWW-Authenticate": "Bearer"},
        )


def unknown_key() -> StructuredError:
    """The error for a key that resolves to no account."""
    return StructuredError(
        401,
        "The API key does not resolve to any account: it is mistyped, was removed, or never existed.",
        fix="Check the key. Create an account with POST /core/v1/new_account, or a usage key with add_usage_api_key.",
        docs="authentication",
        headers={"WWW-Authenticate": "Bearer"},
    )
