"""Endpoints under ``/api``.

Source: docs/service/triggers.md#calls, docs/service/triggers.md#creation-and-changes-of-a-trigger.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.responses import Response

from svcnb.emulator.http.answers import JSON_TYPE, answer, encode
from svcnb.emulator.http.mismatch import told
from svcnb.emulator.http.routing import Endpoint
from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload
from svcnb.emulator.triggers import rules, store
from svcnb.emulator.triggers.admission import admit, require_room, require_room_for_input, require_room_for_trigger
from svcnb.emulator.triggers.errors import Refused, no_trigger
from svcnb.emulator.triggers.requests import Ask, Rows, read, whole
from svcnb.emulator.triggers.store import RunRecord, TriggerRecord, from_json, rfc3339, to_json
from svcnb.protocol.cid import source_cid
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.limits import MAX_JSON_DEPTH, RUNS_PAGE_DEFAULT, RUNS_PAGE_MAX
from svcnb.protocol.wire.triggers import (
    Accepted,
    CreateTrigger,
    Me,
    PatchTrigger,
    RunPage,
    RunsQuery,
    TokenInfo,
    Trigger,
)

if TYPE_CHECKING:
    from svcnb.emulator.platform.database import Connection
    from svcnb.emulator.triggers.identity import User

T = TypeVar("T")

_MAX_OFFSET: Final = 2**31 - 1
_BODY: Final = frozenset({400, 413, 422})
_ID: Final = frozenset({400, 404})
_TRIED: Final = _BODY | _ID | {429}


def endpoints(rows: Rows) -> list[Endpoint]:
    """Returns the endpoints for triggers, runs, tokens and the current user."""
    return [
        rows.owned("GET", "/api/me", me, response=Me),
        rows.owned("POST", "/api/triggers", create, request=CreateTrigger, response=Trigger, errors=_BODY),
        rows.owned("GET", "/api/triggers", listed, response=list[Trigger]),
        rows.owned("GET", "/api/triggers/{id}", one, response=Trigger, errors=_ID),
        rows.owned("PATCH", "/api/triggers/{id}", change, request=PatchTrigger, response=Trigger, errors=_BODY | _ID),
        rows.owned("DELETE", "/api/triggers/{id}", remove, status=204, errors={400}),
        rows.owned("GET", "/api/triggers/{id}/runs", run_page, query=RunsQuery, response=RunPage, errors=_ID | {422}),
        rows.owned("POST", "/api/triggers/{id}/test", test, request=Any, response=Accepted, status=202, errors=_TRIED),
        rows.owned("GET", "/api/tokens", tokens, response=list[TokenInfo]),
        rows.owned("DELETE", "/api/tokens", revoke_all, status=204),
        rows.owned("DELETE", "/api/tokens/{id}", revoke, status=204, errors={400}),
    ]


async def me(ask: Ask) -> Response:
    """Returns the user who approved the caller's token."""
    user = await ask.user()
    return answer({"id": user.id, "email": user.email})


async def create(ask: Ask) -> Response:
    """Creates an enabled trigger. The service encrypts the usage key, and checks it only when the trigger runs."""
    user = await ask.user()
    body: CreateTrigger = read(CreateTrigger, await ask.json())
    triggers = ask.triggers
    identifier = triggers.randomness.uuid4("trigger")
    values = await _beside(lambda: _new(ask, user, identifier, body), is_long=is_large(body))

    def work(connection: Connection) -> TriggerRecord:
        require_room_for_trigger(connection, values)
        return store.add_trigger(connection, values)

    made = await triggers.store.run_long(work)
    triggers.changed(made)
    return await _shown_trigger(ask, made)


def _new(ask: Ask, user: User, identifier: str, body: CreateTrigger) -> dict[str, Any]:
    rules.check(body.name, body.action_code, body.usage_api_key, body.default_params, body.config)
    rules.check_config(body.kind, body.config)
    now = ask.triggers.clock.now()
    return {
        "id": identifier,
        "user_id": user.id,
        "action_cid": _cid(body.action_code),
        "account_address": None,
        "enabled": True,
        "created_at": now,
        "updated_at": now,
        "watermark": now,
        **_given_columns(ask, identifier, body),
    }


async def listed(ask: Ask) -> Response:
    """Lists the caller's triggers, newest first."""
    user = await ask.user()
    found = await ask.triggers.store.run_long(lambda connection: store.list_triggers(connection, user.id))
    size = sum(store.trigger_bytes(vars(trigger)) for trigger in found)
    return await _response(lambda: [_shown(ask, trigger) for trigger in found], size)


async def one(ask: Ask) -> Response:
    """Returns a trigger of the caller by its id, or 404 if the caller has no trigger with this id."""
    return await _shown_trigger(ask, await _own_trigger(ask))


