"""Errors of the control plane's client."""

from __future__ import annotations

from svcnb.client.errors import SvcnbError
from svcnb.exit_codes import ExitCode


class EmulatorError(SvcnbError):
    """Error raised when the emulator fails, or when the connection to the emulator fails."""


class EmulatorUnreachable(EmulatorError):
    """Error raised when no server responds at the emulator's address."""

    default_hint = "Start an emulator with `svcnb emulator`, or with svcnb.Emulator()."
    exit_code = ExitCode.UNREACHABLE


class ControlRefused(EmulatorError):
    """Error response of the control plane.

    Args:
        status: HTTP status.
        message: Message of the emulator.
        hint: The next step for the user. None or an empty string means that the error has no hint.
    """

    def __init__(self, status: int, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
