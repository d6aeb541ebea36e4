"""Protocol between `svcnb emulator --supervised` and the program that starts this command."""

from typing import Final

LISTENER: Final = "listener_fd"
"""Name of an additional field of the settings, which contains the file descriptor of an inherited listening socket."""
