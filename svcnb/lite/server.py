"""Local server for a preview of the site."""

from __future__ import annotations

import gzip
import sys
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from svcnb.lite.page import POLICY

_COMPRESSED: Final = frozenset({".css", ".js", ".json", ".mjs", ".svg", ".wasm"})
"""Types of files that the server compresses, as the hosts of static websites do."""


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".js": "text/javascript",
        ".mjs": "text/javascript",
        ".wasm": "application/wasm",
        ".whl": "application/zip",
    }

    def send_head(self) -> BytesIO | BinaryIO | None:
        """Sends the headers, and returns the content, compressed if the browser supports gzip for this type of file."""
        path = Path(self.translate_path(self.path))
        supported = "gzip" in self.headers.get("Accept-Encoding", "") and "If-Modified-Since" not in self.headers
        if path.suffix not in _COMPRESSED or not supported or not path.is_file():
            return super().send_head()
        changed = path.stat().st_mtime
        content = _compressed(path, changed)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Last-Modified", self.date_time_string(int(changed)))
        self.end_headers()
        return BytesIO(content)

    def end_headers(self) -> None:
        """Adds the content security policy as a header, because a page cannot set the policy of its workers."""
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature of the library
        """Disables the log of requests, because a page requests hundreds of files."""


@lru_cache(maxsize=2_000)
def _compressed(path: Path, _changed: float) -> bytes:
    """Returns the compressed content of a file.

    The results are cached, because each participant of a workshop requests the same files.
    """
    return gzip.compress(path.read_bytes(), 6)


class _Server(ThreadingHTTPServer):
    request_queue_size = 256  # a page opens many connections simultaneously

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints a traceback, unless the browser closed the connection, for example because the user closed the tab."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(site: Path, port: int = 0) -> ThreadingHTTPServer:
    """Returns a server that already listens on 127.0.0.1. Run it with ``serve_forever()``.

    Args:
        site: Folder that `svcnb.lite.site.build_site` created.
        port: TCP port. 0 selects a free port.

    Raises:
        OSError: The port is already in use.
    """
    return _Server(("127.0.0.1", port), partial(_Handler, directory=str(site)))
