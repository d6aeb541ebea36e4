"""Client of the emulator's control plane.

Uses HTTP with the standard library alone, so tests and notebooks load no other library for it.
"""

from svcnb.control.emulator import EmulatorControl
from svcnb.control.errors import ControlRefused, EmulatorError, EmulatorUnreachable

__all__ = ["ControlRefused", "EmulatorControl", "EmulatorError", "EmulatorUnreachable"]
