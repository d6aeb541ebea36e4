"""Output filter of the command line, which prevents text from a service or an action from controlling the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from svcnb.protocol.text import REPLACEMENT, terminal_text


class _Stream:
    """Text stream that escapes control characters."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        try:
            REPLACEMENT.encode(stream.encoding or "utf-8")
            self._replacement = REPLACEMENT
        except (UnicodeEncodeError, LookupError):
            self._replacement = "?"

    @property
    def unfiltered(self) -> TextIO:
        """The stream without the filter, for the program's own control characters."""
        return self._stream

    def write(self, text: str) -> int:
        """Writes text with escaped control characters. Returns the length of the text before the escaping."""
        self._stream.write(terminal_text(text, self._replacement))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Writes lines with escaped control characters."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes would bypass the filter
            raise AttributeError(name)
        return getattr(self._stream, name)


@contextmanager
def safe_terminal() -> Iterator[None]:
    """Context manager that filters standard output and standard error.

    After an exception, the filter stays active, because the interpreter still prints the traceback.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (None if stream is None else cast("TextIO", _Stream(stream)) for stream in before)
    yield
    sys.stdout, sys.stderr = before
