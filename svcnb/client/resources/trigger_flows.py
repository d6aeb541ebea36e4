"""Flows that `TriggersClient` and `AsyncTriggersClient` share."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar
from urllib.parse import quote

from pydantic import ValidationError

from svcnb.client.calls import Answer, Call, Flow, Request, ask, polling
from svcnb.client.config import Config, clean_url
from svcnb.client.errors import ConfigError, InvalidArgument, SvcnbError, TimedOut, Unauthorized
from svcnb.client.listing import Listing
from svcnb.client.models.triggers import Me, Trigger, TriggerRun, TriggerToken
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.references import ActionRef, source_or_cid
from svcnb.client.request import encode, failure, hints_for, read
from svcnb.client.resources import groups, trigger_configs, usage_keys
from svcnb.client.resources.reading import model, models, nothing
from svcnb.client.secret import Secret
from svcnb.protocol.errors import shown
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
APPROVAL_TIMEOUT_S: Final = 600.0
FIRST_POLL_S: Final = 0.05
LONGEST_POLL_S: Final = 1.0
_TOKEN_BYTES: Final = 32
_NEW_KEY: Final = (
    "Pass the object that svc.usage_keys.create returned. To create a key together with the trigger, call "
    "triggers.create_for(svc, action, name=name)."
)


@dataclass(frozen=True)
class ServiceAccess:
    """Address and token of the triggers service.

    Attributes:
        url: Address of the service, without ``/api``.
        token: Bearer token, which authenticates each request.
    """

    url: str
    token: Secret = field(repr=False)

    @property
    def challenge(self) -> str:
        """SHA-256 hash of the token in base64url without padding. The address of the approval page contains this hash.

        Source: docs/service/triggers.md#authorisation.
        """
        digest = hashlib.sha256(self.token.reveal().encode()).digest()
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    @property
    def approval_url(self) -> str:
        """Address of the page where a signed-in user approves the token."""
        return f"{self.url}/agent/authorize?challenge={self.challenge}"

    def call(
        self, method: Any, path: str, parse: Callable[[Any, Answer], T], body: object = None, **more: Any
    ) -> Call[T]:
        """Returns a call to the triggers service, with the token in a header."""
        headers = {"Authorization": f"Bearer {self.token.reveal()}"}
        return Call(method, path, parse, body, base=self.url, key=False, headers=headers, **more)


# --- authorisation --------------------------------------------------------------------------------------------------


def me(access: ServiceAccess) -> Flow[Me]:
    """Reads and returns the user who approved the token."""
    return ask(access.call("GET", "/api/me", model(Me), timeout_class="read"))


def who(access: ServiceAccess) -> Flow[Me | None]:
    """Reads the user who approved the token. The result is None if no user has approved the token."""
    try:
        return (yield from me(access))
    except Unauthorized:
        return None


def until_approved(access: ServiceAccess, timeout: float) -> Flow[Me]:
    """Checks every two seconds until a user has approved the token, and returns the user."""
    polls = yield from polling(timeout, first=APPROVAL_POLL_S, longest=APPROVAL_POLL_S)
    while True:
        try:
            return (yield from me(access))
        except Unauthorized as error:
            if not (yield from polls.wait()):
                raise TimedOut(
                    f"the token was not approved within {timeout:g} s",
                    hint=(
                        f"Open {access.approval_url} and approve the token. Then call authorize again: the client "
                        "uses the same token."
                    ),
                ) from error


def tokens(access: ServiceAccess) -> Flow[Listing[TriggerToken]]:
    """Reads and returns the user's tokens, newest first, without their secrets."""
    items = yield from ask(access.call("GET", "/api/tokens", models(TriggerToken), timeout_class="read"))
    return Listing(items, of="tokens", kind=TriggerToken)


def revoke(access: ServiceAccess, token: TriggerToken | str | None) -> Flow[None]:
    """Revokes one token permanently, or all of the user's tokens if ``token`` is None."""
    path = "/api/tokens" if token is None else f"/api/tokens/{_id(token, 'token', 'triggers.tokens')}"
    return ask(access.call("DELETE", path, nothing, repeatable=True))


# --- triggers -------------------------------------------------------------------------------------------------------


def create(access: ServiceAccess, action: ActionRef, usage_key: object, kind: str, **members: Any) -> Flow[Trigger]:
    """Creates and returns a trigger of any kind."""
    body = _body_of(action, usage_key, kind, **members)
    return ask(
        access.call(
            "POST",
            "/api/triggers",
            model(Trigger),
            body,
            in_doubt=f"Check whether triggers.list() contains {body['name']!r}, because the trigger may exist.",
        )
    )


