"""Base of all errors of this package, and the errors that need nothing else of it.

`svcnb.client.errors` shows the complete tree.
"""

from __future__ import annotations

from typing import Any, ClassVar

from svcnb.extras import install_command


class SvcnbError(Exception):
    """The base of all errors of this package.

    Args:
        message: What was seen and what is allowed.
        hint: What to do next; the class's own hint when left out.
    """

    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint

    def __str__(self) -> str:
        return f"{self.message}\nNext step: {self.hint}" if self.hint else self.message

    def _repr_html_(self) -> str:
        from svcnb.brief import box

        return box(type(self).__name__, self.message, self.hint)

    def _render_traceback_(self) -> list[str]:
        """What IPython shows when nobody catches the error."""
        from svcnb.brief import brief

        return brief(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # What explains a refusal holds a key, and that does not travel.
        kept = {name: value for name, value in self.__dict__.items() if name != "explainer"}
        return _rebuild, (type(self), self.message), kept


def _rebuild(kind: type[SvcnbError], message: str) -> SvcnbError:
    # Subclasses take keyword arguments, which the default pickling of exceptions drops.
    error = kind.__new__(kind, message)
    error.args = (message,)
    return error


class InvalidArgument(SvcnbError, ValueError):
    """An argument was refused here, before anything was sent or charged."""


class InvalidType(InvalidArgument, TypeError):
    """An argument has a type that cannot be used here."""


class ExtraMissing(SvcnbError, ImportError):
    """A package is not installed that an extra of this one brings.

    Args:
        message: What needs it.
        extra: Name of the extra.
    """

    def __init__(self, message: str, extra: str = "all", *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint or f"Install it: {install_command(extra)}")
        self.extra = extra
