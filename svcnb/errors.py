"""Base class of all errors of this package, and the errors that need no dependencies.

`svcnb.client.errors` shows the complete tree.
"""

from __future__ import annotations

from typing import Any, ClassVar

from svcnb.exit_codes import ExitCode
from svcnb.extras import how_to_get


class SvcnbError(Exception):
    """Base class of all errors of this package.

    Args:
        message: Description of the problem and of the allowed values.
        hint: Next step for the user. If omitted, the default hint of the class applies.

    Attributes:
        exit_code: Exit code of a command that fails with this error.
    """

    default_hint: ClassVar[str] = ""
    exit_code: ExitCode = ExitCode.FAILED

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint: str = self.default_hint if hint is None else hint

    def __str__(self) -> str:
        return f"{self.message}\nNext step: {self.hint}" if self.hint else self.message

    def _repr_html_(self) -> str:
        from svcnb.brief import box

        return box(type(self).__name__, self.message, self.hint)

    def _render_traceback_(self) -> list[str]:
        """Returns the lines that IPython shows for an uncaught error."""
        from svcnb.brief import brief

        return brief(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # The `explainer` attribute contains a key, which must not be pickled.
        kept = {name: value for name, value in self.__dict__.items() if name != "explainer"}
        return _rebuild, (type(self), self.message), kept


def _rebuild(kind: type[SvcnbError], message: str) -> SvcnbError:
    # Constructors of subclasses have keyword arguments, which the default pickling of exceptions loses.
    error = kind.__new__(kind, message)
    error.args = (message,)
    return error


class InvalidArgument(SvcnbError, ValueError):
    """Error for an argument that the client rejected before it sent a request. The service charged nothing."""

    exit_code = ExitCode.USAGE


class InvalidType(InvalidArgument, TypeError):
    """Error for an argument of the wrong type."""


class ExtraMissing(SvcnbError, ImportError):
    """Error for a missing package that an extra installs.

    Args:
        message: Feature that needs the package, and name of the package.
        extra: Name of the extra.
    """

    exit_code = ExitCode.TOOL_MISSING

    def __init__(self, message: str, extra: str = "all", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint or how_to_get(extra))
        self.extra = extra
