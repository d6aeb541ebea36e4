"""Execution of a trigger run with the same ``POST`` request as from a client.

By default, the executor passes the request to the emulator's own application without a socket. The same checks, prices
and time limits apply as for a request of a client. If the settings contain an execution URL, the executor sends the
request over HTTP to another service, for example the live service.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from svcnb.emulator.platform.offload import LARGE_BYTES, is_large, offload
from svcnb.emulator.triggers.outcomes import Answer
from svcnb.in_process import ask
from svcnb.protocol.limits import MAX_RUN_ANSWER_BYTES
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    import httpx
    from starlette.types import ASGIApp

_API: Final = "/core/v1"
_CONNECT_S: Final = 10.0


@dataclass(frozen=True)
class RunCall:
    """Data of one HTTP request that executes a trigger run.

    Attributes:
        run_id: Id of the run, sent as the correlation id.
        usage_key: Decrypted usage key of the trigger, sent as the API key.
        code: Source of the action.
        params: JSON object that the action's ``main`` function receives.
    """

    run_id: str
    usage_key: str
    code: str
    params: Any

    def __repr__(self) -> str:
        return f"RunCall(run_id={self.run_id!r})"

    def headers(self) -> list[tuple[bytes, bytes]]:
        """Returns the request headers: the content type, the usage key and the correlation id."""
        # A stored key can be any string. If a header cannot contain the key, send a changed key. The service then
        # responds with status 401.
        key = self.usage_key.encode("latin-1", "replace").replace(b"\r", b"?").replace(b"\n", b"?")
        return [
            (b"content-type", b"application/json"),
            (b"x-api-key", key),
            (b"x-correlation-id", self.run_id.encode()),
        ]

    async def body(self) -> bytes:
        """Returns the request body: a JSON object with the source and the parameters, as bytes."""

        def work() -> bytes:
            return json.dumps({"code": self.code, "js_params": self.params}).encode()

        return await offload(work) if len(self.code) > LARGE_BYTES or is_large(self.params) else work()


class Execution(Protocol):
    """Callable that sends the request of a trigger run."""

    async def __call__(self, call: RunCall) -> Answer:
        """Sends the request of a run, and returns the response, or the problem if no response arrives."""
        ...

    async def close(self) -> None:
        """Closes all connections of the executor."""
        ...


class InProcess:
    """Executor that calls the emulator's own application.

    Args:
        run_path: Path of the execution endpoint below the API prefix.
        timeout_s: Seconds of real time after which the executor cancels an attempt. With None, only the time limit of
            executions applies.
    """

    app: ASGIApp
    """The application with all its middleware. `svcnb.emulator.triggers.service.Triggers.attach` sets it."""

    def __init__(self, run_path: str, timeout_s: float | None) -> None:
        self._url = f"http://localhost{_API}{run_path}"
        self._timeout_s = timeout_s

    async def __call__(self, call: RunCall) -> Answer:
        """Sends the request of one attempt to the application. Every exception becomes an `Answer` without a status."""
        try:
            async with asyncio.timeout(self._timeout_s):
                answer = await ask(self.app, "POST", self._url, call.headers(), await call.body())
        except TimeoutError:
            return Answer(None, trouble=f"the service did not respond within {self._timeout_s:g} s")
        except Exception as error:  # noqa: BLE001 - to a network client, any error is a lost connection
            return Answer(None, trouble=f"the connection was lost: {type(error).__name__}")
        return Answer(answer.status, await _parsed(answer.content))

    async def close(self) -> None:
        """Does nothing, because there are no connections."""


class OverHttp:
    """Executor that calls another service over HTTP.

    Args:
        base_url: Base URL of the service, without ``/core/v1``.
        run_path: Path of the execution endpoint below the API prefix.
        timeout_s: Seconds after which an attempt fails. The other service can still be running the action, so the
            queue does not repeat the attempt.
    """

    def __init__(self, base_url: str, run_path: str, timeout_s: float) -> None:
        self._url = base_url.rstrip("/") + _API + run_path
        self._timeout_s = timeout_s
        self._client: httpx.AsyncClient | None = None

    async def __call__(self, call: RunCall) -> Answer:
        """Sends the request of one attempt. A network error or a timeout becomes an `Answer` without a status."""
        import httpx

        if self._client is None:
            timeout = httpx.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
            self._client = httpx.AsyncClient(timeout=timeout, limits=httpx.Limits(max_connections=None))
        try:
            async with (
                asyncio.timeout(self._timeout_s),
                self._client.stream("POST", self._url, content=await call.body(), headers=call.headers()) as answer,
            ):
                data = bytearray()
                async for part in answer.aiter_bytes():
                    data += part
                    if len(data) > MAX_RUN_ANSWER_BYTES:
                        return Answer(
                            None,
                            trouble=f"the response of the service has more than {MAX_RUN_ANSWER_BYTES} bytes",
                            may_still_run=True,
                        )
        except httpx.ConnectTimeout:
            return Answer(None, trouble="network error: ConnectTimeout")  # the action did not start
        except (TimeoutError, httpx.TimeoutException):
            return Answer(
                None,
                trouble=(
                    f"the service did not respond within {self._timeout_s:g} s; the action may still run, so "
                    "the run is not retried"
                ),
                may_still_run=True,
            )
        except (httpx.HTTPError, ValueError) as error:
            return Answer(None, trouble=f"network error: {type(error).__name__}")
        return Answer(answer.status_code, await _parsed(bytes(data)))

    async def close(self) -> None:
        """Closes the HTTP connections to the other service."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


async def _parsed(data: bytes) -> Any:
    try:
        return await offload(parse, data) if len(data) > LARGE_BYTES else parse(data)
    except (ValueError, RecursionError):
        return data.decode("utf-8", "replace")
