"""Differences between the sources of two actions. A source with one changed byte is a different action."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from svcnb.protocol.action import Action

_INVISIBLE: Final = {"\r": "␍", "\n": "", "\t": "→", "\ufeff": "[BOM]", "\u00a0": "[NBSP]", "\u200b": "[ZWSP]"}
_CONTEXT_LINES: Final = 2
_COLOURS: Final = {"-": "var(--jp-error-color1,#d33)", "+": "var(--jp-success-color1,#2a2)"}


@dataclass(frozen=True)
class ActionDiff:
    """Differences between the sources of two actions.

    Attributes:
        before: CID of the older source.
        after: CID of the newer source.
        first_byte: Offset of the first byte that differs. None if the sources are equal.
        changed_bytes: Number of bytes of the newer source from the first to the last difference. 0 if bytes were only
            removed.
        lines: Changed lines with two lines of context, marked with ``-``, ``+`` or a space. In changed lines, visible
            text replaces carriage returns, tabs, byte order marks, non-breaking and zero-width spaces, and trailing
            spaces.
    """

    before: str
    after: str
    first_byte: int | None
    changed_bytes: int
    lines: tuple[str, ...]

    @classmethod
    def between(cls, older: Action, newer: Action) -> ActionDiff:
        """Returns the differences between an older and a newer action."""
        old, new = older.source.encode(), newer.source.encode()
        start = _common(old, new)
        end = _common(old[start:][::-1], new[start:][::-1])
        first = None if old == new else start
        return cls(older.cid, newer.cid, first, len(new) - start - end, tuple(_lines(older.source, newer.source)))

    @property
    def same(self) -> bool:
        """Whether the sources are equal, byte for byte."""
        return self.first_byte is None

    def __str__(self) -> str:
        if self.same:
            return f"the same action, {self.before}"
        head = f"{self.before} -> {self.after}, from byte {self.first_byte}"
        return "\n".join([head, *self.lines])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        if self.same:
            return f"<div>the same action, <code>{escape(self.before)}</code></div>"
        body = "\n".join(
            f"<span style='color:{_COLOURS[line[0]]}'>{escape(line)}</span>" if line[0] in _COLOURS else escape(line)
            for line in self.lines
        )
        head = f"<code>{escape(self.before)}</code> → <code>{escape(self.after)}</code>, from byte {self.first_byte}"
        return f"<div>{head}</div><pre>{body}</pre>"


def _common(one: bytes, other: bytes) -> int:
    """Returns the length of the common prefix. A binary search over slices is fast at any size."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines(older: str, newer: str) -> list[str]:
    from difflib import SequenceMatcher

    old, new = _split(older), _split(newer)
    found: list[str] = []
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(_CONTEXT_LINES):
        if found:
            found.append(" …")
        for what, old_start, old_end, new_start, new_end in group:
            if what == "equal":
                found += [f" {line}".rstrip("\n") for line in old[old_start:old_end]]
            else:
                found += [f"-{_visible(line)}" for line in old[old_start:old_end]]
                found += [f"+{_visible(line)}" for line in new[new_start:new_end]]
    return found


def _split(source: str) -> list[str]:
    # `splitlines` would also split lines at characters that JavaScript tools do not treat as line endings.
    *whole, last = source.split("\n")
    return [f"{line}\n" for line in whole] + ([last] if last else [])


def _visible(line: str) -> str:
    body = line.rstrip("\n")
    kept = body.rstrip(" ")
    text = "".join(_INVISIBLE.get(character, character) for character in kept) + "·" * (len(body) - len(kept))
    return text if line.endswith("\n") else f"{text} [no newline]"
