"""Error codes of structured error bodies, one for each HTTP status.

Source: docs/service/http.md#errors.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class ErrorCode(NamedTuple):
    """Error code of one HTTP status. The service does not charge for a call that returns an error.

    Attributes:
        status: HTTP status.
        code: Value of the ``error`` member of the body.
        cause: Situation in which the service returns this status.
        retry: Whether the same call can succeed later without a change by the caller.
    """

    status: int
    code: str
    cause: str
    retry: bool = False


ERROR_CODES: Final[dict[int, ErrorCode]] = {
    row.status: row
    for row in (
        ErrorCode(400, "bad_request", "malformed JSON, or a value in the wrong format"),
        ErrorCode(401, "unauthorized", "the request does not contain a key, or the key does not belong to an account"),
        ErrorCode(402, "payment_required", "the account does not have enough credit for the call"),
        ErrorCode(403, "forbidden", "the key does not have the permission for this call"),
        ErrorCode(404, "not_found", "the endpoint or the object does not exist"),
        ErrorCode(413, "payload_too_large", "the body is larger than the limit"),
        ErrorCode(422, "unprocessable_entity", "the fields or types in the JSON body do not match the endpoint"),
        ErrorCode(429, "too_many_requests", "the service is overloaded, or the caller has reached a limit", retry=True),
        ErrorCode(500, "internal_error", "the service or the action failed"),
        ErrorCode(
            503, "service_unavailable", "the billing system, the chain or the runtime is unavailable", retry=True
        ),
    )
}

GENERIC_CODE: Final = "error"
"""Value of the ``error`` member for a status that `ERROR_CODES` does not contain."""


def code_of(status: int) -> str:
    """Returns the ``error`` member for a status.

    Args:
        status: HTTP status.

    Returns:
        The code from `ERROR_CODES`, or ``error`` for a status that `ERROR_CODES` does not contain.
    """
    row = ERROR_CODES.get(status)
    return row.code if row else GENERIC_CODE
