"""Recordings of outbound requests in human-readable files, which users can commit and replay.

```json
{"version": 1, "exchanges": [{"request": {"method": "GET", "url": "https://..."},
                              "response": {"status": 200, "headers": [["content-type", "..."]], "body": "..."}}]}
```

A recording contains no request headers and no cookies, because headers and cookies can contain credentials. The field
``body_base64`` contains a body that is not UTF-8 text.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Any, ClassVar, Final

from svcnb.emulator.platform.offload import in_thread
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse
from svcnb.exit_codes import ExitCode
from svcnb.files import replace_file
from svcnb.protocol.limits import MAX_RECORDING_BYTES, MAX_RECORDING_FILE_BYTES
from svcnb.protocol.nesting import parse

VERSION = 1
_HEAD: Final = f'{{\n  "version": {VERSION},\n  "exchanges": [\n'
_TAIL: Final = "\n  ]\n}\n"

_Key = tuple[str, str, bytes]


class RecordingError(ValueError):
    """Error for a recording that cannot be read or written. The message contains the fix."""

    exit_code: ClassVar[ExitCode] = ExitCode.USAGE


class Recording:
    """Recording file with HTTP exchanges.

    Args:
        path: Path of the file.
        must_exist: True for a replay: a missing file is an error. False for a new recording: a missing file counts as
            an empty recording.

    Raises:
        RecordingError: The file cannot be read, is too large, is not a recording, or has a different version. The file
            is missing, but ``must_exist`` is true.
    """

    def __init__(self, path: Path, *, must_exist: bool) -> None:
        self.path = path
        self._texts: list[str] = []
        self._chars = 0
        self._answers: dict[_Key, list[FetchResponse]] = {}
        self._played: Counter[_Key] = Counter()
        self._lock = asyncio.Lock()
        try:
            data = _read(path)
        except FileNotFoundError:
            if must_exist:
                raise RecordingError(
                    f"the recording {path} does not exist: record the responses first, or correct the path"
                ) from None
            return
        except OSError as error:
            raise RecordingError(
                f"the recording {path} cannot be read ({error.strerror}): check its path and its permissions"
            ) from None
        try:
            content = parse(data.decode())
            if content["version"] != VERSION:
                raise RecordingError(
                    f"the recording {path} has version {content['version']}, but this emulator reads only version "
                    f"{VERSION}: record the responses again"
                )
            for exchange in content["exchanges"]:
                self._add_recorded(exchange)
                if not must_exist:
                    self._append(_text(exchange))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if isinstance(error, RecordingError):
                raise
            raise RecordingError(
                f"the file {path} is not a recording: pass a file that was written with the network policy 'record'"
            ) from None

    def replay(self, request: FetchRequest) -> FetchResponse | None:
        """Returns the next recorded response to a request, or None if the recording contains no response.

        Recorded requests match by method, URL and body. After the last response to a request, the method returns this
        response again.
        """
        key = _key(request)
        answers = self._answers.get(key)
        if not answers:
            return None
        answer = answers[min(self._played[key], len(answers) - 1)]
        self._played[key] += 1
        return answer

    async def add(self, request: FetchRequest, response: FetchResponse) -> None:
        """Appends an exchange and writes the file atomically.

        Raises:
            RecordingError: The file is full (`MAX_RECORDING_BYTES`), or cannot be written.
        """
        async with self._lock:
            await in_thread(self._add, request, response)

    def _add(self, request: FetchRequest, response: FetchResponse) -> None:
        if self._chars + len(response.body) + len(request.body or b"") > MAX_RECORDING_BYTES:
            raise RecordingError(
                f"the recording {self.path.name} is full: it can contain at most {MAX_RECORDING_BYTES} bytes. Use "
                "another file."
            )
        self._append(_text(_exchange(request, response)))
        try:
            replace_file(self.path, _HEAD + ",\n".join(self._texts) + _TAIL)
        except OSError as error:
            raise RecordingError(
                f"the recording {self.path} cannot be written ({error.strerror}): use a file in a writable folder"
            ) from None

    def _append(self, text: str) -> None:
        self._chars += len(text)
        self._texts.append(text)

    def _add_recorded(self, exchange: dict[str, Any]) -> None:
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


def _read(path: Path) -> bytes:
    # Do not open a pipe, because the call waits for a writer.
    if not stat.S_ISREG(path.stat().st_mode):
        raise RecordingError(f"the recording {path} is not a regular file: use the path of a file")
    with path.open("rb") as file:
        about = os.fstat(file.fileno())
        if about.st_size > MAX_RECORDING_FILE_BYTES:
            raise RecordingError(
                f"the recording {path} has {about.st_size} bytes, but at most {MAX_RECORDING_FILE_BYTES} are allowed: "
                "record fewer responses"
            )
        return file.read()


def _text(exchange: dict[str, Any]) -> str:
    """Returns the text form of an exchange for the file.

    The writer escapes line breaks in strings, so all other line breaks are part of the layout.
    """
    return "    " + json.dumps(exchange, indent=2, ensure_ascii=False).replace("\n", "\n    ")


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
