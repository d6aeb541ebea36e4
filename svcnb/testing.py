"""Assertions for tests of one's own actions: who signed, and what a run did. The fixtures are in the pytest plugin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from svcnb.client.models.runs import Run

__all__ = ["Trace", "assert_signed_by", "assert_trace", "trace_of"]


@dataclass(frozen=True)
class Trace:
    """What one run did, as the emulator recorded it.

    Attributes:
        status: ``success``, ``failed`` or ``refused``.
        logs: Console output, also of failed runs.
        cost_cents: What was charged.
        elapsed_ms: Milliseconds in the engine.
        events: Every event, in order.
    """

    status: str
    logs: str
    cost_cents: int
    elapsed_ms: float
    events: tuple[Mapping[str, Any], ...] = field(repr=False)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Trace:
        """Reads one run record of the emulator.

        Args:
            record: As ``emulator.run_record(request_id)`` answers it.
        """
        return cls(
            status=str(record["status"]),
            logs=str(record.get("logs") or ""),
            cost_cents=int(record.get("cost_cents") or 0),
            elapsed_ms=float(record.get("elapsed_ms") or 0.0),
            events=tuple((record.get("trace") or {}).get("events", ())),
        )

    @property
    def key_operations(self) -> list[str]:
        """Names of the key operations that were granted, in order."""
        return [str(event["operation"]) for event in self._kind("key") if "refused" not in event]

    @property
    def fetches(self) -> list[Mapping[str, Any]]:
        """Outbound requests that were sent or refused: method, host, status or the refusal."""
        return [event for event in self._kind("fetch") if event.get("phase") != "start"]

    @property
    def hosts(self) -> list[str]:
        """Hosts that were asked, in order."""
        return [str(event.get("host", "")) for event in self.fetches]

    def _kind(self, kind: str) -> Iterable[Mapping[str, Any]]:
        return (event for event in self.events if event.get("kind") == kind)


def assert_signed_by(signed: dict[str, Any] | str | bytes, signature: str | bytes, address: str) -> None:
    """Fails unless the key of an address made a signature.

    Args:
        signed: Typed data as a dictionary (EIP-712), or a personal message as text or bytes (EIP-191).
        signature: 65 bytes, or their hex.
        address: Who is said to have signed.

    Raises:
        AssertionError: Somebody else signed; the text says who.
        SigningError: There is nothing to check: the signature or the address is malformed.
    """
    from svcnb.client.signing import recover

    who = recover(signed, signature)
    if who.lower() != address.lower():
        raise AssertionError(f"signed by {who}, not by {address}: another key, or another message than the one signed")


def assert_trace(
    trace: Trace, *, key_operations: int | None = None, fetches: int | None = None, hosts: Iterable[str] | None = None
) -> None:
    """Fails unless a run did just what is said; what is left out is not looked at.

    Args:
        trace: What the run did.
        key_operations: How many keys it asked for.
        fetches: How many outbound requests it made.
        hosts: The only hosts that it may have asked.

    Raises:
        AssertionError: It did something else; the text names it.
    """
    if key_operations is not None and len(trace.key_operations) != key_operations:
        raise AssertionError(
            f"{len(trace.key_operations)} key operations, not {key_operations}: {trace.key_operations}"
        )
    if fetches is not None and len(trace.fetches) != fetches:
        raise AssertionError(f"{len(trace.fetches)} outbound requests, not {fetches}: {trace.hosts}")
    if hosts is not None and (strangers := sorted(set(trace.hosts) - set(hosts))):
        raise AssertionError(
            f"asked {', '.join(strangers)}, which is not among {', '.join(sorted(hosts)) or 'no host'}"
        )


def trace_of(emulator: Any, run: Run | BaseException | str) -> Trace:
    """Reads what a run did from the emulator that ran it.

    Args:
        emulator: The emulator.
        run: A `Run`, the error that it raised, or its request id.

    Raises:
        ControlRefused: The emulator knows no such run.
        TypeError: It has no request id.
    """
    request_id = run if isinstance(run, str) else getattr(run, "request_id", "")
    if not request_id:
        raise TypeError(f"{type(run).__name__} has no request id: pass a Run, or the error that svc.run raised")
    return Trace.of(emulator.run_record(request_id))
