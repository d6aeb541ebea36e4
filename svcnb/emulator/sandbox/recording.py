"""Recordings of outbound requests: files that people read, commit and replay.

```json
{"version": 1, "exchanges": [{"request": {"method": "GET", "url": "https://..."},
                              "response": {"status": 200, "headers": [["content-type", "..."]], "body": "..."}}]}
```

Request headers are not written down, since they carry credentials; neither are cookies. A body that is not UTF-8 text
stands as ``body_base64``.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse
from svcnb.protocol.nesting import parse

VERSION = 1

_Key = tuple[str, str, bytes]


class RecordingError(ValueError):
    """A recording cannot be read or written."""


class Recording:
    """One file of exchanges.

    Args:
        path: The file.
        must_exist: Whether a missing file is an error (replay) or an empty recording (record).

    Raises:
        RecordingError: It is missing, is no JSON, or is of another version.
    """

    def __init__(self, path: Path, *, must_exist: bool) -> None:
        self.path = path
        self._exchanges: list[dict[str, Any]] = []
        self._answers: dict[_Key, list[FetchResponse]] = {}
        self._played: Counter[_Key] = Counter()
        self._lock = asyncio.Lock()
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            if must_exist:
                raise RecordingError(
                    f"the recording {path} does not exist: record first, or correct the path"
                ) from None
            return
        except OSError as error:
            raise RecordingError(f"the recording {path} cannot be read: {error.strerror}") from None
        try:
            content = parse(text)
            if content["version"] != VERSION:
                raise RecordingError(f"the recording {path} has version {content['version']}, want {VERSION}")
            for exchange in content["exchanges"]:
                self._keep(exchange)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, RecordingError):
                raise
            raise RecordingError(f"the recording {path} is not a recording: {error}") from None

    def replay(self, request: FetchRequest) -> FetchResponse | None:
        """The answer to a request: the first, the second, ... of those recorded, then the last again and again."""
        key = _key(request)
        answers = self._answers.get(key)
        if not answers:
            return None
        answer = answers[min(self._played[key], len(answers) - 1)]
        self._played[key] += 1
        return answer

    async def add(self, request: FetchRequest, response: FetchResponse) -> None:
        """Appends an exchange and writes the file, whole or not at all."""
        async with self._lock:
            self._keep(_exchange(request, response))
            text = json.dumps({"version": VERSION, "exchanges": self._exchanges}, indent=2, ensure_ascii=False)
            await asyncio.to_thread(_write, self.path, text + "\n")

    def _keep(self, exchange: dict[str, Any]) -> None:
        asked, answered = exchange["request"], exchange["response"]
        request = FetchRequest(asked["method"], asked["url"], body=_body(asked))
        response = FetchResponse(
            status=answered["status"],
            status_text=answered.get("status_text", ""),
            headers=tuple((name, value) for name, value in answered.get("headers", [])),
            body=_body(answered) or b"",
            url=answered.get("url", asked["url"]),
            redirected=answered.get("url", asked["url"]) != asked["url"],
        )
        self._answers.setdefault(_key(request), []).append(response)
        self._exchanges.append(exchange)


def _key(request: FetchRequest) -> _Key:
    return request.method, request.url, request.body or b""


def _exchange(request: FetchRequest, response: FetchResponse) -> dict[str, Any]:
    url = {} if response.url == request.url else {"url": response.url}
    return {
        "request": {"method": request.method, "url": request.url, **_body_members(request.body)},
        "response": {
            "status": response.status,
            "status_text": response.status_text,
            **url,
            "headers": [list(pair) for pair in response.headers],
            **_body_members(response.body),
        },
    }


def _body_members(body: bytes | bytearray | None) -> dict[str, str]:
    if not body:
        return {}
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(body).decode()}


def _body(members: dict[str, Any]) -> bytes | None:
    if "body_base64" in members:
        return base64.b64decode(members["body_base64"], validate=True)
    return str(members["body"]).encode() if "body" in members else None


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(scratch).replace(path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise
