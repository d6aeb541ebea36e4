"""Reader of the API key in a request's headers, with the errors for missing and invalid keys."""

from __future__ import annotations

from starlette.datastructures import Headers

from svcnb.emulator.errors import StructuredError
from svcnb.protocol.wire.values import looks_like_hash


def presented_key(headers: Headers) -> str:
    """Returns the API key of a request.

    ``Authorization: Bearer`` takes precedence over ``X-Api-Key``. The function ignores spaces around the key, and
    treats an empty key as a missing key (docs/service/http.md#authentication).

    Args:
        headers: The request's headers.

    Raises:
        StructuredError: 401 if the request has no key.
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
    """Rejects a key that has the form of a precomputed hash. Hashes are public, so they are not credentials.

    Args:
        key: The key as received.

    Raises:
        StructuredError: 401 if the key is ``0x`` followed by 64 hex digits.
    """
    if looks_like_hash(key):
        raise StructuredError(
            401,
            "The API key looks like a precomputed hash (0x and 64 hex digits), but a hash is not a credential.",
            fix=(
                "Send the key. For billing calls of a ChainSecured account, send X-Wallet-Auth signed by the "
                "owner's wallet."
            ),
            docs="authentication",
            headers={"WWW-Authenticate": "Bearer"},
        )


def unknown_key() -> StructuredError:
    """Returns the error for a key that does not belong to any account."""
    return StructuredError(
        401,
        "The API key does not resolve to any account: it is mistyped, was deleted, or was never created.",
        fix="Check the key. Create an account with POST /core/v1/new_account, or a usage key with add_usage_api_key.",
        docs="authentication",
        headers={"WWW-Authenticate": "Bearer"},
    )
