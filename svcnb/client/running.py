"""One execution: send the source, read the response, wait for new grants, call the listeners."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.action_failure import action_error
from svcnb.client.calls import Answer, Call, Flow, Notice, ask, later, now, pause
from svcnb.client.config import Config
from svcnb.client.errors import (
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
    "This ran with the account's master key. It works, but a usage key with execute_in_groups alone can do no harm "
    "when it leaks: svc.usage_keys.create(name, execute_in_groups=[group])."
)
LARGE_PARAMS_NOTE: Final = (
    f"The parameters are larger than {limits.JS_PARAMS_ADVICE_BYTES // 1024} KB, which some services refuse."
)
_ADDRESS: Final = re.compile(r"0x[0-9a-fA-F]{40}(?![0-9a-fA-F])")
FIRST_POLL_S: Final = 0.1
LONGEST_POLL_S: Final = 2.0


@dataclass(frozen=True)
class RunRecord:
    """Record of one execution, successful or not, which listeners of ``on_run`` receive.

    Attributes:
        cid: CID of the action.
        started_at: Unix seconds when it was sent.
        elapsed: Seconds until the response.
        params: What ``main`` received. Code that stores it must remove secrets first.
        run: The result; None when it failed.
        error: The failure; None when it succeeded.
        key_hash: Hash of the key that ran it, as listings show it; empty without a key.
        base_url: The service that ran it.
        action_name: The action's own name; empty when it has none.
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
    """Executes an action, and retries for the requested time while grants are missing."""
    source, cid = source_or_cid(action)
    js_params = merge(params, named)
    notes = [MASTER_KEY_NOTE] if config.master_key else []
    if len(encode(js_params)) > limits.JS_PARAMS_ADVICE_BYTES:
        notes.append(LARGE_PARAMS_NOTE)
    call = _call(source, cid, js_params, tuple(notes))
    begun, started_at = yield from now()
    wait = FIRST_POLL_S
    result: Run | None = None
    failed: SvcnbError | None = None
    while True:
        tried, started_at = yield from now()
        try:
            result = yield from ask(call)
        except (Unauthorized, Forbidden) as error:
            here, _ = yield from now()
            if until_effective is None or here - begun >= until_effective:
                failed = error
                if until_effective is not None:
                    error.add_note(f"refused for {until_effective:g} s: this is no longer a matter of a fresh grant")
                break
            yield from pause(min(wait, max(0.0, until_effective - (here - begun))))
            wait = min(wait * 2, LONGEST_POLL_S)
        except InternalError as error:
            failed = error if error.structured else action_error(error, cid)
            break
        except SvcnbError as error:
            failed = error
            break
        else:
            break
    ended, _ = yield from now()
    yield Notice(
        RunRecord(
            cid=cid,
            started_at=started_at,
            elapsed=result.elapsed if result else ended - tried,
            params=js_params,
            run=result,
            error=failed,
            key_hash=api_key_hash(config.api_key.reveal()) if config.api_key else "",
            base_url=config.base_url,
            action_name=getattr(action, "name", ""),
        )
    )
    if failed is not None:
        yield from _make_explicable(failed, config, cid)
        raise failed from failed.__cause__
    assert result is not None  # noqa: S101 - the loop ends with one or the other
    return result


def _make_explicable(failed: SvcnbError, config: Config, cid: str) -> Flow[None]:
    """Adds an explainer to a refusal: which link is missing between this key, the action and the wallet."""
    if not isinstance(failed, Explicable):
        return
    named = _ADDRESS.search(failed.message) if isinstance(failed, ActionError) else None
    wallet = named[0] if named else None

    def explained() -> Flow[Explanation]:
        from svcnb.client.explain import explain

        return explain(config, None, cid, wallet, failed.clock_skew)

    failed.explainer = yield from later(explained)


def merge(params: object, named: Mapping[str, object]) -> object:
    """Returns what ``main`` receives: the value given, or the named values as one object.

    Raises:
        InvalidArgument: Both were given and the value is not an object that could be merged with names.
    """
    if not named:
        return params
    if params is None:
        return dict(named)
    if isinstance(params, Mapping):
        return {**params, **named}
    raise InvalidArgument(
        f"parameters are given twice: as {type(params).__name__} and by name",
        hint='Pass one value, svc.run(action, [1, 2]), or names, svc.run(action, n=1), or params={"n": 1} with names.',
    )


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
        patience="run",
        in_doubt="the action may have run, with all that it does outside. Check its effects before you run it again.",
    )
