"""Assertions about the signers and effects of runs, for tests of your own actions.

The fixtures are in `svcnb.pytest_plugin`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from svcnb.checked import checked
from svcnb.errors import InvalidType
from svcnb.renamed import renamed
from svcnb.toolkit.contract_calls import deploy, reverts, second_form, send, vrs
from svcnb.toolkit.stub_server import StubServer

if TYPE_CHECKING:
    from svcnb.client.models.runs import Run
    from svcnb.client.models.traces import Trace
    from svcnb.control import EmulatorControl

__all__ = [
    "Recorded", "StubServer", "assert_signed_by", "assert_trace", "deploy", "recorded", "reverts", "second_form",
    "send", "vrs",
]  # fmt: skip

if not TYPE_CHECKING:
    # Hidden from type checkers, because they accept every name in a module that defines `__getattr__`.

    def __getattr__(name: str) -> Any:
        if name != "StandIn":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        renamed("svcnb.testing.StandIn", "svcnb.testing.StubServer")
        return StubServer


@dataclass(frozen=True)
class Recorded:
    """The emulator's record of one run. The record of a failed run contains details that the service does not return.

    Attributes:
        status: ``success``, ``failed`` or ``refused``.
        logs: Console output.
        cost_cents: Charged amount in US cents.
        trace: Timeline of the run, or None if the service did not start the action.
    """

    status: str
    logs: str
    cost_cents: int
    trace: Trace | None


@checked
def assert_signed_by(signed: dict[str, Any] | str | bytes, signature: str | bytes, address: str) -> None:
    """Asserts that the key of an address made a signature.

    Args:
        signed: Typed data as a dictionary (EIP-712), or a personal message as text or bytes (EIP-191).
        signature: 65 bytes, or the same bytes as a hex string.
        address: Address of the expected signer, ``0x`` followed by 40 hex digits.

    Raises:
        AssertionError: Another address signed. The message contains that address.
        SigningError: The signature or the address is malformed.
    """
    from svcnb.client.signing import recover

    who = recover(signed, signature)
    if who.lower() != address.lower():
        raise AssertionError(f"the signer is {who}, not {address}: the key or the signed message is different")


@checked
def assert_trace(
    trace: Trace, *, key_operations: int | None = None, fetches: int | None = None, hosts: Iterable[str] | None = None
) -> None:
    """Asserts the number of key operations, the number of outbound requests and the hosts of a run.

    The function does not check omitted arguments.

    Args:
        trace: Timeline of the run: ``svc.trace(run)``.
        key_operations: Number of successful key operations, for example requests for a private key.
        fetches: Number of outbound requests, including rejected ones.
        hosts: Complete list of the hosts that the run is allowed to contact. The run can contact fewer hosts.

    Raises:
        AssertionError: A number differs, or the run contacted another host. The message describes the first difference.
    """
    keys = [str(event.operation) for event in trace.of("key") if event.refused is None]
    asked = [str(event.host) for event in trace.of("fetch") if event.phase != "start"]
    if key_operations is not None and len(keys) != key_operations:
        raise AssertionError(f"number of key operations: expected {key_operations}, got {len(keys)}: {keys}")
    if fetches is not None and len(asked) != fetches:
        raise AssertionError(f"number of outbound requests: expected {fetches}, got {len(asked)}: {asked}")
    if hosts is not None and (strangers := sorted(set(asked) - set(hosts))):
        raise AssertionError(
            f"the run sent requests to {', '.join(strangers)}: expected only {', '.join(sorted(hosts)) or 'no host'}"
        )


@checked
def recorded(emulator: EmulatorControl, run: Run | BaseException | str) -> Recorded:
    """Returns an emulator's record of a run.

    Args:
        emulator: The emulator that executed the run.
        run: A `Run`, the error that the run raised, or the request id of the run.

    Raises:
        ControlRefused: The emulator has no record of the run.
        InvalidType: The argument has no request id.
    """
    from svcnb.client.models.traces import Trace as Timeline

    request_id = run if isinstance(run, str) else getattr(run, "request_id", "")
    if not request_id:
        raise InvalidType(f"{type(run).__name__} has no request id: pass a Run, or the error that svc.run raised")
    kept = emulator.run_record(request_id)
    trace = None if kept.get("trace") is None else Timeline.model_validate(kept["trace"])
    return Recorded(
        status=str(kept["status"]), logs=kept.get("logs") or "", cost_cents=kept.get("cost_cents") or 0, trace=trace
    )
