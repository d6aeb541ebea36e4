"""The teacher's desk: a small server beside the emulator, which learners' notebooks talk to.

It keeps the control plane's secret. A learner's token opens what harms nobody else (ETH from the faucet, a contract
wallet, the approval of a triggers token, the outcome of a payment, a run's trace) and takes verdicts of exercises;
what would change the world of all (time, faults, reset, snapshots, the network) is the teacher's.
"""

from __future__ import annotations

import hmac
import re
import secrets
import socket
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field, ValidationError

from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.control.errors import ControlRefused, EmulatorUnreachable
from svcnb.protocol.nesting import parse
from svcnb.workshop.roster import Learner, UnknownLearner

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    from svcnb.workshop.workshop import Workshop

START_TIMEOUT_S: Final = 30.0
MAX_BODY_BYTES: Final = 65_536
UNAUTHORIZED, FORBIDDEN, NOT_FOUND, TOO_LARGE, UNPROCESSABLE, BAD_GATEWAY = 401, 403, 404, 413, 422, 502

HARMLESS: Final = re.compile(
    r"GET /state|GET /runs/[\w-]+|POST /faucet|POST /contract-wallets|POST /agents/approve|POST /processor/pi_\w+"
)
"""What a learner may ask of the control plane."""
APPROVAL: Final = "agents/approve"

_WRITES: Final = frozenset({"POST", "PUT", "PATCH"})
_EVERYBODY: Final = "All learners share this emulator, so its time, faults, snapshots and network are the teacher's."


class Order(BaseModel):
    """What a teacher wants done with one learner."""

    label: str = Field("", max_length=200)


class Verdict(BaseModel):
    """What a learner's notebook tells of an answer; never the answer itself."""

    exercise: str
    right: bool


