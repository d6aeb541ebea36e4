"""What the command line writes passes here: nothing that a service or an action sends can control the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from svcnb.protocol.text import REPLACEMENT, terminal_text


class _Stream:
    """A text stream whose text is made safe for terminals.

    Args:
        stream: Where it goes.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        try:
            REPLACEMENT.encode(stream.encoding or "utf-8")
            self._replacement = REPLACEMENT
        except (UnicodeEncodeError, LookupError):
            self._replacement = "?"

    @property
    def unfiltered(self) -> TextIO:
        """The stream below, for control characters of the program's own."""
        return self._stream

    def write(self, text: str) -> int:
        """Writes text; as `TextIO.write`."""
        self._stream.write(terminal_text(text, self._replacement))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Writes lines; as `TextIO.writelines`."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name == "buffer":  # bytes would pass unseen
            raise AttributeError(name)
        return getattr(self._stream, name)


@contextmanager
def safe_terminal() -> Iterator[None]:
    """Makes everything safe that is written to standard output and standard error inside the block.

    After an exception it stays so, since the interpreter still prints the traceback.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (None if stream is None else cast("TextIO", _Stream(stream)) for stream in before)
    yield
    sys.stdout, sys.stderr = before
