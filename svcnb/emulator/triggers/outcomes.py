"""Meaning of the answer to a run's call: success, retry or failure (specification 3; reference facts 10.2)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from svcnb.protocol.limits import RUN_RETRY_DELAYS_S
from svcnb.protocol.text import whole

_OK: Final = range(200, 300)
_SERVER_ERRORS: Final = range(500, 600)
_TOO_MANY: Final = 429
_LONGEST_ERROR: Final = 65_536


@dataclass(frozen=True)
class Answer:
    """Answer of the execution.

    Attributes:
        status: HTTP status, None when there was no answer (network error or timeout).
        body: The parsed JSON, or the text when it is not JSON.
        trouble: The problem when there was no answer.
        may_still_run: Whether the action may still be running. Another attempt would then run it twice at the same
            time.
    """

    status: int | None
    body: Any = None
    trouble: str = ""
    may_still_run: bool = False

    @property
    def is_transient(self) -> bool:
        """Whether the same call may succeed later: there was no answer, a 429, or any 5xx."""
        if self.may_still_run:
            return False
        return self.status is None or self.status == _TOO_MANY or self.status in _SERVER_ERRORS

    @property
    def is_thrown(self) -> bool:
        """Whether the action itself failed: the 500 with a JSON string (specification 7, shape 2)."""
        return self.status == 500 and isinstance(self.body, str)  # noqa: PLR2004 - the status of HTTP


@dataclass(frozen=True)
class Verdict:
    """Result of an attempt.

    Attributes:
        status: ``success``, ``failed``, or ``retrying``.
        response: JSON text of the raw body, None without an answer or before a retry.
        error: Text of the failure, None on success.
        delay_s: Seconds until the retry.
    """

    status: Literal["success", "failed", "retrying"]
    response: str | None = None
    error: str | None = None
    delay_s: float = 0.0


def judge(answer: Answer, attempt: int, *, retries: int, retry_thrown: bool) -> Verdict:
    """Decides what an answer means for a run.

    Args:
        answer: The answer to the call.
        attempt: The number of the attempt, from 1.
        retries: How many retries a run has.
        retry_thrown: Whether a failure of the action itself is retried like any other 5xx.
    """
    body = json.dumps(answer.body, separators=(",", ":")) if answer.status is not None else None
    if answer.status is not None and answer.status in _OK:
        return Verdict("success", response=body)
    error = _text(answer)
    if attempt <= retries and answer.is_transient and (retry_thrown or not answer.is_thrown):
        return Verdict("retrying", error=error, delay_s=delay_s(attempt))
    return Verdict("failed", response=body, error=error)


def delay_s(attempt: int) -> float:
    """Seconds between the end of an attempt and the next one: 1, 5, 30, and 30 for all later ones."""
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
    return whole(f"HTTP {answer.status}{words}"[:_LONGEST_ERROR])
