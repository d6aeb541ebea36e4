"""Client of the emulator's control plane.

The client sends HTTP requests with the standard library only, so tests and notebooks load no other HTTP library for it.
"""

from svcnb.control.emulator import EmulatorControl
from svcnb.control.errors import ControlRefused, EmulatorError, EmulatorUnreachable

__all__ = ["ControlRefused", "EmulatorControl", "EmulatorError", "EmulatorUnreachable"]
