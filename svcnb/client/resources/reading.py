"""Flows that read lists page by page, and parsers of responses into models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeAlias, TypeVar

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import NotFound
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.base import Model
from svcnb.client.models.groups import Group
from svcnb.client.models.usage_keys import UsageKey

M = TypeVar("M", bound=Model)
E = TypeVar("E")
Named: TypeAlias = Group | RegisteredAction | UsageKey

PAGE_SIZE = 100
"""Number of entries that the client requests per page when it reads a whole list."""


class Pages(Generic[E]):
    """State of a flow that reads several pages. The flow ignores repeated entries.

    The flow stops after a page that is not full or has no new entry.

    For a list that is shorter than one page, the service returns the whole list for every page number. After the
    deletion of an entry, the service moves the last entry to the free position. Therefore, neither an empty page nor
    the position of an entry is reliable (docs/service/http.md#paging).

    Args:
        identity: Function that returns the value that identifies an entry.
    """

    def __init__(self, identity: Callable[[E], object]) -> None:
        self._identity = identity
        self.number: int = 0
        self.more: bool = True
        self._seen: set[object] = set()

    def take(self, page: list[E]) -> list[E]:
        """Returns the new entries of a page, and decides whether another page follows."""
        self.number += 1
        fresh: list[E] = []
        for item in page:
            if (key := self._identity(item)) not in self._seen:
                self._seen.add(key)
                fresh.append(item)
        self.more = len(page) >= PAGE_SIZE and bool(fresh)
        return fresh


def identity(item: Model) -> object:
    """Returns a value that identifies an entry of a list: the name and value of its id, or else its JSON text."""
    for name in ("wallet_address", "hashed_cid", "api_key_hash", "id"):
        value = getattr(item, name, None)
        if value is not None:
            return name, value
    return item.model_dump_json()  # no id, for example for an action whose hash the service hides


def every(page: Callable[[int], Call[list[M]]], of: str, kind: type[M]) -> Flow[Listing[M]]:
    """Reads and returns all pages of a list."""
    pages = Pages[M](identity)
    items: list[M] = []
    while pages.more:
        items += pages.take((yield from ask(page(pages.number))))
    return Listing(items, of=of, kind=kind)


def find(page: Callable[[int], Call[list[M]]], wanted: Callable[[M], bool], missing: NotFound) -> Flow[M]:
    """Reads a list page by page, and returns the first entry for which ``wanted`` returns True.

    Raises:
        NotFound: The list does not contain the entry. The parameter ``missing`` is the error.
    """
    pages = Pages[M](identity)
    while pages.more:
        for item in pages.take((yield from ask(page(pages.number)))):
            if wanted(item):
                return item
    raise missing


def absent(what: str, hint: str) -> NotFound:
    """Returns the error for an entry that the account does not contain."""
    return NotFound(f"the account has no {what}", status=404, code="not_found", hint=hint)


def page_of(path: str, kind: type[M], number: int, size: int = PAGE_SIZE, **query: str | int) -> Call[list[M]]:
    """Returns the call for one page of a list."""
    pages = {"page_number": number, "page_size": size}
    return Call("GET", path, models(kind), query=query | pages, timeout_class="read")


def texts(old: Named | None, name: str | None, description: str | None) -> dict[str, str]:
    """Returns the new name and description of an object, where None keeps the old value."""
    return {
        "name": name if name is not None else old.name if old else "",
        "description": description if description is not None else old.description if old else "",
    }


def models(kind: type[M]) -> Callable[[Any, Answer], list[M]]:
    """Returns a function that parses a JSON array into a list of models of the class ``kind``."""

    def parse(body: Any, _answer: Answer) -> list[M]:
        if not isinstance(body, list):
            raise TypeError(f"expected a list of {kind.__name__}, got {type(body).__name__}")
        return [kind.model_validate(item) for item in body]

    return parse


def model(kind: type[M]) -> Callable[[Any, Answer], M]:
    """Returns a function that parses a JSON object into a model of the class ``kind``."""

    def parse(body: Any, _answer: Answer) -> M:
        return kind.model_validate(body)

    return parse


def member(name: str) -> Callable[[Any, Answer], str]:
    """Returns a function that returns one field of a JSON object, a string or an integer, as text."""

    def parse(body: Any, _answer: Answer) -> str:
        value = body[name]
        if not isinstance(value, (str, int)):
            raise TypeError(f"the member {name} has the type {type(value).__name__}: expected a string or an integer")
        return str(value)

    return parse


def nothing(_body: object, _answer: Answer) -> None:
    """Ignores a response. This is the parser of calls without a result."""
