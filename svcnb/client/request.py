"""Flow that sends one call, with retries, and converts the response to a result or an error.

The flow itself performs no input or output. For the local history, the flow also detects calls that change or return an
account's credit.

Source: docs/service/http.md#lists, docs/service/billing.md#prices.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime
from typing import Any, Final, TypeVar, cast

from svcnb import control_tokens
from svcnb.client import errors
from svcnb.client.calls import Answer, Call, Flow, Noted, Pause, Request, later
from svcnb.client.config import API_PATH, Config
from svcnb.client.secret import MASK
from svcnb.protocol.error_codes import ERROR_CODES, code_of
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS
from svcnb.protocol.nesting import parse
from svcnb.protocol.text import whole

T = TypeVar("T")

_JITTER = random.SystemRandom()
_MAX_MESSAGE = 4_000
_EXPIRED: Final = re.compile(r"\bkey has expired\b")


def exchange(call: Call[T], config: Config) -> Flow[T]:
    """Sends a call, with retries, and returns its result.

    The flow retries every call after status 429 or 503, because a service that returns this status did not charge or
    change anything. After a transport error, the flow retries only calls that are safe to repeat.

    Raises:
        TransportError: No response arrived, or the response is not from the API.
        ServiceError: The service rejected the request.
    """
    with hints_for(call):
        return (yield from _exchange(call, config))


@contextmanager
def hints_for(call: Call[Any]) -> Iterator[None]:
    """Context manager that replaces names of settings and methods in hints, if a call uses the triggers service."""
    try:
        yield
    except (errors.ServiceError, errors.TransportError) as error:
        if call.base is not None:  # only calls to the triggers service and to chain nodes have their own address
            for phrase, other in _OF_TRIGGERS.items():
                error.hint = error.hint.replace(phrase, other)
        raise


_VERSION_HINT: Final = "Check the version of the service with svc.node.version() or `svcnb doctor`."
_OF_TRIGGERS: Final = {
    _VERSION_HINT: "Check that triggers_url is the address of a triggers service.",
    "base_url": "triggers_url",
    "/core/v1": "/api",
    "svc.groups.list()": "triggers.list()",
    "svc.with_options(timeout=seconds)": "svcnb.TriggersClient(config=svc.with_options(timeout=seconds).config)",
}
"""Phrases in the hints, mapped to their replacements for calls to the triggers service."""


def _exchange(call: Call[T], config: Config) -> Flow[T]:
    request = build(call, config)
    for attempt in range(1, max(1, config.retries.attempts) + 1):
        last = attempt >= config.retries.attempts
        try:
            answer = cast("Answer", (yield request))
        except errors.TransportError as error:
            if last or not _may_repeat(call, error):
                if call.in_doubt and not error.unsent and not isinstance(error, errors.NotTheApi):
                    error.hint = (
                        f"{call.in_doubt} The client did not retry the call, because the service may have performed "
                        "the call."
                    )
                raise error from error.__cause__
            wait = delay(attempt, None, config)
        else:
            if 200 <= answer.status < 300 or answer.status in call.statuses:  # noqa: PLR2004 - statuses 2xx are successes
                result = read(call, answer, request)
                if (noted := _money_of(call, answer, result)) is not None:
                    yield noted
                return result
            if last or answer.status not in (429, 503):
                raise (yield from _with_explainer(failure(answer, config, request, call), config, call))
            wait = delay(attempt, answer.headers, config)
        yield Pause(wait)
    raise AssertionError("unreachable: the last attempt returns or raises")


def _with_explainer(
    refused: errors.ServiceError | errors.TransportError, config: Config, call: Call[Any]
) -> Flow[Exception]:
    """Adds to the rejection of a management call the function that finds the missing permission.

    `svcnb.client.running` adds such a function to rejections of runs.
    """
    if isinstance(refused, errors.Forbidden) and config.api_key:
        from svcnb.client.call_refusal import RefusedCall, explain_call, explicable

        if explicable(call.path):
            body = call.body if isinstance(call.body, Mapping) else {}
            refused.explainer = yield from later(
                lambda: explain_call(config, RefusedCall(str(call.path), body), refused.clock_skew)
            )
    return refused


def build(call: Call[Any], config: Config) -> Request:
    """Returns the HTTP request of a call.

    Raises:
        InvalidArgument: The body cannot be encoded as JSON, for example because a parameter has an unsupported type.
    """
    from urllib.parse import urlencode, urlsplit

    path = call.path if isinstance(call.path, str) else call.path(config.vocabulary)
    base = call.base if call.base is not None else config.base_url
    url = base + path[1:] if path.startswith("//") else base + ("" if call.base is not None else API_PATH) + path
    if call.query:
        url += "?" + urlencode(call.query)
    if call.control and (found := control_tokens.find(config.base_url)) is not None:
        url = found.at(url)
    return Request(
        method=call.method,
        url=url,
        # Build the headers last and do not store them in a variable, so that a traceback with variables cannot show the
        # key.
        content=None if call.body is None else encode(call.body),
        headers=_headers(call, config),
        connect_timeout=config.timeouts.connect,
        timeout=getattr(config.timeouts, call.timeout_class),
        shown_path=urlsplit(url).path if call.path else "",  # the path of a chain node's address can contain a key
    )


def _headers(call: Call[Any], config: Config) -> dict[str, str]:
    # Send additional headers of the user only to the service. Such headers never replace headers of the protocol.
    headers = dict(config.headers) if call.base in (None, config.base_url) else {}
    headers |= {"Accept": "application/json"}
    if call.key and config.api_key:
        headers["X-Api-Key"] = config.api_key.reveal()
    if call.key and config.wallet_auth:
        headers |= config.wallet_auth()
    if call.control:
        # Read the token for each call, because a restarted emulator at the same address has another token.
        if (found := control_tokens.find(config.base_url)) is not None:
            headers["Authorization"] = found.authorization()
        elif config.control_token:
            headers["Authorization"] = f"Bearer {config.control_token.reveal()}"
    if config.correlation_id and call.path:  # calls to chain nodes have no path, and chain nodes do not use the id
        headers["X-Correlation-Id"] = config.correlation_id
    if call.body is not None:
        headers["Content-Type"] = "application/json"
    return headers | dict(call.headers or {})


def encode(body: object, *, ascii_only: bool = False) -> bytes:
    """Returns a value as compact JSON, in UTF-8 or only in ASCII characters.

    Raises:
        InvalidArgument: A part of the value cannot be encoded as JSON. The message describes the part.
    """
    try:
        return json.dumps(body, ensure_ascii=ascii_only, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:  # a lone surrogate is also a ValueError
        raise errors.InvalidArgument(
            f"the arguments of this call cannot be encoded as JSON: {error}",
            hint="Use numbers (not NaN), strings, booleans, None, lists and dicts. Convert a NumPy number with "
            ".item(), and a time with .isoformat(). Pass secret.reveal() to send a secret.",
        ) from error


def _may_repeat(call: Call[Any], error: errors.TransportError) -> bool:
    if isinstance(error, errors.NotTheApi) or error.refused or error.closed:
        return False
    return error.unsent or call.method == "GET" or call.repeatable


def delay(attempt: int, headers: Mapping[str, str] | None, config: Config) -> float:
    """Returns the delay before the next attempt in seconds, from ``Retry-After`` or exponential backoff with jitter."""
    retries = config.retries
    told = _retry_after(headers) if headers else None
    if told is not None:
        return min(told, retries.longest_retry_after)
    mean = min(retries.longest_delay, retries.first_delay * 2.0 ** (attempt - 1))
    return mean * _JITTER.uniform(0.5, 1.5)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if re.fullmatch(r"\d{1,9}", text):
        return float(text)
    try:
        until, since = parsedate_to_datetime(text), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - since).total_seconds())
    except (ValueError, TypeError):
        return None


def read(call: Call[T], answer: Answer, request: Request) -> T:
    """Parses the response to a call, and returns the result.

    Raises:
        NotTheApi: The response is not JSON, or has an unexpected structure.
    """
    try:
        # Do not store the body in a variable, because it can contain a new key, and tracebacks can show variables.
        return call.parse(_body(answer, request), answer)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        if isinstance(error, errors.SvcnbError):
            raise
        raise errors.NotTheApi(
            f"the response to {_endpoint(request)} (status {answer.status}) has an unexpected JSON structure: "
            f"{_one_line(error)}",
            hint=_VERSION_HINT,
        ) from None


def _body(answer: Answer, request: Request) -> Any:
    try:
        return parse(answer.content) if answer.content else None
    except ValueError:
        raise errors.NotTheApi(f"the response to {_endpoint(request)} (status {answer.status}) is not JSON") from None


def failure(
    answer: Answer, config: Config, request: Request, call: Call[Any]
) -> errors.ServiceError | errors.TransportError:
    """Returns the error for a response. The response has one of two body formats (docs/service/http.md#errors)."""
    if 300 <= answer.status < 400:  # noqa: PLR2004 - statuses 3xx are redirects
        return errors.NotTheApi(
            f"the response to {_endpoint(request)} (status {answer.status}) is a redirect, which the API never sends",
            hint=(
                "Set base_url to the target of the redirect, but omit /core/v1 and everything after it. The target is: "
                f"{target[:200]}"
                if (target := answer.headers.get("location"))
                else None
            ),
        )
    try:
        body = parse(answer.content) if answer.content else ""
    except ValueError:
        return errors.NotTheApi(
            f"the response to {_endpoint(request)} (status {answer.status}) is not JSON, so the API did not send it",
            hint=(
                "Try again in a few seconds, because a proxy may have sent this response. If the problem persists, "
                "check base_url."
                if answer.status >= 500  # noqa: PLR2004 - statuses 5xx are failures of a server
                else None
            ),
        )
    code = fix = docs_url = ""
    if isinstance(body, dict):
        if isinstance(inner := body.get("error"), dict):  # the format of the payment processor
            body = {**inner, "error": inner.get("code")}
        code, fix, docs_url = (_text(body.get(name)) for name in ("error", "fix", "docs_url"))
        message = _text(body.get("message")) or code
    else:
        message = _text(body)
    row = ERROR_CODES.get(answer.status)
    kind = errors.BY_STATUS.get(answer.status, errors.ServiceError)
    hint = None
    if kind is errors.Forbidden and call.timeout_class == "run":
        hint = errors.EXPIRED_HINT if _EXPIRED.search(message) else errors.EXECUTION_HINT
    if kind is errors.Unauthorized and "Authorization" in (call.headers or {}):
        hint = errors.APPROVAL_HINT
    elif kind is errors.Unauthorized and config.wallet_auth:
        hint = fix or None  # the service rejected a wallet's signature, not a key
    error = kind(
        mask(message or (row.cause if row else f"HTTP {answer.status} without a message"), config),
        status=answer.status,
        code=code or code_of(answer.status),
        request_id=answer.headers.get("x-request-id", ""),
        fix=mask(fix, config),
        docs_url=docs_url,
        structured=isinstance(body, dict),
        hint=hint,
    )
    if isinstance(error, errors.Explicable):
        error.clock_skew = answer.clock_skew or 0.0
    return error


def mask(text: str, config: Config) -> str:
    """Returns a string in which the configured key is masked, because the service may have returned the key."""
    key = config.api_key.reveal() if config.api_key else ""
    return text.replace(key, MASK) if key else text


def _endpoint(request: Request) -> str:
    # Omit the query, because it can contain the secret of a payment.
    return f"{request.method} {request.url.partition('?')[0]}"


def _text(value: object) -> str:
    if value is None:
        return ""
    return whole(value if isinstance(value, str) else json.dumps(value))[:_MAX_MESSAGE]


def _one_line(error: Exception) -> str:
    if isinstance(error, KeyError):
        return f"the member {str(error)[:300]} is missing"
    return " ".join(str(error).split())[:300]


METERED_PATHS: Final = frozenset(
    {
        "/add_action", "/add_action_to_group", "/add_group", "/add_pkp_to_group", "/add_usage_api_key",
        "/create_wallet", "/delete_action", "/remove_action_from_group", "/remove_group", "/remove_pkp_from_group",
        "/remove_usage_api_key", "/update_action_metadata", "/update_group", "/update_usage_api_key",
        "/update_usage_api_key_metadata",
    }
)  # fmt: skip
"""Management calls that cost `MANAGEMENT_COST_CENTS` if they succeed."""

BALANCE_PATH: Final = "/billing/balance"


def _money_of(call: Call[Any], answer: Answer, result: object) -> Noted | None:
    if not call.key or not isinstance(call.path, str):
        return None
    reference = answer.headers.get("x-request-id", "")
    if call.path in METERED_PATHS:
        created = str(getattr(result, "api_key_hash", "")) if call.path == "/add_usage_api_key" else ""
        name = call.path.removeprefix("/")
        return Noted("fee", MANAGEMENT_COST_CENTS, name, created, reference, answer.sent_at)
    if call.path == BALANCE_PATH and isinstance(cents := getattr(result, "balance_cents", None), int):
        return Noted("balance", -cents, "balance", reference=reference, at=answer.sent_at)
    return None
