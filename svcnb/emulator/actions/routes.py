"""Endpoints that run actions and compute the CID of a source."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field, StrictStr

from svcnb.emulator.actions.rules import wallet_secret
from svcnb.emulator.actions.store import Execution
from svcnb.emulator.billing.rules import execution_cost_cents
from svcnb.emulator.errors import EndpointFailure, ServiceError, StructuredError, Unavailable
from svcnb.emulator.http.answers import encode
from svcnb.emulator.http.body import CallerDisconnected
from svcnb.emulator.http.routing import API, Call, Endpoint, Guard
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.emulator.sandbox.host import ActionHost
from svcnb.emulator.sandbox.protocol import EngineUnavailable, Meter
from svcnb.protocol.cid import source_cid
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.limits import EXECUTION_COST_CENTS_PER_SECOND
from svcnb.protocol.wire.actions import RunActionRequest, RunActionResponse

if TYPE_CHECKING:
    from svcnb.emulator.access.guards import Access
    from svcnb.emulator.access.permission_cache import PermissionCache
    from svcnb.emulator.actions.sources import SourceCache
    from svcnb.emulator.actions.store import RunLog
    from svcnb.emulator.billing.guards import BillingGuards
    from svcnb.emulator.keys.custody import Custody
    from svcnb.emulator.platform.clock import Clock
    from svcnb.emulator.platform.faults import Faults
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.sandbox.load import LoadMonitor
    from svcnb.emulator.sandbox.network import Network
    from svcnb.emulator.sandbox.packages import Packages
    from svcnb.emulator.sandbox.protocol import Engine
    from svcnb.emulator.settings import Settings

_TAG: Final = "Execution"
_WATCH_AFTER_S: Final = 0.1
# Proxies log this status when the client closes the connection. No client receives the status.
_CLIENT_CLOSED_REQUEST: Final = 499
_DISCONNECTED: Final = "The caller closed the connection, which stopped the run. Nothing was charged."
ERROR_PREFIX: Final = "Internal server error: "


@dataclass(kw_only=True, eq=False, repr=False)
class RunActions:
    """Endpoints that run actions and compute CIDs.

    Attributes:
        settings: Settings with the limits of a run, and with the rules for charges.
        engine: The engine that runs actions.
        permissions: Permission cache, which decides which keys may run which actions.
        custody: Custody that derives keys for actions.
        network: HTTP client for outbound requests of actions.
        packages: The packages that actions can import. None disables imports.
        randomness: Source of random bytes for actions in a seeded emulator. Without a seed, actions use the operating
            system's source.
        sources: Cache of recently run sources.
        runs: The record of executions.
        clock: Clock for the timestamps of the records.
        faults: Injected faults.
        load: Monitor of the machine's load.
        access: Authentication, which finds the account of a key.
        billing: Guards that reserve credit for a run.
    """

    settings: Settings
    engine: Engine
    permissions: PermissionCache
    custody: Custody
    network: Network
    packages: Packages | None
    randomness: Randomness
    sources: SourceCache
    runs: RunLog
    clock: Clock
    faults: Faults
    load: LoadMonitor
    access: Access
    billing: BillingGuards

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints that run an action and compute a CID. Their paths contain the service's name."""
        vocabulary = self.settings.vocabulary
        return [
            Endpoint(
                "POST",
                f"{API}{vocabulary.run_path}",
                self.run_action,
                request=RunActionRequest,
                response=RunActionResponse,
                guards=(Guard(self._has_room, frozenset({429})), self.access.key, self.billing.funded),
                price_cents=EXECUTION_COST_CENTS_PER_SECOND,
                errors=frozenset({400, 403, 500}),
                tag=_TAG,
            ),
            Endpoint(
                "POST",
                f"{API}{vocabulary.action_id_path}",
                self.action_id,
                request=Annotated[StrictStr, Field(description="JavaScript source.")],
                response=str,
                errors=frozenset({400}),
                tag=_TAG,
            ),
        ]

    async def action_id(self, _call: Call, source: str) -> str:
        """Returns the CID of a source. Request and response are JSON strings."""
        return await _cid(source)

    async def run_action(self, call: Call, body: RunActionRequest) -> RunActionResponse:
        """Runs an action and returns the result of its main function.

        A run costs $0.01 per whole second of wall-clock time, at least $0.01. By default, failed runs are free.
        """
        source, cid = await self._source(body)
        action_hash = _action_hash(cid)
        record = self._recorder(call, cid)
        try:
            await self.permissions.require_may_execute(call.caller, cid, action_hash)
        except ServiceError as refusal:
            record("refused", refusal.status, error=refusal.message, error_kind="permission")
            raise
        try:
            await self.faults.check("runtime")
            async with _while_connected(call):
                outcome = await self.engine.run(
                    source, body.js_params, self.settings.limits, self._host(call, cid, action_hash)
                )
        except CallerDisconnected:
            record("failed", _CLIENT_CLOSED_REQUEST, error=_DISCONNECTED, error_kind="disconnected")
            raise
        except EngineUnavailable as error:
            down = Unavailable("the actions runtime")
            record("refused", down.status, error=down.message, error_kind="unavailable")
            raise down from error
        except ServiceError as refusal:
            record("refused", refusal.status, error=refusal.message, error_kind="unavailable")
            raise
        self.sources.put(cid, source)
        call.price_cents = execution_cost_cents(outcome.elapsed_s)
        # A failure of the service ("host") is always free.
        is_charged = outcome.ok or (self.settings.charge_failed_runs and outcome.error_kind != "host")
        pays = call.hold if is_charged else None
        if pays is not None and outcome.error_kind == "funds":
            call.price_cents = pays.cents  # charge only the available credit, so that the account owes nothing
        record(
            "success" if outcome.ok else "failed",
            200 if outcome.ok else 500,
            logs=outcome.logs,
            cost_cents=call.price_cents if pays else 0,
            error=outcome.error,
            error_kind=outcome.error_kind,
            trace=encode(outcome.trace.as_dict()).decode(),
        )
        if outcome.ok:
            return RunActionResponse(response=outcome.response, logs=outcome.logs, has_error=False)
        if pays is not None:
            await pays.settle(call.price_cents, reason="failed execution", request_id=call.request_id)
        raise EndpointFailure(500, f"{ERROR_PREFIX}{outcome.error}")

    def _recorder(self, call: Call, cid: str) -> Callable[..., None]:
        """Returns a function that adds the record of this execution: success, failure, refusal or disconnection."""
        started_at, started = self.clock.now(), time.perf_counter()

        def record(
            status: str, http_status: int, *, logs: str = "", cost_cents: int = 0, **details: str | None
        ) -> None:
            self.runs.add(
                Execution(
                    request_id=call.request_id,
                    correlation_id=call.request.scope["correlation_id"],
                    cid=cid,
                    api_key_hash=call.caller.key_hash_hex,
                    billing_wallet=call.caller.billing_wallet,
                    status=status,
                    http_status=http_status,
                    logs=logs,
                    cost_cents=cost_cents,
                    started_at=started_at,
                    elapsed_ms=round((time.perf_counter() - started) * 1000, 3),
                    **details,
                )
            )

        return record

    async def _source(self, body: RunActionRequest) -> tuple[str, str]:
        limit = self.settings.limits.max_code_length
        if body.code:
            if len(body.code) > limit or len(body.code.encode()) > limit:
                raise EndpointFailure(
                    400,
                    f"'code' has {len(body.code.encode())} bytes, but at most {limit} are allowed: shorten the source",
                )
            return body.code, await _cid(body.code)
        if body.code is None and body.ipfs_id:
            source = self.sources.get(body.ipfs_id)
            if source is None:
                raise EndpointFailure(
                    400,
                    (
                        f"the service does not store a source with the CID {body.ipfs_id[:80]!r}: send the source "
                        "once in 'code' before you use 'ipfs_id'"
                    ),
                )
            return source, body.ipfs_id
        raise EndpointFailure(
            400,
            "'code' is empty, or 'code' and 'ipfs_id' are missing. Send 'code' (JavaScript source), or only 'ipfs_id' "
            "(the CID of a source that was sent before).",
        )

    def _host(self, call: Call, cid: str, action_hash: int) -> ActionHost:
        headers = {"x-request-id": call.request_id}
        if correlation_id := call.request.scope["correlation_id"]:
            headers["x-correlation-id"] = correlation_id
        return ActionHost(
            custody=self.custody,
            cid=cid,
            wallet_secret=partial(wallet_secret, self.permissions, self.custody, call.caller, action_hash),
            headers=headers,
            network=self.network,
            packages=self.packages,
            randomness=self.randomness if self.randomness.seeded else None,
            meter=self._meter(call),
            account=call.caller.billing_wallet,
        )

    def _meter(self, call: Call) -> Meter | None:
        """Returns the credit check of a run, or None for a free run. Each check reserves the price of the elapsed time.

        By default, the service charges only successful runs, so a run that stops for lack of credit costs nothing
        (docs/service/billing.md#prices). A run can finish between two checks and cost more than the credit. The account
        then owes the difference.
        """
        hold = call.hold
        if hold is None:
            return None

        async def lasts(elapsed_s: float) -> bool:
            try:
                await hold.grow(execution_cost_cents(elapsed_s))
            except Unavailable:
                return True  # while the ledger is unavailable, the credit is unknown, and the next check tries again
            except StructuredError:
                return False
            return True

        return Meter(self.settings.funds_check_ms / 1000, lasts)

    async def _has_room(self, _call: Call) -> None:
        """Rejects an execution while the CPU is overloaded."""
        await self.faults.check("cpu")
        if self.settings.load_shedding and self.load.overloaded():
            raise StructuredError(
                429,
                "the node rejects runs for a short time, because its CPU is overloaded; nothing was charged",
                fix="Wait for the number of seconds in Retry-After, then try again. Wait longer after each failure.",
                headers={"Retry-After": "1"},
            )


