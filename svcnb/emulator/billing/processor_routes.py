"""HTTP API of the payment processor for its browser library, and its hosted payment page.

The path is always ``/processor``, regardless of the configured name of the processor. The emulator serves this path,
while a real processor has its own host. As with real processors, the client secret grants access to a payment.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any, Final
from urllib.parse import parse_qsl

from starlette.datastructures import QueryParams
from starlette.responses import HTMLResponse, RedirectResponse, Response

from svcnb.emulator.billing.intents import PAYABLE, Intent
from svcnb.emulator.billing.pages import ASSETS, asset, message_page, pay_page, return_page, settled_page
from svcnb.emulator.billing.processor import Processor, ProcessorRefusal
from svcnb.emulator.billing.return_url import ReturnUrlRefused, check_return_url, with_query
from svcnb.emulator.errors import StructuredError, as_sentence
from svcnb.emulator.http.answers import answer
from svcnb.emulator.http.body import parse, read_bytes
from svcnb.emulator.http.routing import Call, Endpoint
from svcnb.protocol.limits import MAX_PROCESSOR_BODY_BYTES

ROOT: Final = "/processor"
_FORM: Final = "application/x-www-form-urlencoded"
_DECLINED: Final = 402
# Do not set form-action, because browsers also apply it to the redirect after a form, and the return page can be on
# another port.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'"  # a page that embeds this page can hide the buttons
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    # The addresses of these pages contain client secrets, which other sites must not receive. Do not use no-referrer,
    # because browsers would then send the origin null with the form.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def describe(intent: Intent) -> dict[str, object]:
    """Returns a payment in the format of the processor's API, without its client secret."""
    return {
        "id": intent.id,
        "object": "payment_intent",
        "amount_cents": intent.amount_cents,
        "currency": "usd",
        "status": intent.status,
        "method": intent.method,
        "error": {"code": intent.problem_code, "message": intent.problem} if intent.problem else None,
        "created": int(intent.created_at),
        "processing_until": intent.due_at,
        "credited": intent.credited_at is not None,
    }


Handler = Callable[["ProcessorPages", Call, Any], Awaitable[Response]]


def _with_processor_errors(handler: Handler) -> Handler:
    """Wraps a handler so that errors have the processor's format, which differs from the service's format."""

    @wraps(handler)
    async def guarded(pages: ProcessorPages, call: Call, given: Any) -> Response:
        try:
            return await handler(pages, call, given)
        except ProcessorRefusal as refusal:
            return answer({"error": _error("invalid_request_error", refusal.code, refusal.message)}, refusal.status)

    return guarded


