"""Requests to a service, with the expected responses.

Each file of the folder `recordings` is one conversation: requests in order, each with its response. `compare` replays a
conversation against any service, and compares the status, the fields, and the format of each value. The files in this
package were written from docs/service, and were not recorded on a live service. `record` writes files with the current
responses of a service. The files never contain secrets. The files refer to keys by name. In responses, a mask
replaces each value that looks like a secret.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from svcnb.client.errors import TransportError
from svcnb.client.recorder import strip
from svcnb.logs import MASK
from svcnb.protocol.hashes import hashed_cid
from svcnb.protocol.nesting import parse
from svcnb.protocol.vocabulary import Vocabulary

_LOG = logging.getLogger(__name__)
_OK: Final = 200
FOLDER: Final = Path(__file__).with_name("recordings")
_API: Final = "/core/v1"
_TIMEOUT_S: Final = 120.0
_EXACT: Final = frozenset({"error", "success", "has_error", "response"})
"""Fields for which the check compares the values, and not only their formats."""
_FORMS: Final = {
    "an address": re.compile(r"0x[0-9a-fA-F]{40}\Z"),
    "a 32-byte hash": re.compile(r"0x[0-9a-fA-F]{64}\Z"),
    "a UUID": re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"),
    "a CID": re.compile(r"Qm[1-9A-HJ-NP-Za-km-z]{44}\Z"),
    "a decimal number": re.compile(r"[0-9]{1,78}\Z"),
}
_TEXT: Final = "text"
_KEPT: Final = re.compile(r"\{(\w+)(:number)?\}\Z")
_NAMED: Final = ("run_path", "action_id_path", "action_limits_path", "processor_config_path")


class Answer(NamedTuple):
    """Response of a service.

    Attributes:
        status: HTTP status.
        headers: Headers, with lowercase names as keys.
        body: Parsed JSON, or the text of a body that is not JSON.
    """

    status: int
    headers: Mapping[str, str]
    body: Any


Send = Callable[[str, str, Mapping[str, str], bytes | None], Answer]
"""Function that sends a request. Its arguments are the method, the path with the query, the headers and the body."""


@dataclass(frozen=True)
class Conversation:
    """Requests in order, each with its response.

    Attributes:
        name: Name of the file, without its extension.
        needs: ``nothing``, or ``account`` for a conversation that needs the key of an account with credit.
        source: Service or document from which the responses were taken, as text.
        exchanges: The requests and responses, with the structure of the JSON file.
    """

    name: str
    needs: str
    source: str
    exchanges: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Difference:
    """Difference between a recorded response and the response of a service.

    Attributes:
        title: Description of the request.
        route: Method and path.
        field: Location of the difference: ``status``, ``header.NAME`` or ``body.MEMBER``.
        says: Description of the difference.
        is_news: Whether the difference is a field that the recorded response does not contain.
    """

    title: str
    route: str
    field: str
    says: str
    is_news: bool = False

    def __str__(self) -> str:
        return f"{self.route} ({self.title}): {self.field}: {self.says}"


def load(folder: Path = FOLDER) -> list[Conversation]:
    """Returns the conversations of a folder. Conversations that do not need an account come first.

    Raises:
        ValueError: A file is not a recorded conversation.
    """
    found = []
    for path in sorted(folder.glob("*.json")):
        content = parse(path.read_text(encoding="utf-8"))
        try:
            found.append(Conversation(path.stem, content["needs"], content["source"], tuple(content["exchanges"])))
        except (TypeError, KeyError):
            raise ValueError(
                f"{path} is not a recorded conversation: expected an object with needs, source and exchanges. Move the "
                "file to another folder."
            ) from None
    return sorted(found, key=lambda each: each.needs != "nothing")


def over_http(base_url: str) -> Send:
    """Returns a function that sends requests to a service.

    Args:
        base_url: Address of the service, without ``/core/v1``.

    Returns:
        The function, which raises `svcnb.TransportError` if the service does not respond.
    """
    import httpx

    def send(method: str, path: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        url = base_url.rstrip("/") + path
        try:
            answer = httpx.request(method, url, headers=dict(headers), content=body, timeout=_TIMEOUT_S)
        except httpx.TransportError as error:
            raise TransportError(f"{base_url} did not respond: {error}") from None
        return Answer(answer.status_code, dict(answer.headers), _parsed(answer.text))

    return send


def answers(
    conversation: Conversation, send: Send, *, key: str | None = None, vocabulary: Vocabulary | None = None
) -> Iterator[tuple[dict[str, Any], Answer]]:
    """Replays a conversation with a service. Afterwards, deletes the groups, actions and usage keys that remain.

    A service can accept a request that is rejected in the recording, or an error can end the conversation early. Even
    then, the function deletes these objects. The function logs a warning for each object that the service does not
    delete.

    Args:
        conversation: The recorded requests.
        send: Function that sends a request.
        key: Key of an account with credit, for conversations that need an account.
        vocabulary: Names of the service. None uses the default names.

    Yields:
        Each recorded exchange, together with the response of this service.
    """
    names = vocabulary or Vocabulary()
    kept: dict[str, Any] = {"account": key}
    created = _Created()
    try:
        for exchange in conversation.exchanges:
            request = exchange["request"]
            headers = {}
            if (who := request.get("key")) is not None:
                headers["X-Api-Key"] = kept.get(who) or who
            sent, body = None, None
            if "text" in request:
                body = request["text"].encode()
            elif "body" in request:
                sent = _renamed(_filled(request["body"], kept), names)
                body = json.dumps(sent).encode()
            if body is not None:
                headers["Content-Type"] = "application/json"
            query = urlencode(_filled(request.get("query", {}), kept))
            path = _API + _path(request["path"], names) + (f"?{query}" if query else "")
            answer = send(request["method"], path, headers | request.get("headers", {}), body)
            created.note(request["path"], sent, answer)
            for name, where in exchange.get("keep", {}).items():
                kept[name] = _at(answer.body, where)
            yield exchange, answer
    finally:
        created.delete(send, key)


def compare(
    conversation: Conversation, send: Send, *, key: str | None = None, vocabulary: Vocabulary | None = None
) -> Iterator[Difference]:
    """Yields the differences between recorded responses and the responses of a service.

    The arguments are the same as for `answers`.
    """
    for exchange, answer in answers(conversation, send, key=key, vocabulary=vocabulary):
        recorded = exchange["answer"]
        route = f"{exchange['request']['method']} {exchange['request']['path']}"
        for field, says, is_news in _differences(recorded, answer):
            yield Difference(exchange["title"], route, field, says, is_news)


def record(
    conversation: Conversation,
    send: Send,
    folder: Path,
    *,
    source: str,
    key: str | None = None,
    vocabulary: Vocabulary | None = None,
) -> Path:
    """Writes the responses of a service to a file, without secrets.

    Args:
        conversation: The recorded requests.
        send: Function that sends a request.
        folder: Folder of the file. The function creates a missing folder.
        source: Origin of the responses. The function stores this text in the file.
        key: See `answers`.
        vocabulary: See `answers`.

    Returns:
        Path of the file.
    """
    exchanges = [
        exchange | {"answer": _recordable(exchange["answer"], answer, key)}
        for exchange, answer in answers(conversation, send, key=key, vocabulary=vocabulary)
    ]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{conversation.name}.json"
    content = {"needs": conversation.needs, "source": source, "exchanges": exchanges}
    path.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


class _Created:
    """Groups, actions and usage keys that a conversation has created and not deleted yet."""

    def __init__(self) -> None:
        self._deletions: dict[tuple[str, str, str], None] = {}
        """Path, member and value of each request that deletes an object, in the order of creation."""

    def note(self, path: str, sent: Any, answer: Answer) -> None:
        """Adds the object that a request created, or removes the object that the request deleted."""
        if answer.status != _OK or not isinstance(sent, dict) or not isinstance(answer.body, dict):
            return
        if path == "/add_group" and (group := answer.body.get("group_id")) is not None:
            self._deletions["/remove_group", "group_id", str(group)] = None
        elif path == "/add_usage_api_key" and (key := answer.body.get("usage_api_key")) is not None:
            self._deletions["/remove_usage_api_key", "usage_api_key", key] = None
        elif path == "/add_action":
            self._deletions["/delete_action", "hashed_cid", hashed_cid(sent["action_ipfs_cid"])] = None
        for member, value in sent.items():
            self._deletions.pop((path, member, str(value)), None)

    def delete(self, send: Send, key: str | None) -> None:
        """Deletes the objects, newest first. Logs a warning for each object that the service does not delete."""
        headers = {"X-Api-Key": key or "", "Content-Type": "application/json"}
        for path, member, value in reversed(self._deletions):
            try:
                answer = send("POST", _API + path, headers, json.dumps({member: value}).encode())
                problem = "" if answer.status == _OK else f"status {answer.status}"
            except TransportError as error:
                problem = error.message
            if problem:
                shown = MASK if member == "usage_api_key" else value
                _LOG.warning("could not delete an object of the recording: %s, %s %s: %s", path, member, shown, problem)


# --- requests -------------------------------------------------------------------------------------------------------


def _path(neutral: str, names: Vocabulary) -> str:
    plain = Vocabulary()
    return next((getattr(names, name) for name in _NAMED if getattr(plain, name) == neutral), neutral)


def _renamed(body: Any, names: Vocabulary) -> Any:
    if isinstance(body, dict) and isinstance(body.get("code"), str):
        return body | {"code": body["code"].replace(f"{Vocabulary().namespace}.", f"{names.namespace}.")}
    return body


def _filled(value: Any, kept: Mapping[str, Any]) -> Any:
    """Inserts values from earlier responses: ``{name}`` unchanged, ``{name:number}`` as a number."""
    if isinstance(value, dict):
        return {name: _filled(item, kept) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, kept) for item in value]
    if isinstance(value, str) and (found := _KEPT.match(value)) and found[1] in kept:
        given = kept[found[1]]
        return int(str(given), 0) if found[2] and given is not None else given
    return value


def _at(body: Any, where: str) -> Any:
    for part in where.split("."):
        if isinstance(body, list):
            body = body[int(part)] if int(part) < len(body) else None
        elif isinstance(body, dict):
            body = body.get(part)
        else:
            return None
    return body


def _parsed(text: str) -> Any:
    try:
        return parse(text)
    except (ValueError, RecursionError):
        return text


# --- responses ------------------------------------------------------------------------------------------------------


def _recordable(recorded: Mapping[str, Any], answer: Answer, key: str | None) -> dict[str, Any]:
    text = json.dumps(strip(answer.body), ensure_ascii=False)
    if key:
        text = text.replace(key, MASK)
    headers = {name: answer.headers.get(name, "") for name in recorded.get("headers", {})}
    return {"status": answer.status, **({"headers": headers} if headers else {}), "body": parse(text)}


def _differences(recorded: Mapping[str, Any], answer: Answer) -> Iterator[tuple[str, str, bool]]:
    if answer.status != recorded["status"]:
        yield "status", f"{answer.status}, but {recorded['status']} was recorded", False
        return
    for name, value in recorded.get("headers", {}).items():
        given = answer.headers.get(name)
        if given is None or _form(given) != _form(value):
            yield f"header.{name}", f"{_short_json(given)}, but {_form(value)} was recorded", False
    yield from _body(recorded["body"], answer.body, "body")


def _body(recorded: Any, given: Any, where: str) -> Iterator[tuple[str, str, bool]]:
    member = where.rpartition(".")[2].removesuffix("[]")
    if _kind(recorded) != _kind(given):
        yield where, f"{_kind(given)}, but {_kind(recorded)} was recorded", False
    elif isinstance(recorded, dict):
        yield from _members(recorded, given, where)
    elif isinstance(recorded, list):
        if recorded and given:
            yield from _body(recorded[0], given[0], f"{where}[]")
    elif recorded != MASK and (member in _EXACT or _form(recorded) == "a CID"):
        if recorded != given:
            yield where, f"{_short_json(given)}, but {_short_json(recorded)} was recorded", False
    elif isinstance(recorded, str) and recorded != MASK and _form(recorded) not in (_TEXT, _form(given)):
        yield where, f"{_form(given)}, but {_form(recorded)} was recorded", False


def _members(recorded: Mapping[str, Any], given: Mapping[str, Any], where: str) -> Iterator[tuple[str, str, bool]]:
    for name in sorted(set(recorded) - set(given)):
        yield f"{where}.{name}", "is missing", False
    for name in sorted(set(given) - set(recorded)):
        yield f"{where}.{name}", "was not recorded", True
    for name in sorted(set(recorded) & set(given)):
        yield from _body(recorded[name], given[name], f"{where}.{name}")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "a boolean"), ((int, float), "a number"), (str, "a string"), (list, "an array"))
    return next((name for kind, name in kinds if isinstance(value, kind)), "an object")


def _form(value: Any) -> str:
    if not isinstance(value, str):
        return _kind(value)
    return next((name for name, pattern in _FORMS.items() if pattern.match(value)), _TEXT)


def _short_json(value: Any) -> str:
    text = json.dumps(strip(value), ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"  # noqa: PLR2004 - a line
