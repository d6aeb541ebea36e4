"""The control plane's endpoints (design section 4)."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from pydantic import Field

from svcnb.emulator.control.bodies import (
    AgentApproval,
    ClockChange,
    ContractWalletOrder,
    CreditOrder,
    FaucetOrder,
    FaultOrder,
    NetworkOrder,
    Nothing,
    PaymentOutcome,
)
from svcnb.emulator.control.guards import CONTROL
from svcnb.emulator.control.snapshots import LONGEST_NAME
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.endpoint import Call, Endpoint, Handler
from svcnb.emulator.http.middleware import CONTROL_PREFIX
from svcnb.emulator.sandbox.recording import RecordingError
from svcnb.emulator.triggers.errors import Refused
from svcnb.protocol.wire.base import Request
from svcnb.protocol.wire.triggers import CHAIN_IDS
from svcnb.protocol.wire.values import QueryNumber

_DONE: Final = {"success": True}
_MAX_RUNS: Final = 1_000
_MAX_FAULTS: Final = 1_000
# Addresses of chains often hold their provider's key.
_CHAIN_URLS: Final = {"chain_rpc", *(f"rpc_{name}" for name in CHAIN_IDS)}


class RunsQuery(Request):
    """Which executions to show."""

    limit: QueryNumber = Field(100, description="At most so many, newest first.")
    offset: QueryNumber = Field(0, description="How many of the newest to skip.")


def endpoints() -> list[Endpoint]:
    """The rows of the control plane; they are no part of the service, so its description leaves them out."""
    return [
        _row("GET", "/state", state),
        _row("POST", "/reset", reset, Nothing),
        _row("GET", "/snapshots", snapshots),
        _row("POST", "/snapshots/{name}", take_snapshot, Nothing),
        _row("DELETE", "/snapshots/{name}", remove_snapshot),
        _row("POST", "/snapshots/{name}/restore", restore_snapshot, Nothing),
        _row("POST", "/clock", clock, ClockChange),
        _row("GET", "/faults", faults),
        _row("POST", "/faults", add_fault, FaultOrder),
        _row("DELETE", "/faults", clear_faults),
        _row("POST", "/faucet", faucet, FaucetOrder),
        _row("POST", "/credit", credit, CreditOrder),
        _row("POST", "/processor/{intent}", payment_outcome, PaymentOutcome),
        _row("POST", "/agents/approve", approve_agent, AgentApproval),
        _row("POST", "/contract-wallets", contract_wallet, ContractWalletOrder),
        Endpoint("GET", f"{CONTROL_PREFIX}/runs", runs, query=RunsQuery, guards=(CONTROL,), described=False),
        _row("GET", "/runs/{request_id}", run),
        _row("GET", "/network", network),
        _row("POST", "/network", set_network, NetworkOrder),
    ]


def _row(method: str, path: str, handler: Handler, request: type | None = None) -> Endpoint:
    return Endpoint(method, CONTROL_PREFIX + path, handler, request=request, guards=(CONTROL,), described=False)


async def state(call: Call, _given: None) -> dict[str, Any]:
    """Everything readable about the emulator, no secrets."""
    service = call.service
    settings = service.settings
    return {
        **service.addresses(),
        "clock": {"now": service.clock.now(), "frozen": service.clock.frozen, "offset_s": service.clock.offset_s},
        "seeded": settings.seed is not None,
        "settings": settings.model_dump(mode="json", exclude={"control_token", "seed", "database"} | _CHAIN_URLS),
        "engine": asdict(service.engine.state()),
        "faults": [asdict(fault) for fault in service.faults.waiting()],
        "network": _network(call),
        "snapshots": await service.snapshots.names(),
        "forgiven": service.forgiven.entries(),
    }


async def reset(call: Call, _body: Nothing) -> dict[str, bool]:
    """Goes back to the start state: no accounts, a fresh chain, the clock as it was set. Snapshots are kept."""
    service = call.service
    service.faults.clear()
    service.forgiven.clear()
    service.network.configure(service.settings.network_policy, service.settings.network_file)
    await service.snapshots.reset()
    return _DONE


async def snapshots(call: Call, _given: None) -> list[dict[str, Any]]:
    """The saved states, oldest first."""
    return await call.service.snapshots.names()


async def take_snapshot(call: Call, _body: Nothing) -> dict[str, Any]:
    """Saves database, chain, clock and randomness together."""
    name = _snapshot_name(call)
    await call.service.snapshots.take(name)
    return _DONE | {"name": name}


async def restore_snapshot(call: Call, _body: Nothing) -> dict[str, Any]:
    """Goes back to a saved state."""
    name = _snapshot_name(call)
    try:
        found = await call.service.snapshots.restore(name)
    except ValueError as error:
        raise StructuredError(409, f"Snapshot {name!r} cannot be restored: {error}.", fix="Delete it.") from None
    if not found:
        raise _no_snapshot(name)
    return _DONE | {"name": name}


async def remove_snapshot(call: Call, _given: None) -> dict[str, bool]:
    """Forgets a saved state."""
    name = _snapshot_name(call)
    if not await call.service.snapshots.remove(name):
        raise _no_snapshot(name)
    return _DONE


async def clock(call: Call, body: ClockChange) -> dict[str, Any]:
    """Sets the time for signatures, expiry, schedules, the ledger and blocks."""
    time = call.service.clock
    if body.freeze is not None:
        time.freeze(body.freeze)
    elif body.advance is not None:
        try:
            time.advance(body.advance)
        except ValueError as error:
            fix = 'Advance by less, or send {"real": true} to go back to the machine\'s time.'
            raise StructuredError(400, f"{error}.", fix=fix) from None
    else:
        time.real()
    return {"now": time.now(), "frozen": time.frozen}


async def faults(call: Call, _given: None) -> list[dict[str, Any]]:
    """The failures that are still to come."""
    return [asdict(fault) for fault in call.service.faults.waiting()]


async def add_fault(call: Call, body: FaultOrder) -> dict[str, Any]:
    """Makes the next calls that need a part fail or wait."""
    if len(call.service.faults.waiting()) >= _MAX_FAULTS:
        raise StructuredError(
            400, f"{_MAX_FAULTS} faults wait already, which is the most.", fix="DELETE /_emulator/faults clears them."
        )
    fault = call.service.faults.add(body.part, body.status, body.delay_ms, body.times)
    return asdict(fault)


async def clear_faults(call: Call, _given: None) -> dict[str, bool]:
    """Everything works again."""
    call.service.faults.clear()
    return _DONE


async def faucet(call: Call, body: FaucetOrder) -> dict[str, Any]:
    """Gives ETH on the local chain."""
    await call.service.chain.faucet(body.address, body.wei)
    return _DONE | {"address": body.address, "wei": str(body.wei)}


async def credit(call: Call, body: CreditOrder) -> dict[str, int]:
    """Gives credit without a payment."""
    total = await call.service.ledger.add_credit(
        body.wallet_address, body.cents, reason="given through the control plane", reference=call.request_id
    )
    return {"credit_cents": total}


async def payment_outcome(call: Call, body: PaymentOutcome) -> object:
    """Does what a person does on the payment page."""
    from svcnb.emulator.billing.processor_routes import describe

    return describe(await call.service.processor.set_outcome(call.path["intent"], body.outcome, body.delay_ms))


async def approve_agent(call: Call, body: AgentApproval) -> dict[str, object]:
    """Lets the client of a challenge use the triggers of a user, as the approval page does."""
    try:
        user = await call.service.triggers.identity.approve(body.challenge, body.label or "", body.email)
    except Refused as refusal:
        raise StructuredError(
            refusal.status, refusal.message, fix="Send the challenge as the client shows it."
        ) from None
    return {"ok": True, "user_email": user.email}


async def contract_wallet(call: Call, body: ContractWalletOrder) -> dict[str, str]:
    """Deploys an ERC-1271 wallet that accepts its owner's signatures."""
    return {"address": await call.service.chain.deploy_contract_wallet(body.owner)}


