"""The emulator's control plane, from outside.

Speaks HTTP with the standard library alone, so a test kit or a notebook has it without loading anything.
"""

from svcnb.control.emulator import EmulatorControl
from svcnb.control.errors import ControlRefused, EmulatorError, EmulatorUnreachable

__all__ = ["ControlRefused", "EmulatorControl", "EmulatorError", "EmulatorUnreachable"]
