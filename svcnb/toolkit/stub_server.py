"""Local HTTP server that replaces an external service in tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.nesting import parse

_MAX_BODY_BYTES: Final = 1 << 20


@dataclass(frozen=True)
class Request:
    """Request that a `StubServer` received.

    Attributes:
        method: ``GET`` or ``POST``.
        path: Path with the query.
        headers: Headers, with lowercase names as keys.
        body: Body. Empty for ``GET``.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Body, parsed as JSON."""
        return parse(self.body.decode())


@dataclass(frozen=True)
class Response:
    """Response of a `StubServer` that needs its own status or headers.

    Attributes:
        body: String to send unchanged, or another value to send as JSON.
        status: HTTP status.
        headers: Additional headers, for example ``{"location": "..."}``.
    """

    body: Any = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class StubServer:
    """HTTP server with predefined responses, so that actions with outbound requests run without a network.

    Pass the `host` of the server in the emulator's setting ``allow_address``. Otherwise, actions cannot access this
    machine.

    Args:
        answers: Response for each path, without the query: a `Response`, a string to send unchanged, or another value
            to send as JSON. If the response is a function, the server calls the function with the `Request`, and sends
            its result. Paths without a response return 404. None means that all paths return 404. You can change the
            attribute `answers` at any time.

    Attributes:
        answers: Response for each path, as a dictionary.
        requests: Requests that the server received, oldest first.

    Example:
        >>> with StubServer({"/price": {"price": "3141.59"}}) as prices:
        ...     prices.url.startswith("http://127.0.0.1:")
        True
    """

    def __init__(self, answers: Mapping[str, Any] | None = None) -> None:
        self.answers: dict[str, Any] = dict(answers or {})
        self.requests: list[Request] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    @property
    def host(self) -> str:
        """Address and port of the server, for the emulator's setting ``allow_address``."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """URL of the server, without a trailing slash."""
        return f"http://{self.host}"

    def close(self) -> None:
        """Stops the server and closes its port. The attribute `requests` remains available."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"StubServer({', '.join(sorted(self.answers))})"

    def respond(self, request: Request) -> Response:
        """Records a request and returns its response.

        Raises:
            MalformedValue: The response cannot be sent as JSON.
        """
        self.requests.append(request)
        answer = self.answers.get(request.path.partition("?")[0], Response(status=404))
        if isinstance(answer, Callable):  # type: ignore[arg-type]
            answer = answer(request)
        answer = answer if isinstance(answer, Response) else Response(answer)
        try:
            body = answer.body if isinstance(answer.body, str) else json.dumps(answer.body)
        except (TypeError, ValueError) as error:
            raise MalformedValue(
                f"the response for {request.path} cannot be sent as JSON: {error}",
                hint="Pass a value that JSON can represent, or a Response with a string.",
            ) from error
        return Response(body, answer.status, answer.headers)


def _handler(owner: StubServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            self._answer()

        def _answer(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            if size > _MAX_BODY_BYTES:
                self.send_error(413)
                return
            headers = {name.lower(): value for name, value in self.headers.items()}
            answer = owner.respond(Request(self.command, self.path, headers, self.rfile.read(size)))
            body = answer.body.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name in the base class
            """Disables the log of the base class."""

    return Handler
