"""One execution, from the service's side: answers the isolate's calls, enforces the limits, determines the outcome."""

from __future__ import annotations

import asyncio
import json
import math
import os
import re
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import copy_context
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload
from svcnb.emulator.sandbox.frames import MAX_JSON_BYTES, SECRET_BYTES, BadFrame, Frame, FrameReader, pack, pack_head
from svcnb.emulator.sandbox.protocol import ErrorKind, FetchRequest, Host, Meter, OperationRefused, Outcome
from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import (
    MAX_FETCH_REQUEST_BYTES,
    MAX_TRACE_HOST_CHARS,
    MAX_TRACE_METHOD_CHARS,
    ActionLimits,
)
from svcnb.protocol.nesting import deeper_than

if TYPE_CHECKING:
    from svcnb.emulator.sandbox.isolate import Isolate
    from svcnb.emulator.sandbox.page_isolate import PageIsolate

# Calls that one action may have in flight. Beyond it the isolate's channel is not read, so it has to wait.
_MAX_IN_FLIGHT = 64
# Bytes of calls that one action may have in flight. Beyond it the isolate's channel is not read either.
_MAX_IN_FLIGHT_BYTES = 4 * 2**20
# Frames processed in one turn of the event loop, so that a flood of them does not delay other tasks.
_AT_ONCE = 8
# The id of our own work among the calls of an isolate, whose ids begin with 1.
_AUTOPSY, _FUNDS, _LAST_LOOK, _PARSING, _ENDING = -1, -2, -3, -4, -5
_KEY_OPERATIONS = frozenset({"wallet_key", "action_key", "action_public_key", "action_address"})
_MAX_ERROR_CHARS = 70_000
_MAX_TRAP_CHARS = 200
_MAX_RESPONSE_DEPTH = 128
# Only the bootstrap has the secret, so these mean a defect or an escape. In both cases that isolate gets no answer.
_NOT_OF_THE_BOOTSTRAP = (BadFrame, KeyError, TypeError, ValueError, AttributeError)
# Memory that the engine itself may add to the heap: young generation, compiled code, buffers in transit.
_MEMORY_SLACK = 48 * 2**20
# Output of V8, Rust's allocator and Deno when memory runs out.
_OUT_OF_MEMORY = re.compile(r"out of memory|heap limit|memory allocation of|Cannot allocate memory", re.IGNORECASE)


def timeout_text(limits: ActionLimits) -> str:
    """The error of a run that took too long (reference facts 5.6)."""
    return f"Your function exceeded the maximum runtime of {limits.timeout_ms} ms and was terminated."


def memory_text(limits: ActionLimits) -> str:
    """The error of a run that used too much memory (reference facts 5.6)."""
    return f"Your function exceeded the maximum memory of {limits.memory_limit_mb} MB and was terminated."


def unsupported_text(what: str) -> str:
    """The error of a run with an operation that the fast engine cannot do exactly.

    Args:
        what: The unsupported operation.
    """
    return (
        f"The action engine 'fast' came upon {what}, which it cannot do as the service does. Choose the engine 'v8', "
        "or 'auto', which repeats such runs: svcnb emulator --action-engine auto (SVC_ACTION_ENGINE)"
    )


FUNDS_TEXT = "Your function ran out of funds and was terminated."
HOST_LOST_TEXT = "The process that ran this action was lost and has been replaced. Nothing was charged; run it again."


