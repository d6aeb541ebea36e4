"""Examples at the foot of a command's help."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Returns the epilog of a command: command lines as one types them, kept as they are at any width.

    Args:
        lines: Each with ``svcnb`` in front; a test parses them.
    """
    return "\n".join(["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {line}" for line in lines)])
