"""Tab completion in ``%svc``, in the first line of ``%%action``, and in the JavaScript code below that line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from svcnb.magics.action import OPTIONS
from svcnb.magics.connection import VERBS, Connection
from svcnb.toolkit.runtime import GLOBALS, functions, namespaces

if TYPE_CHECKING:
    from IPython.core.completer import CompletionContext, SimpleMatcherResult

COMPLETER: Final = "svcnb.actions"
_FIRST_LINE: Final = re.compile(r"\s*%%action\b")
_LINE_MAGIC: Final = re.compile(r"\s*%svc\b(?P<rest>.*)")
_PATH: Final = re.compile(r"(?<![\w$.])[A-Za-z_$][\w$]*(?:\.[\w$]*)*\Z")
_WORD: Final = re.compile(r"(?<!\S)\S*\Z")


class ActionCompleter:
    """Completion matcher for IPython (version 2 of the interface), which IPython calls with the cursor position."""

    matcher_identifier = COMPLETER
    matcher_priority = 1_000.0
    matcher_api_version = 2

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        # IPython reads this attribute of every matcher, including matchers that are not functions.
        self.__qualname__ = COMPLETER

    def __call__(self, context: CompletionContext) -> SimpleMatcherResult:
        """Returns the completions at the cursor. Outside the magics, the result is empty."""
        before = context.text_until_cursor
        if context.cursor_line > 0 and _FIRST_LINE.match(context.full_text):
            return self._javascript(before)
        if context.cursor_line == 0 and _FIRST_LINE.match(before):
            return _result(_options(_last_word(before)), _last_word(before))
        if found := _LINE_MAGIC.match(before):
            return _result(self._verbs(found["rest"]), _last_word(before))
        return {"completions": []}

    def _javascript(self, before: str) -> SimpleMatcherResult:
        found = _PATH.search(before)
        path = found[0] if found else ""
        owner, dot, start = path.rpartition(".")
        vocabulary = self._connection.vocabulary
        spaces = namespaces(vocabulary)
        members = {vocabulary.namespace: [member for member in spaces.values() if member]}
        for name in (f"{vocabulary.namespace}.Actions", vocabulary.actions_global):
            members[name] = list(functions(vocabulary))
        offered = members.get(owner, []) if dot else sorted(GLOBALS | set(spaces))
        # Python names are not valid in JavaScript. IPython offers Python names unless another completion exists, such
        # as the word itself.
        found_names = [name for name in offered if name.startswith(start)] or [start]
        return _result(filter(None, found_names), start)

    def _verbs(self, rest: str) -> Iterator[str]:
        words = rest.split()
        start = _last_word(rest)
        if len(words) - bool(start) == 0:
            yield from (verb for verb in VERBS if verb.startswith(start))
        elif words[0] == "connect":
            yield from (name for name in self._connection.variables() if name.startswith(start))
            yield from (flag for flag in self._connection.options.flags if flag.startswith(start))


def _options(start: str) -> Iterator[str]:
    return (flag for flag in OPTIONS.flags if start.startswith("-") and flag.startswith(start))


def _last_word(text: str) -> str:
    found = _WORD.search(text)
    return found[0] if found else ""


def _result(offered: Iterable[str], fragment: str) -> SimpleMatcherResult:
    from IPython.core.completer import SimpleCompletion

    completions: list[Any] = [SimpleCompletion(text, type="svcnb") for text in offered]
    return {
        "completions": completions,
        "matched_fragment": fragment,
        "suppress": bool(completions),
        "ordered": True,
    }