async def runs(call: Call, query: RunsQuery) -> dict[str, Any]:
    """Executions, newest first, failed and refused ones too."""
    limit = min(query.limit, _MAX_RUNS)
    return {"runs": await call.service.runs.recent(limit, min(query.offset, 2**31))}


async def run(call: Call, _given: None) -> dict[str, Any]:
    """One execution with its trace."""
    request_id = call.path["request_id"]
    found = await call.service.runs.one(request_id) if request_id.isprintable() else None
    if found is None:
        raise StructuredError(
            404,
            f"No execution has the request id {request_id[:80]!r}.",
            fix="Take the X-Request-Id of the execution's answer; GET /_emulator/runs lists the newest.",
        )
    return found


async def network(call: Call, _given: None) -> dict[str, Any]:
    """What happens to outbound requests of actions."""
    return _network(call)


async def set_network(call: Call, body: NetworkOrder) -> dict[str, Any]:
    """Sets what happens to outbound requests of actions."""
    try:
        call.service.network.configure(body.policy, None if body.file is None else Path(body.file))
    except (ValueError, RecordingError) as error:
        raise StructuredError(400, f"{error}.", fix="Give a policy, and a file for record and replay.") from None
    return _network(call)


def _network(call: Call) -> dict[str, Any]:
    configured = call.service.network
    return {"policy": configured.policy, "file": None if configured.file is None else str(configured.file)}


def _snapshot_name(call: Call) -> str:
    name = call.path["name"]
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise StructuredError(
            400,
            f"Invalid snapshot name {name[:80]!r}: expected 1 to {LONGEST_NAME} printable characters.",
            fix="Choose a shorter name without control characters.",
        )
    return name


def _no_snapshot(name: str) -> StructuredError:
    return StructuredError(404, f"No snapshot is called {name[:80]!r}.", fix="GET /_emulator/snapshots lists them.")
