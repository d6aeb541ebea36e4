"""Fault injection, which makes the next calls to a part of the service fail or wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal

from svcnb.emulator.errors import ServiceError, StructuredError, Unavailable

Part = Literal["chain", "billing", "runtime", "cpu", "triggers"]
_NAMES: Final[dict[Part, str]] = {
    "chain": "the chain",
    "billing": "billing",
    "runtime": "the actions runtime",
    "cpu": "the node",
    "triggers": "the triggers service",
}
_SHED = 429
_UNAVAILABLE = 503


@dataclass
class Fault:
    """Injected fault.

    Attributes:
        part: The affected part of the service.
        status: HTTP status of the response, or None for a delay only.
        delay_ms: Delay before the call, in milliseconds.
        times: Number of remaining calls, or None for all calls until `Faults.clear`.
    """

    part: Part
    status: int | None
    delay_ms: int = 0
    times: int | None = None


class Faults:
    """The injected faults of one emulator. Without faults, `check` takes almost no time."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(
        self, part: Part, status: int | None = None, delay_ms: int | None = None, times: int | None = None
    ) -> Fault:
        """Injects a fault and returns it.

        Args:
            part: The affected part of the service.
            status: HTTP status. None with ``delay_ms`` means a delay without an error. None without ``delay_ms`` means
                429 for the CPU and 503 for other parts.
            delay_ms: Delay before each call, in milliseconds. None means no delay.
            times: Number of calls. None means all calls until `clear`.
        """
        if status is None and delay_ms is None:
            status = _SHED if part == "cpu" else _UNAVAILABLE
        fault = Fault(part, status, delay_ms or 0, times)
        self._waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Removes all injected faults."""
        self._waiting.clear()

    def waiting(self) -> list[Fault]:
        """Returns the injected faults that still affect calls."""
        return list(self._waiting)

    async def check(self, part: Part) -> None:
        """Applies the oldest injected fault of a part. Call this method wherever a request uses that part.

        Args:
            part: The part that the request uses.

        Raises:
            ServiceError: The fault has an HTTP status, and is not only a delay.
        """
        if not self._waiting:
            return
        fault = next((fault for fault in self._waiting if fault.part == part), None)
        if fault is None:
            return
        if fault.times is not None:
            fault.times -= 1
            if fault.times <= 0:
                self._waiting.remove(fault)
        if fault.delay_ms:
            await asyncio.sleep(fault.delay_ms / 1000)
        if fault.status is not None:
            raise _failure(part, fault.status)


def _failure(part: Part, status: int) -> ServiceError:
    name = _NAMES[part]
    if status == _UNAVAILABLE:
        return Unavailable(name, "a fault was injected")
    headers = {"Retry-After": "1"} if status == _SHED else None
    return StructuredError(
        status,
        f"{name} fails with status {status} because a fault was injected; nothing was charged",
        fix="Try again, or delete all faults with emulator.faults.clear() or DELETE /_emulator/faults.",
        headers=headers,
    )
