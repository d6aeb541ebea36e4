"""Flows of `TriggersClient`, which both clients use."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import quote

from svcnb.client.calls import Answer, Call, Flow, Request, ask, now, pause
from svcnb.client.config import Config
from svcnb.client.errors import ConfigError, InvalidArgument, SvcnbError, TimedOut, Unauthorized
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import CronPreview, EventPreview, Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.references import ActionRef, source_or_cid
from svcnb.client.request import failure
from svcnb.client.resources import group_flows, usage_key_flows
from svcnb.client.resources.reading import model, models, nothing
from svcnb.client.secret import Secret
from svcnb.protocol.cron import Cron
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.event_signature import Event
from svcnb.protocol.limits import (
    MAX_TRIGGERS_TOKEN,
    MAX_WEBHOOK_BYTES,
    MIN_TRIGGERS_TOKEN,
    RUNS_PAGE_DEFAULT,
    RUNS_PAGE_MAX,
    is_triggers_token,
)
from svcnb.protocol.wire.triggers import Accepted, CreateTrigger

T = TypeVar("T")

APPROVAL_POLL_S: Final = 2.0
APPROVAL_PATIENCE_S: Final = 600.0
FIRST_POLL_S: Final = 0.05
LONGEST_POLL_S: Final = 1.0
_TOKEN_BYTES: Final = 32


@dataclass(frozen=True)
class Door:
    """Address of the triggers service, and the token for it.

    Attributes:
        url: Its address, without ``/api``.
        token: The bearer token.
    """

    url: str
    token: Secret = field(repr=False)

    @property
    def challenge(self) -> str:
        """Challenge: the part of the token that the service receives before its first use (specification 5.9)."""
        digest = hashlib.sha256(self.token.reveal().encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    @property
    def approval_url(self) -> str:
        """The page where a signed-in user approves the token."""
        return f"{self.url}/agent/authorize?challenge={self.challenge}"

    def call(
        self, method: Any, path: str, parse: Callable[[Any, Answer], T], body: object = None, **more: Any
    ) -> Call[T]:
        """Makes one call of the service."""
        headers = {"Authorization": f"Bearer {self.token.reveal()}"}
        return Call(method, path, parse, body, base=self.url, key=False, headers=headers, **more)


def new_token() -> Secret:
    """Returns a random token of 43 characters."""
    return Secret(secrets.token_urlsafe(_TOKEN_BYTES))


# --- authorisation --------------------------------------------------------------------------------------------------


def me(door: Door) -> Flow[Me]:
    """Reads the user who approved the token."""
    return ask(door.call("GET", "/api/me", model(Me), patience="read"))


def who(door: Door) -> Flow[Me | None]:
    """Reads the user who approved the token; None if no one has."""
    try:
        return (yield from me(door))
    except Unauthorized:
        return None


def until_approved(door: Door, timeout: float) -> Flow[Me]:
    """Checks every two seconds until a user has approved the token."""
    begun, _ = yield from now()
    while True:
        try:
            return (yield from me(door))
        except Unauthorized as error:
            here, _ = yield from now()
            if here - begun + APPROVAL_POLL_S > timeout:
                raise TimedOut(
                    f"nobody approved the token within {timeout:g} s",
                    hint=f"Open {door.approval_url} and approve it, then ask again; the token stays the same.",
                ) from error
        yield from pause(APPROVAL_POLL_S)


def tokens(door: Door) -> Flow[Listing[TriggerToken]]:
    """Reads the user's tokens."""
    items = yield from ask(door.call("GET", "/api/tokens", models(TriggerToken), patience="read"))
    return Listing(items, of="tokens", kind=TriggerToken)


def revoke(door: Door, token: TriggerToken | str | None) -> Flow[None]:
    """Revokes one token, or all."""
    path = "/api/tokens" if token is None else f"/api/tokens/{_id(token)}"
    return ask(door.call("DELETE", path, nothing, repeatable=True))


# --- triggers -------------------------------------------------------------------------------------------------------


def create(door: Door, action: ActionRef, usage_key: object, kind: str, **members: Any) -> Flow[Trigger]:
    """Creates a trigger."""
    body = body_of(action, usage_key, kind, **members)
    return ask(
        door.call(
            "POST",
            "/api/triggers",
            model(Trigger),
            body,
            in_doubt=f"the trigger may exist; triggers.list() shows {body['name']!r} or not.",
        )
    )


