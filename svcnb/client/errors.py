"""All errors of the package, as one tree.

::

    SvcnbError
    ├── ConfigError            a setting is missing or invalid
    ├── InvalidArgument        the client rejected an argument before it sent a request; also a ValueError
    │   ├── InvalidType        the argument has the wrong type; also a TypeError
    │   └── MalformedValue     a string or bytes cannot be parsed: MalformedCid, MalformedAddress, ...
    ├── ExtraMissing           an optional package is not installed; also an ImportError
    ├── ToolMissing            Deno, the chain node or another external tool is missing
    ├── EmulatorError          the emulator could not be started, reached or controlled
    ├── NotConfirmed           an irreversible or paid operation was called without confirm=True
    ├── TransportError         no usable response arrived
    │   ├── TimedOut
    │   └── NotTheApi          a server responded, but not this service
    ├── SigningError           a signer could not sign, or refused to sign
    ├── ChainError             the contract rejected a call, or the chain cannot be reached
    ├── PaymentFailed          the processor did not collect the payment
    ├── TraceUnavailable       no timeline of a run is available
    ├── WorkerLost             an executor lost the worker of a run
    │   └── ExecutorLost       the executor does not accept more runs
    ├── ActionError            the action itself threw an error or exceeded a limit
    └── ServiceError           the service rejected a request; one class for each HTTP status
        ├── BadRequest 400 · Unauthorized 401 · OutOfCredit 402 · Forbidden 403 · NotFound 404 · Conflict 409
        └── PayloadTooLarge 413 · UnprocessableEntity 422 · RateLimited 429 · InternalError 500 · Unavailable 503

Every error has a ``hint`` with the next step. Notebooks show errors in a short form. Errors contain no secrets and can
be pickled. The message never contains the request id, which is an attribute, so messages are the same in every run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final

from svcnb.brief import box
from svcnb.errors import (  # the base classes, so that they can be imported from this module
    ExtraMissing as ExtraMissing,  # noqa: PLC0414
    InvalidArgument as InvalidArgument,  # noqa: PLC0414
    InvalidType as InvalidType,  # noqa: PLC0414
    SvcnbError as SvcnbError,  # noqa: PLC0414
)
from svcnb.exit_codes import ExitCode


class Explicable(SvcnbError):
    """Base class of the errors whose cause `explain` can find: `Unauthorized`, `Forbidden` and `ActionError`.

    Attributes:
        explainer: Function that finds the missing permission with a query to the service. None if the error comes from
            another process.
        clock_skew: Number of seconds by which the service's clock was ahead of this machine's clock at the rejection.
    """

    explainer: Callable[[], Any] | None = None
    clock_skew: float = 0.0

    def explain(self) -> Any:
        """Reads the account, and explains which permission is missing and how to grant this permission.

        This call is free. After an asynchronous call, await the result.

        Returns:
            The `Explanation` that ``svc.explain(key, action, wallet)`` returns, or the explanation of a management
            call.

        Raises:
            InvalidArgument: The error comes from another process, or from a call without an explanation. Only runs, and
                management calls with the status 403, have an explanation.
        """
        if self.explainer is None:
            raise InvalidArgument(
                "this error has no explanation: only errors that this process raised for a run, or for a management "
                "call with the status 403, have an explanation",
                hint="For a run in another process, call svc.explain(key, action, wallet). After the status 401, check "
                "the key.",
            )
        return self.explainer()


class ConfigError(SvcnbError):
    """Error for a setting that is missing or invalid."""

    exit_code = ExitCode.USAGE


class NotConfirmed(SvcnbError):
    """Error for an irreversible or paid operation that the caller requested without ``confirm=True``.

    The client did not execute the operation.

    Attributes:
        consequences: The consequences of the operation, each in one or two sentences.
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
    """Error raised when no usable response arrives, for example because the connection fails."""

    default_hint = "Check the address of the service (base_url), and check that the service is running."
    exit_code = ExitCode.UNREACHABLE

    unsent: bool = False
    """True if the client sent no part of the request. It is then safe to repeat the call, even if it changes data."""

    refused: bool = False
    """True if no server listens at the address on this machine. An immediate retry then fails again."""

    closed: bool = False
    """True if the client was closed. A retry then fails again."""


class TimedOut(TransportError):
    """Error raised when the service does not respond in time."""

    default_hint = "Try again, or allow more time: svc.with_options(timeout=seconds)."


class NotTheApi(TransportError):
    """Error for a response that the API does not send, for example HTML. Usually, ``base_url`` is wrong."""

    default_hint = "Set base_url to the part of the address before /core/v1."


class SigningError(SvcnbError):
    """Error raised when a signer cannot sign, or refuses to sign."""


