"""HTTP server of a workshop.

The server receives results of exercises and the instructor's commands, serves the board, and starts lessons.

A learner's token authenticates the learner's notebooks. This token permits starting lessons, recording results and
reading unlocked solutions. The instructor's token permits all requests of the instructor and viewing the board. The
board's token permits only viewing the board.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import reprlib
import secrets
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import uvicorn
from pydantic import BaseModel, Field, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.control.errors import ControlRefused
from svcnb.protocol.limits import MAX_LEARNER_REQUESTS, MAX_WORKSHOP_BODY_BYTES
from svcnb.protocol.nesting import parse
from svcnb.workshop.connection import LimitedConnection
from svcnb.workshop.roster import Learner

if TYPE_CHECKING:
    from svcnb.workshop.workshop import Workshop

START_TIMEOUT_S: Final = 30.0
BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_LARGE = 400, 401, 403, 404, 413
UNPROCESSABLE, TOO_MANY, BAD_GATEWAY = 422, 429, 502


class Order(BaseModel):
    """Body of an instructor's command for one learner: the label of a saved state, or the learner's e-mail address."""

    label: str = Field("", max_length=200)
    email: str = Field("", max_length=200)


class Unlock(BaseModel):
    """Body of the command that unlocks solutions, with the numbers of the lessons. An empty list means all lessons."""

    lessons: list[int] = Field(default_factory=list, max_length=100)


class LessonStart(BaseModel):
    """Body of the request that the first cell of a lesson sends. `Workshop.start_lesson` describes the fields."""

    settings: dict[str, bool | int | float | str] = Field(default_factory=dict, max_length=20)
    notebook: str = Field("", max_length=4_096)
    resume: bool = False


class Verdict(BaseModel):
    """Result of checking a learner's answer, without the answer itself."""

    exercise: str
    right: bool


