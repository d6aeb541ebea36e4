"""Sessions, which execute the steps of flows synchronously or asynchronously."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from svcnb.client.calls import Act, Call, Flow, Later, Noted, Notice, Now, Pause, Request, Step
from svcnb.client.config import Config
from svcnb.client.request import exchange
from svcnb.in_process import pause

if TYPE_CHECKING:
    from svcnb.client._http import AsyncTransport, SyncTransport

T = TypeVar("T")
Transport = TypeVar("Transport", "SyncTransport", "AsyncTransport")
Listener = Callable[[Any], object]

_LOG = logging.getLogger("svcnb.client")


@dataclass
class _Session(Generic[Transport]):
    transport: Transport
    config: Config
    listeners: list[Listener]

    def with_settings(self, config: Config, listeners: list[Listener]) -> Self:
        """Returns a session with other settings and the same transport."""
        return type(self)(self.transport, config, listeners)


class SyncSession(_Session["SyncTransport"]):
    """Transport, settings and listeners of one synchronous client."""

    def drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end, and returns its value."""
        try:
            step = next(flow)
            while True:
                try:
                    result = self._perform(step)
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            flow.close()

    def _perform(self, step: Step) -> object:  # noqa: PLR0911 - one return for each kind of step
        match step:
            case Call():
                return self.drive(exchange(step, self.config))
            case Request():
                return self.transport.send(step)
            case Pause():
                pause(step.seconds)
                return None
            case Now():
                return time.perf_counter(), time.time()
            case Later():
                return lambda: self.drive(step.flow())
            case Act():
                return step.do()
            case Notice():
                return [_tell(listener, step.record) for listener in self.listeners]
            case Noted():
                _note(self.listeners, step, self.config)
                return None


class AsyncSession(_Session["AsyncTransport"]):
    """Asynchronous version of `SyncSession`."""

    async def drive(self, flow: Flow[T]) -> T:
        """Runs a flow to its end, and returns its value."""
        try:
            step = next(flow)
            while True:
                try:
                    result = await self._perform(step)
                except Exception as error:  # noqa: BLE001 - the flow decides which errors it handles
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as end:
            value: T = end.value
            return value
        finally:
            flow.close()

    async def _perform(self, step: Step) -> object:  # noqa: C901, PLR0911 - one return for each kind of step
        match step:
            case Call():
                return await self.drive(exchange(step, self.config))
            case Request():
                return await self.transport.send(step)
            case Pause():
                await asyncio.sleep(step.seconds)
                return None
            case Now():
                return time.perf_counter(), time.time()
            case Later():
                return lambda: self.drive(step.flow())
            case Act():
                done = step.do() if step.do_async is None else await step.do_async()
                return await done if inspect.isawaitable(done) else done
            case Notice():
                for listener in self.listeners:
                    told = _tell(listener, step.record)
                    if inspect.isawaitable(told):
                        await told
                return None
            case Noted():
                _note(self.listeners, step, self.config)
                return None


def _note(listeners: Sequence[Listener], noted: Noted, config: Config) -> None:
    for listener in listeners:
        # Only listeners with `note` receive payments that do not belong to a run: the recorder of runs, and panels.
        if (note := getattr(listener, "note", None)) is not None:
            _tell(partial(note, config=config), noted)


def _tell(listener: Listener, record: object) -> object:
    # The failure of a recorder must not discard the result of a run.
    try:
        return listener(record)
    except Exception:  # noqa: BLE001 - an error of a listener must not affect the run
        _LOG.exception("a listener of on_run failed")
        return None