async def change(ask: Ask) -> Response:
    """Changes a trigger. Absent and null fields stay unchanged. New code requires the usage key again."""
    before = await _own_trigger(ask)
    body: PatchTrigger = read(PatchTrigger, await ask.json())
    while (after := await _try_to_change(ask, before, body)) is None:
        before = await _own_trigger(ask)
    ask.triggers.changed(after)
    return await _shown_trigger(ask, after)


async def _try_to_change(ask: Ask, before: TriggerRecord, body: PatchTrigger) -> TriggerRecord | None:
    """Changes a trigger, and returns the new record.

    Returns None, without a change, if another request has changed or deleted the trigger after this request read the
    record ``before``. The checks of the kind, the settings and the usage key are then no longer valid.
    """
    triggers = ask.triggers
    is_long = is_large(body) or store.trigger_bytes(vars(before)) > LARGE_BYTES
    changes, moved = await _beside(lambda: _changes(ask, before, body), is_long=is_long)
    now = triggers.clock.now()
    if moved:
        changes |= {"watermark": now, "next_block": None, "last_block_hash": None}
    elif body.enabled and not before.enabled:
        # Events that happened while the trigger was disabled do not start runs (docs/service/resources.md#states).
        changes |= {"watermark": now} | await triggers.place_now(before)
    changes["updated_at"] = now

    def work(connection: Connection) -> TriggerRecord | None:
        current = store.find_trigger(connection, before.id)
        if current is None or current.definition != before.definition:
            return None
        # An owner who already exceeds the limit can still rename, disable and shorten triggers.
        changed = replace(before, **changes)
        if store.trigger_bytes(vars(changed)) > store.trigger_bytes(vars(before)):
            require_room_for_trigger(connection, vars(changed))
        store.change_trigger(connection, before.id, changes)
        return store.find_trigger(connection, before.id)

    return await triggers.store.run_long(work)


async def remove(ask: Ask) -> Response:
    """Deletes a trigger and its runs. Returns 204 even if the trigger does not exist."""
    user, identifier = await ask.user(), ask.identifier()
    if await ask.triggers.store.run_long(lambda connection: store.delete_trigger(connection, identifier, user.id)):
        ask.triggers.wake()
    return Response(status_code=204)


async def run_page(ask: Ask) -> Response:
    """Returns a page of a trigger's runs, newest first."""
    trigger = await _own_trigger(ask)
    query = ask.call.request.query_params
    limit = whole("limit", query.get("limit"), RUNS_PAGE_DEFAULT, 1, RUNS_PAGE_MAX)
    offset = whole("offset", query.get("offset"), 0, 0, _MAX_OFFSET)
    found = await ask.triggers.store.run_long(lambda connection: store.list_runs(connection, trigger.id, limit, offset))
    size = sum(len(run.input or "") + len(run.response or "") + len(run.error or "") for run in found)
    return await _response(lambda: {"runs": [_shown_run(ask, run) for run in found]}, size)


async def test(ask: Ask) -> Response:
    """Starts a run with the given input, to test the action of a trigger of any kind."""
    trigger = await _own_trigger(ask)
    given = await ask.json()
    triggers = ask.triggers
    identifier = triggers.randomness.uuid4("trigger run")
    text = await offload(_json, given) if is_large(given) else _json(given)

    def work(connection: Connection) -> None:
        current = store.find_trigger(connection, trigger.id)
        if current is None:  # the trigger was deleted while the service read the body
            raise no_trigger(trigger.id)
        require_room(connection, current)
        require_room_for_input(connection, current, text)
        admit(connection, current, identifier, text, triggers.clock.now())

    await triggers.store.run_long(work)
    triggers.queues.wake(trigger.id)
    return answer({"run_id": identifier, "status": "queued"}, 202)


async def tokens(ask: Ask) -> Response:
    """Lists the records of the caller's tokens, newest first, without the tokens themselves."""
    return answer(await ask.triggers.identity.listed(await ask.user()))


async def revoke(ask: Ask) -> Response:
    """Revokes a token of the user permanently. Returns 204 even if the user has no token with this id.

    The caller can revoke the token with which it sends this request.
    """
    user, identifier = await ask.user(), ask.identifier()
    await ask.triggers.identity.revoke(user, identifier)
    return Response(status_code=204)


async def revoke_all(ask: Ask) -> Response:
    """Revokes all tokens of the user who makes the request."""
    await ask.triggers.identity.revoke(await ask.user(), None)
    return Response(status_code=204)


# --- records to bodies and back -------------------------------------------------------------------------------------


async def _own_trigger(ask: Ask) -> TriggerRecord:
    user, identifier = await ask.user(), ask.identifier()
    found = await ask.triggers.store.run_long(lambda connection: store.find_trigger(connection, identifier, user.id))
    if found is None:
        raise no_trigger(identifier)
    return found