@asynccontextmanager
async def _while_connected(call: Call) -> AsyncIterator[None]:
    """Context manager that cancels its block when the caller closes the connection, so that the run releases its slot.

    Raises:
        CallerDisconnected: The caller closed the connection.
    """
    loop = asyncio.get_running_loop()
    watching: list[asyncio.Task[None]] = []

    async def watch(deadline: asyncio.Timeout) -> None:
        while (await call.request.receive())["type"] != "http.disconnect":
            pass
        deadline.reschedule(loop.time())

    def begin(deadline: asyncio.Timeout) -> None:
        watching.append(asyncio.ensure_future(watch(deadline)))

    deadline = asyncio.timeout(None)
    # Most runs end before this delay, and need no task that monitors the connection.
    later = loop.call_later(_WATCH_AFTER_S, begin, deadline)
    try:
        async with deadline:
            yield
    except TimeoutError:
        if deadline.expired():
            raise CallerDisconnected from None
        raise
    finally:
        later.cancel()
        for task in watching:
            task.cancel()


@lru_cache(1_024)
def _action_hash(cid: str) -> int:
    return int(hashed_cid(cid), 16)


async def _cid(source: str) -> str:
    try:
        return await offload(source_cid, source) if len(source) > LARGE_BYTES else source_cid(source)
    except MalformedValue as error:
        raise EndpointFailure(400, str(error)) from None
