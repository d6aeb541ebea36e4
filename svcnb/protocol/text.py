"""Functions that sanitise untrusted text for files, databases, XML and terminals."""

from __future__ import annotations

import re
from typing import Final

REPLACEMENT: Final = "\ufffd"
"""REPLACEMENT CHARACTER, which replaces each unsafe character. The length of the text does not change."""

_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")
_NOT_FOR_TERMINALS: Final = re.compile(
    # C0 and C1 control characters except tab and line feed, DEL; line and paragraph separators; bidirectional controls
    # (UAX 9); interlinear annotation; lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufff9-\ufffb\ud800-\udfff]"
)
_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def whole(text: str) -> str:
    r"""Returns a string in which U+FFFD replaces every lone half of a surrogate pair.

    JavaScript strings can contain lone halves, and JSON can contain them as escapes. UTF-8 cannot encode lone halves,
    so databases, terminals and files reject them.

    Args:
        text: Any string.

    Example:
        >>> whole("half \ud83d") == "half \ufffd"
        True
    """
    return _HALF_PAIR.sub(REPLACEMENT, text)


def xml_text(text: str) -> str:
    r"""Returns a string in which U+FFFD replaces every character that XML forbids.

    XML cannot express these characters, not even with an escape. Parsers reject an SVG with such a character.

    Source: XML 1.0, production 2 (Char).

    Args:
        text: Any string.

    Example:
        >>> xml_text("bell\x07\t") == "bell\ufffd\t"
        True
    """
    return _NOT_XML.sub(REPLACEMENT, text)


def terminal_text(text: str, replacement: str = REPLACEMENT) -> str:
    r"""Returns a string in which ``replacement`` replaces every character that can change how a terminal shows text.

    Control characters can set the window title, move the cursor or hide text. Bidirectional controls reorder text. The
    function keeps tabs and line feeds.

    Source: ECMA-48; Unicode Standard Annex 9.

    Args:
        text: Any string.
        replacement: Text that replaces each such character.

    Example:
        >>> terminal_text("a\x1b[2Jb\tc") == "a\ufffd[2Jb\tc"
        True
    """
    return _NOT_FOR_TERMINALS.sub(replacement, text)


def escaped_json(text: str) -> str:
    r"""Returns JSON text that is safe to print, with ``\u`` escapes for the characters that `terminal_text` replaces.

    Args:
        text: One line or an indented document from `json.dumps`.
    """
    return _NOT_FOR_TERMINALS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
