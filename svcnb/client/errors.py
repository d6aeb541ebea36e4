"""All errors of the package, as one tree.

::

    SvcnbError
    ├── ConfigError            a setting is missing or unusable
    ├── InvalidArgument        rejected here, before anything was sent; also a ValueError
    │   ├── InvalidType        the argument's type cannot be used; also a TypeError
    │   └── MalformedValue     a string or bytes cannot be read: MalformedCid, MalformedAddress, ...
    ├── ExtraMissing           an optional package is not installed; also an ImportError
    ├── PartMissing            Deno, the chain node or another external tool is missing
    ├── EmulatorError          the emulator could not be started, reached or controlled
    ├── NotConfirmed           irreversible operation without confirm=True
    ├── TransportError         no usable response arrived
    │   ├── TimedOut
    │   └── NotTheApi          a server responded, but not this service
    ├── SigningError           a signer could not sign or refused to
    ├── ChainError             the contract or its chain refused
    ├── PaymentFailed          the processor did not collect the payment
    ├── ActionError            the action itself threw or broke a limit
    └── ServiceError           the service refused, by HTTP status
        ├── BadRequest 400 · Unauthorized 401 · OutOfCredit 402 · Forbidden 403 · NotFound 404 · Conflict 409
        └── PayloadTooLarge 413 · UnprocessableEntity 422 · RateLimited 429 · InternalError 500 · Unavailable 503

Every error carries a ``hint`` with the next step, shows itself briefly in a notebook, survives pickling and holds no
secret. Request ids are attributes and never part of the message, so messages are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from svcnb.brief import box
from svcnb.errors import (  # the base classes, for imports from this module
    ExtraMissing as ExtraMissing,  # noqa: PLC0414
    InvalidArgument as InvalidArgument,  # noqa: PLC0414
    InvalidType as InvalidType,  # noqa: PLC0414
    SvcnbError as SvcnbError,  # noqa: PLC0414
)


class Explicable(SvcnbError):
    """Refusal that the client can explain.

    Attributes:
        explainer: Asks the service what is missing; None when the error came from another process.
        clock_skew: Seconds that the service's clock was ahead when it refused.
    """

    explainer: Callable[[], Any] | None = None
    clock_skew: float = 0.0

    def explain(self) -> Any:
        """Reads the account, and names the missing permission and the fix. Free. Await it after an async call.

        Returns:
            The `Explanation`, as ``svc.explain(key, action, wallet)`` returns it, or the one of a management call.

        Raises:
            InvalidArgument: This error does not come from a call of this process.
        """
        if self.explainer is None:
            raise InvalidArgument(
                "this error does not come from a call of this process, so nothing is known about its key",
                hint="Ask svc.explain(key, action, wallet).",
            )
        return self.explainer()


class ConfigError(SvcnbError):
    """A setting is missing or cannot be used."""


class NotConfirmed(SvcnbError):
    """An irreversible operation was requested without ``confirm=True``; nothing was done.

    Attributes:
        consequences: What will happen, one sentence or two each.
    """

    def __init__(self, message: str, *, consequences: tuple[str, ...] = (), hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.consequences = consequences

    def __str__(self) -> str:
        listed = "".join(f"\n- {sentence}" for sentence in self.consequences)
        return f"{self.message}{listed}" + (f"\nNext step: {self.hint}" if self.hint else "")

    def _repr_html_(self) -> str:
        return box(type(self).__name__, self.message, self.hint, self.consequences)


class TransportError(SvcnbError):
    """No usable response arrived: the connection failed or broke."""

    default_hint = "Check the address and that the service is running."

    unsent: bool = False
    """True if nothing was sent, so that any call may be repeated."""

    refused: bool = False
    """True if nothing listens at the address on this machine, so that an immediate retry is useless."""


class TimedOut(TransportError):
    """The service did not answer in time."""

    default_hint = "Try again, or allow more time: svc.with_options(timeout=seconds)."


class NotTheApi(TransportError):
    """A server responded, but not this service: the host or the path is not the API."""

    default_hint = "Check base_url: it is the part before /core/v1."


class SigningError(SvcnbError):
    """A signer could not sign or refused to."""


class ChainError(SvcnbError):
    """The contract refused a call, or its chain could not be reached.

    Attributes:
        name: The contract's own name of the error, for example ``AccountAlreadyExists``; empty if the chain failed.
        arguments: The arguments of that error.
    """

    def __init__(
        self, message: str, *, name: str = "", arguments: tuple[object, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.name = name
        self.arguments = arguments


class PaymentFailed(SvcnbError):
    """The processor did not collect a payment; nothing was credited."""

    default_hint = "Start again with svc.billing.top_up(cents)."


class ActionError(Explicable):
    """The action was started and failed: it threw, did not parse, or broke a limit. Nothing was charged.

    Attributes:
        stage: ``compile`` for a syntax error, ``limit`` for time, memory or funds, ``run`` for everything thrown.
        name: Name of the JavaScript error, for example ``TypeError``; empty when there is none.
        line: First line of the caller's source in the stack, as the service counts; None when unknown.
        column: Column that goes with ``line``.
        stack: The stack lines.
        logs: Console output, if a recorder still has it; the service itself deletes it on failure.
        cid: CID of the action.
        status: HTTP status.
        request_id: The service's id of the request.
    """

    default_hint = "Read error.stack; console output of a failed run is kept by the emulator's run records only."

    def __init__(
        self,
        message: str,
        *,
        stage: str = "run",
        name: str = "",
        line: int | None = None,
        column: int | None = None,
        stack: str = "",
        logs: str = "",
        cid: str = "",
        status: int = 500,
        request_id: str = "",
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.stage = stage
        self.name = name
        self.line = line
        self.column = column
        self.stack = stack
        self.logs = logs
        self.cid = cid
        self.status = status
        self.request_id = request_id

    def __str__(self) -> str:
        where = f" (line {self.line})" if self.line is not None else ""
        named = f"{self.name}: " if self.name else ""
        return f"{named}{self.message}{where}"


class TraceUnavailable(SvcnbError):
    """There is no timeline of this execution."""

    default_hint = "Emulators keep the timelines of their newest 10,000 executions; the live service keeps none."


class ServiceError(SvcnbError):
    """The service answered with an error status.

    Attributes:
        status: HTTP status.
        code: The service's code, for example ``forbidden``; by status when the body names none.
        request_id: The service's id of the request, for its operators.
        fix: What the service itself advises; empty when it does not.
        docs_url: Page that the service points at; empty when it does not.
        structured: True for an object body (authentication, billing, routing, parsing), False for an endpoint's own
            message (a contract revert, an execution error).
    """

    default_hint = "If it stays, give the operators error.request_id."
    hint_before_fix: ClassVar[bool] = False
    """True if the client's own hint comes before the service's advice, which is for authors of raw requests."""

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        request_id: str = "",
        fix: str = "",
        docs_url: str = "",
        structured: bool = False,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, hint=hint)
        self.structured = structured
        self.status = status
        self.code = code
        self.request_id = request_id
        self.fix = fix
        self.docs_url = docs_url

    def __str__(self) -> str:
        head = f"{self.status} {self.code}: {self.message}" if self.status else self.message
        step = self._step()
        return f"{head}\nNext step: {step}" if step else head

    def _repr_html_(self) -> str:
        return box(f"{type(self).__name__} {self.status}", self.message, self._step())

    def _step(self) -> str:
        return (self.hint or self.fix) if self.hint_before_fix else (self.fix or self.hint)


class BadRequest(ServiceError):
    """The request was malformed or a value had the wrong shape (400)."""

    default_hint = "Correct the value that the message names; nothing was charged."


class Unauthorized(ServiceError, Explicable):
    """No key was sent, or the key belongs to no account (401)."""

    default_hint = "Check the key: svc.with_key(...), or SVC_API_KEY. A removed usage key stays refused."
    hint_before_fix = True


class OutOfCredit(ServiceError):
    """The account exists but its credits cannot cover the call (402)."""

    default_hint = "Add credit: svc.billing.top_up(500); svc.billing.balance() shows what is there."
    hint_before_fix = True


class Forbidden(ServiceError, Explicable):
    """The key is valid but not permitted to do this (403)."""

    default_hint = (
        "Use the account's master key, or a usage key with the right for this: error.explain() names the right and the "
        "call that grants it."
    )


class NotFound(ServiceError):
    """There is no such endpoint or resource (404)."""

    default_hint = "List what exists, for example svc.groups.list(), and check the id."


class Conflict(ServiceError):
    """The request conflicts with existing data (409)."""

    default_hint = "Read the current state, then decide."


class PayloadTooLarge(ServiceError):
    """The request's body is larger than the service accepts (413)."""

    default_hint = "Make the source or the parameters smaller; large data can be fetched by the action itself."


