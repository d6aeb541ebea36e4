"""Converter from a webhook request to the input of a run, and rate limiter for webhook requests.

Source: docs/service/triggers.md#sources-of-runs, docs/service/triggers.md#errors.

``event_raw`` is the body as text. JSON cannot contain bytes, so ``event_raw_encoding`` contains the encoding of the
bytes. With ``utf-8``, the body is the UTF-8 encoding of the text. With ``base64``, for a body that is not UTF-8, the
text is the standard base64 of the body. In both cases, an action can verify the sender's signature over the exact bytes
of the body.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final

from svcnb.emulator.http.body import read_json_now
from svcnb.emulator.platform.rate_limiter import RateLimiter
from svcnb.emulator.platform.store import Store
from svcnb.emulator.triggers.errors import limited
from svcnb.protocol.limits import RATE_WINDOW_S
from svcnb.protocol.vocabulary import Vocabulary

_KEPT: Final = frozenset(
    {
        "content-type",
        "user-agent",
        "x-request-id",
        "x-github-event",
        "x-github-delivery",
        "x-github-hook-id",
        "x-slack-request-timestamp",
        # Senders that follow common webhook conventions sign these headers together with the body.
        "webhook-id",
        "webhook-timestamp",
        "svix-id",
        "svix-timestamp",
        # PayPal: all five headers are part of the verification. The signature is in paypal-transmission-sig.
        "paypal-auth-algo",
        "paypal-cert-url",
        "paypal-transmission-id",
        "paypal-transmission-sig",
        "paypal-transmission-time",
        # Timestamps and nonces that senders sign together with the body: SendGrid, HubSpot, Zoom, QuickNode.
        "x-twilio-email-event-webhook-timestamp",
        "x-hubspot-request-timestamp",
        "x-zm-request-timestamp",
        "x-qn-nonce",
        "x-qn-timestamp",
        # Signatures with less obvious names: Trello, Plaid (a JWT).
        "x-trello-webhook",
        "plaid-verification",
        # Headers of HTTP message signatures (RFC 9421) and of earlier drafts.
        "date",
    }
)
_KEPT_PREFIXES: Final = ("x-forwarded",)
_PLAIN_NAME: Final = re.compile(r"[a-z0-9-]+\Z")
_NEVER: Final = frozenset(
    {"authorization", "cookie", "set-cookie", "x-api-key", "proxy-authorization", "x-wallet-auth"}
)
_JSON: Final = re.compile(r"application/(?:json|[a-z0-9!#$&^_.+-]+\+json)\Z")


def safe_headers(headers: Iterable[tuple[bytes, bytes]], vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Returns the headers that an action receives.

    The result contains the content type, the user agent, request ids, forwarding headers, and the headers with which
    an action can verify a sender's signature. It omits all other headers, for example cookies and ``Authorization``.

    Args:
        headers: Received names and values. A name can occur more than once.
        vocabulary: The configured names of the service, including the name of the processor's signature header.

    Returns:
        Lowercase names with all their values, in order.
    """
    kept: dict[str, list[str]] = {}
    for raw_name, value in headers:
        name = raw_name.decode("latin-1").lower()
        if name not in _NEVER and (
            name in _KEPT
            or name.startswith(_KEPT_PREFIXES)
            or (("signature" in name or "hmac" in name) and _PLAIN_NAME.match(name))
            or name == vocabulary.processor_signature_header
        ):
            kept.setdefault(name, []).append(value.decode("latin-1"))
    return kept


def run_input(body: bytes, content_type: str, headers: dict[str, list[str]]) -> dict[str, Any]:
    """Returns the input of a webhook run.

    The field ``event`` contains the parsed body only if the content type is JSON and the body is valid JSON. Otherwise,
    the field contains the body as text, with U+FFFD in place of bytes that are not UTF-8. The service does not reject
    invalid JSON, because some senders test a webhook with an empty body.
    """
    try:
        raw, encoding = body.decode(), "utf-8"
    except UnicodeDecodeError:
        raw, encoding = base64.b64encode(body).decode(), "base64"
    media_type = content_type.partition(";")[0].strip().lower()
    event: Any = raw if encoding == "utf-8" else body.decode("utf-8", "replace")
    if _JSON.match(media_type):
        with suppress(ValueError, RecursionError):
            event = read_json_now(body)
    return {
        "source": "webhook",
        "event": event,
        "event_raw": raw,
        "event_raw_encoding": encoding,
        "headers": headers,
    }


class PostLimit:
    """Rate limiter for webhook requests. Its limit applies to each sender or each owner, in any 60 seconds.

    Args:
        limit: Maximum number of requests. None means no limit.
        code: Error code of the 429 response.
        whose: Subject of the limit (IP address or owner), for the error message.
        option: Command-line option that sets the limit, for the error message.
        store: The database, which several servers can share.
    """

    def __init__(self, limit: int | None, code: str, whose: str, option: str, store: Store) -> None:
        self._limiter = RateLimiter(code, limit, store)
        self._code = code
        self._text = (
            f"too many webhook requests: the limit for each {whose} is {limit} requests within {RATE_WINDOW_S:g} s. "
            f"Wait for the number of seconds in Retry-After, or start the emulator with a higher {option}."
        )

    async def count(self, who: str, now: float) -> None:
        """Counts a request.

        Args:
            who: The sender's IP address (an empty string if unknown), or the owner's id.
            now: Current time of the emulator's clock, in Unix seconds.

        Raises:
            Refused: 429 if the sender or owner has reached the limit. The limiter does not count a rejected request.
            StoreUnavailable: The shared database is unavailable.
        """
        wait_s = await self._limiter.admit(who, now)
        if wait_s is not None:
            raise limited(self._code, self._text, max(1, int(wait_s) + 1))

    def clear(self) -> None:
        """Deletes all counts in memory. The counts in a shared database stay."""
        self._limiter.clear()
