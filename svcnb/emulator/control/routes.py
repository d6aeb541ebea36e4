"""Endpoints of the control plane."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pydantic import Field

from svcnb.emulator.control.bodies import (
    AgentApproval,
    ClockChange,
    ContractWalletRequest,
    CreditRequest,
    FaucetRequest,
    FaultRequest,
    NetworkRequest,
    Nothing,
    PaymentOutcome,
)
from svcnb.emulator.control.snapshots import Snapshots
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.middleware import CONTROL_PREFIX
from svcnb.emulator.http.routing import Call, Endpoint, Guard, Handler
from svcnb.emulator.platform.offload import in_thread
from svcnb.emulator.sandbox.recording import RecordingError
from svcnb.emulator.triggers.errors import Refused
from svcnb.protocol.limits import MAX_EXECUTIONS_PAGE, MAX_PENDING_FAULTS, MAX_SNAPSHOT_NAME_CHARS
from svcnb.protocol.wire.base import Request
from svcnb.protocol.wire.triggers import CHAIN_IDS
from svcnb.protocol.wire.values import QueryNumber

if TYPE_CHECKING:
    from svcnb.emulator.actions.store import RunLog
    from svcnb.emulator.billing.ledger import Ledger
    from svcnb.emulator.billing.processor import Processor
    from svcnb.emulator.chain.chain import Chain
    from svcnb.emulator.http.body import ToleratedRequests
    from svcnb.emulator.platform.clock import Clock
    from svcnb.emulator.platform.faults import Faults
    from svcnb.emulator.sandbox.network import Network
    from svcnb.emulator.sandbox.protocol import Engine
    from svcnb.emulator.settings import Settings
    from svcnb.emulator.triggers.service import Triggers

_DONE: Final = {"success": True}
# The URL of a chain often contains an API key of its provider.
_CHAIN_URLS: Final = {"chain_rpc", *(f"rpc_{name}" for name in CHAIN_IDS)}


class RunsQuery(Request):
    """Query parameters of the list of runs."""

    limit: QueryNumber = Field(
        100,
        description=("Maximum number of runs, newest first. The response contains fewer runs if their texts are long."),
    )
    offset: QueryNumber = Field(0, description="Number of the newest runs to skip.")


@dataclass(kw_only=True, eq=False, repr=False)
class ControlPlane:
    """Endpoints for the control plane.

    Attributes:
        settings: The emulator's settings.
        guard: Guard that requires the control token.
        clock: The emulator's clock.
        chain: The chain with the contract.
        ledger: The ledger of credits.
        processor: The payment processor.
        engine: The engine that runs actions.
        network: HTTP client for outbound requests of actions.
        run_log: The record of executions.
        saved: Store of the snapshots.
        fault_injection: Injected faults.
        tolerated: Counts of accepted requests that the live service rejects.
        triggers: Function that returns the triggers service.
        addresses: Function that returns the URLs of this server. See `svcnb.emulator.service.Service.addresses`.
    """

    settings: Settings
    guard: Guard
    clock: Clock
    chain: Chain
    ledger: Ledger
    processor: Processor
    engine: Engine
    network: Network
    run_log: RunLog
    saved: Snapshots
    fault_injection: Faults
    tolerated: ToleratedRequests
    triggers: Callable[[], Awaitable[Triggers]]
    addresses: Callable[[], dict[str, object]]

    def endpoints(self) -> list[Endpoint]:
        """Returns the endpoints of the control plane. The OpenAPI description does not contain these endpoints."""
        return [
            self._row("GET", "/state", self.state),
            self._row("POST", "/reset", self.reset, Nothing),
            self._row("GET", "/snapshots", self.snapshots),
            self._row("POST", "/snapshots/{name}", self.take_snapshot, Nothing),
            self._row("DELETE", "/snapshots/{name}", self.remove_snapshot),
            self._row("POST", "/snapshots/{name}/restore", self.restore_snapshot, Nothing),
            self._row("POST", "/clock", self.change_clock, ClockChange),
            self._row("GET", "/faults", self.faults),
            self._row("POST", "/faults", self.add_fault, FaultRequest),
            self._row("DELETE", "/faults", self.clear_faults),
            self._row("POST", "/faucet", self.faucet, FaucetRequest),
            self._row("POST", "/credit", self.credit, CreditRequest),
            self._row("POST", "/processor/{intent}", self.payment_outcome, PaymentOutcome),
            self._row("POST", "/agents/approve", self.approve_agent, AgentApproval),
            self._row("POST", "/contract-wallets", self.contract_wallet, ContractWalletRequest),
            self._row("GET", "/runs", self.runs, query=RunsQuery),
            self._row("GET", "/runs/{request_id}", self.run),
            self._row("GET", "/network", self.network_policy),
            self._row("POST", "/network", self.set_network, NetworkRequest),
        ]

    async def state(self, _call: Call, _given: None) -> dict[str, Any]:
        """Returns the URLs, settings, clock, engine, faults and snapshots of the emulator, without secrets."""
        settings = self.settings
        return {
            **self.addresses(),
            "clock": {"now": self.clock.now(), "frozen": self.clock.frozen, "offset_s": self.clock.offset_s},
            "seeded": settings.seed is not None,
            "settings": settings.model_dump(mode="json", exclude={"control_token", "seed", "database"} | _CHAIN_URLS),
            "engine": asdict(self.engine.state()),
            "faults": [asdict(fault) for fault in self.fault_injection.waiting()],
            "network": self._network(),
            "snapshots": await self.saved.names(),
            "tolerated_requests": self.tolerated.entries(),
        }

    async def reset(self, _call: Call, _body: Nothing) -> dict[str, bool]:
        """Restores the initial state: no accounts, no faults, and a new chain. Keeps the snapshots.

        The clock and the policy for outbound requests get their configured values again.
        """
        self.fault_injection.clear()
        self.tolerated.clear()
        await in_thread(self.network.configure, self.settings.network_policy, self.settings.network_file)
        await self.saved.reset()
        return _DONE

    async def snapshots(self, _call: Call, _given: None) -> list[dict[str, Any]]:
        """Lists the snapshots, oldest first."""
        return await self.saved.names()

    async def take_snapshot(self, call: Call, _body: Nothing) -> dict[str, Any]:
        """Saves a snapshot of the database, the chain, the clock and the random number generators."""
        name = _snapshot_name(call)
        await self.saved.take(name)
        return _DONE | {"name": name}

    async def restore_snapshot(self, call: Call, _body: Nothing) -> dict[str, Any]:
        """Restores the database, the chain, the clock and the random number generators from a snapshot."""
        name = _snapshot_name(call)
        try:
            found = await self.saved.restore(name)
        except ValueError as error:
            raise StructuredError(
                409,
                f"snapshot {name!r} cannot be restored: {error}",
                fix="Delete the snapshot with emulator.delete_snapshot(name) or DELETE /_emulator/snapshots/NAME, and "
                "save a new one.",
            ) from None
        if not found:
            raise _no_snapshot(name)
        return _DONE | {"name": name}

    async def remove_snapshot(self, call: Call, _given: None) -> dict[str, bool]:
        """Deletes a snapshot. The current state of the emulator does not change."""
        name = _snapshot_name(call)
        if not await self.saved.remove(name):
            raise _no_snapshot(name)
        return _DONE

    async def change_clock(self, _call: Call, body: ClockChange) -> dict[str, Any]:
        """Sets the clock, which signatures, expiry, schedules, the ledger and blocks use."""
        time = self.clock
        if body.freeze is not None:
            time.freeze(body.freeze)
        elif body.advance is not None:
            try:
                time.advance(body.advance)
            except ValueError as error:
                fix = 'Advance by a shorter time, or send {"real": true} to return to the machine\'s time.'
                raise StructuredError(400, str(error), fix=fix) from None
        else:
            time.real()
        return {"now": time.now(), "frozen": time.frozen}

    async def faults(self, _call: Call, _given: None) -> list[dict[str, Any]]:
        """Lists the injected faults that still affect calls."""
        return [asdict(fault) for fault in self.fault_injection.waiting()]

    async def add_fault(self, _call: Call, body: FaultRequest) -> dict[str, Any]:
        """Injects a fault, so that the next calls that use a part of the service fail or wait."""
        if len(self.fault_injection.waiting()) >= MAX_PENDING_FAULTS:
            raise StructuredError(
                400,
                f"{MAX_PENDING_FAULTS} faults are pending, which is the maximum",
                fix="Delete all faults with emulator.faults.clear() or DELETE /_emulator/faults.",
            )
        fault = self.fault_injection.add(body.part, body.status, body.delay_ms, body.times)
        return asdict(fault)

    async def clear_faults(self, _call: Call, _given: None) -> dict[str, bool]:
        """Deletes all injected faults, so that later calls work normally."""
        self.fault_injection.clear()
        return _DONE

    async def faucet(self, _call: Call, body: FaucetRequest) -> dict[str, Any]:
        """Adds newly created ether to an account on the emulator's own chain."""
        await self.chain.faucet(body.address, body.wei)
        return _DONE | {"address": body.address, "wei": str(body.wei)}

    async def credit(self, call: Call, body: CreditRequest) -> dict[str, int]:
        """Adds credit to an account without a payment, and returns the account's new credit in cents."""
        total = await self.ledger.add_credit(
            body.wallet_address, body.cents, reason="added through the control plane", reference=call.request_id
        )
        return {"credit_cents": total}

    async def payment_outcome(self, call: Call, body: PaymentOutcome) -> object:
        """Sets the outcome of a payment, immediately or after a delay, and returns the payment."""
        from svcnb.emulator.billing.processor_routes import describe

        return describe(await self.processor.set_outcome(call.path["intent"], body.outcome, body.delay_ms))

    async def approve_agent(self, _call: Call, body: AgentApproval) -> dict[str, object]:
        """Approves the token that has the given challenge. The token can then manage the user's triggers.

        The approval page has the same effect.
        """
        try:
            triggers = await self.triggers()
            user = await triggers.identity.approve(body.challenge, body.label or "", body.email)
        except Refused as refusal:
            fix = "Send the challenge that the client shows, and a valid e-mail address."
            raise StructuredError(refusal.status, refusal.message, fix=fix) from None
        return {"ok": True, "user_email": user.email}

    async def contract_wallet(self, _call: Call, body: ContractWalletRequest) -> dict[str, str]:
        """Deploys an ERC-1271 wallet that accepts its owner's signatures, and returns the wallet's address."""
        return {"address": await self.chain.deploy_contract_wallet(body.owner)}

    async def runs(self, _call: Call, query: RunsQuery) -> dict[str, Any]:
        """Lists runs, newest first, including runs that failed or were rejected."""
        limit = min(query.limit, MAX_EXECUTIONS_PAGE)
        return {"runs": await self.run_log.recent(limit, min(query.offset, 2**31))}

    async def run(self, call: Call, _given: None) -> dict[str, Any]:
        """Returns one run with its trace."""
        request_id = call.path["request_id"]
        found = await self.run_log.one(request_id) if request_id.isprintable() else None
        if found is None:
            raise StructuredError(
                404,
                f"no run has the request id {request_id[:80]!r}",
                fix=(
                    "Send the X-Request-Id of the run's response. List the newest runs with emulator.runs() or "
                    "GET /_emulator/runs."
                ),
            )
        return found

    async def network_policy(self, _call: Call, _given: None) -> dict[str, Any]:
        """Returns the policy for outbound requests of actions."""
        return self._network()

    async def set_network(self, _call: Call, body: NetworkRequest) -> dict[str, Any]:
        """Sets the policy for outbound requests of actions."""
        try:
            await in_thread(self.network.configure, body.policy, self._recording(body.file))
        except RecordingError as error:
            raise StructuredError(400, str(error), fix="Correct this file, or send the path of another file.") from None
        except ValueError as error:
            fix = "Send the policy 'allow' or 'deny', or the policy 'record' or 'replay' together with 'file'."
            raise StructuredError(400, str(error), fix=fix) from None
        return self._network()

    def _recording(self, name: str | None) -> Path | None:
        """Returns the path of a recording, inside the configured folder if there is one."""
        folder = self.settings.recordings
        if name is None or folder is None:
            return None if name is None else Path(name)
        if not name.isprintable() or name in {"", ".", ".."} or Path(name).name != name or "\\" in name:
            raise StructuredError(
                400,
                f"invalid file {name[:80]!r}: this emulator stores all recordings in one folder",
                fix="Send a file name of printable characters, without a folder.",
            )
        return folder / name

    def _network(self) -> dict[str, Any]:
        configured = self.network
        return {"policy": configured.policy, "file": None if configured.file is None else str(configured.file)}

    def _row(self, method: str, path: str, handler: Handler, request: type | None = None, **more: Any) -> Endpoint:
        path = CONTROL_PREFIX + path
        return Endpoint(method, path, handler, request=request, guards=(self.guard,), described=False, **more)


def _snapshot_name(call: Call) -> str:
    name = call.path["name"]
    if len(name) > MAX_SNAPSHOT_NAME_CHARS or not name.isprintable():
        raise StructuredError(
            400,
            f"invalid snapshot name {name[:80]!r}: expected 1 to {MAX_SNAPSHOT_NAME_CHARS} printable characters",
            fix="Choose a shorter name without control characters.",
        )
    return name


def _no_snapshot(name: str) -> StructuredError:
    return StructuredError(
        404,
        f"no snapshot has the name {name[:80]!r}",
        fix="List the snapshots with emulator.snapshots() or GET /_emulator/snapshots.",
    )
