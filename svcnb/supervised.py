"""What a program that starts `svcnb emulator --supervised` and that command agree on."""

from typing import Final

LISTENER: Final = "listener_fd"
"""Member beside the settings: the number of an inherited socket that listens already."""
