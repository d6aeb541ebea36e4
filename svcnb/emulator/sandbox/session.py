"""Execution of one run in an isolate.

The module executes the operations that the isolate calls, enforces the limits and determines the outcome.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Coroutine
from contextvars import copy_context
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload
from svcnb.emulator.sandbox.frames import SECRET_BYTES, BadFrame, Frame, FrameReader, pack, pack_head
from svcnb.emulator.sandbox.operations import Operations
from svcnb.emulator.sandbox.protocol import ABORTED, ErrorKind, Host, Meter, OperationRefused, Outcome
from svcnb.emulator.sandbox.run_result import (
    FUNDS_TEXT,
    HOST_LOST_TEXT,
    OUT_OF_MEMORY,
    memory_text,
    response_value,
    timeout_text,
    unsupported_text,
)
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import (
    MAX_FETCH_REQUEST_BYTES,
    MAX_OPERATION_BYTES,
    MAX_PENDING_OPERATION_BYTES,
    MAX_PENDING_OPERATIONS,
    ActionLimits,
)

if TYPE_CHECKING:
    from svcnb.emulator.sandbox.isolate import Isolate
    from svcnb.emulator.sandbox.page_isolate import PageIsolate

# Number of frames to process in one iteration of the event loop, so that many frames do not delay other tasks.
_AT_ONCE = 8
# Ids of the service's own tasks in `_calls`. The ids of an isolate's calls start at 1.
_LOST, _FUNDS, _MEMORY_CHECK, _PARSING, _ENDING = -1, -2, -3, -4, -5
_MAX_ERROR_CHARS, _MAX_TRAP_CHARS = 70_000, 200
# Only the bootstrap script has the secret, so these errors indicate a defect or a sandbox escape. In both cases, the
# isolate gets no response.
_NOT_OF_THE_BOOTSTRAP = (BadFrame, KeyError, TypeError, ValueError, AttributeError)
# Memory in bytes that the engine can use in addition to the heap: young generation, compiled code and I/O buffers.
_MEMORY_SLACK = 48 * 2**20
# An isolate stops after `busy_ms` unless a built-in function blocks it. A run that exceeds this multiple of `busy_ms`
# is blocked.
_STUCK = 4


@dataclass(eq=False, repr=False)
class Session:
    """Execution of one run in one isolate.

    Attributes:
        isolate: Warmed-up isolate.
        host: Host that executes operations.
        limits: Limits of the run.
        trace: Timeline that records the events.
        busy_ms: Processor time in milliseconds after which the isolate stops the run, so that another engine can repeat
            the run. 0 means no limit.
        grace_s: Seconds after the deadline in which the isolate can still end the run normally.
        alone: Whether the isolate executes only this run, so that its peak memory belongs to this run.
        answered: Whether the isolate has sent the result of the run. Such an isolate can execute another run.
    """

    isolate: Isolate | PageIsolate
    host: Host
    limits: ActionLimits
    trace: Trace
    busy_ms: int = 0
    grace_s: float = 0.0
    alone: bool = False

    def __post_init__(self) -> None:
        # Memory of an earlier run that the system has not reclaimed yet does not belong to this run.
        self._found_bytes = 0 if self.alone else self.isolate.growth_bytes() or 0
        self._used_before_s: float | None = None
        self.answered = False
        # Tasks start when a frame arrives, and use this context to work for the account of the run.
        self._context = copy_context()
        self._secret = os.urandom(SECRET_BYTES)
        self._reader = FrameReader(self._secret, max(self.limits.max_response_length, MAX_FETCH_REQUEST_BYTES))
        self._logs: list[str] = []
        self._log_bytes = 0
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._in_flight_bytes = 0
        self._is_paused = False
        self._more: asyncio.Handle | None = None
        self.lowered = False
        self._credit_check: asyncio.TimerHandle | None = None
        self._finished: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        self._operations = Operations(self.host, self.limits, self.trace, self._finished.done)

    async def run(self, source: str, params: object, waited_s: float) -> Outcome:
        """Executes the run and returns its outcome. The caller must then close the isolate or return it to its pool.

        Args:
            source: JavaScript source.
            params: JSON value, the argument of ``main``.
            waited_s: Time in the queue in seconds, for the trace.
        """
        job = await offload(self._job, source, params) if is_large([source, params]) else self._job(source, params)
        self.isolate.begin(job, self._receive, self._lost)
        deadline = asyncio.get_running_loop().call_later(self.limits.timeout_ms / 1000 + self.grace_s, self.time_out)
        self.trace.add("start", took_ms=round(waited_s * 1000, 3))
        self._schedule_credit_check()
        try:
            return await self._finished
        finally:
            deadline.cancel()
            for later in (self._credit_check, self._more):
                if later is not None:
                    later.cancel()  # another run can use the isolate by then
            for task in self._calls.values():
                task.cancel()
            self._operations.release()

    def time_out(self) -> None:
        """Ends the run with the error kind ``timeout``, unless the isolate has already sent the result."""
        if not self.answered:
            self._fail("timeout", timeout_text(self.limits))

    def lower_priority(self, *, aside: bool = False) -> None:
        """Lowers the isolate's priority. Only the first call has an effect.

        New runs, spare processes that start, and the service itself then have a higher priority.

        Args:
            aside: Whether to also move the isolate off the reserved cores. Otherwise, the isolate can use all cores.
        """
        if not self.lowered:
            self.lowered = True
            self.isolate.lower(aside=aside)

    def check_memory(self) -> None:
        """Stops the run if the isolate uses more memory than allowed."""
        if self._exceeds_memory(self.isolate.growth_bytes()):
            self._fail("memory", memory_text(self.limits))

    def check_processor(self) -> None:
        """Stops the run if the isolate has clearly exceeded `busy_ms` and has not stopped the run itself.

        The isolate checks its processor time between instructions, but not in its parser or in built-in functions.
        """
        if self.busy_ms == 0 or self.answered or (use := self.isolate.processor()) is None:
            return
        if self._used_before_s is None:
            self._used_before_s = use.used_s
        elif (use.used_s - self._used_before_s) * 1000 > _STUCK * self.busy_ms:
            self._handle_failure("trap", "a long computation")

    def _exceeds_memory(self, growth_bytes: int | None) -> bool:
        most = max(self.limits.memory_limit_mb * 2**20, self._found_bytes) + _MEMORY_SLACK
        return growth_bytes is not None and growth_bytes > most

    def _schedule_credit_check(self) -> None:
        if (meter := self.host.meter) is not None:
            self._credit_check = asyncio.get_running_loop().call_later(
                meter.every_s, lambda: self._do(_FUNDS, self._end_unless_paid(meter))
            )

    async def _end_unless_paid(self, meter: Meter) -> None:
        if await meter.lasts(self.trace.elapsed_s):
            self._schedule_credit_check()
        elif not self.answered:
            self._fail("funds", FUNDS_TEXT)

    def _job(self, source: str, params: object) -> bytes:
        body = {
            "source": source,
            "params": json.dumps(params),
            "headers": self.host.headers,
            "maxResponseBytes": self.limits.max_response_length,
            "maxLogBytes": self.limits.max_console_log_length,
            "timeoutMs": self.limits.timeout_ms,
            "memoryBytes": self.limits.memory_limit_mb * 2**20,
            "busyMs": self.busy_ms,
            "maxCallBytes": MAX_OPERATION_BYTES,
            "maxRequestBytes": MAX_FETCH_REQUEST_BYTES,
        }
        return pack(body, self._secret)

    def _receive(self, data: bytes) -> None:
        self._reader.add(data)
        if _PARSING in self._calls:
            return
        try:
            for count, frame in enumerate(self._reader.frames(), 1):
                if self._finished.done() or self.answered:
                    return
                if len(frame.text) > LARGE_BYTES:
                    self._do(_PARSING, self._handle_large(frame))
                else:
                    self._handle(frame.body(), frame)
                if count == _AT_ONCE or self._is_occupied:
                    self._pause_input()
                    return
        except _NOT_OF_THE_BOOTSTRAP:
            self._fail("host", HOST_LOST_TEXT)
            return
        if self._is_paused:
            self._is_paused = False
            self.isolate.resume()

    async def _handle_large(self, frame: Frame) -> None:
        """Parses a long text outside the event loop. Later frames wait, to preserve the order."""
        try:
            self._handle(await offload(frame.body), frame)
        except _NOT_OF_THE_BOOTSTRAP:
            self._fail("host", HOST_LOST_TEXT)

    def _do(self, number: int, work: Coroutine[Any, Any, None], size: int = 0) -> None:
        """Starts a task, which the end of the run cancels.

        The task handles a call of the isolate with ``size`` bytes, or does other work for this run.
        """
        self._in_flight_bytes += size
        task = self._calls[number] = asyncio.get_running_loop().create_task(work, context=self._context)
        task.add_done_callback(lambda _: self._done(number, size))

    def _done(self, number: int, size: int) -> None:
        del self._calls[number]
        self._in_flight_bytes -= size
        self._continue_soon()

    @property
    def _is_occupied(self) -> bool:
        """Whether the isolate must wait before its next call."""
        full = len(self._calls) >= MAX_PENDING_OPERATIONS or self._in_flight_bytes >= MAX_PENDING_OPERATION_BYTES
        return full or _PARSING in self._calls

    def _pause_input(self) -> None:
        """Stops reading from the isolate, and processes the frames that were already read, a few at a time."""
        if not self._is_paused:
            self._is_paused = True
            self.isolate.pause()
        self._continue_soon()

    def _continue_soon(self) -> None:
        if self._is_paused and not self._finished.done() and self._more is None and not self._is_occupied:
            self._more = asyncio.get_running_loop().call_soon(self._continue)

    def _continue(self) -> None:
        self._more = None
        self._receive(b"")

    def _handle(self, body: dict[str, Any], frame: Frame) -> None:
        kind = body["kind"]
        if kind == "end":
            self._handle_end(body, frame.blob)
        elif kind == "log":
            self._handle_log(str(body["text"]))
        elif kind == "cancel":
            call_id = int(body["id"])
            if call_id > 0 and (task := self._calls.get(call_id)) is not None:
                # Cancel the task in the next iteration of the event loop, after the task has started. A host that
                # repeats a run must record the call even after an immediate cancellation.
                asyncio.get_running_loop().call_soon(task.cancel, ABORTED)
                # The isolate's event loop ends only after a response to every call. Later responses have no effect.
                self.isolate.write(pack({"id": call_id, "value": None}))
        else:
            call_id = int(body["id"])
            if call_id < 1 or call_id in self._calls:
                raise BadFrame(f"the call id {call_id} is {'less than 1' if call_id < 1 else 'already in use'}")
            work = self._answer(str(kind), call_id, body, frame.blob)
            self._do(call_id, work, len(frame.text) + len(frame.blob))

    def _handle_log(self, text: str) -> None:
        size = len(text.encode(errors="replace"))
        if self._log_bytes + size > self.limits.max_console_log_length:
            return  # the bootstrap script never sends such a line
        self._log_bytes += size
        self._logs.append(text)
        self.trace.add("console", bytes=size)

    def _handle_end(self, body: dict[str, Any], blob: bytes) -> None:
        self.answered = True
        if body["ok"] is not True:
            self._handle_failure(body["error_kind"], str(body["text"])[:_MAX_ERROR_CHARS])
            return
        if len(blob) > self.limits.max_response_length:
            most = self.limits.max_response_length
            self._fail("throw", f"Uncaught (in promise) Error: Response is too long, maximum {most} bytes")
            return
        if len(blob) > LARGE_BYTES:
            self._do(_ENDING, self._finish_with_large(blob))
        else:
            self._finish(response_value(blob))

    async def _finish_with_large(self, blob: bytes) -> None:
        self._finish(await offload(response_value, blob))

    def _handle_failure(self, kind: object, text: str) -> None:
        if kind == "timeout":
            self._fail("timeout", timeout_text(self.limits))
        elif kind == "memory":
            self._fail("memory", memory_text(self.limits))
        elif kind == "trap":
            self.trace.add("trap", what=text[:_MAX_TRAP_CHARS])
            self._fail("unsupported", unsupported_text(text[:_MAX_TRAP_CHARS]))
        elif kind == "syntax" or not self.alone:
            self._fail("syntax" if kind == "syntax" else "throw", text)
        else:
            self._do(_MEMORY_CHECK, self._fail_as_thrown(text))

    async def _fail_as_thrown(self, text: str) -> None:
        """Ends the run with the error kind ``memory`` if the peak memory is above the limit, otherwise with ``throw``.

        An action without free memory often fails with another error, before the next regular check of the memory.
        """
        if self._exceeds_memory(await self.isolate.peak_growth_bytes()):
            self._fail("memory", memory_text(self.limits))
        else:
            self._fail("throw", text)

    async def _answer(self, kind: str, call_id: int, body: dict[str, Any], blob: bytes) -> None:
        answer: dict[str, Any]
        answer_blob: bytes | bytearray
        try:
            answer, answer_blob = await self._operations.answer(kind, body, blob)
        except OperationRefused as refused:
            answer, answer_blob = {"error": {"name": refused.name, "message": str(refused)}}, b""
        except Exception:  # noqa: BLE001 - an internal failure, whose data must not reach the action
            if not self.answered:
                text = f"the operation {kind[:32]} failed in the service. Nothing was charged. Run the action again."
                self._fail("host", text)
            return
        if is_large(answer):
            head = await offload(pack_head, {"id": call_id, **answer}, len(answer_blob))
        else:
            head = pack_head({"id": call_id, **answer}, len(answer_blob))
        self.isolate.write(head)
        if answer_blob:
            # Do not copy the bytes, because a copy of a large response blocks the event loop.
            self.isolate.write(answer_blob)
        if self._operations.holds:
            del answer_blob
            await self.isolate.drained()
            self._operations.release()

    def _lost(self) -> None:
        if not self._finished.done() and not self.answered:
            self._do(_LOST, self._fail_as_lost())

    async def _fail_as_lost(self) -> None:
        how, stderr_end = await self.isolate.wait_for_exit()
        if OUT_OF_MEMORY.search(stderr_end):
            self._fail("memory", memory_text(self.limits))
        else:
            self.trace.add("lost", status=how.status)
            self._fail("host", HOST_LOST_TEXT)

    def _fail(self, kind: ErrorKind, text: str) -> None:
        self._finish(error=text, error_kind=kind)

    def _finish(self, response: object = None, error: str | None = None, error_kind: ErrorKind | None = None) -> None:
        if self._finished.done():
            return
        ok = error_kind is None
        self.trace.add("end", ok=ok, **({} if ok else {"error_kind": error_kind}))
        self._finished.set_result(
            Outcome(
                ok=ok,
                response=response,
                logs="".join(self._logs),
                trace=self.trace,
                elapsed_s=self.trace.elapsed_s,
                error=error,
                error_kind=error_kind,
            )
        )