class WorkshopServer:
    """Running server of a workshop, which `Workshop.serve` starts.

    Args:
        room: Workshop that the server controls.
        host: Address to listen on.
        port: Port to listen on. 0 chooses a free port.
        url: Address that learners use for the server. None means ``http://``, the host and the port.
        instructor_token: Token for the instructor's requests and the board. None creates a new token.

    Attributes:
        url: Address of the server, without a slash at the end.
        port: Port on which the server listens.
        instructor_token: Token for the instructor's requests and the board.
        board_token: Token that permits only viewing the board.

    Raises:
        OSError: The port is in use, or the host or the port cannot be used.
        TimeoutError: The server did not respond within 30 seconds.
    """

    def __init__(
        self,
        room: Workshop,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        url: str | None = None,
        instructor_token: str | None = None,
    ) -> None:
        self.instructor_token: str = instructor_token or secrets.token_urlsafe(24)
        self.board_token: str = secrets.token_urlsafe(24)
        self._room = room
        listening = socket.create_server((host, port))
        self.port: int = int(listening.getsockname()[1])
        self.url: str = (url or f"http://{host}:{self.port}").rstrip("/")
        # More simultaneous starts than processor cores only delay each other.
        self._starts = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="svcnb-workshop-start")
        self._turns: dict[str, asyncio.Lock] = {}
        self._asked: Counter[str] = Counter()

        config = uvicorn.Config(
            self._app(),
            http=LimitedConnection,
            ws="none",
            log_config=None,
            log_level="error",  # do not log every malformed request
            access_log=False,
            lifespan="off",
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, daemon=True, name="svcnb-workshop-server"
        )
        self._thread.start()
        self._wait(listening)

    def __repr__(self) -> str:
        return "<WorkshopServer>"

    @property
    def board_url(self) -> str:
        """Address of the board's page. You can share the address, because its token permits only viewing the board."""
        return f"{self.url}/board?token={self.board_token}"

    def close(self) -> None:
        """Stops the server, and cancels lessons that wait for their start. Running emulators continue."""
        self._server.should_exit = True
        self._thread.join(START_TIMEOUT_S)
        self._starts.shutdown(wait=False, cancel_futures=True)

    def _wait(self, listening: socket.socket) -> None:
        # The socket already listens, so one request that waits for its response is sufficient. Polling is not
        # necessary.
        from http.client import HTTPConnection

        host, port = listening.getsockname()[:2]
        connection = HTTPConnection(host, port, timeout=START_TIMEOUT_S)
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        finally:
            connection.close()

    def _app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/health", self._health),
                Route("/board", self._board),
                Route("/board.json", self._board_json),
                Route("/progress", self._progress),
                Route("/solutions", self._unlock, methods=["POST"]),
                Route("/solutions/{notebook}", self._solution),
                Route("/learners/{name}/{verb}", self._teach, methods=["POST"]),
                Route("/faults", self._faults, methods=["POST", "DELETE"]),
                Route("/verdicts", self._verdict, methods=["POST"]),
                Route("/lessons/{lesson}", self._lesson, methods=["POST"]),
            ],
            exception_handlers={_Refused: _refuse, Exception: _fail},
        )

    # --- for the instructor ----------------------------------------------------------------------------------------

    async def _health(self, _request: Request) -> Response:
        return JSONResponse({"ok": True})

    async def _board(self, request: Request) -> Response:
        self._require_viewer(request)
        # This request can wait while the workshop adds a learner, but requests of other learners must not wait.
        board = await run_in_threadpool(self._room.board)
        return HTMLResponse(board.page(), headers={"Cache-Control": "no-store"})

    async def _board_json(self, request: Request) -> Response:
        self._require_viewer(request)
        return JSONResponse((await run_in_threadpool(self._room.board)).as_dict())

    async def _progress(self, request: Request) -> Response:
        """Returns the progress of all learners, with their e-mail addresses. Requires the instructor's token."""
        self._require_instructor(request)
        board = await run_in_threadpool(self._room.board)
        return JSONResponse(
            {"learners": board.report(), "heads": board.heads(), "rows": board.rows(), "csv": board.csv()}
        )

    async def _unlock(self, request: Request) -> Response:
        """Unlocks the solutions of lessons. Requires the instructor's token."""
        self._require_instructor(request)
        with _refusing("the lessons are invalid", 'Send a list of lesson numbers: {"lessons": [1, 2]}.'):
            order = Unlock.model_validate_json(await _body(request) or b"{}")
            return JSONResponse({"unlocked": await run_in_threadpool(self._room.unlock, *order.lessons)})

    async def _teach(self, request: Request) -> Response:
        """Adds or resets a learner, or saves or restores the learner's emulators. Requires the instructor's token."""
        self._require_instructor(request)
        name, verb = request.path_params["name"], request.path_params["verb"]
        fix = 'Send {} or an object, for example {"label": "start"}.'
        with _refusing("the body of the request is invalid", fix, NOT_FOUND):
            order = Order.model_validate_json(await _body(request) or b"{}")
            return JSONResponse(await run_in_threadpool(self._do, name, verb, order))

    def _do(self, name: str, verb: str, order: Order) -> dict[str, Any]:
        if verb in {"add", "reset"}:
            learner = self._room.add(name, order.email) if verb == "add" else self._room.reset(name)
            return {"name": learner.name, "environment": self._room.environment(learner.name)}
        if verb in {"save", "restore"}:
            getattr(self._room, verb)(name, order.label)
            return {"label": order.label}
        raise InvalidArgument(f"unknown command {verb[:20]!r}", hint="Use add, reset, save or restore.")

    async def _faults(self, request: Request) -> Response:
        """Injects a fault into all running emulators, or deletes their faults. Requires the instructor's token."""
        self._require_instructor(request)
        with _refusing("the body is not valid JSON", "Send a JSON object."):
            order = parse(await _body(request) or b"null")
            return JSONResponse({"emulators": await run_in_threadpool(self._inject, request.method, order)})

    def _inject(self, method: str, order: Any) -> int:
        running = self._room.running()
        for each in running:
            each.request(method, "/faults", order)
        return len(running)

    def _require_instructor(self, request: Request) -> None:
        # Never read the token from the URL, because programs display, store and forward URLs.
        if not _is(_bearer(request), self.instructor_token):
            raise _Refused(
                UNAUTHORIZED,
                f"the token of the instructor is {'invalid' if _bearer(request) else 'missing'}",
                'Send the header "Authorization: Bearer TOKEN", where TOKEN is the token in the file server.json.',
            )

    def _require_viewer(self, request: Request) -> None:
        given = _bearer(request) or request.query_params.get("token", "")
        if not (_is(given, self.board_token) | _is(_bearer(request), self.instructor_token)):
            raise _Refused(
                UNAUTHORIZED,
                f"the token of the board is {'invalid' if given else 'missing'}",
                "Open the address that the file board.url in the workshop's folder contains.",
            )

    # --- for learners -------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _turn(self, learner: Learner) -> AsyncIterator[None]:
        """Context manager that processes a learner's requests one at a time.

        One learner can therefore not occupy all threads. If a learner already has `MAX_LEARNER_REQUESTS` unfinished
        requests, the context manager rejects the new request.
        """
        if self._asked[learner.name] >= MAX_LEARNER_REQUESTS:
            raise _Refused(
                TOO_MANY,
                f"{MAX_LEARNER_REQUESTS} of your requests are unfinished, which is the maximum",
                "Wait for the responses to these requests.",
            )
        self._asked[learner.name] += 1
        try:
            async with self._turns.setdefault(learner.name, asyncio.Lock()):
                yield
        finally:
            self._asked[learner.name] -= 1

    def _learner(self, request: Request) -> Learner:
        with _refusing(status=UNAUTHORIZED):
            return self._room.roster.of_token(_bearer(request))

    async def _verdict(self, request: Request) -> Response:
        learner = self._learner(request)
        with _refusing("the result of the exercise is invalid", "Send the fields 'exercise' and 'right'."):
            verdict = Verdict.model_validate_json(await _body(request))
            async with self._turn(learner):
                await run_in_threadpool(self._room.record, learner.name, verdict.exercise, right=verdict.right)
        return JSONResponse({"ok": True, "solutions": self._room.roster.unlocked})

    async def _solution(self, request: Request) -> Response:
        """Returns the notebook with an unlocked solution. Requires a learner's token."""
        self._learner(request)
        with _refusing(status=FORBIDDEN):
            text = await run_in_threadpool(self._room.solution, request.path_params["notebook"])
        return JSONResponse({"notebook": text})

    async def _lesson(self, request: Request) -> Response:
        """Starts a lesson's emulator, or responds that the learner's machine must start the emulator."""
        learner, unlocked = self._learner(request), {"solutions": self._room.roster.unlocked}
        with _refusing(
            "the lesson cannot start, because the body of the request is invalid",
            "Send a JSON object. Its fields 'settings', 'notebook' and 'resume' are optional.",
        ):
            order = LessonStart.model_validate_json(await _body(request) or b"{}")
            async with self._turn(learner):
                await run_in_threadpool(self._room.arrive, learner.name, request.path_params["lesson"])
            if self._room.emulators is None:
                return JSONResponse(unlocked)
            start = partial(self._room.start_lesson, notebook=order.notebook, resume=order.resume)
            start = partial(start, learner.name, request.path_params["lesson"], order.settings)
            async with self._turn(learner):
                # Starts run in separate threads, so that the board and the results do not wait for them.
                emulator = await asyncio.get_running_loop().run_in_executor(self._starts, start)
        return JSONResponse(emulator.connection() | unlocked)


