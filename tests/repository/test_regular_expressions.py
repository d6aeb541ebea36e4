# ruff: noqa: C901, FBT001, PLR0911, PLR0917 - a matcher is one case after another
"""No regular expression of the package takes more than linear time, because a text can otherwise block the program.

The test counts steps instead of time. The matcher in this file uses the syntax tree of Python's own parser, and
backtracks like `re`, but without its optimisations. If the number of steps grows linearly here, the time of `re` is
also linear.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import re._constants as c  # type: ignore[import-not-found]
import re._parser as parser  # type: ignore[import-not-found]
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import svcnb

Continue = Callable[[int], bool]


class TooManySteps(Exception):
    """Error for a search with too many steps."""


class Matcher:
    """Pattern, and the number of steps of its searches.

    Args:
        pattern: The compiled pattern.
        limit: Steps after which `TooManySteps` is raised.
    """

    def __init__(self, pattern: re.Pattern[Any], limit: int) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        self.tree = parser.parse(
            text, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags
        )
        self._flags = pattern.flags
        self._limit = limit
        self.steps = 0

    def search(self, text: str, *, anywhere: bool) -> int:
        """Returns the number of steps until the first match, or until the end of an unsuccessful search.

        Args:
            text: Text to search.
            anywhere: Whether to try every start position, like `re.search`.
        """
        self.steps = 0
        self._text = text
        for start in range(len(text) + 1 if anywhere else 1):
            if self._seq(list(self.tree), 0, start, lambda _: True):
                break
        return self.steps

    def _seq(self, items: list[Any], index: int, at: int, go_on: Continue) -> bool:
        if index == len(items):
            return go_on(at)
        return self._item(items[index], at, lambda end: self._seq(items, index + 1, end, go_on))

    def _item(self, item: Any, at: int, go_on: Continue) -> bool:
        self.steps += 1
        if self.steps > self._limit:
            raise TooManySteps
        op, value = item
        if op in {c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN}:
            return at < len(self._text) and self._is_one(op, value, self._text[at]) and go_on(at + 1)
        if op is c.SUBPATTERN:
            return self._seq(list(value[3]), 0, at, go_on)
        if op is c.BRANCH:
            return any(self._seq(list(branch), 0, at, go_on) for branch in value[1])
        if op in {c.MAX_REPEAT, c.MIN_REPEAT}:
            return self._repeat(op is c.MAX_REPEAT, value, at, go_on)
        if op is c.POSSESSIVE_REPEAT:
            return self._possessive(value, at, go_on)
        if op is c.ATOMIC_GROUP:
            end = self._first_end(list(value), at)
            return end is not None and go_on(end)
        if op in {c.ASSERT, c.ASSERT_NOT}:
            return self._looks(value, at) == bool(op is c.ASSERT) and go_on(at)
        if op is c.AT:
            return self._at(value, at) and go_on(at)
        raise NotImplementedError(f"{op} is not counted yet")

    def _repeat(self, greedy: bool, value: Any, at: int, go_on: Continue) -> bool:
        low, high, body = value
        single = len(body) == 1 and body[0][0] in {c.LITERAL, c.NOT_LITERAL, c.ANY, c.IN}
        if single:  # do not use recursion, because texts are longer than Python's stack
            return self._repeat_single(greedy, low, high, body[0], at, go_on)
        items = list(body)

        def more(count: int, place: int) -> bool:
            def again() -> bool:
                return count < high and self._seq(
                    items, 0, place, lambda end: (end > place or count < low) and more(count + 1, end)
                )

            if count < low:
                return again()
            return (again() or go_on(place)) if greedy else (go_on(place) or again())

        return more(0, at)

    def _repeat_single(self, greedy: bool, low: int, high: int, one: Any, at: int, go_on: Continue) -> bool:
        if not greedy:
            return self._repeat_lazily(low, high, one, at, go_on)
        most = at
        while most < len(self._text) and most - at < high and self._is_one(one[0], one[1], self._text[most]):
            most += 1
            self.steps += 1
        ends = range(at + low, most + 1)
        for end in reversed(ends):
            self.steps += 1
            if self.steps > self._limit:
                raise TooManySteps
            if go_on(end):
                return True
        return False

    def _repeat_lazily(self, low: int, high: int, one: Any, at: int, go_on: Continue) -> bool:
        end = at
        while True:
            self.steps += 1
            if self.steps > self._limit:
                raise TooManySteps
            if end - at >= low and go_on(end):
                return True
            if end - at >= high or end == len(self._text) or not self._is_one(one[0], one[1], self._text[end]):
                return False
            end += 1

    def _possessive(self, value: Any, at: int, go_on: Continue) -> bool:
        low, high, body = value
        count = 0
        while count < high and (end := self._first_end(list(body), at)) is not None and end > at:
            at, count = end, count + 1
        return count >= low and go_on(at)

    def _first_end(self, items: list[Any], at: int) -> int | None:
        ends: list[int] = []

        def keep(end: int) -> bool:
            ends.append(end)
            return True

        return ends[0] if self._seq(items, 0, at, keep) else None

    def _looks(self, value: Any, at: int) -> bool:
        direction, body = value
        if direction > 0:
            return self._seq(list(body), 0, at, lambda _: True)
        low, high = body.getwidth()
        return any(
            self._seq(list(body), 0, at - width, lambda end: end == at)
            for width in range(low, min(high, 8) + 1)
            if at >= width
        )

    def _at(self, where: Any, at: int) -> bool:
        text = self._text
        if where in {c.AT_BEGINNING, c.AT_BEGINNING_STRING}:
            multiline = where is c.AT_BEGINNING and self._flags & re.MULTILINE
            return at == 0 or bool(multiline and text[at - 1] == "\n")
        if where in {c.AT_END, c.AT_END_STRING}:
            return at == len(text)
        before = at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_")
        after = at < len(text) and (text[at].isalnum() or text[at] == "_")
        return (before != after) == (where is c.AT_BOUNDARY)

    def _is_one(self, op: Any, value: Any, character: str) -> bool:
        if op is c.ANY:
            return character != "\n" or bool(self._flags & re.DOTALL)
        folded = {character, character.lower(), character.upper()} if self._flags & re.IGNORECASE else {character}
        if op is c.LITERAL:
            return bool(chr(value) in folded)
        if op is c.NOT_LITERAL:
            return bool(chr(value) not in folded)
        negate = value[0][0] is c.NEGATE
        return any(_belongs(kind, what, each) for kind, what in value for each in folded) != negate


def _belongs(kind: Any, what: Any, character: str) -> bool:
    if kind is c.LITERAL:
        return bool(ord(character) == what)
    if kind is c.RANGE:
        return bool(what[0] <= ord(character) <= what[1])
    if kind is c.CATEGORY:
        name = str(what)
        if "DIGIT" in name:
            found = character.isdigit()
        elif "SPACE" in name:
            found = character.isspace()
        else:
            found = character.isalnum() or character == "_"
        return found != ("NOT" in name)
    return False


def samples(tree: Any, literals: list[str]) -> list[str]:
    """Returns short texts that match a part of a pattern, with each literal at the variable positions."""
    found = [_sample(list(tree), free, branch) for branch in range(3) for free in ["a", *literals[:3]]]
    return list(dict.fromkeys(found))


def _sample(items: list[Any], free: str, branch: int = 0) -> str:
    text = ""
    for op, value in items:
        if op is c.LITERAL:
            text += chr(value)
        elif op in {c.NOT_LITERAL, c.ANY}:
            text += free if op is c.ANY or ord(free) != value else "b"
        elif op is c.IN:
            text += _member(value, free)
        elif op is c.SUBPATTERN:
            text += _sample(list(value[3]), free, branch)
        elif op is c.BRANCH:
            text += _sample(list(value[1][min(branch, len(value[1]) - 1)]), free, branch)
        elif op in {c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT}:
            text += _sample(list(value[2]), free, branch) * min(value[0], 64)
        elif op is c.ATOMIC_GROUP:
            text += _sample(list(value), free, branch)
    return text


def _member(value: Any, free: str) -> str:
    for candidate in [free, *"a0 A-_\n\t.!\u00e9", *(chr(what) for kind, what in value if kind is c.LITERAL)]:
        negate = value[0][0] is c.NEGATE
        if any(_belongs(kind, what, candidate) for kind, what in value) != negate:
            return str(candidate)
    first = next(what for kind, what in value if kind is c.RANGE)
    return str(chr(first[0]))


def parts(items: list[Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yields every unbounded repetition of a pattern, with a text that reaches it."""
    for index, (op, value) in enumerate(items):
        lead = before + _sample(items[:index], "a")
        if op in {c.MAX_REPEAT, c.MIN_REPEAT}:
            if value[1] is c.MAXREPEAT or value[1] > 1_000:
                yield lead, value[2]
            yield from parts(list(value[2]), lead)
        elif op is c.SUBPATTERN:
            yield from parts(list(value[3]), lead)
        elif op is c.BRANCH:
            for branch in value[1]:
                yield from parts(list(branch), lead)


