"""Fault injection: makes the next calls that need a part fail, or wait."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final, Literal, get_args

from svcnb.emulator.errors import ServiceError, StructuredError, Unavailable

Part = Literal["chain", "billing", "runtime", "cpu", "triggers"]
PARTS: Final[tuple[Part, ...]] = get_args(Part)
_NAMES: Final[dict[Part, str]] = {
    "chain": "The chain",
    "billing": "Billing",
    "runtime": "The actions runtime",
    "cpu": "The node",
    "triggers": "The triggers service",
}
_SHED = 429
_UNAVAILABLE = 503


@dataclass
class Fault:
    """One injected failure.

    Attributes:
        part: The part that fails.
        status: HTTP status to answer with; None only waits.
        delay_ms: Milliseconds that a call waits first.
        times: Calls left to hit, None until cleared.
    """

    part: Part
    status: int | None
    delay_ms: int = 0
    times: int | None = None


class Faults:
    """The injected failures of one emulator. Without any, `check` costs next to nothing."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []

    def add(
        self, part: Part, status: int | None = None, delay_ms: int | None = None, times: int | None = None
    ) -> Fault:
        """Injects a failure.

        Args:
            part: The part that fails.
            status: HTTP status; None means 429 for the CPU and 503 for the rest, or no failure at all when only a delay
                is given.
            delay_ms: Milliseconds that each call waits first.
            times: How many calls; None until `clear`.
        """
        if status is None and delay_ms is None:
            status = _SHED if part == "cpu" else _UNAVAILABLE
        fault = Fault(part, status, delay_ms or 0, times)
        self._waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Removes all injected failures."""
        self._waiting.clear()

    def waiting(self) -> list[Fault]:
        """The injected failures that have not occurred yet."""
        return list(self._waiting)

    async def check(self, part: Part) -> None:
        """Fails or waits as injected; called wherever a request needs a part.

        Args:
            part: The part that the request uses.

        Raises:
            ServiceError: A failure was injected.
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
        f"{name} fails on purpose with status {status}: a fault was injected. Nothing was charged.",
        fix="Try again, or DELETE /_emulator/faults.",
        headers=headers,
    )
