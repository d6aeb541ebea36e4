"""Running actions, and telling the CID of a source."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, StrictStr

from svcnb.emulator.access.guards import FUNDED, KEY, SHED
from svcnb.emulator.actions.rules import require_may_execute, wallet_secret
from svcnb.emulator.actions.store import Execution
from svcnb.emulator.billing.rules import execution_cost_cents
from svcnb.emulator.errors import EndpointFailure, ServiceError, StructuredError, Unavailable
from svcnb.emulator.http.answers import encode
from svcnb.emulator.http.body import CallerGone
from svcnb.emulator.http.endpoint import API, Call, Endpoint
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.protocol import EngineUnavailable, Meter, Outcome
from svcnb.protocol.cid import source_cid
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND
from svcnb.protocol.wire.actions import RunActionRequest, RunActionResponse

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary

_TAG: Final = "Execution"
_WATCH_AFTER_S: Final = 0.1
# What proxies write into their logs for it; no answer carries it.
_CLIENT_CLOSED_REQUEST: Final = 499
ERROR_PREFIX: Final = "Internal server error: "


def endpoints(vocabulary: Vocabulary) -> list[Endpoint]:
    """The rows of this noun; their paths carry the service's name."""
    return [
        Endpoint(
            "POST",
            f"{API}{vocabulary.run_path}",
            run_action,
            request=RunActionRequest,
            response=RunActionResponse,
            guards=(SHED, KEY, FUNDED),
            price_cents=EXECUTION_COST_CENTS_PER_SECOND,
            errors=frozenset({400, 403, 500}),
            tag=_TAG,
        ),
        Endpoint(
            "POST",
            f"{API}{vocabulary.action_id_path}",
            action_id,
            request=Annotated[StrictStr, Field(description="JavaScript source.")],
            response=str,
            errors=frozenset({400}),
            tag=_TAG,
        ),
    ]


async def action_id(_call: Call, source: str) -> str:
    """The CID of a source: body and answer are JSON strings."""
    return await _cid(source)


async def run_action(call: Call, body: RunActionRequest) -> RunActionResponse:
    """Runs an action in a fresh isolate and answers what its main returned.

    Costs $0.01 a second of wall clock, at least one, charged only on success.
    """
    service = call.service
    source, cid = await _source(call, body)
    action_hash = _action_hash(cid)
    note = _Note(call, cid)
    try:
        await require_may_execute(service.directory, call.caller, cid, action_hash)
    except ServiceError as refusal:
        note.refused(refusal, "permission")
        raise
    try:
        await service.faults.check("runtime")
        async with _while_connected(call):
            outcome = await service.engine.run(
                source, body.js_params, service.settings.limits, _host(call, cid, action_hash)
            )
    except CallerGone:
        note.abandoned()
        raise
    except EngineUnavailable as error:
        down = Unavailable("The actions runtime")
        note.refused(down, "unavailable")
        raise down from error
    except ServiceError as refusal:
        note.refused(refusal, "unavailable")
        raise
    service.sources.put(cid, source)
    billed = call.hold is not None
    call.price_cents = execution_cost_cents(outcome.elapsed_s)
    if outcome.ok:
        note.ended(outcome, 200, call.price_cents if billed else 0)
        return RunActionResponse(response=outcome.response, logs=outcome.logs, has_error=False)
    pays = call.hold if service.settings.charge_failed_runs else None
    if pays is not None and outcome.error_kind == "funds":
        call.price_cents = pays.cents  # what was there; a run that is ended for want of more leaves no debt
    note.ended(outcome, 500, call.price_cents if pays else 0)
    if pays is not None:
        await pays.settle(call.price_cents, reason="failed execution", request_id=call.request_id)
    raise EndpointFailure(500, f"{ERROR_PREFIX}{outcome.error}")


@asynccontextmanager
async def _while_connected(call: Call) -> AsyncIterator[None]:
    """Ends what it encloses when the caller closes the connection, so that the run gives its slot back.

    Raises:
        CallerGone: The caller closed the connection.
    """
    loop = asyncio.get_running_loop()
    watching: list[asyncio.Task[None]] = []

    async def watch(patience: asyncio.Timeout) -> None:
        while (await call.request.receive())["type"] != "http.disconnect":
            pass
        patience.reschedule(loop.time())

    def begin(patience: asyncio.Timeout) -> None:
        watching.append(asyncio.ensure_future(watch(patience)))

    patience = asyncio.timeout(None)
    # Most runs are over before: they need no task that watches.
    later = loop.call_later(_WATCH_AFTER_S, begin, patience)
    try:
        async with patience:
            yield
    except TimeoutError:
        if patience.expired():
            raise CallerGone from None
        raise
    finally:
        later.cancel()
        for task in watching:
            task.cancel()


