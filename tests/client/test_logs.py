from __future__ import annotations

import io
import logging
import pickle
import traceback

import httpx
import pytest

from svcnb.client import errors
from svcnb.logs import MASK, RedactingFilter, redact

KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


@pytest.mark.parametrize(
    "text",
    [
        f"X-Api-Key: {KEY}",
        f"headers={{'x-api-key': '{KEY}'}}",
        f"[(b'X-Api-Key', b'{KEY}'), (b'Accept', b'*/*')]",
        "Authorization: Bearer short-token",
        "(b'authorization', b'Bearer short-token')",
        f'{{"usage_api_key": "{KEY}"}}',
        f"api_key={KEY}",
        f"just {KEY} somewhere",
        "pi_123_secret_short-token".replace("short-token", "shorttoken"),
    ],
)
def test_text_that_looks_like_a_key_is_masked(text: str) -> None:
    masked = redact(text)
    assert MASK in masked
    assert not [secret for secret in (KEY, "short-token", "shorttoken") if secret in masked]


@pytest.mark.parametrize(
    "text",
    [
        "0x" + "ab" * 32,
        "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH",
        "POST /core/v1/svc_action 200",
        "pi_123 succeeded",
        "the api_key_hash is 0x" + "cd" * 32,
    ],
)
def test_public_values_are_not_masked(text: str) -> None:
    assert redact(text) == text


def test_the_filter_masks_arguments_and_tracebacks() -> None:
    stream = io.StringIO()
    logger = logging.getLogger("svcnb.tests.redaction")
    logger.propagate = False
    handler = logging.StreamHandler(stream)
    handler.addFilter(RedactingFilter())
    logger.addHandler(handler)
    logger.warning("calling with %s", {"X-Api-Key": KEY})
    error = ValueError(f"api_key={KEY}")
    logger.error("failed", exc_info=error)
    logger.warning("two %s %s", "wanted")  # noqa: PLE1206 - as careless callers do
    logger.removeHandler(handler)
    text = stream.getvalue()
    assert KEY not in text
    assert text.count(MASK) >= 2


@pytest.fixture
def everything_logged():
    """Returns the output of all loggers at level DEBUG."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)


def test_a_key_appears_only_in_its_header(everything_logged) -> None:
    """The test sends a recognisable key over a real connection, with logging at level DEBUG."""
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    from svcnb.client import Client

    received: list[str | None] = []

    class Refuses(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(self.headers["X-Api-Key"])
            body = f'{{"error": "forbidden", "message": "not {KEY}", "fix": "other than {KEY}"}}'.encode()
            self.send_response(403)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Refuses) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with Client(f"http://127.0.0.1:{server.server_port}", api_key=KEY) as svc:
            with pytest.raises(errors.Forbidden) as caught:
                svc.wallets.list()
            seen = [repr(svc), repr(svc.config), str(svc.config), repr(vars(svc.config))]
        thread.join()
    error = caught.value
    seen += [str(error), repr(error), repr(vars(error)), error._repr_html_(), repr(pickle.dumps(error))]
    seen += ["".join(traceback.format_exception(error)), everything_logged.getvalue()]
    assert received == [KEY]
    # The log is not empty.
    assert "send_request_headers" in everything_logged.getvalue()
    assert [text for text in seen if KEY in text] == []


def test_a_local_error_does_not_contain_the_key(scripted) -> None:
    svc = scripted(lambda _: httpx.Response(200, json=[]))
    with pytest.raises(errors.NotFound) as caught:
        svc.usage_keys.update(KEY, name="new")
    assert KEY not in str(caught.value)