class ProcessorPages:
    """Endpoints for the local payment processor.

    Args:
        processor: The payment processor.
    """

    def __init__(self, processor: Processor) -> None:
        self._processor = processor

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints of the processor. The OpenAPI description does not contain these endpoints."""
        intent = f"{ROOT}/v1/payment_intents/{{intent}}"
        return [
            Endpoint("GET", intent, self._retrieve, described=False),
            Endpoint("POST", f"{intent}/confirm", self._confirm, described=False),
            Endpoint("POST", f"{intent}/cancel", self._cancel, described=False),
            Endpoint("GET", f"{ROOT}/pay/{{intent}}", self._show_pay, described=False),
            Endpoint("POST", f"{ROOT}/pay/{{intent}}", self._pay, described=False),
            Endpoint("GET", f"{ROOT}/return", self._show_return, described=False),
            Endpoint("GET", f"{ROOT}/assets/{{file}}", self._asset, described=False),
        ]

    @_with_processor_errors
    async def _retrieve(self, call: Call, _given: None) -> Response:
        fields = dict(call.request.query_params)
        processor = self._opened(call, fields)
        return answer(describe(await processor.find(call.path["intent"], fields.get("client_secret", ""))))

    @_with_processor_errors
    async def _confirm(self, call: Call, _given: None) -> Response:
        fields = await _fields(call)
        processor = self._opened(call, fields)
        intent = await processor.confirm(
            call.path["intent"],
            fields.get("client_secret", ""),
            fields.get("method") or fields.get("payment_method") or "card",
            card_number=fields.get("card_number"),
        )
        if intent.status == "failed":
            error = _error("card_error", intent.problem_code or "", intent.problem or "")
            return answer({"error": error | {"payment_intent": describe(intent)}}, _DECLINED)
        return answer(describe(intent))

    @_with_processor_errors
    async def _cancel(self, call: Call, _given: None) -> Response:
        fields = await _fields(call)
        processor = self._opened(call, fields)
        return answer(describe(await processor.cancel(call.path["intent"], fields.get("client_secret", ""))))

    def _opened(self, call: Call, fields: dict[str, str]) -> Processor:
        """Checks the publishable key, and returns the processor."""
        processor = self._processor
        scheme, _, token = call.request.headers.get("authorization", "").partition(" ")
        key = token.strip() if scheme.lower() == "bearer" else fields.get("key", "")
        if key != processor.publishable_key:  # the key is public, so a comparison in constant time is not necessary
            problem = "is not the key of this service" if key else "is missing"
            raise ProcessorRefusal(
                401,
                "api_key_invalid",
                f'the publishable key {problem}: send the header "Authorization: Bearer KEY", where KEY is the '
                "publishable_key of the service",
            )
        return processor

    async def _show_pay(self, call: Call, _given: None) -> Response:
        """Returns the page on which the user pays."""
        query, processor = call.request.query_params, self._processor
        try:
            onward = _onward(call, query)
            intent = await processor.find(call.path["intent"], query.get("client_secret", ""))
        except (ReturnUrlRefused, ProcessorRefusal) as refusal:
            return _refused(refusal)
        if intent.status in PAYABLE:
            action = "?" + str(query)
            return _html(pay_page(intent, action=action, crypto_delay_s=processor.crypto_delay_s))
        return _html(settled_page(intent, onward=_left(onward, intent)))

    async def _pay(self, call: Call, _given: None) -> Response:
        """Handles the buttons of the payment page."""
        query, form = call.request.query_params, await _fields(call)
        try:
            onward = _onward(call, query)
            intent = await _press(self._processor, call.path["intent"], query.get("client_secret", ""), form)
        except (ReturnUrlRefused, ProcessorRefusal) as refusal:
            return _refused(refusal)
        # Respond with 303, so that a reload or the back button does not pay again. After a declined card, show the page
        # again.
        return RedirectResponse(
            "?" + str(query) if intent.status in PAYABLE else _left(onward, intent), 303, _PAGE_HEADERS
        )

    async def _show_return(self, call: Call, _given: None) -> Response:
        """Returns the page that the browser opens after a payment. See `return_page`."""
        query, processor = call.request.query_params, self._processor
        try:
            intent = await processor.find(
                query.get("payment_intent", ""), query.get("payment_intent_client_secret", "")
            )
        except ProcessorRefusal as refusal:
            return _refused(refusal, root=".")
        return _html(return_page(intent, publishable_key=processor.publishable_key))

    async def _asset(self, call: Call, _given: None) -> Response:
        name = call.path["file"]
        data = asset(name)
        if data is None:
            fix = "To build the front end, run: python hatch_build.py"
            if name not in ASSETS:
                fix = f"Use one of the files {', '.join(ASSETS)}."
            raise StructuredError(404, f"the processor has no file {name[:80]!r}", fix=fix)
        return Response(data, media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})


async def _fields(call: Call) -> dict[str, str]:
    """Returns the fields of a JSON or form body. Ignores values that are not strings."""
    data = await read_bytes(call.request, MAX_PROCESSOR_BODY_BYTES)
    if call.request.headers.get("content-type", "").startswith(_FORM):
        return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    body = await parse(data)
    if not isinstance(body, dict):
        raise ProcessorRefusal(400, "parameter_invalid", "the body is not a JSON object: send a JSON object or a form")
    return {name: value for name, value in body.items() if isinstance(value, str)}


def _error(kind: str, code: str, message: str) -> dict[str, object]:
    return {"type": kind, "code": code, "message": message}


async def _press(processor: Processor, intent_id: str, secret: str, form: dict[str, str]) -> Intent:
    if form.get("do") == "cancel":
        return await processor.cancel(intent_id, secret)
    method = form.get("method", "card")
    outcome, delay = form.get("outcome", ""), form.get("delay_s", "").strip()
    if not outcome and not delay:
        return await processor.confirm(intent_id, secret, method, card_number=form.get("card_number"))
    try:
        delay_s = float(delay or (processor.crypto_delay_s if method == "crypto" else 0))
    except ValueError:
        raise ProcessorRefusal(
            400, "parameter_invalid", f"invalid delay_s {delay[:60]!r}: send a number of seconds"
        ) from None
    return await processor.attempt(intent_id, secret, method, outcome=outcome or "succeeded", delay_s=delay_s)


def _onward(call: Call, query: QueryParams) -> str:
    given = query.get("return_url", "")
    # Address of the return page, relative to this page, because a proxy can add a prefix to all paths.
    return check_return_url(given, own_host=call.request.headers.get("host", "")) if given else "../return"


def _left(onward: str, intent: Intent) -> str:
    status = "pending" if intent.status == "processing" else intent.status
    return with_query(
        onward,
        payment_intent=intent.id,
        payment_intent_client_secret=intent.client_secret,
        redirect_status=status,
    )


def _html(page: str, status: int = 200) -> Response:
    return HTMLResponse(page, status, _PAGE_HEADERS)


def _refused(refusal: ReturnUrlRefused | ProcessorRefusal, *, root: str = "..") -> Response:
    status = refusal.status if isinstance(refusal, ProcessorRefusal) else 400
    heading = "Payment not found" if status == 404 else "The operation failed"  # noqa: PLR2004 - an HTTP status
    return _html(message_page(heading, as_sentence(str(refusal)), root=root), status)
