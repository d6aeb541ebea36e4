"""Exit codes of `svcnb`. The launcher also reads the exit code of the emulator's process."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit code of an ``svcnb`` command."""

    OK = 0
    """The command succeeded."""
    FAILED = 1
    """The service, the chain or the action rejected the call or failed. The message contains the cause."""
    USAGE = 2
    """An argument, an option or a setting is invalid."""
    TOOL_MISSING = 3
    """An external tool (Deno, anvil), an extra, or a built bundle is missing."""
    PORT_IN_USE = 4
    """Another program uses the requested port."""
    STATE_UNUSABLE = 5
    """The state folder or the database cannot be used. For example, another emulator uses it. Nothing was changed."""
    UNREACHABLE = 6
    """The service does not respond."""
    ATTENTION = 7
    """The command created the report, and the report shows a problem."""
    BUSY = 8
    """Another process is creating the same report. The command did not create a second one."""
    INTERRUPTED = 130
    """Ctrl-C interrupted the command."""
