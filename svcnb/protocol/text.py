"""Text from other people, made safe for files, databases, XML and terminals."""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
"""REPLACEMENT CHARACTER, shown in place of what was taken out, so that two different names do not become equal."""

_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


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
    return _HALF_PAIR.sub(REPLACEMENT, text)


def xml_text(text: str) -> str:
    r"""Replaces every character that XML forbids with U+FFFD.

    XML has no way to write these characters, not even as an escape. An SVG that contains one cannot be parsed.
    Source: XML 1.0, production 2 (Char).

    Args:
        text: Any text.

    Example:
        >>> xml_text("bell\x07\t") == "bell\ufffd\t"
        True
    """
    return _NOT_XML.sub(REPLACEMENT, text)