def _require_key_for(body: PatchTrigger, before: TriggerRecord) -> None:
    """Rejects new code without a usage key, because a token alone must not run other code with the stored key."""
    if body.action_code != before.action_code and body.usage_api_key is None:
        raise Refused(
            422,
            "usage_api_key_required",
            (
                "usage_api_key is missing: if you change action_code, send the key for the new code, even if the key "
                "stays the same"
            ),
        )


async def _beside(work: Callable[[], T], *, is_long: bool) -> T:
    """Runs a function that processes user data, and returns its result. Large data does not block the event loop."""
    return await offload(work) if is_long else work()


async def _response(shown: Callable[[], object], size: int) -> Response:
    content = await _beside(lambda: encode(shown()), is_long=size > LARGE_BYTES)
    return Response(content, media_type=JSON_TYPE)


async def _shown_trigger(ask: Ask, trigger: TriggerRecord) -> Response:
    return await _response(lambda: _shown(ask, trigger), store.trigger_bytes(vars(trigger)))


def _changes(ask: Ask, before: TriggerRecord, body: PatchTrigger) -> tuple[dict[str, Any], bool]:
    """Returns the changed columns, and whether the change affects when the trigger fires."""
    changes = _given_columns(ask, before.id, body)
    name, code = changes.get("name", before.name), changes.get("action_code", before.action_code)
    kind = changes.get("kind", before.kind)
    config = from_json(before.config) if body.config is None else body.config
    defaults = from_json(before.default_params) if body.default_params is None else body.default_params
    rules.check(name, code, body.usage_api_key, defaults, config)
    rules.check_config(kind, config)
    if body.action_code is not None:
        changes["action_cid"] = _cid(body.action_code)
        _require_key_for(body, before)
    return changes, (kind, config) != (before.kind, from_json(before.config))


def _given_columns(ask: Ask, identifier: str, body: CreateTrigger | PatchTrigger) -> dict[str, Any]:
    given = {name: value for name in type(body).model_fields if (value := getattr(body, name)) is not None}
    changes = {name: _json(value) if name in {"default_params", "config"} else value for name, value in given.items()}
    if (usage_key := changes.pop("usage_api_key", None)) is not None:
        changes["sealed_usage_key"] = ask.triggers.encryption.encrypt(usage_key.strip(), identifier)
    if (address := _account_address(ask, body.model_extra)) is not None:
        changes["account_address"] = address
    return changes


def _account_address(ask: Ask, extra: dict[str, Any] | None) -> str | None:
    member = ask.triggers.vocabulary.account_address_member
    value = (extra or {}).get(member)
    if value is not None and not isinstance(value, str):
        message = f"the body does not match the schema: {member} must be a string, not {told(value)}"
        raise Refused(422, "unprocessable_entity", message)
    return value


def _cid(source: str) -> str:
    try:
        return source_cid(source)
    except MalformedValue as error:
        raise Refused(422, "unprocessable_entity", f"action_code: {error.message}") from None


def _json(value: object) -> str:
    try:
        return to_json(value)
    except ValueError:
        message = "the body contains NaN or Infinity: send finite numbers"
    except RecursionError:
        message = f"the body is nested too deeply: send at most {MAX_JSON_DEPTH} levels of nesting"
    raise Refused(422, "unprocessable_entity", message)


def _shown(ask: Ask, trigger: TriggerRecord) -> dict[str, Any]:
    return {
        "id": trigger.id,
        "user_id": trigger.user_id,
        "name": trigger.name,
        "kind": trigger.kind,
        "action_code": trigger.action_code,
        "action_cid": trigger.action_cid,
        "default_params": from_json(trigger.default_params),
        ask.triggers.vocabulary.account_address_member: trigger.account_address,
        "max_runs_per_minute": trigger.max_runs_per_minute,
        "max_queued_runs": trigger.max_queued_runs,
        "config": from_json(trigger.config),
        "enabled": trigger.enabled,
        "created_at": rfc3339(trigger.created_at),
        "updated_at": rfc3339(trigger.updated_at),
    }


def _shown_run(ask: Ask, run: RunRecord) -> dict[str, Any]:
    retrying = run.status == "retrying" and not ask.triggers.settings.expose_retrying
    return {
        "id": run.id,
        "trigger_id": run.trigger_id,
        "started_at": rfc3339(run.started_at),
        "finished_at": rfc3339(run.finished_at),
        "status": "running" if retrying else run.status,
        "input": from_json(run.input),
        "response": from_json(run.response),
        "error": run.error,
        "attempt": run.attempt,
        # The number of times that a stop of the emulator interrupted the run. The live service does not return this
        # field.
        "interruptions": run.interruptions,
    }
