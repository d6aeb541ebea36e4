"""Exceptions that become HTTP error responses.

The body has one of two formats (docs/service/http.md#errors). Errors of guards, routing and parsing are objects. Errors
of handlers are JSON strings.
"""

from __future__ import annotations

from svcnb.exit_codes import ExitCode
from svcnb.protocol.error_codes import code_of


class StateUnusable(Exception):
    """Error for a state that is damaged, does not belong to an emulator, or has a version that this svcnb cannot read.

    The state is unchanged.
    """

    hint = "Use a different --state folder or --database, or move the current folder or database."
    exit_code = ExitCode.STATE_UNUSABLE


class StartRefused(Exception):
    """Error for settings with which the emulator cannot start.

    Args:
        message: The reason why the emulator cannot start.
        hint: How to fix the problem.
    """

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class StateLocked(StateUnusable):
    """Error for a state that another emulator is using."""


def as_sentence(text: str) -> str:
    """Returns an error message as a sentence, with a capital letter at the start and a full stop at the end.

    Names such as ``eth_call`` do not change. `widgets/src/processor_page/status.ts` has the same rule.
    """
    is_word = text.partition(" ")[0].isalpha()
    return f"{text[:1].upper() if is_word else text[:1]}{text[1:].removesuffix('.')}."


class ServiceError(Exception):
    """Error with an HTTP status.

    Args:
        status: HTTP status of the response.
        message: Text that states the problem and the allowed values.
        headers: Additional response headers, for example ``Retry-After``.
    """

    def __init__(self, status: int, message: str, *, headers: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}


class StructuredError(ServiceError):
    """Error raised during authentication, billing, routing or parsing.

    The body is an object with error, message, fix and docs_url.

    Args:
        status: HTTP status, which determines the field ``error``.
        message: One clause that states the problem and the allowed values, in lower case and without a full stop.
        fix: Complete sentence that states how the caller can fix the problem. Clients show this text after the message.
        docs: The page that explains the error: ``errors``, ``authentication`` or ``pricing``.
        headers: Additional response headers.
    """

    def __init__(
        self, status: int, message: str, *, fix: str, docs: str = "errors", headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(status, message, headers=headers)
        self.fix = fix
        self.docs = docs

    @property
    def code(self) -> str:
        """The field ``error`` of the body, for example ``unauthorized`` for the status 401."""
        return code_of(self.status)


class EndpointFailure(ServiceError):
    """Error raised by a handler, such as a contract revert or an execution error. The body is a JSON string."""


class Unavailable(StructuredError):
    """Error 503 for an unavailable part of the service. The call is free.

    Args:
        part: Name of the unavailable part, with which the message starts, for example ``the chain``.
        detail: The cause, without secrets.
        fix: Complete sentence that states how the caller can fix the problem.
    """

    def __init__(self, part: str, detail: str = "", *, fix: str = "Try again in a few seconds.") -> None:
        super().__init__(
            503,
            f"{part} is temporarily unavailable{f' ({detail})' if detail else ''}; nothing was charged",
            fix=fix,
            headers={"Retry-After": "1"},
        )
        self.part, self.detail = part, detail


class ChainUnavailable(Unavailable):
    """Error for a chain that does not respond, or that has an injected fault. The chain stored no change.

    Args:
        detail: The cause, without secrets.
        fix: Complete sentence that states how the caller can fix the problem.
    """

    def __init__(self, detail: str, *, fix: str = "Try again in a few seconds.") -> None:
        super().__init__("the chain", detail, fix=fix)
