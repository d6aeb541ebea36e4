"""Errors of the triggers service, whose body is an object with a snake_case code (docs/service/triggers.md#errors)."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

_TOO_MANY: Final = 429


class Refused(Exception):
    """Error response of the triggers service.

    Args:
        status: HTTP status.
        code: Value of the field ``error``.
        message: Text for the user, with the problem and the fix. The text starts in lower case. Only a text of two or
            more sentences has a final full stop.
        retry_after_s: Value of the Retry-After header, in seconds. With None, the response has no such header.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s

    def response(self) -> JSONResponse:
        """Returns the HTTP response: a JSON object with ``error`` and ``message``, and the headers for the status."""
        headers = {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}
        if self.status == 401:  # noqa: PLR2004 - RFC 9110 requires this header
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse({"error": self.code, "message": self.message}, self.status, headers)


def bad(code: str, message: str) -> Refused:
    """Returns error 400 for an invalid value."""
    return Refused(400, code, message)


def no_trigger(identifier: str) -> Refused:
    """Returns error 404 for a trigger that does not exist or belongs to another user."""
    message = f"you have no trigger with the id {identifier}: GET /api/triggers lists your triggers"
    return Refused(404, "not_found", message)


def no_webhook() -> Refused:
    """Returns error 404 for a webhook URL whose id is not the id of a webhook trigger."""
    return Refused(404, "not_found", "no webhook trigger has the id in this URL: ask the trigger's owner for the URL")


def limited(code: str, message: str, retry_after_s: int) -> Refused:
    """Returns error 429 for a caller that has reached a limit."""
    return Refused(_TOO_MANY, code, message, retry_after_s=retry_after_s)