async def _source(call: Call, body: RunActionRequest) -> tuple[str, str]:
    limit = call.service.settings.limits.max_code_length
    if body.code:
        if len(body.code) > limit or len(body.code.encode()) > limit:
            raise EndpointFailure(400, f"code has {len(body.code.encode())} bytes, at most {limit} are allowed")
        return body.code, await _cid(body.code)
    if body.code is None and body.ipfs_id:
        source = call.service.sources.get(body.ipfs_id)
        if source is None:
            raise EndpointFailure(
                400, f"The source of {body.ipfs_id[:80]} is not known here: run it once with code, then by ipfs_id"
            )
        return source, body.ipfs_id
    raise EndpointFailure(
        400, "There is no code to run: send code (JavaScript source), or the ipfs_id of code run before"
    )


@lru_cache(1_024)
def _action_hash(cid: str) -> int:
    return int(hashed_cid(cid), 16)


async def _cid(source: str) -> str:
    try:
        return await offload(source_cid, source) if len(source) > LARGE_BYTES else source_cid(source)
    except MalformedValue as error:
        raise EndpointFailure(400, str(error)) from None


def _host(call: Call, cid: str, action_hash: int) -> ActionHost:
    service = call.service
    caller = call.caller

    async def secret_of(pkp_id: str) -> bytes:
        return await wallet_secret(service.directory, service.custody, caller, action_hash, pkp_id)

    headers = {"x-request-id": call.request_id}
    if correlation_id := call.request.scope["correlation_id"]:
        headers["x-correlation-id"] = correlation_id
    return ActionHost(
        custody=service.custody,
        cid=cid,
        wallet_secret=secret_of,
        headers=headers,
        network=service.network,
        packages=service.packages,
        randomness=service.randomness if service.randomness.seeded else None,
        meter=_meter(call),
        account=caller.billing_wallet,
    )


def _meter(call: Call) -> Meter | None:
    """Sets a cent aside for every second while a run goes on, so that it ends when the account cannot pay for more.

    Nothing is charged before it has succeeded: a run that is ended for lack of credit costs nothing (specification 7
    rule 1). Between two looks a run may finish and owe what its account lacks (reference facts 7).
    """
    hold = call.hold
    if hold is None:
        return None

    async def lasts(elapsed_s: float) -> bool:
        try:
            await hold.grow(execution_cost_cents(elapsed_s))
        except Unavailable:
            return True  # books out of reach say nothing about the credit; the next look asks again
        except StructuredError:
            return False
        return True

    return Meter(call.service.settings.funds_check_ms / 1000, lasts)


class _Note:
    """Writes an execution down however it ends."""

    def __init__(self, call: Call, cid: str) -> None:
        self._call = call
        self._cid = cid
        self._started_at = call.service.clock.now()
        self._started = time.perf_counter()

    def refused(self, refusal: ServiceError, kind: str) -> None:
        self._add("refused", refusal.status, error=refusal.message, error_kind=kind)

    def abandoned(self) -> None:
        text = "The caller closed the connection, which ended the run. Nothing was charged."
        self._add("failed", _CLIENT_CLOSED_REQUEST, error=text, error_kind="disconnected")

    def ended(self, outcome: Outcome, status: int, cost_cents: int) -> None:
        self._add(
            "success" if outcome.ok else "failed",
            status,
            logs=outcome.logs,
            cost_cents=cost_cents,
            error=outcome.error,
            error_kind=outcome.error_kind,
            trace=encode(outcome.trace.as_dict()).decode(),
        )

    def _add(
        self,
        status: str,
        http_status: int,
        *,
        logs: str = "",
        cost_cents: int = 0,
        error: str | None = None,
        error_kind: str | None = None,
        trace: str | None = None,
    ) -> None:
        caller = self._call.caller
        self._call.service.runs.add(
            Execution(
                request_id=self._call.request_id,
                correlation_id=self._call.request.scope["correlation_id"],
                cid=self._cid,
                api_key_hash=caller.key_hash_hex,
                billing_wallet=caller.billing_wallet,
                status=status,
                http_status=http_status,
                logs=logs,
                cost_cents=cost_cents,
                started_at=self._started_at,
                elapsed_ms=round((time.perf_counter() - self._started) * 1000, 3),
                error=error,
                error_kind=error_kind,
                trace=trace,
            )
        )
