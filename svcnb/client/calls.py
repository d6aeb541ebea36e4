"""Calls and flows of the client, shared by the synchronous and the asynchronous version.

A *flow* is a generator: it yields steps (a call, a pause, a notice), receives their results, and returns a value. A
flow performs no input or output itself. `Client` and `AsyncClient` therefore run the same flows and make the same
decisions.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any, Generic, Literal, TypeAlias, TypeVar, cast
from urllib.parse import urlsplit

from svcnb.errors import InvalidArgument
from svcnb.protocol.vocabulary import Vocabulary

T = TypeVar("T")

TimeoutClass = Literal["read", "write", "run"]
"""Name of the configured timeout that applies to a call."""


@dataclass(frozen=True)
class Call(Generic[T]):
    """One request, and the parser of its response.

    Attributes:
        method: HTTP method.
        path: Path below ``/core/v1``, or a function that returns the path from the names in a `Vocabulary`. A path that
            starts with ``//`` is relative to the root of the server.
        parse: Function that creates the result from the decoded JSON body and the headers of the response.
        body: JSON body, or None for no body. The body can contain a credential, so displays never show it.
        query: Query parameters. Displays never show query parameters.
        key: Whether to send the configured key.
        control: Whether to send the token of the emulator's control plane, if there is one.
        repeatable: Whether the client may retry the call although the first request may have arrived.
        timeout_class: Configured timeout that applies to the call: ``read``, ``write`` or ``run``.
        in_doubt: Hint for calls that the client must not retry. The hint describes the possible effect of the call, and
            how to check whether this effect occurred.
        statuses: Statuses other than 2xx whose response body is a result.
        base: Address to use instead of the service's address. None means the service's address.
        headers: Headers for this call only, which take precedence over the headers of the configuration. Displays never
            show these headers, because they can contain a credential.
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str | Callable[[Vocabulary], str]
    parse: Callable[[Any, Answer], T]
    body: object = field(default=None, repr=False)
    query: Mapping[str, str | int] | None = field(default=None, repr=False)
    key: bool = True
    control: bool = False
    repeatable: bool = False
    timeout_class: TimeoutClass = "write"
    in_doubt: str = ""
    statuses: tuple[int, ...] = ()
    base: str | None = None
    headers: Mapping[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Request:
    """HTTP request, ready to send.

    The result of ``repr`` contains only the method and the timeouts, because all other fields can contain a credential.

    Attributes:
        method: HTTP method.
        url: Complete address.
        headers: All headers, including the key.
        content: Body, or None for no body.
        connect_timeout: Timeout for establishing a connection, in seconds.
        timeout: Timeout for the response, in seconds.
        shown_path: Path for logs. Empty if the path can contain a secret.
    """

    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    connect_timeout: float
    timeout: float
    shown_path: str = field(default="", repr=False)

    @property
    def shown_url(self) -> str:
        """Address for logs, without the user name, the password, the query, and paths that can contain a secret."""
        parts = urlsplit(self.url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{self.shown_path}"


@dataclass(frozen=True)
class Answer:
    """One HTTP response.

    Attributes:
        status: HTTP status.
        headers: Header values by lowercase name.
        content: Body of the response. Displays never show the body, because it can contain a new key.
        sent_at: Time of the request in Unix seconds.
        elapsed: Seconds from the request to the complete response.
    """

    status: int
    headers: Mapping[str, str]
    content: bytes = field(repr=False)
    sent_at: float
    elapsed: float

    @property
    def date(self) -> float | None:
        """Time in the ``Date`` header in Unix seconds, or None without a valid header."""
        try:
            return parsedate_to_datetime(self.headers["date"]).timestamp()
        except (KeyError, ValueError, TypeError):
            return None

    @property
    def clock_skew(self) -> float | None:
        """Seconds by which the service's clock is ahead of this machine's clock, or None without a valid header."""
        # The header has a resolution of one second. The estimate assumes that the middle of that second was halfway
        # between the request and the response.
        return None if self.date is None else self.date + 0.5 - (self.sent_at + self.elapsed / 2)


@dataclass(frozen=True)
class Pause:
    """Step that waits for ``seconds`` seconds."""

    seconds: float


@dataclass(frozen=True)
class Notice:
    """Step that passes the `RunRecord` of a run to the listeners of ``on_run``."""

    record: object


@dataclass(frozen=True)
class Noted:
    """Step that passes a fee, a payment or a balance to the listeners of ``on_run`` that have a method ``note``.

    The local history of runs and the panels have this method. Other listeners do not receive the step.

    Attributes:
        kind: ``fee``, ``payment`` or ``balance``.
        cents: Amount in US cents. For a balance, the credit, which is negative if the account owes money.
        name: Name of the call, for example ``add_group``.
        subject: Hash of the usage key that the call created. Empty if the call created none.
        reference: Id from the service. The history records a fee or a payment with the same id only once. Empty if the
            service sent no id.
        at: Time in Unix seconds. None means the current time.
    """

    kind: Literal["fee", "payment", "balance"]
    cents: int
    name: str
    subject: str = ""
    reference: str = ""
    at: float | None = None


@dataclass(frozen=True)
class Now:
    """Step that returns the time of a monotonic clock in seconds, and the Unix time."""


@dataclass(frozen=True)
class Later:
    """Step that returns a function. Calling the function runs another flow with this client.

    Attributes:
        flow: Function that creates the other flow.
    """

    flow: Callable[[], Flow[Any]]


@dataclass(frozen=True)
class Act:
    """Step that performs a local operation, for example a signature, a confirmation, or a write to a record.

    Attributes:
        do: Function that performs the operation.
        do_async: Function that performs the operation without blocking. If None, the asynchronous client calls ``do``.
    """

    do: Callable[[], object]
    do_async: Callable[[], Awaitable[object]] | None = None


Step: TypeAlias = "Call[Any] | Request | Pause | Notice | Noted | Now | Act | Later"
Flow: TypeAlias = Generator[Step, Any, T]


def ask(call: Call[T]) -> Flow[T]:
    """Performs one call inside a flow, and returns the result of the call."""
    return cast("T", (yield call))


def pause(seconds: float) -> Flow[None]:
    """Waits inside a flow."""
    yield Pause(seconds)


def now() -> Flow[tuple[float, float]]:
    """Returns the monotonic time and the Unix time, in seconds, inside a flow."""
    return cast("tuple[float, float]", (yield Now()))


@dataclass
class Polling:
    """Delays between repeated attempts, until a timeout. The delays double up to a maximum.

    Attributes:
        began: Monotonic time of the start, in seconds.
        timeout: Seconds after the start at which `wait` returns False.
        delay: Next delay in seconds.
        longest: Maximum delay in seconds.
    """

    began: float
    timeout: float
    delay: float
    longest: float

    def wait(self) -> Flow[bool]:
        """Waits for the next delay inside a flow. Returns False, without waiting, if the timeout has passed."""
        here, _ = yield from now()
        left = self.timeout - (here - self.began)
        if left <= 0:
            return False
        yield from pause(min(self.delay, left))
        self.delay = min(2 * self.delay, self.longest)
        return True


def polling(timeout: float, *, first: float, longest: float) -> Flow[Polling]:
    """Starts and returns the delays of repeated attempts inside a flow. All arguments are in seconds.

    Raises:
        InvalidArgument: The timeout is NaN.
    """
    require_number(timeout)
    began, _ = yield from now()
    return Polling(began, timeout, first, longest)


def require_number(timeout: float) -> None:
    """Checks that a timeout is not NaN. A wait with the timeout NaN would never end.

    Raises:
        InvalidArgument: The timeout is NaN.
    """
    if math.isnan(timeout):
        raise InvalidArgument("invalid duration nan: expected a number of seconds")


def later(flow: Callable[[], Flow[Any]]) -> Flow[Callable[[], Any]]:
    """Returns a function that runs another flow.

    In the asynchronous client, the function returns an awaitable. In the synchronous client, the function returns the
    value.
    """
    return cast("Callable[[], Any]", (yield Later(flow)))


def act(do: Callable[[], T], do_async: Callable[[], Awaitable[T]] | None = None) -> Flow[T]:
    """Performs a local operation inside a flow, and returns its result. `Act` describes the arguments."""
    return cast("T", (yield Act(do, do_async)))
