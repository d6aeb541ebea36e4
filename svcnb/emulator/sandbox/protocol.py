"""What the service knows of an engine that runs actions, and what an engine knows of the service."""

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
    """A host operation ends with an error inside the action, which may catch it.

    Args:
        message: Text of the JavaScript error; never holds a secret.
        name: Class of the JavaScript error.
    """

    def __init__(
        self, message: str, *, name: Literal["Error", "TypeError", "RangeError", "AbortError"] = "Error"
    ) -> None:
        super().__init__(message)
        self.name = name


class FetchRequest(NamedTuple):
    """One outbound request as an action made it.

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
        headers: Name and value pairs; content encodings are already undone.
        body: The whole body; a large one is not copied into `bytes`.
        url: Address after redirects.
        redirected: Whether there was a redirect.
        held: What to call when the body is not held any more, to give back its room.
    """

    status: int
    status_text: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | bytearray
    url: str
    redirected: bool = False
    held: tuple[Callable[[], None], ...] = ()


class Meter(NamedTuple):
    """Watches whether a run can still be paid.

    Attributes:
        every_s: Seconds between two looks.
        lasts: Asked with the seconds that the run has taken so far; False ends it.
    """

    every_s: float
    lasts: Callable[[float], Awaitable[bool]]


class Host(Protocol):
    """The operations that an action may ask for. An engine counts them; a host decides whether they are allowed.

    Each may raise `OperationRefused`, which becomes an ordinary error inside the action.
    """

    @property
    def headers(self) -> dict[str, str]:
        """Request and correlation id (reference facts 2.8)."""

    @property
    def account(self) -> str:
        """Whose run it is. Accounts share what an engine has; runs of one account only wait for each other."""

    @property
    def meter(self) -> Meter | None:
        """Watches the credit of whoever pays for the run; None when nobody does."""

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
        """The reverse of `encrypt`."""

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """One outbound request under the network policy."""

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
    """How one execution ended.

    Attributes:
        ok: Whether ``main`` finished.
        response: Value for the answer (reference facts 5.2); None when not ok.
        logs: Console output; kept for failed runs, too, although only successful ones answer with it.
        error: Text of the 500 answer, without its general prefix.
        error_kind: What sort of failure; ``host`` is ours, ``unsupported`` is what the engine cannot do, the others are
            the action's.
        trace: Timeline of the run.
        elapsed_s: Seconds of wall clock from start to end, waiting in line not included.
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
    """What can be told about an engine.

    Attributes:
        name: Its name in settings and traces.
        ready: Spares that wait for a job.
        running: Executions under way.
        waiting: Executions in line.
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
        """Begins to warm up as little as a first run needs; returns at once, and `start` follows."""

    async def start(self) -> None:
        """Begins to warm up in the background; returns at once."""

    async def stop(self) -> None:
        """Ends every process. Runs under way end with kind ``host``."""

    async def run(self, source: str, params: object, limits: ActionLimits, host: Host) -> Outcome:
        """Runs one action.

        Args:
            source: JavaScript text.
            params: JSON value that ``main`` receives.
            limits: What the run may use.
            host: Answers its operations.

        Raises:
            EngineUnavailable: No process could be started.
        """

    async def is_reachable(self) -> bool:
        """Whether the engine's processes answer within seconds. A process that was stopped by a signal does not."""

    def state(self) -> EngineState:
        """Where the engine stands."""
