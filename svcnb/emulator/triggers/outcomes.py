"""Rules that determine from a response whether a trigger run succeeded, failed or needs a retry.

Source: docs/service/resources.md#states, docs/service/triggers.md#runs-of-a-trigger.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from svcnb.protocol.limits import MAX_RUN_ERROR_CHARS, RUN_RETRY_DELAYS_S
from svcnb.protocol.text import whole

_OK: Final = range(200, 300)
_SERVER_ERRORS: Final = range(500, 600)
_TOO_MANY: Final = 429


@dataclass(frozen=True)
class Answer:
    """Response to the request of a run.

    Attributes:
        status: HTTP status, or None if no response arrived (network error or timeout).
        body: The parsed JSON body, or the text of a body that is not JSON.
        trouble: The problem if no response arrived, otherwise an empty string.
        may_still_run: Whether the action can still be running. Another attempt can then run the action twice.
    """

    status: int | None
    body: Any = None
    trouble: str = ""
    may_still_run: bool = False

    @property
    def is_transient(self) -> bool:
        """Whether to retry: after a 429, any 5xx or no response, unless the action can still be running."""
        if self.may_still_run:
            return False
        return self.status is None or self.status == _TOO_MANY or self.status in _SERVER_ERRORS

    @property
    def is_thrown(self) -> bool:
        """Whether the action itself failed, with a 500 and a JSON string (docs/service/http.md#errors)."""
        return self.status == 500 and isinstance(self.body, str)  # noqa: PLR2004 - an HTTP status


@dataclass(frozen=True)
class Verdict:
    """Result of one attempt of a trigger run.

    Attributes:
        status: ``success``, ``failed``, or ``retrying``.
        response: JSON text of the response body. None without a response or before a retry.
        error: The error message, or None on success.
        delay_s: Delay until the retry, in seconds.
    """

    status: Literal["success", "failed", "retrying"]
    response: str | None = None
    error: str | None = None
    delay_s: float = 0.0


def judge(answer: Answer, attempt: int, *, retries: int, retry_thrown: bool) -> Verdict:
    """Returns the result of an attempt, based on the response.

    Args:
        answer: The response to the request.
        attempt: The number of the attempt, starting with 1.
        retries: Maximum number of retries of a run.
        retry_thrown: Whether to retry a failure of the action itself like any other 5xx.
    """
    body = json.dumps(answer.body, separators=(",", ":")) if answer.status is not None else None
    if answer.status is not None and answer.status in _OK:
        return Verdict("success", response=body)
    error = _text(answer)
    if attempt <= retries and answer.is_transient and (retry_thrown or not answer.is_thrown):
        return Verdict("retrying", error=error, delay_s=delay_s(attempt))
    return Verdict("failed", response=body, error=error)


def delay_s(attempt: int) -> float:
    """Returns the delay in seconds after the attempt with this number: 1, then 5, then 30 for all later attempts."""
    return float(RUN_RETRY_DELAYS_S[min(attempt, len(RUN_RETRY_DELAYS_S)) - 1])


def _text(answer: Answer) -> str:
    if answer.status is None:
        return answer.trouble
    body = answer.body
    if isinstance(body, dict):
        code, message = body.get("error"), body.get("message")
        words = f" {code}: {message}" if message else f" {code or json.dumps(body)}"
    else:
        words = f": {body}" if isinstance(body, str) else f": {json.dumps(body)}"
    return whole(f"HTTP {answer.status}{words}"[:MAX_RUN_ERROR_CHARS])
