"""Failures that become HTTP answers.

Two shapes exist (specification 7): guards, routing and parsing answer with an object, handlers with a JSON string.
"""

from __future__ import annotations

from svcnb.protocol.error_codes import code_of


class StateUnusable(Exception):
    """The kept state cannot be used: it is damaged, not ours, or of another version. Nothing in it was changed."""


class StartRefused(Exception):
    """The emulator cannot start with these settings.

    Args:
        message: What is wrong.
        hint: The next step.
    """

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class StateLocked(StateUnusable):
    """Another emulator uses the state."""


class ServiceError(Exception):
    """A failure with an HTTP status.

    Args:
        status: HTTP status to answer with.
        message: What is wrong, and what is allowed.
        headers: Extra response headers, for example ``Retry-After``.
    """

    def __init__(self, status: int, message: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class StructuredError(ServiceError):
    """A failure of authentication, billing, routing or parsing: an object with error, message, fix and docs_url.

    Args:
        status: HTTP status. It determines the ``error`` member.
        message: What is wrong, and what is allowed.
        fix: The caller's next step.
        docs: Name of the docs page that explains it: ``errors``, ``authentication`` or ``pricing``.
        headers: Extra response headers.
    """

    def __init__(
        self, status: int, message: str, *, fix: str, docs: str = "errors", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, message, headers=headers)
        self.fix = fix
        self.docs = docs

    @property
    def code(self) -> str:
        """The ``error`` member of the body."""
        return code_of(self.status)


class EndpointFailure(ServiceError):
    """A failure inside a handler, such as a contract revert or an execution error: the body is a JSON string."""


class Unavailable(StructuredError):
    """A part of the service cannot be reached: 503, nothing is charged.

    Args:
        part: The unavailable part, in words for the caller, for example ``the chain``.
        detail: What happened, without secrets.
    """

    def __init__(self, part: str, detail: str = "") -> None:
        super().__init__(
            503,
            f"{part} is temporarily unavailable{': ' + detail if detail else ''}. Nothing was charged.",
            fix="Try again in a few seconds.",
            headers={"Retry-After": "1"},
        )
        self.part = part
