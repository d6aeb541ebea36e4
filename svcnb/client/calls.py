"""What the client asks, described once and driven twice.

A *flow* is a generator: it yields steps (a call, a pause, a notice), gets their results back, and returns a value. It
does no input or output itself, so the synchronous and the asynchronous client run the very same flows and cannot
differ in anything that decides.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from svcnb.protocol.vocabulary import Vocabulary

T = TypeVar("T")

Patience = Literal["read", "write", "run"]
"""Which of the configured timeouts applies to a call."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request and how to read its answer.

    Attributes:
        method: HTTP method.
        path: Path below ``/core/v1``, or what finds it in a vocabulary. A path that starts with ``//`` is taken from
            the root of the server instead.
        parse: Makes the result of the decoded JSON body and the answer's headers.
        body: What is sent as JSON; None sends no body. It may hold a credential, so it is never shown.
        query: Query parameters; never shown, as the body.
        key: Whether the configured key is sent.
        control: Whether the secret of the emulator's control plane is sent, when there is one.
        repeatable: Whether the call may be sent again when it is unknown if it arrived.
        patience: Which timeout applies.
        in_doubt: For calls that must not be repeated: what may have happened and how to check.
        statuses: Answers beside 2xx whose body is a result.
        base: Address used instead of the service's.
        headers: Headers of this call alone; they win over those of the configuration. They may hold a credential, so
            they are never shown.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str | Callable[[Vocabulary], str]
    parse: Callable[[Any, Answer], T]
    body: object = field(default=None, repr=False)
    query: Mapping[str, str | int] | None = field(default=None, repr=False)
    key: bool = True
    control: bool = False
    repeatable: bool = False
    patience: Patience = "write"
    in_doubt: str = ""
    statuses: tuple[int, ...] = ()
    base: str | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Request:
    """One HTTP request, ready to send. Only its method is shown: all the rest may hold a credential."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    connect_timeout: float
    timeout: float
    shown_path: str = field(default="", repr=False)

    @property
    def shown_url(self) -> str:
        """The address for logs: without user, query, and paths that are a secret, such as those of chain providers."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{self.shown_path}"


@dataclass(frozen=True)
class Answer:
    """One HTTP answer.

    Attributes:
        status: HTTP status.
        headers: Header values by lower-case name.
        content: The body; never shown, since it can contain a new key.
        sent_at: Unix seconds when the request left.
        elapsed: Seconds until the answer was complete.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    sent_at: float
    elapsed: float


@dataclass(frozen=True)
class Pause:
    """Waits some seconds."""

    seconds: float


@dataclass(frozen=True)
class Notice:
    """Tells the listeners of ``on_run`` about one execution."""

    record: object


@dataclass(frozen=True)
class Noted:
    """Tells the local record about money: a fee, a payment or a balance. Not told to other listeners of ``on_run``.

    Attributes:
        kind: ``fee``, ``payment`` or ``balance``.
        cents: Amount in cents; for a balance the credit, negative when something is owed.
        name: Name of the call, for example ``add_group``.
        subject: Hash of the usage key that the call created; empty for all other calls.
        reference: Id that the service gave to it, so that it is recorded once; may be empty.
        at: Unix seconds; the present when None.
    """

    kind: Literal["fee", "payment", "balance"]
    cents: int
    name: str
    subject: str = ""
    reference: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Now:
    """Asks for the seconds of a clock that only goes forward, and for the Unix time."""


@dataclass(frozen=True)
class Later:
    """Asks for a function that runs another flow when it is called, as this client runs flows.

    Attributes:
        flow: Makes that flow.
    """

    flow: Callable[[], Flow[Any]]


@dataclass(frozen=True)
class Act:
    """Does something on this side of the wire: a wallet signs, a person is asked, a record is written.

    Attributes:
        do: Does it.
        do_async: Does the same without blocking; where it is None, the asynchronous client calls ``do``.
    """

    do: Callable[[], object]
    do_async: Callable[[], Awaitable[object]] | None = None


Step: TypeAlias = "Call[Any] | Request | Pause | Notice | Noted | Now | Act | Later"
Flow: TypeAlias = Generator[Step, Any, T]


def ask(call: Call[T]) -> Flow[T]:
    """Performs one call inside a flow."""
    return cast("T", (yield call))


def pause(seconds: float) -> Flow[None]:
    """Waits inside a flow."""
    yield Pause(seconds)


def now() -> Flow[tuple[float, float]]:
    """Returns (forward-only seconds, Unix seconds) inside a flow."""
    return cast("tuple[float, float]", (yield Now()))


def later(flow: Callable[[], Flow[Any]]) -> Flow[Callable[[], Any]]:
    """Returns what runs another flow afterwards: an awaitable in the asynchronous client, the value in the other."""
    return cast("Callable[[], Any]", (yield Later(flow)))


def act(do: Callable[[], T], do_async: Callable[[], Awaitable[T]] | None = None) -> Flow[T]:
    """Does something on this side of the wire inside a flow."""
    return cast("T", (yield Act(do, do_async)))
