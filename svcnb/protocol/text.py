"""Text from JavaScript, made fit for everything else."""

from __future__ import annotations

import re
from typing import Final

_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def whole(text: str) -> str:
    r"""A text in which every lone half of a surrogate pair is U+FFFD.

    JavaScript's text may hold such halves and JSON carries them as escapes; UTF-8 has no bytes for them, so no
    database, terminal or file takes them.

    Args:
        text: Any text.

    Example:
        >>> whole("half \ud83d") == "half \ufffd"
        True
    """
    return _HALF_PAIR.sub("\ufffd", text)
