"""Public endpoint of webhook triggers under ``/webhook``.

Source: docs/service/triggers.md#calls, docs/service/triggers.md#errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from starlette.responses import JSONResponse, Response

from svcnb.emulator.http.routing import Endpoint
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.emulator.triggers.admission import admit, require_rate, require_room, require_room_for_input
from svcnb.emulator.triggers.errors import Refused, no_webhook
from svcnb.emulator.triggers.requests import Ask, Rows
from svcnb.emulator.triggers.store import TriggerRecord, find_trigger, to_json
from svcnb.emulator.triggers.webhooks import run_input, safe_headers
from svcnb.protocol.limits import MAX_WEBHOOK_BYTES
from svcnb.protocol.wire.triggers import Accepted

if TYPE_CHECKING:
    from svcnb.emulator.platform.database import Connection


def endpoints(rows: Rows) -> list[Endpoint]:
    """Returns a list with the endpoint that receives webhook requests."""
    refusals = frozenset({400, 404, 410, 413, 429})
    return [
        rows.row(
            "POST", "/webhook/{id}", receive, request=Any, any_body=True, response=Accepted, status=202, errors=refusals
        )
    ]


async def receive(ask: Ask) -> Response:
    """Accepts a webhook request and responds immediately. The run starts in the background.

    The body can have any content type. If the content type or the body is not JSON, the action receives the body as
    text.
    """
    triggers, request = ask.triggers, ask.call.request
    now = triggers.clock.now()
    sender = request.client.host if request.client else ""
    await triggers.posts_by_address.count(sender, now)
    trigger = await _target(ask)
    body = await ask.bytes(MAX_WEBHOOK_BYTES)
    headers = safe_headers(request.scope["headers"], triggers.vocabulary)
    content_type = ask.header("content-type")
    if len(body) > LARGE_BYTES:
        given = await offload(_input_text, body, content_type, headers)
    else:
        given = _input_text(body, content_type, headers)
    await triggers.posts_by_user.count(trigger.user_id, now)
    identifier = triggers.randomness.uuid4("trigger run")

    def work(connection: Connection) -> None:
        current = _check(find_trigger(connection, trigger.id))
        require_rate(connection, current, now)
        require_room(connection, current)
        require_room_for_input(connection, current, given)
        admit(connection, current, identifier, given, now)

    await triggers.store.run_long(work)
    triggers.queues.wake(trigger.id)
    return JSONResponse({"run_id": identifier, "status": "queued"}, 202)


def _input_text(body: bytes, content_type: str, headers: dict[str, list[str]]) -> str:
    return to_json(run_input(body, content_type, headers))


async def _target(ask: Ask) -> TriggerRecord:
    try:
        identifier = str(UUID(ask.call.path["id"]))
    except ValueError:
        raise no_webhook() from None
    trigger = await ask.triggers.store.run_long(lambda connection: find_trigger(connection, identifier))
    return _check(trigger)


def _check(trigger: TriggerRecord | None) -> TriggerRecord:
    if trigger is None or trigger.kind != "webhook":
        raise no_webhook()
    if not trigger.enabled:
        raise Refused(410, "trigger_disabled", "the trigger is disabled: ask its owner to enable the trigger")
    return trigger
