"""Flow of one run: sends the source, retries until new permissions take effect, and notifies the listeners."""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.action_failure import action_error
from svcnb.client.calls import Answer, Call, Flow, Notice, ask, later, now, polling
from svcnb.client.config import Config
from svcnb.client.errors import (
    EXPIRED_HINT,
    ActionError,
    Explicable,
    Forbidden,
    InternalError,
    InvalidArgument,
    SvcnbError,
    Unauthorized,
)
from svcnb.client.models.runs import Run
from svcnb.client.references import ActionRef, source_or_cid
from svcnb.client.request import encode
from svcnb.protocol import limits
from svcnb.protocol.hashes import api_key_hash

if TYPE_CHECKING:
    from svcnb.client.models.explanation import Explanation

MASTER_KEY_NOTE: Final = (
    "This run used the account key. Use a restricted usage key instead, because a leaked usage key causes "
    "less damage: svc.usage_keys.create(name, execute_in_groups=[group])."
)
LARGE_PARAMS_NOTE: Final = (
    f"The parameters are larger than {limits.JS_PARAMS_ADVICE_BYTES // 1024} KB. Some services reject such parameters."
)
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}(?![0-9a-fA-F])")
REPEATED: Final = "repeated-"
"""Prefix of the correlation ids of runs that the client retries until a new permission takes effect.

All attempts of one run have the same id.
"""


FIRST_POLL_S: Final = 0.1
LONGEST_POLL_S: Final = 2.0


@dataclass(frozen=True)
class RunRecord:
    """Record of one successful or failed run. Listeners of ``on_run`` receive this record.

    Attributes:
        cid: CID of the action.
        started_at: Time of the request in Unix seconds.
        elapsed: Seconds from the request to the response.
        params: Argument of ``main``. Code that stores this value must remove secrets first.
        run: The result, or None if the run failed.
        error: The error, or None if the run succeeded.
        key_hash: Hash of the key, as ``usage_keys.list`` returns it. Empty without a key.
        base_url: Address of the service that executed the action.
        action_name: Name of the action object that the caller passed. Empty if the caller passed a string, or if the
            object has no name.
    """

    cid: str
    started_at: float
    elapsed: float
    params: Any
    run: Run | None
    error: SvcnbError | None
    key_hash: str
    base_url: str
    action_name: str = ""


def run(
    config: Config,
    action: ActionRef,
    params: object,
    named: Mapping[str, object],
    until_effective: float | None,
) -> Flow[Run]:
    """Executes an action, and returns the result.

    Retries while permissions are missing, for up to ``until_effective`` seconds.
    """
    source, cid = source_or_cid(action)
    js_params = merge(params, named)
    notes = [MASTER_KEY_NOTE] if config.master_key else []
    if len(encode(js_params)) > limits.JS_PARAMS_ADVICE_BYTES:
        notes.append(LARGE_PARAMS_NOTE)
    call = _call(source, cid, js_params, tuple(notes))
    call = _marked(call, config, until_effective)
    outcome, started_at, elapsed = yield from _attempt(call, cid, until_effective)
    yield Notice(
        RunRecord(
            cid=cid,
            started_at=started_at,
            elapsed=elapsed,
            params=js_params,
            run=outcome if isinstance(outcome, Run) else None,
            error=None if isinstance(outcome, Run) else outcome,
            key_hash=api_key_hash(config.api_key.reveal()) if config.api_key else "",
            base_url=config.base_url,
            action_name=getattr(action, "name", ""),
        )
    )
    if isinstance(outcome, Run):
        return outcome
    yield from _make_explicable(outcome, config, cid)
    raise outcome from outcome.__cause__


def _attempt(call: Call[Run], cid: str, until_effective: float | None) -> Flow[tuple[Run | SvcnbError, float, float]]:
    """Sends the call, and repeats the call while permissions are missing and the requested time has not passed.

    Returns three values of the last attempt: the result or the error, the start in Unix seconds, and the duration in
    seconds.
    """
    polls = yield from polling(until_effective or 0.0, first=FIRST_POLL_S, longest=LONGEST_POLL_S)
    while True:
        tried, started_at = yield from now()
        try:
            result = yield from ask(call)
        except SvcnbError as error:
            here, _ = yield from now()
            can_become_effective = isinstance(error, Unauthorized | Forbidden) and error.hint != EXPIRED_HINT
            if not can_become_effective or not (yield from polls.wait()):
                return _final(error, cid, until_effective), started_at, here - tried
        else:
            return result, started_at, result.elapsed


def _final(error: SvcnbError, cid: str, until_effective: float | None) -> SvcnbError:
    """Returns the error to raise for a failed run."""
    if isinstance(error, InternalError) and not error.structured:
        return action_error(error, cid)
    if isinstance(error, Unauthorized | Forbidden) and until_effective is not None:
        error.add_note(
            f"The service rejected the call for {until_effective:g} s. To find the cause, call error.explain()."
        )
    return error


def _make_explicable(failed: SvcnbError, config: Config, cid: str) -> Flow[None]:
    """Adds an explainer to a rejection. The explainer finds the missing permission of the key, action and wallet."""
    if not isinstance(failed, Explicable):
        return
    named = _ADDRESS.search(failed.message) if isinstance(failed, ActionError) else None
    wallet = named[0] if named else None

    def explained() -> Flow[Explanation]:
        from svcnb.client.explain import explain

        return explain(config, None, cid, wallet, failed.clock_skew)

    failed.explainer = yield from later(explained)


def merge(params: object, named: Mapping[str, object]) -> object:
    """Returns the argument of ``main``: the given value, or the named values as one object.

    Raises:
        InvalidArgument: The caller passed ``params`` and named values, and ``params`` is not a dictionary.
    """
    if not named:
        return params
    if params is None:
        return dict(named)
    if isinstance(params, Mapping):
        return {**params, **named}
    raise InvalidArgument(
        f"the parameters were passed twice: as {type(params).__name__} and by name",
        hint="Pass one value: svc.run(action, [1, 2]). Or pass names: svc.run(action, n=1). A dictionary can be "
        'combined with names: params={"n": 1}.',
    )


def _marked(call: Call[Run], config: Config, until_effective: float | None) -> Call[Run]:
    """Adds a correlation id to a call that may be retried, so that its attempts count as one run."""
    if until_effective is None or config.correlation_id is not None:
        return call
    return replace(call, headers={"X-Correlation-Id": f"{REPEATED}{secrets.token_hex(8)}"})


def _call(source: str | None, cid: str, params: object, notes: tuple[str, ...]) -> Call[Run]:
    def parse(body: Any, answer: Answer) -> Run:
        return Run(
            response=body.get("response"),
            logs=body.get("logs") or "",
            cid=cid,
            elapsed=answer.elapsed,
            request_id=answer.headers.get("x-request-id", ""),
            notes=notes,
        )

    body = {"code": source} if source is not None else {"ipfs_id": cid}
    return Call(
        "POST",
        attrgetter("run_path"),
        parse,
        {**body, "js_params": params},
        timeout_class="run",
        in_doubt="Check the systems that the action changes before you run the action again, because the action may "
        "have run.",
    )
