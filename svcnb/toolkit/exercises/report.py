"""Client that sends the results of exercises to a workshop's server."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

from svcnb.client.errors import SvcnbError
from svcnb.protocol.nesting import parse

REACH_S: Final = 2.0
"""Connection timeout in seconds."""

ANSWER_S: Final = 30.0
"""Response timeout of a connected server, in seconds.

The timeout is long, so that results are not lost when the server is busy."""

MOST_BYTES: Final = 1 << 20
"""Maximum size of a response, in bytes."""

_OK: Final = 200


def report(exercise: str, *, right: bool) -> None:
    """Sends a result to the server at ``SVC_WORKSHOP_URL``, and stores the solutions that the server has unlocked.

    If ``SVC_WORKSHOP_URL`` or ``SVC_WORKSHOP_TOKEN`` is not set, the function does nothing. The function ignores
    connection errors, so that they never stop a lesson.

    Args:
        exercise: Name of the exercise.
        right: Whether the answer is correct.
    """
    address, token = os.environ.get("SVC_WORKSHOP_URL"), os.environ.get("SVC_WORKSHOP_TOKEN")
    if not address or not token:
        return
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    url = urlsplit(address)
    connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
    connection = connect(url.hostname or "", url.port, timeout=REACH_S)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with suppress(OSError, HTTPException, LookupError, ValueError, SvcnbError):
        try:
            body = json.dumps({"exercise": exercise, "right": right})
            connection.connect()
            connection.sock.settimeout(ANSWER_S)
            connection.request("POST", f"{url.path.rstrip('/')}/verdicts", body, headers)
            answer = connection.getresponse()
            text = answer.read(MOST_BYTES)
        finally:
            connection.close()
        if answer.status == _OK:
            from svcnb.lessons import fetch_solutions

            fetch_solutions(parse(text)["solutions"])
