"""Calls and flows of the client, shared by the synchronous and the asynchronous version.

A *flow* is a generator: it yields steps (a call, a pause, a notice), receives their results, and returns a value. It
performs no input or output itself. So both clients run the same flows and make the same decisions.
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
    """One request, and the parser of its response.

    Attributes:
        method: HTTP method.
        path: Path below ``/core/v1``, or a function that returns it for a vocabulary. A path that starts with ``//``
            begins at the root of the server instead.
        parse: Makes the result from the decoded JSON body and the response's headers.
        body: Sent as JSON; None sends no body. It can contain a credential, so it is never shown.
        query: Query parameters; never shown, like the body.
        key: Whether the configured key is sent.
        control: Whether the secret of the emulator's control plane is sent, if there is one.
        repeatable: Whether the call may be sent again if it is unknown whether it arrived.
        patience: Which timeout applies.
        in_doubt: For calls that must not be repeated: what may have happened, and how to check it.
        statuses: Further statuses besides 2xx whose body is a result.
        base: Address used instead of the service's.
        headers: Headers of this call alone. They take precedence over those of the configuration. They can contain a
            credential, so they are never shown.
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
    """One HTTP request, ready to send. Only its method is shown: all other parts can contain a credential."""

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    connect_timeout: float
    timeout: float
    shown_path: str = field(default="", repr=False)

    @property
    def shown_url(self) -> str:
        """Returns the address for logs, without user, query, and secret paths such as those of chain providers."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{self.shown_path}"


@dataclass(frozen=True)
class Answer:
    """One HTTP response.

    Attributes:
        status: HTTP status.
        headers: Header values by lower-case name.
        content: The body; never shown, since it can contain a new key.
        sent_at: Unix seconds when the request left.
        elapsed: Seconds until the response was complete.
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
    """Notifies the listeners of ``on_run`` of one execution."""

    record: object


@dataclass(frozen=True)
class Noted:
    """Notifies the local record of a fee, a payment or a balance. Other listeners of ``on_run`` do not receive it.

    Attributes:
        kind: ``fee``, ``payment`` or ``balance``.
        cents: Amount in cents; for a balance the credit, negative when something is owed.
        name: Name of the call, for example ``add_group``.
        subject: Hash of the usage key that the call created; empty for all other calls.
        reference: Id from the service, so that it is recorded only once; may be empty.
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
    """Requests the time of a monotonic clock in seconds, and the Unix time."""


@dataclass(frozen=True)
class Later:
    """Requests a function that runs another flow with this client when it is called.

    Attributes:
        flow: Creates that flow.
    """

    flow: Callable[[], Flow[Any]]


@dataclass(frozen=True)
class Act:
    """Performs a local operation: a wallet signs, a person is asked, a record is written.

    Attributes:
        do: Performs it.
        do_async: Performs it without blocking; if None, the asynchronous client calls ``do``.
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
    """Returns (monotonic seconds, Unix seconds) inside a flow."""
    return cast("tuple[float, float]", (yield Now()))


def later(flow: Callable[[], Flow[Any]]) -> Flow[Callable[[], Any]]:
    """Returns a function that runs another flow. It returns an awaitable in the asynchronous client, else the value."""
    return cast("Callable[[], Any]", (yield Later(flow)))


def act(do: Callable[[], T], do_async: Callable[[], Awaitable[T]] | None = None) -> Flow[T]:
    """Performs a local operation inside a flow."""
    return cast("T", (yield Act(do, do_async)))