def _body_of(action: ActionRef, usage_key: object, kind: str, **members: Any) -> dict[str, Any]:
    source = _source(action)
    given = {name: value for name, value in members.items() if value is not None}
    if not str(given.get("name", "")).strip():
        raise InvalidArgument("the trigger name is empty", hint='Pass a name: triggers.webhook("orders", action, key).')
    try:
        return CreateTrigger(
            kind=kind,  # type: ignore[arg-type] # the model checks the type
            action_code=source,
            usage_api_key=_key_text(usage_key),
            **given,
        ).model_dump(exclude_none=True)
    except ValidationError as error:
        wrong = {str(each["loc"][0]): each["msg"] for each in error.errors() if each["loc"]}
        raise InvalidArgument(
            "invalid arguments: " + ", ".join(f"{name} ({said})" for name, said in wrong.items()),
            hint="To see the types, call help(svcnb.TriggersClient).",
        ) from None


def listing(access: ServiceAccess) -> Flow[Listing[Trigger]]:
    """Reads and returns all triggers of the user, newest first."""
    items = yield from ask(access.call("GET", "/api/triggers", models(Trigger), timeout_class="read"))
    return Listing(items, of="triggers", kind=Trigger)


def get(access: ServiceAccess, trigger: Trigger | str) -> Flow[Trigger]:
    """Reads and returns one trigger."""
    return ask(access.call("GET", f"/api/triggers/{_id(trigger)}", model(Trigger), timeout_class="read"))


def update(access: ServiceAccess, trigger: Trigger | str, **changes: Any) -> Flow[Trigger]:
    """Changes a trigger, and returns the changed trigger. Fields whose new value is None stay unchanged."""
    body = {name: value for name, value in changes.items() if value is not None}
    if (action := body.pop("action", None)) is not None:
        body["action_code"] = _source(action)
    if (key := body.pop("usage_key", None)) is not None:
        body["usage_api_key"] = _key_text(key)
    if not body:
        raise InvalidArgument(
            "the update contains no fields", hint="Pass at least one field: triggers.update(trigger, enabled=False)."
        )
    return ask(access.call("PATCH", f"/api/triggers/{_id(trigger)}", model(Trigger), body, repeatable=True))


def delete(access: ServiceAccess, trigger: Trigger | str) -> Flow[None]:
    """Deletes a trigger and its runs."""
    return ask(access.call("DELETE", f"/api/triggers/{_id(trigger)}", nothing, repeatable=True))


def create_for(
    access: ServiceAccess, action: ActionRef, kind: str, *, name: str, wallets: Any, **members: Any
) -> Flow[Trigger]:
    """Creates a group that permits the action, a key that can execute only in this group, and a trigger.

    The flow returns the trigger.
    """
    encode(_body_of(action, "checked before anything is created", kind, name=name, **members))
    trigger_configs.check(kind, members["config"])
    group = yield from groups.create(f"trigger {name}", "Created for a trigger.", [action], wallets)
    made = f"group {group.id} ({group.name!r})"
    try:
        key = yield from usage_keys.create(
            f"trigger {name}", "Execute-only key, created for a trigger.", execute_in_groups=[group]
        )
        made += f" and usage key {key.name!r}"
        return (yield from create(access, action, key, kind, name=name, **members))
    except SvcnbError as error:
        step = error.hint.replace(" Nothing was charged.", "")
        error.hint = f"{step} The call already created and paid for {made}. Use or delete these objects.".strip()
        raise


# --- runs -----------------------------------------------------------------------------------------------------------


def runs(access: ServiceAccess, trigger: Trigger | str, limit: int | None, offset: int) -> Flow[Listing[TriggerRun]]:
    """Reads the runs of a trigger page by page, and returns the runs, newest first."""
    found: dict[str, TriggerRun] = {}
    at = offset
    while limit is None or len(found) < limit:
        size = RUNS_PAGE_MAX if limit is None else min(RUNS_PAGE_MAX, limit - len(found))
        page = yield from ask(run_page(access, trigger, size, at))
        # New runs shift older runs to later pages during the reads, so a page can repeat runs.
        found |= {run.id: run for run in page if run.id not in found}
        at += len(page)
        if len(page) < size:
            break
    return Listing(list(found.values())[:limit], of="runs", kind=TriggerRun)


def run_page(
    access: ServiceAccess, trigger: Trigger | str, limit: int = RUNS_PAGE_DEFAULT, offset: int = 0
) -> Call[list[TriggerRun]]:
    """Returns the call for one page of a trigger's runs."""

    def parse(body: Any, _answer: Answer) -> list[TriggerRun]:
        return [TriggerRun.model_validate(run) for run in body["runs"]]

    query = {"limit": limit, "offset": offset}
    return access.call("GET", f"/api/triggers/{_id(trigger)}/runs", parse, query=query, timeout_class="read")


