"""Protocol between `svcnb emulator --supervised` and the program that starts this command."""

from typing import Final

LISTENER: Final = "listener_fd"
"""Name of the field with the file descriptor of an inherited listening socket.

The JSON object that the program sends contains this field and the settings."""
