"""HTTP interface of the processor: the calls of its browser library, and the hosted page.

Its path is always ``/processor``, under every name of the processor. It belongs to the emulator, while the real
processor has its own address. A payment is opened by its client secret, as with real processors.
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
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import answer
from svcnb.emulator.http.body import parse, read_bytes
from svcnb.emulator.http.endpoint import Call, Endpoint

ROOT: Final = "/processor"
_LARGEST_BODY: Final = 16 * 1024
_FORM: Final = "application/x-www-form-urlencoded"
_DECLINED: Final = 402
# No form-action: browsers apply it to the redirect after a form too, and the return page may be another port's.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "frame-ancestors 'none'"  # a page that frames this one could cover the buttons
)
_PAGE_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Frame-Options": "DENY",
    # Addresses of these pages contain client secrets, which no other site may receive. With no-referrer browsers would
    # send the origin null with the form.
    "Referrer-Policy": "same-origin",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
}


def describe(intent: Intent) -> dict[str, object]:
    """A payment in the form of the processor's API, without its secret."""
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


def _in_its_own_words(handler: Handler) -> Handler:
    """Answers refusals in the processor's shape of errors, which differs from the service's."""

    @wraps(handler)
    async def guarded(pages: ProcessorPages, call: Call, given: Any) -> Response:
        try:
            return await handler(pages, call, given)
        except ProcessorRefusal as refusal:
            return answer({"error": _error(refusal.kind, refusal.code, refusal.message)}, refusal.status)

    return guarded


class ProcessorPages:
    """Endpoints of the local payment processor.

    Args:
        processor: The payment processor.
    """

    def __init__(self, processor: Processor) -> None:
        self._processor = processor

    def endpoints(self) -> list[Endpoint]:
        """The endpoints of the processor. None of them is in the service's description."""
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

    @_in_its_own_words
    async def _retrieve(self, call: Call, _given: None) -> Response:
        """Shows a payment."""
        fields = dict(call.request.query_params)
        processor = self._opened(call, fields)
        return answer(describe(await processor.find(call.path["intent"], fields.get("client_secret", ""))))

    @_in_its_own_words
    async def _confirm(self, call: Call, _given: None) -> Response:
        """Pays a payment."""
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

    @_in_its_own_words
    async def _cancel(self, call: Call, _given: None) -> Response:
        """Cancels a payment."""
        fields = await _fields(call)
        processor = self._opened(call, fields)
        return answer(describe(await processor.cancel(call.path["intent"], fields.get("client_secret", ""))))

    def _opened(self, call: Call, fields: dict[str, str]) -> Processor:
        """The processor, for a caller with its publishable key."""
        processor = self._processor
        scheme, _, token = call.request.headers.get("authorization", "").partition(" ")
        key = token.strip() if scheme.lower() == "bearer" else fields.get("key", "")
        if key != processor.publishable_key:  # the key is public, so a plain comparison leaks nothing
            raise ProcessorRefusal(
                401, "api_key_invalid", "Send the publishable key that the service shows: Authorization: Bearer pk_…."
            )
        return processor

    async def _show_pay(self, call: Call, _given: None) -> Response:
        """The page on which a person pays."""
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
        """Handles the page's buttons."""
        query, form = call.request.query_params, await _fields(call)
        try:
            onward = _onward(call, query)
            intent = await _press(self._processor, call.path["intent"], query.get("client_secret", ""), form)
        except (ReturnUrlRefused, ProcessorRefusal) as refusal:
            return _refused(refusal)
        # 303, so that going back and reloading never pays again. A declined card leads back to the page.
        return RedirectResponse(
            "?" + str(query) if intent.status in PAYABLE else _left(onward, intent), 303, _PAGE_HEADERS
        )

    async def _show_return(self, call: Call, _given: None) -> Response:
        """The page after the payment, which asks the service for the credit."""
        query, processor = call.request.query_params, self._processor
        try:
            intent = await processor.find(
                query.get("payment_intent", ""), query.get("payment_intent_client_secret", "")
            )
        except ProcessorRefusal as refusal:
            return _refused(refusal, root=".")
        return _html(return_page(intent, publishable_key=processor.publishable_key))

    async def _asset(self, call: Call, _given: None) -> Response:
        """A file of the pages."""
        name = call.path["file"]
        data = asset(name)
        if data is None:
            raise StructuredError(404, f"No file {name}.", fix="Build the browser side: python hatch_build.py.")
        return Response(data, media_type=ASSETS[name], headers={"Cache-Control": "no-cache"})


async def _fields(call: Call) -> dict[str, str]:
    """Members of a body, JSON or form. Only text values are kept."""
    data = await read_bytes(call.request, _LARGEST_BODY)
    if call.request.headers.get("content-type", "").startswith(_FORM):
        return dict(parse_qsl(data.decode("utf-8", "replace"), keep_blank_values=True))
    body = await parse(data)
    if not isinstance(body, dict):
        raise ProcessorRefusal(400, "parameter_invalid", "The body must be a JSON object or a form.")
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
        raise ProcessorRefusal(400, "parameter_invalid", f"{delay!r} is no number of seconds.") from None
    return await processor.attempt(intent_id, secret, method, outcome=outcome or "succeeded", delay_s=delay_s)


def _onward(call: Call, query: QueryParams) -> str:
    given = query.get("return_url", "")
    # The emulator's own page, relative to this one, because a proxy may have put a folder in front of all paths.
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
    heading = "No such payment" if status == 404 else "This does not work"  # noqa: PLR2004 - the status of HTTP
    return _html(message_page(heading, str(refusal), root=root), status)
