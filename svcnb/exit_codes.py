"""Exit codes of `svcnb`; the launcher reads that of the emulator's process."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Result of a command."""

    OK = 0
    """Success."""
    FAILED = 1
    """The service, the chain or the action refused or failed; the message says which."""
    USAGE = 2
    """An argument, an option or a setting is invalid."""
    PART_MISSING = 3
    """An external tool (Deno, anvil), an extra, or a built bundle is missing."""
    PORT_IN_USE = 4
    """Another program uses the requested port."""
    STATE_UNUSABLE = 5
    """This version cannot use the state folder or database; nothing in it was changed."""
    UNREACHABLE = 6
    """The service does not respond."""
    ATTENTION = 7
    """A report was created, and shows a problem."""
    BUSY = 8
    """Another process is creating the same report; nothing was done."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
