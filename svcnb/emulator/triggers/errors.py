"""Failures of the triggers service: an object with a snake_case code (reference facts 10.4)."""

from __future__ import annotations

from typing import Final

from starlette.responses import JSONResponse

_TOO_MANY: Final = 429


class Refused(Exception):
    """A refused request.

    Args:
        status: HTTP status.
        code: Value of the ``error`` member.
        message: What is wrong and how to fix it, for people.
        retry_after_s: Seconds after which a retry makes sense.
    """

    def __init__(self, status: int, code: str, message: str, *, retry_after_s: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s

    def response(self) -> JSONResponse:
        """The HTTP answer."""
        headers = {} if self.retry_after_s is None else {"Retry-After": str(self.retry_after_s)}
        if self.status == 401:  # noqa: PLR2004 - RFC 9110 requires this header
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse({"error": self.code, "message": self.message}, self.status, headers)


def bad(code: str, message: str) -> Refused:
    """Error 400 for an unusable value."""
    return Refused(400, code, message)


def not_found(what: str) -> Refused:
    """Error 404 for something that does not exist or belongs to another user."""
    return Refused(404, "not_found", f"No such {what}. Check the id; GET /api/triggers lists yours.")


def limited(code: str, message: str, retry_after_s: int) -> Refused:
    """Error 429 for too much at once."""
    return Refused(_TOO_MANY, code, message, retry_after_s=retry_after_s)
