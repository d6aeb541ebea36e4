"""Protocol between `svcnb emulator --supervised` and the program that starts it."""

from typing import Final

LISTENER: Final = "listener_fd"
"""Additional field of the settings: the file descriptor of an inherited listening socket."""