def body_of(action: ActionRef, usage_key: object, kind: str, **members: Any) -> dict[str, Any]:
    """Checks the members of a new trigger before anything is sent.

    Raises:
        InvalidArgument: A member is invalid.
    """
    source, _ = source_or_cid(action)
    if source is None:
        raise InvalidArgument(
            "a trigger keeps the source of its action, and a CID alone was given",
            hint="Pass svcnb.Action(source) or the source text.",
        )
    given = {name: value for name, value in members.items() if value is not None}
    if not str(given.get("name", "")).strip():
        raise InvalidArgument("a trigger needs a name", hint='triggers.webhook("orders", action, key)')
    try:
        return CreateTrigger(
            kind=kind,  # type: ignore[arg-type]  # checked by the model
            action_code=source,
            usage_api_key=_key_text(usage_key),
            **given,
        ).model_dump(exclude_none=True)
    except ValueError as error:
        if isinstance(error, SvcnbError):
            raise
        raise InvalidArgument("a member of the trigger has the wrong type", hint="See help(TriggersClient).") from None


def schedule_config(cron: str) -> dict[str, Any]:
    """Returns settings of a schedule.

    Raises:
        InvalidArgument: It is not a schedule, or fires too often.
    """
    return {"cron": _checked(Cron, cron).text}


def chain_config(
    chain: str, contract: str, event: str, topics: object, start_block: int | str | None
) -> dict[str, Any]:
    """Returns settings of a chain event.

    Raises:
        InvalidArgument: The event is not a signature.
    """
    _checked(Event.parse, event)
    config: dict[str, Any] = {"chain": chain, "contract_address": str(contract), "event_signature": event}
    if topics:
        config["topic_filters"] = topics
    if start_block is not None:
        config["start_block"] = start_block
    return config


def listing(door: Door) -> Flow[Listing[Trigger]]:
    """Reads all triggers."""
    items = yield from ask(door.call("GET", "/api/triggers", models(Trigger), patience="read"))
    return Listing(items, of="triggers", kind=Trigger)


def get(door: Door, trigger: Trigger | str) -> Flow[Trigger]:
    """Reads one trigger."""
    return ask(door.call("GET", f"/api/triggers/{_id(trigger)}", model(Trigger), patience="read"))


def update(door: Door, trigger: Trigger | str, **changes: Any) -> Flow[Trigger]:
    """Changes a trigger; values of None stay."""
    body = {name: value for name, value in changes.items() if value is not None}
    if (action := body.pop("action", None)) is not None:
        source, _ = source_or_cid(action)
        if source is None:
            raise InvalidArgument("a trigger keeps the source of its action", hint="Pass the source, not its CID.")
        body["action_code"] = source
    if (key := body.pop("usage_key", None)) is not None:
        body["usage_api_key"] = _key_text(key)
    if not body:
        raise InvalidArgument("nothing was given to change", hint="For example triggers.update(trigger, name='new').")
    return ask(door.call("PATCH", f"/api/triggers/{_id(trigger)}", model(Trigger), body, repeatable=True))


def delete(door: Door, trigger: Trigger | str) -> Flow[None]:
    """Deletes a trigger and its runs."""
    return ask(door.call("DELETE", f"/api/triggers/{_id(trigger)}", nothing, repeatable=True))


def create_for(door: Door, action: ActionRef, kind: str, *, name: str, wallets: Any, **members: Any) -> Flow[Trigger]:
    """Creates a group that permits the action, a key that can only execute there, and the trigger."""
    body_of(action, "checked before anything is made", kind, name=name, **members)
    group = yield from group_flows.create(f"trigger {name}", "Made for a trigger.", [action], wallets)
    made = f"group {group.id} ({group.name!r})"
    try:
        key = yield from usage_key_flows.create(
            f"trigger {name}", "Can only execute, for a trigger.", execute_in_groups=[group]
        )
        made += f" and usage key {key.name!r}"
        return (yield from create(door, action, key, kind, name=name, **members))
    except SvcnbError as error:
        error.hint = f"{error.hint} Already made: {made}; remove them, or use them.".strip()
        raise


# --- runs -----------------------------------------------------------------------------------------------------------


def runs(door: Door, trigger: Trigger | str, limit: int | None, offset: int) -> Flow[Listing[TriggerRun]]:
    """Reads runs, newest first, page by page."""
    found: dict[str, TriggerRun] = {}
    at = offset
    while limit is None or len(found) < limit:
        size = RUNS_PAGE_MAX if limit is None else min(RUNS_PAGE_MAX, limit - len(found))
        page = yield from ask(run_page(door, trigger, size, at))
        # New runs move older ones towards the end during the reads, so a page can repeat runs.
        found |= {run.id: run for run in page if run.id not in found}
        at += len(page)
        if len(page) < size:
            break
    return Listing(list(found.values())[:limit], of="runs", kind=TriggerRun)


def run_page(
    door: Door, trigger: Trigger | str, limit: int = RUNS_PAGE_DEFAULT, offset: int = 0
) -> Call[list[TriggerRun]]:
    """Describes one page of runs."""

    def parse(body: Any, _answer: Answer) -> list[TriggerRun]:
        return [TriggerRun.model_validate(run) for run in body["runs"]]

    query = {"limit": limit, "offset": offset}
    return door.call("GET", f"/api/triggers/{_id(trigger)}/runs", parse, query=query, patience="read")