def wait_for_run(access: ServiceAccess, trigger: Trigger | str, run: object, timeout: float) -> Flow[TriggerRun]:
    """Waits until a run has ended, and returns this run. If ``run`` is None, the flow waits for the newest run."""
    wanted = None if run is None else getattr(run, "run_id", None) or _id(run, "run", "triggers.fire or triggers.runs")
    polls = yield from polling(timeout, first=FIRST_POLL_S, longest=LONGEST_POLL_S)
    seen: TriggerRun | None = None
    while True:
        if wanted is None:
            page = yield from ask(run_page(access, trigger, 1))
        else:
            page = (
                list((yield from runs(access, trigger, None, 0)))
                if seen is None
                else (yield from ask(run_page(access, trigger, RUNS_PAGE_MAX)))
            )
        seen = next((item for item in page if wanted is None or item.id == wanted), None)
        if seen is not None and seen.ended:
            return seen
        if not (yield from polls.wait()):
            absent = "no run started within" if wanted is None else f"the trigger had no run {wanted} within"
            late = absent if seen is None else f"the run is still {seen.status} after"
            raise TimedOut(
                f"{late} {timeout:g} s",
                hint="To see the state of the runs, call triggers.runs(trigger). The service retries a failed run for "
                "up to 36 s.",
            )


def fire(
    config: Config, url: str, trigger: Trigger | str, body: object, headers: Mapping[str, str] | None
) -> Flow[Accepted]:
    """Sends a POST request without a token to a webhook, like an external sender, and returns the id of the run."""
    content, content_type = _content(body)
    sent = {"Accept": "application/json", "Content-Type": content_type} | dict(headers or {})
    address = f"{url}/webhook/{_id(trigger)}"
    if len(content) > MAX_WEBHOOK_BYTES:
        raise InvalidArgument(
            f"the body has {len(content)} bytes, but a webhook accepts at most {MAX_WEBHOOK_BYTES} bytes",
            hint="Send the URL or an id of the data instead.",
        )
    request = Request("POST", address, sent, content, config.timeouts.connect, config.timeouts.write, "/webhook/...")
    call = Call("POST", "/webhook", lambda accepted, _: Accepted.model_validate(accepted), base=url)
    with hints_for(call):
        answer: Answer = yield request
        if answer.status != 202:  # noqa: PLR2004 - the only status of an accepted webhook request
            raise failure(answer, config, request, call)
        return read(call, answer, request)


def _content(body: object) -> tuple[bytes, str]:
    if isinstance(body, bytes):
        return body, "application/octet-stream"
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    return encode(body, ascii_only=True), "application/json"


def _id(value: object, what: str = "trigger", source: str = "triggers.create or triggers.list") -> str:
    text = getattr(value, "id", value)
    if not isinstance(text, str) or not text.strip():
        raise InvalidArgument(f"invalid {what} {shown(value)}", hint=f"Pass an object from {source}, or its id.")
    return quote(text.strip(), safe="")


def _source(action: ActionRef) -> str:
    source, _ = source_or_cid(action)
    if source is None:
        raise InvalidArgument(
            "a trigger requires the source of its action, but a CID was passed",
            hint="Pass svcnb.Action(source) or the source text.",
        )
    return source


def _key_text(key: object) -> str:
    value = getattr(key, "usage_api_key", key)
    text = value.reveal() if isinstance(value, Secret) else value
    if isinstance(text, str) and text.strip():
        return text.strip()
    if isinstance(key, UsageKey):
        raise InvalidArgument(
            f"the usage key {key.name!r} has no secret, because a list call returned this object", hint=_NEW_KEY
        )
    if isinstance(text, str):
        raise InvalidArgument("a trigger requires a usage key, but the string is empty", hint=_NEW_KEY)
    raise InvalidArgument(f"a trigger requires a usage key, not {type(key).__name__}", hint=_NEW_KEY)


def access_of(url: str | None, token: str | Secret | None) -> ServiceAccess:
    """Checks the address and the token, and returns both. If the token is None, the function creates a token.

    Raises:
        ConfigError: The address is missing, or the token is malformed.
    """
    if not url:
        raise ConfigError(
            "the address of the triggers service is not set",
            hint="Pass triggers_url=URL, or set SVC_TRIGGERS_URL. With an emulator, pass emu.triggers_url.",
        )
    secret = Secret(secrets.token_urlsafe(_TOKEN_BYTES) if token is None else token)
    text = secret.reveal()
    if not is_triggers_token(text):
        raise ConfigError(
            f"invalid triggers token of {len(text)} characters: expected {MIN_TRIGGERS_TOKEN} to {MAX_TRIGGERS_TOKEN} "
            "printable ASCII characters without spaces",
            hint="Omit the token. The client then creates a new token, which a user must approve.",
        )
    return ServiceAccess(clean_url(url, "triggers_url"), secret)