def words(tree: Any) -> list[str]:
    """Returns the sequences of literals in a pattern, and the single literals."""
    runs: list[str] = []
    _collect(list(tree), runs)
    return list(dict.fromkeys(run for run in runs if run))


def _collect(items: list[Any], runs: list[str]) -> None:
    run = ""
    for op, value in items:
        if op is c.LITERAL:
            run += chr(value)
            continue
        runs.append(run)
        run = ""
        if op is c.IN:
            runs += [chr(what) for kind, what in value if kind is c.LITERAL]
        elif op is c.SUBPATTERN:
            _collect(list(value[3]), runs)
        elif op is c.BRANCH:
            for branch in value[1]:
                _collect(list(branch), runs)
        elif op in {c.MAX_REPEAT, c.MIN_REPEAT, c.POSSESSIVE_REPEAT}:
            _collect(list(value[2]), runs)
    runs.append(run)


SHORT, LONG = 60, 180
_LIMIT = 400_000
_WORDS = 5
_STEEP = 6.0
"""Ratio of steps for a text of three times the length. The ratio is 3 for linear growth, and 9 for quadratic growth."""


def growth(pattern: re.Pattern[Any], *, anywhere: bool) -> tuple[float, str]:
    """Returns the highest ratio of steps for a text of three times the length, and a description of that text."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), 20_000))
    matcher = Matcher(pattern, _LIMIT)
    literals = words(matcher.tree)[:_WORDS]
    leads = list(parts(list(matcher.tree))) or []
    worst = (0.0, "")
    tried = set()
    if anywhere and any(op is c.BRANCH for op, _ in matcher.tree):  # another branch can match at the beginning
        leads += [(f"\x00{lead}", body) for lead, body in leads]
    for lead, body in leads:
        pumps = [
            *samples(body, [word[0] for word in literals]),
            *literals,
            *(lead + piece for piece in ["", "a", "-", " "]),
        ]
        for pump in pumps:
            for end in (" ", "\x00!"):
                if not pump or (lead, pump, end) in tried:
                    continue
                tried.add((lead, pump, end))
                ratio = _ratio(matcher, lambda n, lead=lead, pump=pump, end=end: lead + pump * n + end, anywhere)  # type: ignore[misc]
                worst = max(worst, (ratio, f"{lead!r} + {pump!r} * n + {end!r}"))
                if ratio >= _STEEP:
                    return worst
    return worst


def is_steep(ratio: float) -> bool:
    """Returns whether the number of steps grows faster than the length of the text."""
    return ratio >= _STEEP


def _ratio(matcher: Matcher, text: Callable[[int], str], anywhere: bool) -> float:
    try:
        few = matcher.search(text(SHORT), anywhere=anywhere)
        many = matcher.search(text(LONG), anywhere=anywhere)
    except (TooManySteps, RecursionError):
        return float("inf")
    return many / max(few, 1)


PACKAGE = Path(svcnb.__file__).parent
_FUNCTIONS = {"match", "search", "sub", "subn", "findall", "finditer", "fullmatch", "split"}
_ANYWHERE = {"search", "sub", "subn", "findall", "finditer", "split"}

# Patterns that the code creates from values at run time, here with typical values.
MADE = {
    "derived_action.py": [
        (r"^[ \t]*(?:async[ \t]+)?(?:const|let|var|class|function\*?)\s+NAME(?![\w$])", re.MULTILINE),
        (r", NAME_VERSION = ([0-9]+)\Z", 0),
    ],
    "schema.py": [(r"\bNUMBERED\b", 0)],
    "exercise.py": [(r"\ba string\b", 0)],
    "renderer.py": [(r'(id="|#)name(?=["\)])', 0)],
    "routing.py": [(r"/webhook/(?P<id>[^/]+)\Z", 0)],
}


def load(file: Path) -> ModuleType:
    """Imports a file.

    A file of a project is not a module of the package, because its import hides a function of the same name.
    """
    if "recipes" not in file.parts:
        return importlib.import_module(".".join(["svcnb", *file.relative_to(PACKAGE).with_suffix("").parts]))
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def found_patterns() -> dict[str, tuple[re.Pattern[Any], bool]]:
    found: dict[str, tuple[re.Pattern[Any], bool]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if not re.search(r"^import re$", text, re.MULTILINE):
            continue
        module = load(file)
        for name, value in vars(module).items():
            patterns = value if isinstance(value, tuple) else (value,)
            for number, pattern in enumerate(patterns):
                if isinstance(pattern, re.Pattern):
                    # A loop variable refers to the patterns of a tuple, so treat them as searched.
                    anywhere = len(patterns) > 1 or bool(
                        re.search(rf"\b{name}\.(?:{'|'.join(_ANYWHERE)})\(|[\[,(]\s*{name}\s*[,)\]]", text)
                    )
                    found[f"{file.relative_to(PACKAGE)}:{name}[{number}]"] = (pattern, anywhere)
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "re"
                and node.func.attr in _FUNCTIONS
            ):
                first = node.args[0]
                if isinstance(first, ast.Constant):
                    found[f"{file.relative_to(PACKAGE)}:{node.lineno}"] = (
                        re.compile(first.value),
                        node.func.attr in _ANYWHERE,
                    )
                else:
                    assert file.name in MADE, f"{file}:{node.lineno}: add an example of this pattern to MADE"
    for name, examples in MADE.items():
        for number, (text, flags) in enumerate(examples):
            found[f"{name}: made {number}"] = (re.compile(text, flags), True)
    return found


@pytest.mark.slow
def test_every_regular_expression_takes_linear_time() -> None:
    steep = []
    for name, (pattern, anywhere) in found_patterns().items():
        ratio, how = growth(pattern, anywhere=anywhere)
        if is_steep(ratio):
            steep.append(f"{name}: {pattern.pattern!r} takes {ratio:.0f} times the steps for 3 times the text: {how}")
    assert not steep, "\n".join(steep)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("pattern", "anywhere"),
    [
        (r"(a+)+b", False),
        (r"[a-z0-9-]*(?:signature|hmac)[a-z0-9-]*\Z", False),
        (r'"(?:[^"\\]|\\.)*"', True),
        (r"\s*Internal", True),
        (r"\d+[\w.]*\Z", False),
        (r"\beyJ[\w-]{8,}\.", True),
        (r"(?:a|ab|b)*c", False),
        (r"\S*\Z", True),
        (r"^\s+|\s+\Z", True),
    ],
)
def test_the_measurement_finds_slow_expressions(pattern: str, anywhere: bool) -> None:
    ratio, _ = growth(re.compile(pattern), anywhere=anywhere)
    assert is_steep(ratio)


@pytest.mark.parametrize(
    ("pattern", "anywhere"),
    [(r"[a-z]+\Z", False), (r"(?<!\S)\S*\Z", True), (r"\d++[\w.]*\Z", False), (r"[^@]{1,64}@[^@]{1,190}\Z", False)],
)
def test_the_measurement_accepts_linear_expressions(pattern: str, anywhere: bool) -> None:
    ratio, how = growth(re.compile(pattern), anywhere=anywhere)
    assert not is_steep(ratio), how