class Session:
    """Runs one job in one isolate.

    Args:
        isolate: A warm isolate. If ``answered`` is true, it ended the run regularly and may serve again.
        host: Answers operations.
        limits: Limits of the run.
        trace: Receives the events.
        busy_ms: Milliseconds of processor time after which the isolate should stop, so that another engine repeats the
            run. 0 means no limit.
        grace_s: Seconds after the deadline in which the isolate may still end the run regularly.
        alone: Whether the isolate serves no other run, so that its peak memory belongs to this run.
    """

    def __init__(
        self,
        isolate: Isolate | PageIsolate,
        host: Host,
        limits: ActionLimits,
        trace: Trace,
        *,
        busy_ms: int = 0,
        grace_s: float = 0.0,
        alone: bool = False,
    ) -> None:
        self._isolate = isolate
        self._host = host
        self._limits = limits
        self._trace = trace
        self._busy_ms = busy_ms
        self._grace_s = grace_s
        self._alone = alone
        # Memory freed after an earlier run may still be on its way back, and does not belong to this run.
        self._found_bytes = 0 if alone else isolate.grown_bytes() or 0
        self.answered = False
        # Tasks begin when a frame of the isolate arrives, and work for the account of the run.
        self._context = copy_context()
        self._secret = os.urandom(SECRET_BYTES)
        self._reader = FrameReader(self._secret, max(limits.max_response_length, MAX_FETCH_REQUEST_BYTES))
        self._logs: list[str] = []
        self._log_bytes = 0
        self._key_operations = 0
        self._fetches = 0
        self._calls: dict[int, asyncio.Task[None]] = {}
        self._in_flight_bytes = 0
        self._held: tuple[Callable[[], None], ...] = ()
        self._held_back = False
        self._more: asyncio.Handle | None = None
        self.lowered = False
        self._next_look: asyncio.TimerHandle | None = None
        self._finished: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    async def begin(self, source: str, params: object) -> None:
        """Sends the job to the isolate, which then starts working.

        Args:
            source: JavaScript text.
            params: The arguments of ``main``.
        """
        if is_large([source, params]):
            job = await offload(self._job, source, params)
        else:
            job = self._job(source, params)
        self._isolate.begin(job, self._receive, self._lost)

    async def end(self, waited_s: float = 0.0) -> Outcome:
        """Waits for the end of the run. The caller closes the isolate afterwards.

        Args:
            waited_s: Seconds that the run waited in the queue, for the trace.
        """
        deadline = asyncio.get_running_loop().call_later(self._limits.timeout_ms / 1000 + self._grace_s, self.time_out)
        self._trace.add("start", took_ms=round(waited_s * 1000, 3))
        self._look_at_funds_later()
        try:
            return await self._finished
        finally:
            deadline.cancel()
            for later in (self._next_look, self._more):
                if later is not None:
                    later.cancel()  # another run may use the isolate by then
            for task in self._calls.values():
                task.cancel()
            self._let_go()

    def _let_go(self) -> None:
        """Releases the memory budget of answers that the isolate has received, or will not receive any more."""
        held, self._held = self._held, ()
        for give_back in held:
            give_back()

    def time_out(self) -> None:
        """Ends the run at its deadline."""
        if not self.answered:
            self._fail("timeout", timeout_text(self._limits))

    def give_way(self, *, aside: bool = False) -> None:
        """Lowers the priority below that of new runs, warming spares and the service itself. Has an effect only once.

        Args:
            aside: Whether it also leaves the reserved cores.
        """
        if not self.lowered:
            self.lowered = True
            self._isolate.lower(aside=aside)

    @property
    def account(self) -> str:
        """The account of the run."""
        return self._host.account

    @property
    def elapsed_s(self) -> float:
        """Seconds since the start of the run."""
        return self._trace.elapsed_s

    def check_memory(self) -> None:
        """Ends the run if the isolate uses more memory than allowed."""
        if self._is_too_much(self._isolate.grown_bytes()):
            self._fail("memory", memory_text(self._limits))

    def _is_too_much(self, grown_bytes: int | None) -> bool:
        most = max(self._limits.memory_limit_mb * 2**20, self._found_bytes) + _MEMORY_SLACK
        return grown_bytes is not None and grown_bytes > most

    def _look_at_funds_later(self) -> None:
        if (meter := self._host.meter) is not None:
            self._next_look = asyncio.get_running_loop().call_later(meter.every_s, self._look_at_funds, meter)

    def _look_at_funds(self, meter: Meter) -> None:
        self._do(_FUNDS, self._end_unless_paid(meter))

    async def _end_unless_paid(self, meter: Meter) -> None:
        if await meter.lasts(self._trace.elapsed_s):
            self._look_at_funds_later()
        elif not self.answered:
            self._fail("funds", FUNDS_TEXT)

    def _job(self, source: str, params: object) -> bytes:
        body = {
            "source": source,
            "params": json.dumps(params),
            "headers": self._host.headers,
            "maxResponseBytes": self._limits.max_response_length,
            "maxLogBytes": self._limits.max_console_log_length,
            "timeoutMs": self._limits.timeout_ms,
            "memoryBytes": self._limits.memory_limit_mb * 2**20,
            "busyMs": self._busy_ms,
            "maxCallBytes": MAX_JSON_BYTES,
            "maxRequestBytes": MAX_FETCH_REQUEST_BYTES,
        }
        return pack(body, self._secret)

    # --- frames of the isolate ----------------------------------------------------------------------------------

    def _receive(self, data: bytes) -> None:
        self._reader.add(data)
        if _PARSING in self._calls:
            return
        try:
            for heard, frame in enumerate(self._reader.frames(), 1):
                if self._finished.done() or self.answered:
                    return
                if len(frame.text) > LARGE_BYTES:
                    self._do(_PARSING, self._hear_large(frame))
                else:
                    self._hear(frame.body(), frame)
                if heard == _AT_ONCE or self._is_occupied:
                    self._hold_back()
                    return
        except _NOT_OF_THE_BOOTSTRAP:
            self._fail("host", HOST_LOST_TEXT)
            return
        if self._held_back:
            self._held_back = False
            self._isolate.resume()

    async def _hear_large(self, frame: Frame) -> None:
        """Parses a long text outside of the event loop. Later frames wait, so that the order is kept."""
        try:
            self._hear(await offload(frame.body), frame)
        except _NOT_OF_THE_BOOTSTRAP:
            self._fail("host", HOST_LOST_TEXT)

    def _do(self, number: int, work: Coroutine[Any, Any, None], size: int = 0) -> None:
        """Starts a task that ends with the run.

        Args:
            number: The isolate's id of a call, or one of ours.
            work: The task.
            size: Bytes that it holds in memory.
        """
        self._in_flight_bytes += size
        task = self._calls[number] = asyncio.get_running_loop().create_task(work, context=self._context)
        task.add_done_callback(lambda _: self._done(number, size))

    def _done(self, number: int, size: int) -> None:
        del self._calls[number]
        self._in_flight_bytes -= size
        self._go_on_soon()

    @property
    def _is_occupied(self) -> bool:
        """Whether the isolate has to wait with its next call."""
        return (
            _PARSING in self._calls
            or len(self._calls) >= _MAX_IN_FLIGHT
            or self._in_flight_bytes >= _MAX_IN_FLIGHT_BYTES
        )

    def _hold_back(self) -> None:
        """Stops reading until the frames in the reader are processed, a few at a time."""
        if not self._held_back:
            self._held_back = True
            self._isolate.pause()
        self._go_on_soon()

    def _go_on_soon(self) -> None:
        if self._held_back and not self._finished.done() and self._more is None and not self._is_occupied:
            self._more = asyncio.get_running_loop().call_soon(self._go_on)

    def _go_on(self) -> None:
        self._more = None
        self._receive(b"")

    def _hear(self, body: dict[str, Any], frame: Frame) -> None:
        kind = body["kind"]
        if kind == "end":
            self._hear_end(body, frame.blob)
        elif kind == "log":
            self._hear_log(str(body["text"]))
        elif kind == "cancel":
            call_id = int(body["id"])
            if call_id > 0 and (task := self._calls.get(call_id)) is not None:
                # In the next turn. A call that is cancelled at once was still made, and a host that repeats a run must
                # record it.
                asyncio.get_running_loop().call_soon(task.cancel)
                # The isolate's event loop does not end before every call is answered. It ignores a second answer.
                self._isolate.write(pack({"id": call_id, "value": None}))
        else:
            call_id = int(body["id"])
            if call_id < 1 or call_id in self._calls:
                raise BadFrame("a call id that is used or is not the isolate's to use")
            work = self._answer(str(kind), call_id, body, frame.blob)
            self._do(call_id, work, len(frame.text) + len(frame.blob))

    def _hear_log(self, text: str) -> None:
        size = len(text.encode(errors="replace"))
        if self._log_bytes + size > self._limits.max_console_log_length:
            return  # the bootstrap refuses such a line before it sends it
        self._log_bytes += size
        self._logs.append(text)
        self._trace.add("console", bytes=size)

    def _hear_end(self, body: dict[str, Any], blob: bytes) -> None:
        self.answered = True
        if body["ok"] is not True:
            self._hear_failure(body["error_kind"], str(body["text"])[:_MAX_ERROR_CHARS])
            return
        if len(blob) > self._limits.max_response_length:
            too_long = f"Response is too long, maximum {self._limits.max_response_length} bytes"
            self._fail("throw", f"Uncaught (in promise) Error: {too_long}")
            return
        if len(blob) > LARGE_BYTES:
            self._do(_ENDING, self._finish_with_large(blob))
        else:
            self._finish(ok=True, response=response_value(blob))

    async def _finish_with_large(self, blob: bytes) -> None:
        self._finish(ok=True, response=await offload(response_value, blob))

    def _hear_failure(self, kind: object, text: str) -> None:
        if kind == "timeout":
            self._fail("timeout", timeout_text(self._limits))
        elif kind == "memory":
            self._fail("memory", memory_text(self._limits))
        elif kind == "trap":
            self._trace.add("trap", what=text[:_MAX_TRAP_CHARS])
            self._fail("unsupported", unsupported_text(text[:_MAX_TRAP_CHARS]))
        elif kind == "syntax" or not self._alone:
            self._fail("syntax" if kind == "syntax" else "throw", text)
        else:
            self._do(_LAST_LOOK, self._fail_as_thrown(text))

    async def _fail_as_thrown(self, text: str) -> None:
        """Checks the memory once more: between two checks the run may have used all memory, and been refused more."""
        if self._is_too_much(await self._isolate.most_grown_bytes()):
            self._fail("memory", memory_text(self._limits))
        else:
            self._fail("throw", text)

    async def _answer(self, kind: str, call_id: int, body: dict[str, Any], blob: bytes) -> None:
        answer: dict[str, Any]
        answer_blob: bytes | bytearray
        try:
            answer, answer_blob = await self._operate(kind, body, blob)
        except OperationRefused as refused:
            answer, answer_blob = {"error": {"name": refused.name, "message": str(refused)}}, b""
        except Exception:  # noqa: BLE001 - the failure is ours; the text must not contain its data
            if not self.answered:
                text = f"The operation {kind[:32]} failed inside the service. Nothing was charged; run it again."
                self._fail("host", text)
            return
        if is_large(answer):
            head = await offload(pack_head, {"id": call_id, **answer}, len(answer_blob))
        else:
            head = pack_head({"id": call_id, **answer}, len(answer_blob))
        self._isolate.write(head)
        if answer_blob:
            self._isolate.write(answer_blob)  # not copied: a copy of a large answer blocks the event loop
        if self._held:
            del answer_blob
            await self._isolate.drained()
            self._let_go()

    async def _operate(self, kind: str, body: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | bytearray]:
        if kind == "fetch":
            return await self._fetch(body, blob)
        if kind == "import":
            return await self._import(body)
        return {"value": await self._key_operation(kind, body)}, b""

    # --- operations ---------------------------------------------------------------------------------------------

    async def _key_operation(self, kind: str, body: dict[str, Any]) -> str:
        host = self._host
        if kind in _KEY_OPERATIONS:
            self._key_operations += 1
            if self._key_operations > self._limits.max_get_keys_count:
                self._trace.add("key", operation=kind, refused="limit")
                raise OperationRefused(
                    f"Too many key operations, maximum {self._limits.max_get_keys_count} per execution"
                )
        operation: Awaitable[str]
        if kind == "wallet_key":
            operation = host.get_private_key(str(body["pkpId"]))
        elif kind == "action_key":
            operation = host.get_action_private_key()
        elif kind == "action_public_key":
            operation = host.get_action_public_key(str(body["ipfsId"]))
        elif kind == "action_address":
            operation = host.get_action_wallet_address(str(body["ipfsId"]))
        elif kind == "encrypt":
            operation = host.encrypt(str(body["pkpId"]), str(body["message"]))
        elif kind == "decrypt":
            operation = host.decrypt(str(body["pkpId"]), str(body["ciphertext"]))
        else:
            raise BadFrame(f"an unknown call {kind[:32]!r}")
        event = "key" if kind in _KEY_OPERATIONS else kind
        since = self._trace.elapsed_s
        try:
            value = await operation
        except OperationRefused as refused:
            self._trace.timed(event, since, operation=kind, refused=str(refused))
            raise
        self._trace.timed(event, since, operation=kind)
        return value

    async def _fetch(self, body: dict[str, Any], blob: bytes) -> tuple[dict[str, Any], bytes | bytearray]:
        self._fetches += 1
        method, url = str(body["method"]), str(body["url"])
        parts = urlsplit(url)
        about = {"method": method[:MAX_TRACE_METHOD_CHARS], "host": (parts.hostname or "")[:MAX_TRACE_HOST_CHARS]}
        if self._fetches > self._limits.max_fetch_count:
            self._trace.add("fetch", **about, refused="limit")
            raise OperationRefused(f"Too many outbound requests, maximum {self._limits.max_fetch_count} per execution")
        if parts.scheme in {"data", "blob"}:
            self._trace.add("fetch", method=about["method"], host="", scheme=parts.scheme)
            return {"local": True}, b""
        headers = tuple((str(name), str(value)) for name, value in body["headers"])
        request = FetchRequest(method, url, headers, blob if body["hasBody"] else None, str(body["redirect"]))
        since = self._trace.add("fetch", **about, phase="start")
        try:
            answer = await self._host.fetch(request, self._limits)
        except OperationRefused as refused:
            self._trace.timed("fetch", since, **about, refused=str(refused))
            raise
        except asyncio.CancelledError:
            if not self._finished.done():
                self._trace.timed("fetch", since, **about, refused="aborted")
            raise
        self._trace.timed("fetch", since, **about, status=answer.status, bytes=len(answer.body))
        self._held += answer.held
        meta = {
            "status": answer.status,
            "statusText": answer.status_text,
            "headers": answer.headers,
            "url": answer.url,
            "redirected": answer.redirected,
        }
        return meta, answer.body

    async def _import(self, body: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
        importer = body.get("importer")
        module = await self._host.package(str(body["specifier"]), None if importer is None else str(importer))
        source = module.source.encode()
        self._trace.add("import", name=module.name, bytes=len(source))
        about = {"name": module.name, "integrity": module.integrity, "bytes": len(source)}
        return {**about, "source": module.source}, b""

    # --- the end ------------------------------------------------------------------------------------------------

    def _lost(self) -> None:
        if not self._finished.done() and not self.answered:
            self._do(_AUTOPSY, self._autopsy())

    async def _autopsy(self) -> None:
        how, last_words = await self._isolate.died()
        if _OUT_OF_MEMORY.search(last_words):
            self._fail("memory", memory_text(self._limits))
        else:
            self._trace.add("lost", status=how.status)
            self._fail("host", HOST_LOST_TEXT)

    def _fail(self, kind: ErrorKind, text: str) -> None:
        self._finish(ok=False, error=text, error_kind=kind)

    def _finish(
        self, *, ok: bool, response: object = None, error: str | None = None, error_kind: ErrorKind | None = None
    ) -> None:
        if self._finished.done():
            return
        self._trace.add("end", ok=ok, **({} if ok else {"error_kind": error_kind}))
        self._finished.set_result(
            Outcome(
                ok=ok,
                response=response,
                logs="".join(self._logs),
                trace=self._trace,
                elapsed_s=self._trace.elapsed_s,
                error=error,
                error_kind=error_kind,
            )
        )


def response_value(stored: bytes) -> object:
    """The answer's value for a stored response: its JSON value, else the text itself (reference facts 5.2)."""
    text = stored.decode(errors="replace")
    if not text or deeper_than(stored, _MAX_RESPONSE_DEPTH):
        return text
    try:
        value = _PARSE(text)
        # A lone surrogate written as an escape is valid JSON, but UTF-8 cannot encode it.
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode()
    except ValueError:
        return text
    return value


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no JSON")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("no finite number")
    return value


# Created once: creating a decoder takes longer than decoding most responses.
_PARSE = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite).decode
