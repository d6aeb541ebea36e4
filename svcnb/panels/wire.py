"""Message protocol between the browser and the kernel for one panel.

All data are in custom messages, never in the widget's state, because Jupyter writes the state into saved notebooks.

Messages from the browser:

- ``hello``: a view opened
- ``command``: id, name, args
- ``cancel``: id
- ``shown``: id of an ask
- ``reply``: id of an ask, ok, value or error

Messages from the kernel:

- ``begun``: id
- ``progress``: id, text
- ``answer``: id, ok, value or error
- ``ask``: id, name, args
- ``settled``: id of an ask
- ``tell``: name, args

An error is an object: type, message, hint, consequences, and the panel where the user can fix it, if there is one.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from itertools import count
from typing import Any, Final

from svcnb.client.errors import InvalidArgument, SigningError, SvcnbError
from svcnb.logs import redact
from svcnb.panels.loop import BACKGROUND

Send = Callable[[dict[str, Any]], object]
Command = Callable[..., object]

SHOWN_WITHIN_S: Final = 20.0
"""Time limit for a view to show a question; after that, no view is assumed to show it."""

_PLACES: Final = {
    "Unauthorized": ("Account", "Create an account, or open one with its key."),
    "OutOfCredit": ("Account", "Add credit to the account."),
    "Forbidden": ("Permissions", "Allow the action in a group of this key, and the wallet in the same group."),
}
"""Where the user can fix an error of the service: the panel, and the fix."""

_LOG = logging.getLogger("svcnb.panels")
_current: ContextVar[str] = ContextVar("command")


def failure(error: BaseException) -> dict[str, Any]:
    """Displayed form of an error. Texts of this package's errors contain no secret; others are masked."""
    if isinstance(error, (asyncio.CancelledError, TimeoutError)) and not isinstance(error, SvcnbError):
        stopped = isinstance(error, asyncio.CancelledError)
        return {
            "type": "Cancelled" if stopped else "TimedOut",
            "message": "Stopped." if stopped else "That took too long.",
            "hint": "What had left already may still arrive; look before you do it again.",
            "consequences": [],
        }
    if isinstance(error, SvcnbError):
        hint = getattr(error, "fix", "") or error.hint
        told = list(getattr(error, "consequences", ()))
        head = getattr(error, "name", "") or type(error).__name__
        place, click = _PLACES.get(type(error).__name__, ("", ""))
        return {
            "type": head,
            "message": redact(error.message),
            "hint": redact("\n".join([click or hint, *getattr(error, "__notes__", ())]).strip()),
            "consequences": told,
        } | ({"place": place} if place else {})
    return {
        "type": type(error).__name__,
        "message": redact(str(error)) or "something went wrong that was not foreseen",
        "hint": "This is a fault of svcnb. The kernel's log has the details; please report them.",
        "consequences": [],
    }


