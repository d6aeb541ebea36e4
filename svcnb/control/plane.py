"""Transport of the control plane: JSON over HTTP with only the standard library."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from svcnb import control_tokens
from svcnb.control.errors import ControlRefused, EmulatorUnreachable
from svcnb.errors import InvalidArgument
from svcnb.protocol.durations import seconds
from svcnb.protocol.in_page import IN_PAGE
from svcnb.protocol.nesting import parse

CONTROL_TIMEOUT_S = 300.0  # a reset starts a new chain, which can be slow on a busy machine

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class ControlPlane:
    """Client of one emulator's control plane.

    Args:
        control_url: Address of the control plane.
        token: Control token to send, or None. If the user's own emulator at the address has saved a token, the saved
            token takes precedence.
    """

    def __init__(self, control_url: str, token: str | None) -> None:
        self._control_url = control_url
        self._token = token

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Sends one request to the control plane; see `svcnb.control.EmulatorControl.request`."""
        from http.client import HTTPException

        if method not in _METHODS:
            raise InvalidArgument(f"invalid method {method!r}: expected one of {', '.join(_METHODS)}")
        headers = {"Accept": "application/json"}
        payload = None
        if body is not None:
            from svcnb.client.request import encode

            payload = encode(body, ascii_only=True)
            headers["Content-Type"] = "application/json"
        send = self._send_in_page if IN_PAGE else self._send
        try:
            status, text = send(method, self._control_url + path, payload, headers)
        except (OSError, HTTPException) as error:
            # Raise the error without the library's frames, because their variables contain the headers.
            raise EmulatorUnreachable(
                f"the request to the emulator at {self._control_url} failed ({error})"
            ) from error.with_traceback(None)
        return _read(status, text, self._control_url + path)

    def _send(self, method: str, address: str, payload: bytes | None, headers: dict[str, str]) -> tuple[int, str]:
        from http.client import HTTPConnection, HTTPSConnection

        if (found := control_tokens.find(self._control_url)) is not None:
            address = found.at(address)
        url = urlsplit(address)
        connect = HTTPSConnection if url.scheme == "https" else HTTPConnection
        # Requests never use a proxy from the environment, because the emulator is nearly always on loopback.
        connection = connect(url.hostname or "127.0.0.1", url.port, timeout=CONTROL_TIMEOUT_S)
        place = f"{url.path}?{url.query}" if url.query else url.path
        try:
            connection.request(method, place, payload, headers | self._authorization())
            answer = connection.getresponse()
            return answer.status, answer.read().decode("utf-8", "replace")
        finally:
            connection.close()

    def _send_in_page(
        self, method: str, address: str, payload: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        from svcnb.in_process import answer, wait

        found = wait(answer(method, address, headers | self._authorization(), payload or b"", CONTROL_TIMEOUT_S))
        return found.status, found.content.decode("utf-8", "replace")

    def _authorization(self) -> dict[str, str]:
        # Do not store the token in a variable of `request`, so that a traceback with variables cannot show it. Read the
        # token for each call, because a restarted emulator at the same address has another token.
        if (found := control_tokens.find(self._control_url)) is not None:
            return {"Authorization": found.authorization()}
        return {} if self._token is None else {"Authorization": f"Bearer {self._token}"}


def given(**members: object) -> dict[str, object]:
    """Returns a request body without the fields whose value is None."""
    return {name: value for name, value in members.items() if value is not None}


def milliseconds(span: float | str | timedelta) -> int:
    """Returns a duration in milliseconds, the unit of the control plane.

    Args:
        span: Seconds, a string such as ``"2m"``, or a ``timedelta``.
    """
    return round(seconds(span) * 1000)


def _read(status: int, text: str, url: str) -> Any:
    try:
        answer = parse(text) if text else None
    except ValueError:
        raise ControlRefused(
            status,
            f"the response from {url} (status {status}) is not JSON",
            hint="Check that an emulator runs at this address.",
        ) from None
    if status < 400:  # noqa: PLR2004 - HTTP error statuses start at 400
        return answer
    if isinstance(answer, dict):
        raise ControlRefused(status, str(answer.get("message", answer)), hint=str(answer.get("fix", "")))
    raise ControlRefused(status, str(answer))
