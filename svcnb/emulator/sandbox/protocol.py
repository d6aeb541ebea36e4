"""Interfaces between the service and the engines that run actions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from svcnb.emulator.sandbox.trace import Trace
from svcnb.protocol.limits import ActionLimits

ErrorKind = Literal["throw", "syntax", "timeout", "memory", "funds", "host", "unsupported"]


class EngineUnavailable(RuntimeError):
    """No process can be started to run actions. Nothing was executed, so nothing is charged (specification 7: 503)."""


class OperationRefused(Exception):
    """A host operation fails with an error inside the action, which may catch it.

    Args:
        message: Text of the JavaScript error. It never contains a secret.
        name: Class of the JavaScript error.
    """

    def __init__(
        self, message: str, *, name: Literal["Error", "TypeError", "RangeError", "AbortError"] = "Error"
    ) -> None:
        super().__init__(message)
        self.name = name


class FetchRequest(NamedTuple):
    """One outbound request of an action.

    Attributes:
        method: Upper-case HTTP method.
        url: Absolute address.
        headers: Name and value pairs in order.
        body: Request body, or None.
        redirect: ``follow``, ``error`` or ``manual`` (WHATWG Fetch).
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes | None = None
    redirect: str = "follow"


class FetchResponse(NamedTuple):
    """The answer to a `FetchRequest`.

    Attributes:
        status: HTTP status from 200 to 599.
        status_text: Reason phrase, often empty.
        headers: Name and value pairs; content encodings are already removed.
        body: The whole body; a large one is not copied into `bytes`.
        url: Address after redirects.
        redirected: Whether there was a redirect.
        held: Functions to call when the body is no longer held, to release its memory budget.
    """

    status: int
    status_text: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | bytearray
    url: str
    redirected: bool = False
    held: tuple[Callable[[], None], ...] = ()


class Meter(NamedTuple):
    """Checks whether the account can still pay for a run.

    Attributes:
        every_s: Seconds between two checks.
        lasts: Called with the seconds that the run has taken so far. False ends the run.
    """

    every_s: float
    lasts: Callable[[float], Awaitable[bool]]


class Host(Protocol):
    """Operations that an action may request. An engine counts them; a host decides whether they are allowed.

    Each may raise `OperationRefused`, which becomes an ordinary error inside the action.
    """

    @property
    def headers(self) -> dict[str, str]:
        """Request id and correlation id (reference facts 2.8)."""

    @property
    def account(self) -> str:
        """The account of the run. Accounts share an engine, and runs of one account only wait for each other."""

    @property
    def meter(self) -> Meter | None:
        """Checks the credit of the paying account. None when no account pays."""

    async def get_private_key(self, pkp_id: str) -> str:
        """A wallet's private key, ``0x`` and 64 hex digits."""

    async def get_action_private_key(self) -> str:
        """The running action's own private key."""

    async def get_action_public_key(self, ipfs_id: str) -> str:
        """Any action's compressed public key, ``0x`` and 66 hex digits."""

    async def get_action_wallet_address(self, ipfs_id: str) -> str:
        """Any action's address in lower case."""

    async def encrypt(self, pkp_id: str, message: str) -> str:
        """AES-256-GCM under a wallet's secret (reference facts 4.4)."""

    async def decrypt(self, pkp_id: str, ciphertext: str) -> str:
        """Decrypts a result of `encrypt`."""

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """Makes one outbound request under the network policy."""

    async def package(self, specifier: str, importer: str | None) -> Module:
        """The source of an imported module (reference facts 5.5)."""


class Module(NamedTuple):
    """One module of a package that an action imports.

    Attributes:
        name: Canonical name, ``package@version/path``.
        source: JavaScript text.
        integrity: ``sha384-`` and base64.
    """

    name: str
    source: str
    integrity: str


class Outcome(NamedTuple):
    """Result of one execution.

    Attributes:
        ok: Whether ``main`` finished.
        response: Value for the answer (reference facts 5.2); None when not ok.
        logs: Console output. It is also kept for failed runs, although only successful answers contain it.
        error: Text of the 500 answer, without its general prefix.
        error_kind: The kind of failure. ``host`` is a failure of the service. ``unsupported`` is an operation that the
            engine cannot do. The others are failures of the action.
        trace: Timeline of the run.
        elapsed_s: Seconds of wall clock from start to end, without the time in the queue.
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
    """Engine status.

    Attributes:
        name: Its name in settings and traces.
        ready: Spares that wait for a job.
        running: Executions under way.
        waiting: Executions in the queue.
        started: Processes started so far.
        available: Whether a run can be expected to start.
    """

    name: str
    ready: int = 0
    running: int = 0
    waiting: int = 0
    started: int = 0
    available: bool = True
    details: dict[str, object] = field(default_factory=dict)


class Engine(Protocol):
    """Runs actions, each in an isolate of its own."""

    async def prepare(self) -> None:
        """Starts to warm up only what a first run needs, and returns at once. `start` follows."""

    async def start(self) -> None:
        """Starts to warm up in the background and returns at once."""

    async def stop(self) -> None:
        """Ends every process. Runs under way end with kind ``host``."""

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action.

        Args:
            source: JavaScript text.
            params: JSON value that ``main`` receives.
            limits: Limits of the run.
            host: Answers its operations.

        Raises:
            EngineUnavailable: No process could be started.
        """

    async def is_reachable(self) -> bool:
        """Whether the engine's processes answer within seconds. A process that was stopped by a signal does not."""

    def state(self) -> EngineState:
        """State of the engine."""
