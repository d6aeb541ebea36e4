"""What an exit code of `svcnb` means; the launcher reads them back from the emulator's process."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """How a command ended."""

    OK = 0
    """It did what was asked."""
    FAILED = 1
    """The service, the chain or the action refused or failed; the message says which."""
    USAGE = 2
    """An argument, an option or a setting cannot be used."""
    PART_MISSING = 3
    """A part that is no Python (Deno, anvil), an extra, or a built bundle is not here."""
    PORT_IN_USE = 4
    """The port that was asked for belongs to another program."""
    STATE_UNUSABLE = 5
    """The state folder or database is not one that this version can use; nothing was changed in it."""
    UNREACHABLE = 6
    """The service does not answer."""
    ATTENTION = 7
    """A report was made, and found a problem."""
    BUSY = 8
    """The same report is being made by another process; nothing was done."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""