class UnprocessableEntity(ServiceError):
    """The body is JSON but does not match the endpoint's schema (422)."""

    default_hint = "Correct the member that the message names; nothing was charged."


class RateLimited(ServiceError):
    """The node is overloaded and rejects requests (429)."""

    default_hint = "Try again in a moment, with fewer calls at once; nothing was charged."


class InternalError(ServiceError):
    """The service failed (500)."""


class Unavailable(ServiceError):
    """Billing, the chain or the action runtime is temporarily down (503)."""

    default_hint = "Try again in a few seconds; nothing was charged."


class WorkerLost(SvcnbError):
    """An executor lost the worker of a run, so it is unknown whether the run took place."""

    default_hint = "batch.resume() runs it again; it may have run, and been paid for, already."


class ExecutorLost(WorkerLost):
    """An executor accepts no more runs."""


EXECUTION_HINT: Final = (
    "An execution needs one group that permits the action and stands in the key's execute_in_groups: compare "
    "svc.groups.contents(group) with svc.usage_keys.list(), or ask error.explain(). A fresh grant takes a moment: "
    "run(..., until_effective=60)."
)
"""The hint for a forbidden execution, as opposed to a management call."""

APPROVAL_HINT: Final = "triggers.authorize() has the token approved; a revoked one stays refused: make a new one."
"""The hint for a token that is unknown to the triggers service."""

BY_STATUS: Final[dict[int, type[ServiceError]]] = {
    400: BadRequest,
    401: Unauthorized,
    402: OutOfCredit,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    413: PayloadTooLarge,
    422: UnprocessableEntity,
    429: RateLimited,
    500: InternalError,
    503: Unavailable,
}
"""The error class for each status; all others are `ServiceError`."""