class Channel:
    """The kernel's side of one panel's messages. Every command gets one answer, also if it fails.

    Messages may arrive on any thread. Commands run on the panels' own thread.

    Args:
        commands: Commands for the browser by name: plain or coroutine functions with keyword arguments.
        send: Sends a message to all views of the panel.
    """

    def __init__(self, commands: Mapping[str, Command], send: Send) -> None:
        self._commands = commands
        self._send = send
        self._running: dict[str, Future[None]] = {}
        self._asked: dict[str, tuple[dict[str, Any], Future[Any], threading.Event]] = {}
        self._lock = threading.Lock()
        self._numbers = count(1)

    # --- from the browser ---------------------------------------------------------------------------------------

    def receive(self, message: object) -> None:
        """Handles a message from the browser. Ignores unknown messages."""
        match message:
            case {"type": "command", "id": str(number), "name": str(name), **rest}:
                self._begin(number, name, rest.get("args"))
            case {"type": "cancel", "id": str(number)}:
                with self._lock:
                    running = self._running.get(number)
                if running is not None:
                    running.cancel()
            case {"type": "shown", "id": str(number)}:
                if (asked := self._asked.get(number)) is not None:
                    asked[2].set()
            case {"type": "reply", "id": str(number), "ok": bool(ok), **rest}:
                self._replied(number, rest.get("value") if ok else rest.get("error"), ok=ok)
            case {"type": "hello"}:
                with self._lock:
                    open_asks = [ask for ask, _, _ in self._asked.values()]
                for ask in open_asks:
                    self._send(ask)

    def _begin(self, number: str, name: str, args: object) -> None:
        self._send({"type": "begun", "id": number})
        with self._lock:
            running = BACKGROUND.submit(self._answer(number, name, args))
            self._running[number] = running
        running.add_done_callback(lambda _: self._ended(number))

    def _ended(self, number: str) -> None:
        with self._lock:
            self._running.pop(number, None)

    async def _answer(self, number: str, name: str, args: object) -> None:
        _current.set(number)
        try:
            answer = {"ok": True, "value": await self._perform(name, args)}
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the browser is told
            if not isinstance(error, (SvcnbError, asyncio.CancelledError, TimeoutError)):
                _LOG.exception("the command %s failed", name)
            answer = {"ok": False, "error": failure(error)}
        self._send({"type": "answer", "id": number, **answer})

    async def _perform(self, name: str, args: object) -> object:
        work = self._commands.get(name)
        if work is None or not isinstance(args, dict):
            raise InvalidArgument(
                f"this panel has no command {name!r}" if work is None else f"{name} takes its arguments by name",
                hint="Kernel and browser have different versions: restart the kernel and reload the page.",
            )
        try:
            inspect.signature(work).bind(**args)
        except TypeError as error:
            raise InvalidArgument(f"{name}: {error}", hint="Restart the kernel and reload the page.") from None
        if inspect.iscoroutinefunction(work):
            return await work(**args)
        # Outside the loop, so that commands of other panels continue.
        return await asyncio.to_thread(work, **args)

    # --- to the browser -----------------------------------------------------------------------------------------

    def tell(self, name: str, args: dict[str, Any]) -> None:
        """Sends a message to all views, without an answer."""
        self._send({"type": "tell", "name": name, "args": args})

    def progress(self, text: str) -> None:
        """Reports the progress of the calling command. Does nothing outside a command."""
        number = _current.get("")
        if number:
            self._send({"type": "progress", "id": number, "text": text})

    async def ask(self, name: str, args: dict[str, Any], *, within: float | None, shown: float = SHOWN_WITHIN_S) -> Any:
        """Asks the user of the panel, and waits for the answer. Can be awaited in any event loop.

        Args:
            name: Name of the question in the panel's browser side.
            args: Its arguments.
            within: Seconds until it is withdrawn; None waits without a limit.
            shown: Seconds in which at least one view must show it.

        Raises:
            SigningError: No view shows it, the user declined, or the time is over.
        """
        number = f"ask-{next(self._numbers)}"
        ask = {"type": "ask", "id": number, "name": name, "args": args}
        reply: Future[Any] = Future()
        seen = threading.Event()
        with self._lock:
            self._asked[number] = (ask, reply, seen)
        try:
            self._send(ask)
            answer = asyncio.ensure_future(asyncio.wrap_future(reply))
            done, _ = await asyncio.wait([answer], timeout=shown)
            if not done and not seen.is_set():
                answer.cancel()
                raise SigningError(
                    "no panel shows what is to be signed",
                    hint="Display the panel in a cell that has finished, and await this in a later one. A kernel that "
                    "hears nothing while a cell waits (ipykernel before 7) needs it in a task: "
                    "asyncio.create_task(...).",
                )
            return await _within(answer, within)
        finally:
            with self._lock:
                self._asked.pop(number, None)
            reply.cancel()
            self._send({"type": "settled", "id": number})

    def _replied(self, number: str, value: object, *, ok: bool) -> None:
        with self._lock:
            found = self._asked.pop(number, None)  # if two views answer, the first answer counts
        if found is None:
            return
        _, reply, _ = found
        if not reply.set_running_or_notify_cancel():
            return
        if ok:
            reply.set_result(value)
        else:
            told = value if isinstance(value, dict) else {}
            message = str(told.get("message") or "declined in the panel")
            reply.set_exception(SigningError(redact(message), hint=redact(str(told.get("hint") or ""))))


async def _within(answer: Awaitable[Any], seconds: float | None) -> Any:
    try:
        return await asyncio.wait_for(answer, seconds)
    except TimeoutError:
        raise SigningError(
            f"nobody answered within {seconds:g} s, and a signature made now would be too old",
            hint="Do it again: it is asked anew, with the present time.",
        ) from None