class ChainError(SvcnbError):
    """Error raised when the contract rejects a call, or when the client cannot reach the chain.

    Attributes:
        name: Name of the contract's error, for example ``AccountAlreadyExists``. The client adds three names. If the
            wallet cannot pay the gas, the name is ``InsufficientFunds``. If the outcome of a transaction is unknown,
            the name is ``Pending``. If the service does not find a new usage key, the name is ``NotResolved``. Empty
            for other causes, for example a chain node that does not respond.
        arguments: Arguments of the error, for example addresses and hashes.
    """

    def __init__(
        self, message: str, *, name: str = "", arguments: tuple[object, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.name = name
        self.arguments = arguments


class PaymentFailed(SvcnbError):
    """Error for a payment that the payment processor did not collect. The service added no credit."""

    default_hint = "Start a new payment: svc.billing.top_up(cents)."


class ActionError(Explicable):
    """Error for an action that threw an error, has a syntax error, or exceeded a limit. The service charged nothing.

    Attributes:
        stage: ``compile`` for a syntax error, ``limit`` for an exceeded limit or insufficient credit, ``run`` for an
            error that the action threw.
        name: Name of the JavaScript error, for example ``TypeError``, or an empty string.
        line: Line of the source that the error text of the service names first. None if the text names no line.
        column: Column in this line. None if the text names no column.
        stack: Stack trace, with one line for each call. Empty if the service sent no stack trace.
        logs: Console output. Empty for errors that the client raises, because the service deletes the output of failed
            runs.
        cid: CID of the action.
        status: HTTP status.
        request_id: Id that the service assigned to the request.
    """

    default_hint = (
        "Read error.stack. An emulator also stores the console output: emulator.run_record(error.request_id)['logs']."
    )

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
    """Error raised when no timeline of a run is available, for example because the service is not an emulator."""

    default_hint = (
        "Check the request id. An emulator stores the traces of the newest 10,000 runs. The live service does not "
        "store traces."
    )


class ServiceError(SvcnbError):
    """Error raised when the service responds with an error status.

    Attributes:
        status: HTTP status.
        code: Error code of the service, for example ``forbidden``. If the body contains no code, the attribute is the
            default code for the status.
        request_id: Id of the request. The operators of the service can find the request by this id.
        fix: Advice from the service, or an empty string.
        docs_url: Documentation page that the service links, or an empty string.
        structured: Whether the response body is a JSON object, as in errors of authentication, billing, routing and
            parsing. If not, the body is a string from the endpoint itself, as in reverts and failed runs.
    """

    default_hint = "If the problem persists, send error.request_id to the operator of the service."
    hint_before_fix: ClassVar[bool] = False
    """True if the client's hint takes precedence over the service's advice, which is for authors of raw requests."""

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
    """Error for a malformed request, or for a value that has the wrong format (400)."""

    default_hint = "Correct the value that this error names. Nothing was charged."


class Unauthorized(ServiceError, Explicable):
    """Error for a request without a key, or with a key that does not belong to an account (401)."""

    default_hint = "Pass a valid key: svc.with_key(key), or set SVC_API_KEY. A deleted usage key is no longer valid."
    hint_before_fix = True


class OutOfCredit(ServiceError):
    """Error raised when the account does not have enough credit for the call (402)."""

    default_hint = "Add credit: svc.billing.top_up(500). Check the balance: svc.billing.balance()."
    hint_before_fix = True


class Forbidden(ServiceError, Explicable):
    """Error for a valid key that has no permission for the call (403)."""

    default_hint = (
        "Call error.explain() to see the cause and the code that grants the permission. A usage key can lack the "
        "permission, or have expired. In ChainSecured mode, only the owner can change the account: "
        "svc.chain_secured.open(owner)."
    )


class NotFound(ServiceError):
    """Error for an endpoint or a resource that does not exist (404)."""

    default_hint = "Check the id. To see the existing objects, call a list method, for example svc.groups.list()."


class Conflict(ServiceError):
    """Error for a request that conflicts with existing data (409)."""

    default_hint = (
        "Read the object again, for example with a list method. Then repeat the call if it is still necessary."
    )


class PayloadTooLarge(ServiceError):
    """Error for a request body that is larger than the service permits (413)."""

    default_hint = "Make the source or the parameters smaller. The action can fetch large data with an HTTP request."


class UnprocessableEntity(ServiceError):
    """Error for a body that is valid JSON, but does not match the endpoint's schema (422)."""

    default_hint = "Correct the field that this error names. Nothing was charged."


class RateLimited(ServiceError):
    """Error raised when the node is overloaded, or when the caller has reached a limit (429)."""

    default_hint = "Try again in a few seconds, with fewer calls at the same time. Nothing was charged."


class InternalError(ServiceError):
    """Error raised when the service fails (500)."""


class Unavailable(ServiceError):
    """Error raised when billing, the chain or the action runtime is temporarily unavailable (503)."""

    default_hint = "Try again in a few seconds. Nothing was charged."


class WorkerLost(SvcnbError):
    """Error for a run whose worker returned no result. It is unknown whether the service executed the action."""

    default_hint = "Call batch.resume() to repeat the run. The first run may have completed and been charged."


class ExecutorLost(WorkerLost):
    """Error raised when an executor does not accept any more runs."""


EXECUTION_HINT: Final = (
    "One group must permit the action and be in the key's execute_in_groups. Call error.explain(), or compare "
    "svc.groups.contents(group) with svc.usage_keys.list(). A new permission takes a few seconds to take effect: use "
    "svc.run(action, until_effective=60)."
)
"""Hint for a forbidden run. Forbidden management calls have a different hint."""

EXPIRED_HINT: Final = (
    "Use another key, or renew this key with the account key: svc.usage_keys.update(key). In ChainSecured mode, the "
    "owner renews the key: mine.usage_keys.update(key, expires_in='365d')."
)
"""Hint for a run with an expired key."""

APPROVAL_HINT: Final = (
    "Approve the token in a browser: triggers.authorize(). If the token was revoked, create a client with a new token: "
    "svcnb.TriggersClient(triggers_url)."
)
"""Hint for a token that the triggers service does not recognise."""

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
"""Error class for each error status. For all other error statuses, the client raises `ServiceError`."""