def wait_for_run(door: Door, trigger: Trigger | str, run: object, timeout: float) -> Flow[TriggerRun]:
    """Waits until a run has ended: a given one, or the newest."""
    wanted = None if run is None else getattr(run, "run_id", None) or _id(run)
    begun, _ = yield from now()
    wait = FIRST_POLL_S
    seen: TriggerRun | None = None
    while True:
        if wanted is None:
            page = yield from ask(run_page(door, trigger, 1))
        else:
            page = (
                list((yield from runs(door, trigger, None, 0)))
                if seen is None
                else (yield from ask(run_page(door, trigger, RUNS_PAGE_MAX)))
            )
        seen = next((item for item in page if wanted is None or item.id == wanted), None)
        if seen is not None and seen.ended:
            return seen
        here, _ = yield from now()
        if here - begun > timeout:
            state = "has not appeared" if seen is None else f"is still {seen.status}"
            raise TimedOut(
                f"the run {state} after {timeout:g} s",
                hint="triggers.runs(trigger) shows where it stands; a failing run is tried again for up to 36 s.",
            )
        yield from pause(wait)
        wait = min(LONGEST_POLL_S, wait * 1.5)


def fire(
    config: Config, url: str, trigger: Trigger | str, body: object, headers: Mapping[str, str] | None
) -> Flow[Accepted]:
    """Posts to a webhook as a sender does: no token, exact bytes."""
    content, content_type = _content(body)
    sent = {"Accept": "application/json", "Content-Type": content_type} | dict(headers or {})
    address = f"{url}/webhook/{_id(trigger)}"
    if len(content) > MAX_WEBHOOK_BYTES:
        raise InvalidArgument(
            f"the body has {len(content)} bytes, a webhook takes {MAX_WEBHOOK_BYTES}", hint="Send a reference instead."
        )
    request = Request("POST", address, sent, content, config.timeouts.connect, config.timeouts.write, "/webhook/...")
    answer: Answer = yield request
    if answer.status != 202:  # noqa: PLR2004 - the one status of a post that was taken
        raise failure(answer, config, request, Call("POST", "/webhook", nothing))
    return Accepted.model_validate_json(answer.content)


def _content(body: object) -> tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    return json.dumps(body, separators=(",", ":"), allow_nan=False).encode(), "application/json"


# --- writing schedules and signatures -------------------------------------------------------------------------------


def preview_cron(text: str, after: float, count: int) -> CronPreview:
    """Returns when a schedule fires.

    Raises:
        InvalidArgument: It is not a schedule, or fires too often.
    """
    cron = _checked(Cron, text)
    return CronPreview(cron=cron.text, sentence=cron.sentence, times=tuple(cron.preview(after, count)))


def preview_event(text: str) -> EventPreview:
    """Returns the meaning of an event signature.

    Raises:
        InvalidArgument: It is not a signature.
    """
    event = _checked(Event.parse, text)
    arguments = tuple(
        " ".join(part for part in (f"arg{place}", str(item.type), "indexed" if item.indexed else "", item.name) if part)
        for place, item in enumerate(event.arguments)
    )
    return EventPreview(signature=event.canonical, topic0=event.topic0, arguments=arguments, warnings=event.warnings)


def _checked(read: Callable[[str], T], text: str) -> T:
    try:
        return read(text)
    except MalformedValue as error:
        raise InvalidArgument(error.message, hint=error.hint) from None
    except TypeError as error:
        raise InvalidArgument(str(error)) from None


def _id(value: object) -> str:
    text = getattr(value, "id", value)
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(f"{value!r} is no trigger or run", hint="Pass what create or list returned, or its id.")
    return quote(text.strip(), safe="")


def _key_text(key: object) -> str:
    value = getattr(key, "usage_api_key", key)
    text = value.reveal() if isinstance(value, Secret) else value
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(
            "a trigger needs the text of a usage key that may execute its action",
            hint="Pass what svc.usage_keys.create returned, or triggers.create_for(svc, ...), which makes one.",
        )
    return text.strip()


def door_of(url: str | None, token: str | Secret | None) -> Door:
    """Checks address and token.

    Raises:
        ConfigError: The address is missing, or the token is malformed.
    """
    if not url:
        raise ConfigError(
            "no address of the triggers service was given",
            hint="Pass triggers_url=..., or set SVC_TRIGGERS_URL; an emulator tells it as emu.triggers_url.",
        )
    secret = new_token() if token is None else Secret(token)
    text = secret.reveal()
    if not is_triggers_token(text):
        raise ConfigError(
            f"invalid triggers token of {len(text)} characters: expected {MIN_TRIGGERS_TOKEN} to {MAX_TRIGGERS_TOKEN} "
            "printable ASCII characters without spaces",
            hint="Leave it out to make a new one, which a user then approves.",
        )
    return Door(url, secret)