class Desk:
    """A running desk; `Workshop.open_desk` opens it.

    Args:
        room: The workshop.
        host: Address to listen on.
        port: Port; 0 takes a free one.
        url: Its address as learners reach it, where that is another than host and port.

    Attributes:
        url: Its address.
        teacher_token: Opens everything here.
        board_token: Opens the board, for looking only.

    Raises:
        OSError: The port is taken.
        TimeoutError: It did not start.
    """

    def __init__(self, room: Workshop, *, host: str = "127.0.0.1", port: int = 0, url: str | None = None) -> None:
        import uvicorn

        self.teacher_token = secrets.token_urlsafe(24)
        self.board_token = secrets.token_urlsafe(24)
        self._room = room
        listening = socket.create_server((host, port))
        self.url = (url or f"http://{host}:{listening.getsockname()[1]}").rstrip("/")
        config = uvicorn.Config(self._app(), log_config=None, access_log=False, lifespan="off")
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [listening]}, daemon=True, name="svcnb-workshop-desk"
        )
        self._thread.start()
        self._wait(listening)

    def __repr__(self) -> str:
        return "<Desk>"

    @property
    def board_url(self) -> str:
        """The board's page, with a token that can only view the board: it may be shown to everyone."""
        return f"{self.url}/board?token={self.board_token}"

    def close(self) -> None:
        """Stops it."""
        self._server.should_exit = True
        self._thread.join(START_TIMEOUT_S)

    def _wait(self, listening: socket.socket) -> None:
        # The socket listens already, so a first request waits until it is answered: no polling.
        from http.client import HTTPConnection

        host, port = listening.getsockname()[:2]
        connection = HTTPConnection(host, port, timeout=START_TIMEOUT_S)
        try:
            connection.request("GET", "/health")
            connection.getresponse().read()
        finally:
            connection.close()

    def _app(self) -> Starlette:
        from starlette.applications import Starlette
        from starlette.routing import Route

        return Starlette(
            routes=[
                Route("/health", self._health),
                Route("/board", self._board),
                Route("/board.json", self._board_json),
                Route("/learners/{name}/{verb}", self._teach, methods=["POST"]),
                Route("/teacher/{path:path}", self._teacher_control, methods=["GET", "POST", "DELETE"]),
                Route("/verdicts", self._verdict, methods=["POST"]),
                Route("/control/{path:path}", self._control, methods=["GET", "POST", "DELETE"]),
            ],
            exception_handlers={_Refused: _refuse},
        )

    # --- for the teacher ----------------------------------------------------------------------------------------

    async def _health(self, _request: Request) -> Response:
        from starlette.responses import JSONResponse

        return JSONResponse({"ok": True})

    async def _board(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import HTMLResponse

        self._require_viewer(request)
        # Which waits while a learner is given a place; the other learners must not.
        board = await run_in_threadpool(self._room.board)
        return HTMLResponse(board.page(), headers={"Cache-Control": "no-store"})

    async def _board_json(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        self._require_viewer(request)
        return JSONResponse((await run_in_threadpool(self._room.board)).as_dict())

    async def _teach(self, request: Request) -> Response:
        """Adds, resets, saves or restores one learner."""
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        self._require_teacher(request)
        name, verb = request.path_params["name"], request.path_params["verb"]
        try:
            order = Order.model_validate_json(await _body(request) or b"{}")
            return JSONResponse(await run_in_threadpool(self._do, name, verb, order.label))
        except ValidationError as error:
            raise _Refused(UNPROCESSABLE, str(error).partition("\n")[0], "Send {} or a label.") from None
        except InvalidArgument as error:
            raise _Refused(NOT_FOUND, error.message, error.hint) from None
        except SvcnbError as error:
            raise _Refused(BAD_GATEWAY, error.message, error.hint) from None

    def _do(self, name: str, verb: str, label: str) -> dict[str, Any]:
        if verb in {"add", "reset"}:
            getattr(self._room, verb)(name)
            return {"environment": self._room.environment(name)}
        if verb == "save":
            self._room.save(name, label)
            return {"saved": label}
        if verb == "restore":
            return self._room.restore(name, label).model_dump()
        raise InvalidArgument(f"nobody can {verb[:20]!r} a learner", hint="add, reset, save or restore.")

    async def _teacher_control(self, request: Request) -> Response:
        """The control plane, whole: faults, time, snapshots of the room."""
        self._require_teacher(request)
        return await self._pass_on(request)

    def _require_teacher(self, request: Request) -> None:
        # Never from the address: addresses are shown, kept in histories and sent on.
        if not _is(_bearer(request), self.teacher_token):
            raise _Refused(
                UNAUTHORIZED, "This needs the teacher's token.", "Send Authorization: Bearer <desk.teacher_token>."
            )

    def _require_viewer(self, request: Request) -> None:
        given = _bearer(request) or request.query_params.get("token", "")
        if not (_is(given, self.board_token) | _is(_bearer(request), self.teacher_token)):
            raise _Refused(
                UNAUTHORIZED, "The board needs its token.", "Open the address that was printed at the start."
            )

    # --- for learners -------------------------------------------------------------------------------------------

    def _learner(self, request: Request) -> Learner:
        try:
            return self._room.roster.of_token(_bearer(request))
        except UnknownLearner as error:
            raise _Refused(UNAUTHORIZED, error.message, error.hint) from None

    async def _verdict(self, request: Request) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        learner = self._learner(request)
        try:
            verdict = Verdict.model_validate_json(await _body(request))
            await run_in_threadpool(self._room.record, learner.name, verdict.exercise, right=verdict.right)
        except (ValidationError, InvalidArgument) as error:
            text = str(error).partition("\n")[0]
            raise _Refused(UNPROCESSABLE, f"This is no verdict: {text}", "Send exercise and right.") from None
        return JSONResponse({"ok": True})

    async def _control(self, request: Request) -> Response:
        learner = self._learner(request)
        path = request.path_params["path"]
        if HARMLESS.fullmatch(f"{request.method} /{path}") is None:
            raise _Refused(FORBIDDEN, _EVERYBODY, "Go on with the next cell, or ask your teacher to do it for all.")
        # Whose triggers a token opens is decided here, not by the learner who asks.
        return await self._pass_on(request, {"email": learner.email} if path == APPROVAL else {})

    async def _pass_on(self, request: Request, fixed: Mapping[str, str] = MappingProxyType({})) -> Response:
        from starlette.concurrency import run_in_threadpool
        from starlette.responses import JSONResponse

        path, raw = f"/{request.path_params['path']}", await _body(request)
        try:
            return JSONResponse(await run_in_threadpool(self._forward, request.method, path, raw, fixed))
        except ControlRefused as error:
            raise _Refused(error.status, error.message, error.hint) from None
        except EmulatorUnreachable as error:
            raise _Refused(BAD_GATEWAY, error.message, error.hint) from None
        except ValueError:
            raise _Refused(UNPROCESSABLE, "The body is no JSON.", "Send a JSON object.") from None

    def _forward(self, method: str, path: str, raw: bytes, fixed: Mapping[str, str]) -> Any:
        body = parse(raw or b"{}") if method in _WRITES else None
        if fixed:
            if not isinstance(body, dict):
                raise ValueError("not an object")
            body |= fixed
        return self._room.emulator.request(method, path, body)


class _Refused(Exception):
    """What the desk does not do, with the status, the reason and the next step."""

    def __init__(self, status: int, message: str, fix: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.answer = {"error": "refused", "message": message, "fix": fix or ""}


async def _refuse(_request: Request, error: Exception) -> Response:
    from starlette.responses import JSONResponse

    if not isinstance(error, _Refused):
        raise error
    return JSONResponse(error.answer, status_code=error.status)


def _is(given: str, secret: str) -> bool:
    return hmac.compare_digest(given.encode(), secret.encode())


def _bearer(request: Request) -> str:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" else ""


async def _body(request: Request) -> bytes:
    raw = b""
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_BODY_BYTES:
            raise _Refused(TOO_LARGE, "This is too long.", f"At most {MAX_BODY_BYTES} bytes.")
    return raw
