"""Interfaces between the service and the engines that run actions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits
from svcnb.protocol.vocabulary import Vocabulary

ErrorKind = Literal["throw", "syntax", "timeout", "memory", "funds", "host", "unsupported"]

ABORTED: Final = "aborted by the action"
"""Cancellation message for an operation that the action aborted."""


class EngineUnavailable(RuntimeError):
    """Error for an engine that cannot start a process for an action. The call is free, because the action did not run.

    Source: docs/service/http.md#errors.
    """


class OperationRefused(Exception):
    """Error raised by a host operation. The action receives a JavaScript error, which it can catch.

    Args:
        message: Message of the JavaScript error. The message must not contain a secret.
        name: Class name of the JavaScript error.
    """

    def __init__(
        self, message: str, *, name: Literal["Error", "TypeError", "RangeError", "AbortError"] = "Error"
    ) -> None:
        super().__init__(message)
        self.name = name


class FetchRequest(NamedTuple):
    """Outbound request of an action.

    Attributes:
        method: HTTP method in uppercase.
        url: Absolute URL.
        headers: Pairs of name and value, in order.
        body: Request body, or None.
        redirect: ``follow``, ``error`` or ``manual`` (WHATWG Fetch).
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    redirect: str = "follow"


class FetchResponse(NamedTuple):
    """Response to a `FetchRequest`.

    Attributes:
        status: HTTP status code from 200 to 599.
        status_text: Reason phrase, often empty.
        headers: Pairs of name and value. They do not include cookies, or headers about the transfer such as
            content-length.
        body: Complete body. A large body is a `bytearray`, which avoids a copy.
        url: URL after redirects.
        redirected: Whether the server redirected the request.
        held: Functions that release the memory budget of the body. Call these functions when the body is no longer in
            memory.
    """

    status: int
    status_text: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | bytearray
    url: str
    redirected: bool = False
    held: tuple[Callable[[], None], ...] = ()


class Meter(NamedTuple):
    """Periodic check of whether an account can still pay for a run.

    Attributes:
        every_s: Seconds between two checks.
        lasts: Coroutine function that receives the elapsed seconds of the run. If the function returns False, the
            engine stops the run.
    """

    every_s: float
    lasts: Callable[[float], Awaitable[bool]]


class Host(Protocol):
    """Operations that an action can request. The engine limits their number, and the host checks permissions.

    Each operation can raise `OperationRefused`, which the action receives as a JavaScript error.
    """

    @property
    def headers(self) -> dict[str, str]:
        """Headers with the request id and the correlation id (docs/service/http.md#response-headers)."""
        ...

    @property
    def account(self) -> str:
        """Account of the run. The scheduler divides the slots of the engine fairly among the accounts."""
        ...

    @property
    def meter(self) -> Meter | None:
        """Credit check of the paying account, or None if no account pays."""
        ...

    async def key_operation(self, kind: str, *arguments: str) -> str:
        """Executes an operation that uses a private key (docs/service/runtime.md#functions).

        Args:
            kind: ``wallet_key`` (``pkpId``), ``action_key``, ``action_public_key`` (``ipfsId``), ``action_address``
                (``ipfsId``), ``encrypt`` (``pkpId`` and message) or ``decrypt`` (``pkpId`` and ciphertext). Keys and
                addresses are hex with the prefix 0x. Encryption is AES-256-GCM with the wallet's private key.
            *arguments: The arguments in parentheses, as the action passed them.

        Returns:
            The key, the address, the ciphertext or the decrypted message.
        """
        ...

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """Makes one outbound request under the network policy."""
        ...

    async def package(self, specifier: str, importer: str | None) -> Module:
        """Returns the source of an imported module (docs/service/runtime.md#imports).

        Args:
            specifier: Specifier as written in the import.
            importer: Canonical name of the importing module, or None for the action itself.
        """
        ...


class Module(NamedTuple):
    """Module of an imported package.

    Attributes:
        name: Canonical name, ``package@version/path``.
        source: JavaScript source.
        integrity: SHA-384 hash as ``sha384-`` and base64.
    """

    name: str
    source: str
    integrity: str


class Outcome(NamedTuple):
    """Result of one run.

    Attributes:
        ok: Whether ``main`` completed without an error.
        response: Value for the response (docs/service/runtime.md#response), or None if ``ok`` is False.
        logs: Console output of the run. Failed runs also have console output, but only responses of successful runs
            contain it.
        error: Message for the 500 response, without the prefix ``Internal server error:``. None if ``ok`` is True.
        error_kind: Kind of failure, or None if ``ok`` is True. ``host`` is a failure of the service, ``funds`` is a
            lack of credit, and ``unsupported`` is an operation that the engine does not support. All other kinds are
            failures of the action.
        trace: Timeline of the run.
        elapsed_s: Wall-clock time of the run in seconds, without the time in the queue.
    """

    ok: bool
    response: object
    logs: str
    trace: Trace
    elapsed_s: float
    error: str | None = None
    error_kind: ErrorKind | None = None


@dataclass(frozen=True)
class EngineState:
    """Status of an engine.

    Attributes:
        name: Name of the engine in settings and traces.
        ready: Number of warmed-up processes that are ready for a run.
        running: Number of runs in progress.
        waiting: Number of runs in the queue.
        started: Number of processes started so far.
        available: Whether the engine accepts runs.
        details: For the engine ``auto``, the status of each of its two engines, by name. Empty for other engines.
    """

    name: str
    ready: int = 0
    running: int = 0
    waiting: int = 0
    started: int = 0
    available: bool = True
    details: dict[str, object] = field(default_factory=dict)


class Engine(Protocol):
    """Engine that runs actions in isolates. A run cannot read data of another run."""

    async def prepare(self) -> None:
        """Starts the minimum warm-up for a first run and returns immediately. Call `start` afterwards."""

    async def start(self) -> None:
        """Starts the full warm-up in the background and returns immediately."""

    async def stop(self) -> None:
        """Stops all processes. Running actions end with the error kind ``host``."""

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action and returns its outcome.

        Args:
            source: JavaScript source.
            params: JSON value for ``main``.
            limits: Limits of the run.
            host: Host that executes the action's operations.

        Raises:
            EngineUnavailable: The engine cannot start a process.
        """
        ...

    async def is_reachable(self) -> bool:
        """Returns whether the engine's processes respond within seconds.

        A process that a signal has stopped does not respond.
        """
        ...

    def state(self) -> EngineState:
        """Returns the status of the engine, with the numbers of processes and runs."""
        ...


def names_json(words: Vocabulary) -> str:
    """Returns the JavaScript names that are visible to actions, as JSON text for the warm-up of a process."""
    return json.dumps(
        {
            "namespace": words.namespace,
            "actions": words.actions_global,
            "auth": words.auth_global,
            "headers": words.headers_global,
            "privateKey": words.private_key_function,
            "actionPrivateKey": words.action_private_key_function,
            "actionPublicKey": words.action_public_key_function,
            "actionWalletAddress": words.action_wallet_address_function,
        }
    )
