"""Address of this server, which is available after it starts to listen."""

from __future__ import annotations

from starlette.requests import Request


class ServerAddress:
    """Address of one emulator.

    Attributes:
        url: Scheme, host and port without a path. Empty until the server listens.
    """

    def __init__(self) -> None:
        self.url = ""

    def seen_by(self, request: Request) -> str:
        """Returns the address of this server as the caller sees it, without a path.

        Args:
            request: The caller's request.
        """
        host = request.headers.get("host")
        return f"{request.url.scheme}://{host}" if host else self.url