class _Refused(Exception):
    """Exception for a rejected request, with the status, the reason and the next step for the error response."""

    def __init__(self, status: int, message: str, fix: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.answer = {"error": "refused", "message": message, "fix": fix or ""}


@contextmanager
def _refusing(what: str = "", fix: str = "", status: int = UNPROCESSABLE) -> Iterator[None]:
    """Context manager that converts errors to error responses.

    Args:
        what: Start of the message about an invalid body. A colon and the problem follow.
        fix: How to fix an invalid body.
        status: Status for a value that the workshop rejects.
    """
    try:
        yield
    except ControlRefused as error:
        raise _Refused(error.status, error.message, error.hint) from None
    except InvalidArgument as error:
        raise _Refused(status, error.message, error.hint) from None
    except SvcnbError as error:
        raise _Refused(BAD_GATEWAY, error.message, error.hint) from None
    except ValueError as error:
        raise _Refused(UNPROCESSABLE, f"{what}: {_problem(error)}", fix) from None


async def _refuse(_request: Request, error: Exception) -> Response:
    if not isinstance(error, _Refused):
        raise error
    headers = {"Retry-After": "1"} if error.status == TOO_MANY else None
    return JSONResponse(error.answer, status_code=error.status, headers=headers)


async def _fail(_request: Request, _error: Exception) -> Response:
    answer = {"error": "failed", "message": "the workshop server failed", "fix": "Contact your instructor."}
    return JSONResponse(answer, status_code=500)


def _problem(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return str(error)
    first = error.errors(include_url=False, include_context=False)[0]
    said = ": ".join([".".join(map(str, first["loc"])), first["msg"]]).removeprefix(": ")
    return f"{said}, got {reprlib.repr(first['input'])}"


def _is(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


def _bearer(request: Request) -> str:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


async def _body(request: Request) -> bytes:
    raw = b""
    try:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > MAX_WORKSHOP_BODY_BYTES:
                raise _Refused(
                    TOO_LARGE, "the request body is too large", f"Send at most {MAX_WORKSHOP_BODY_BYTES} bytes."
                )
    except ClientDisconnect:  # without a traceback in the instructor's terminal, because no client reads the response
        raise _Refused(BAD_REQUEST, "the request did not arrive completely", "Send the request again.") from None
    return raw
