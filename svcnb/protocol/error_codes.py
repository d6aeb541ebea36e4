"""Error codes of structured error bodies, one for each HTTP status.

Source: docs/service/http.md#errors.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """One row of the error table.

    Attributes:
        status: HTTP status.
        code: Value of the ``error`` member of the body.
        cause: Situation in which the service returns this status.
        retry: Whether the same call can succeed later without a change by the caller. The service does not charge for
            such calls.
    """

    status: int
    code: str
    cause: str
    retry: bool = False


ERROR_CODES: Final[dict[int, ErrorCode]] = {
    row.status: row
    for row in (
        ErrorCode(400, "bad_request", "malformed JSON or a parameter of the wrong shape"),
        ErrorCode(401, "unauthorized", "no key sent, or the key does not resolve to any account"),
        ErrorCode(402, "payment_required", "the account exists but its credits cannot cover the call"),
        ErrorCode(403, "forbidden", "valid, funded key not permitted, usually a usage key outside its groups"),
        ErrorCode(404, "not_found", "no such endpoint or resource"),
        ErrorCode(413, "payload_too_large", "the body is larger than the service accepts"),
        ErrorCode(422, "unprocessable_entity", "the body is JSON but does not match the endpoint's schema"),
        ErrorCode(429, "too_many_requests", "the node is shedding load because of CPU pressure", retry=True),
        ErrorCode(500, "internal_error", "server-side failure"),
        ErrorCode(503, "service_unavailable", "billing, chain RPC or the actions runtime is down", retry=True),
    )
}

GENERIC_CODE: Final = "error"
"""Code for a status that is not in the table."""


def code_of(status: int) -> str:
    """Returns the ``error`` member for a status.

    Args:
        status: HTTP status.

    Returns:
        The code from the table, or ``error`` for a status that is not in the table.
    """
    row = ERROR_CODES.get(status)
    return row.code if row else GENERIC_CODE
