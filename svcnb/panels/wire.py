"""Message protocol between the browser and the kernel for one panel.

Commands and their responses are custom messages, which Jupyter does not save. Only the widget's traits are part of its
state, which Jupyter writes into saved notebooks.

Messages from the browser:

- ``hello``, when a view opens
- ``command``: id, name, args
- ``cancel``: id
- ``shown``: id of an ``ask`` message
- ``reply``: id of an ``ask`` message, ok, and either value or error

Messages from the kernel:

- ``begun``: id
- ``progress``: id, text
- ``answer``: id, ok, and either value or error
- ``ask``: id, name, args
- ``settled``: id of an ``ask`` message
- ``tell``: name, args

An error is an object with the fields ``type``, ``message``, ``hint`` and ``consequences``. If the user can fix the
error in another panel, ``place`` is the name of that panel. If a field of this panel contains an invalid value,
``field`` is the name of that field. If a wallet cannot pay the gas, ``wallet`` is the address of the wallet.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any, Final

from svcnb.client.chain.writes import NO_GAS
from svcnb.client.errors import (
    EXPIRED_HINT,
    BadRequest,
    ChainError,
    Forbidden,
    InvalidArgument,
    SigningError,
    SvcnbError,
)
from svcnb.logs import redact
from svcnb.panels.loop import BACKGROUND
from svcnb.protocol.nesting import parse

Send = Callable[[dict[str, Any]], object]
Command = Callable[..., object]

SHOWN_WITHIN_S: Final = 20.0
"""Time limit for a view to show a question, in seconds. Afterwards, the kernel assumes that no view is open."""

_PLACES: Final = {
    "Unauthorized": ("Account", "Create an account, or open an account with its key."),
    "OutOfCredit": ("Account", "Add credit to the account."),
    "Forbidden": ("Permissions", "Permit the action and the wallet in the same group of this key."),
}
"""Panel and fix for each service error that the user can fix."""

_FORBIDDEN: Final = {
    EXPIRED_HINT: "The key has expired. Use another key, or renew this key with the account key. In ChainSecured mode, "
    "the owner renews the key.",
    Forbidden.default_hint: "The usage key does not have the permission, or has expired. In ChainSecured mode, only "
    "the owner's wallet can change the account.",
}
"""Fix for status 403, by the hint of the error. For any other hint, the panel shows the fix in `_PLACES`."""

_OF_INPUT: Final = (BadRequest, InvalidArgument)
"""Errors about a value that the user entered."""

_LOG = logging.getLogger("svcnb.panels")
_current: ContextVar[str] = ContextVar("command")


@contextmanager
def field(name: str, *also: type[SvcnbError]) -> Iterator[None]:
    """Context manager that marks errors about an entered value with the name of its field.

    The panel shows these errors next to the field.

    Args:
        name: Name of the field in the panel's browser side.
        *also: Other errors that this value can cause.
    """
    kinds: tuple[type[SvcnbError], ...] = (*_OF_INPUT, *also)
    try:
        yield
    except kinds as error:
        vars(error).setdefault("panel_field", name)
        raise


def parsed(text: str, what: str = "the parameters") -> Any:
    """Returns the value of JSON text that the user entered, or None if the text is empty.

    Raises:
        InvalidArgument: The text is not valid JSON. The message calls the value ``what``.
    """
    try:
        return parse(text) if text.strip() else None
    except ValueError as error:
        raise InvalidArgument(
            f"invalid JSON in {what}: {error}",
            hint='Write JSON with double quotes and without a trailing comma, for example {"n": 41}.',
        ) from None


def pretty(value: object) -> str:
    """Returns a value as JSON text with several lines.

    Raises:
        InvalidArgument: JSON cannot represent the value.
    """
    try:
        return json.dumps(value, indent=2, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"the parameters cannot be written as JSON: {error}",
            hint="Use only strings, numbers, booleans, None, lists and dicts.",
        ) from None


def failure(error: BaseException) -> dict[str, Any]:
    """Returns an error as the object that the browser shows.

    The function masks secrets in the message and in the hint of the error.
    """
    if isinstance(error, (asyncio.CancelledError, TimeoutError)) and not isinstance(error, SvcnbError):
        stopped = isinstance(error, asyncio.CancelledError)
        return {
            "type": "Cancelled" if stopped else "TimedOut",
            "message": "the operation was stopped" if stopped else "the operation took too long",
            "hint": "Requests that were already sent can still take effect. Check the result before you try again.",
            "consequences": [],
        }
    if isinstance(error, SvcnbError):
        hint = getattr(error, "fix", "") or error.hint
        told = list(getattr(error, "consequences", ()))
        head = getattr(error, "name", "") or type(error).__name__
        place, click = _PLACES.get(type(error).__name__, ("", ""))
        if isinstance(error, Forbidden):
            click = _FORBIDDEN.get(error.hint, click)
        about = vars(error).get("panel_field", "")
        wallet = str(error.arguments[0]) if isinstance(error, ChainError) and error.name == NO_GAS else ""
        if wallet:
            click = "Send ETH on this chain to the wallet, for example from another wallet. Then repeat the operation."
        return {
            "type": head,
            "message": redact(error.message),
            "hint": redact("\n".join([click or hint, *getattr(error, "__notes__", ())]).strip()),
            "consequences": told,
        } | {name: value for name, value in (("place", place), ("field", about), ("wallet", wallet)) if value}
    return {
        "type": type(error).__name__,
        "message": redact(str(error)) or "an unexpected error occurred",
        "hint": "This is a bug in svcnb. Report the bug with the details from the log of the kernel.",
        "consequences": [],
    }


class Channel:
    """Kernel side of one panel's messages. The kernel sends one response to each command, even to a failed command.

    Messages can arrive on any thread. Coroutine functions run on the event loop of the panels, and plain functions on
    worker threads.

    Args:
        commands: Commands for the browser by name: plain or coroutine functions with keyword arguments.
        send: Function that sends a message to all views of the panel.
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
        """Handles a message from the browser. The method ignores unknown messages."""
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
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the browser receives the error
            if not isinstance(error, (SvcnbError, asyncio.CancelledError, TimeoutError)):
                _LOG.exception("the panel command %s failed", name)
            answer = {"ok": False, "error": failure(error)}
        self._send({"type": "answer", "id": number, **answer})

    async def _perform(self, name: str, args: object) -> object:
        work = self._commands.get(name)
        hint = "Restart the kernel and reload the page, because they use different versions of svcnb."
        if work is None or not isinstance(args, dict):
            absent = f"this panel has no command {name!r}"
            raise InvalidArgument(absent if work is None else f"{name} requires its arguments by name", hint=hint)
        try:
            inspect.signature(work).bind(**args)
        except TypeError as error:
            raise InvalidArgument(f"invalid arguments of the panel's command {name}: {error}", hint=hint) from None
        if inspect.iscoroutinefunction(work):
            return await work(**args)
        # Run outside the loop, so that commands of other panels continue.
        return await asyncio.to_thread(work, **args)

    # --- to the browser -----------------------------------------------------------------------------------------

    def tell(self, name: str, args: dict[str, Any]) -> None:
        """Sends a message to all views. The views do not respond."""
        self._send({"type": "tell", "name": name, "args": args})

    def progress(self, text: str) -> None:
        """Reports the progress of the calling command. Outside a command, the method has no effect."""
        number = _current.get("")
        if number:
            self._send({"type": "progress", "id": number, "text": text})

    async def ask(self, name: str, args: dict[str, Any], *, within: float | None, shown: float = SHOWN_WITHIN_S) -> Any:
        """Shows a question to the user of the panel, and returns the reply. The method can run in any event loop.

        Args:
            name: Name of the question in the panel's browser side.
            args: Arguments of the question.
            within: Time limit in seconds, after which the panel cancels the question. None means no limit.
            shown: Time in seconds within which at least one view must show the question.

        Raises:
            SigningError: No view shows the question, the user declined, or no reply arrived within the time limit.
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
                    "none of the displayed panels can show this request to the user",
                    hint=(
                        "Display the panel in one cell, and await this call in a later cell. With ipykernel before "
                        "version 7, start the call as a task: asyncio.create_task(...)."
                    ),
                )
            return await asyncio.wait_for(answer, within)
        except TimeoutError:
            raise SigningError(
                f"the user did not respond in the panel within {within:g} seconds, so the panel cancelled the request",
                hint="Repeat the call, and respond in the panel in time.",
            ) from None
        finally:
            with self._lock:
                self._asked.pop(number, None)
            reply.cancel()
            self._send({"type": "settled", "id": number})

    def _replied(self, number: str, value: object, *, ok: bool) -> None:
        with self._lock:
            found = self._asked.pop(number, None)  # if two views reply, use the first reply
        if found is None:
            return
        _, reply, _ = found
        if not reply.set_running_or_notify_cancel():
            return
        if ok:
            reply.set_result(value)
        else:
            told = value if isinstance(value, dict) else {}
            message = str(told.get("message") or "the user declined the request in the panel")
            reply.set_exception(SigningError(redact(message), hint=redact(str(told.get("hint") or ""))))
