"""Local server for a preview of the site."""

from __future__ import annotations

import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from svcnb.lite.page import POLICY


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def end_headers(self) -> None:
        """Adds the content security policy as a header, because a page cannot set the policy of its workers."""
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature of the library
        """Disables the log of requests, because a page requests hundreds of files."""


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # a page opens many connections simultaneously

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints a traceback, unless the browser closed the connection, for example because the user closed the tab."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(site: Path, port: int = 0) -> ThreadingHTTPServer:
    """Returns a server that already listens on 127.0.0.1. Run it with ``serve_forever()``.

    Args:
        site: Folder that `svcnb.lite.build_site` created.
        port: TCP port; 0 selects a free port.

    Raises:
        OSError: The port is already in use.
    """
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(site)))
