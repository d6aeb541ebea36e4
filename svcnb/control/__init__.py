"""Client of the emulator's control plane.

The client sends HTTP requests with the standard library only, so tests and notebooks do not need another HTTP library
for the control plane.
"""

from svcnb.control.emulator import EmulatorControl
from svcnb.control.errors import ControlRefused, EmulatorError, EmulatorUnreachable

__all__ = ["ControlRefused", "EmulatorControl", "EmulatorError", "EmulatorUnreachable"]
