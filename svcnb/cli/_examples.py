"""Examples at the end of a command's help."""

from __future__ import annotations


def examples(*lines: str) -> str:
    """Returns the epilog of a command. It shows each example on one line.

    Args:
        lines: Command lines that begin with ``svcnb``. A test parses them.
    """
    return "\n".join(["\b", "Example:" if len(lines) == 1 else "Examples:", *(f"  {line}" for line in lines)])
