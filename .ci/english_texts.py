"""Texts of the project's files: Markdown, notebooks, docstrings, comments, and string literals of each language."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|ruff:|pragma)")
_FEWEST_WORDS = 3
_CODE = re.compile(
    r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|BEGIN|ATTACH|DETACH|PRAGMA)\s"  # SQL
    r"|\s*(FROM \w+[. ]|\w+ (VARCHAR|NUMBERED|INTEGER|BIGINT|TEXT|FLOAT)\b)"  # SQL, a part of a statement
    r"|\s*(import|const|async|function|class|int|export) [\w{*]"  # source code of another language
    r"|\s*@\w+[.(]"  # Python, a decorator
    r"|\s*(:root|ulimit|@font-face)\b"  # CSS, shell
)
_TYPESCRIPT = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)|"(?P<double>(?:[^"\\\n]|\\.)*)"|'(?P<single>(?:[^'\\\n]|\\.)*)'"""
    r"|(?<=[(,=:!&|?;\[{])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/|(?P<template>`)",
    re.DOTALL,
)
_SHOWN_ATTRIBUTES = frozenset({"alt", "aria-label", "placeholder", "title"})


class Text(NamedTuple):
    """Text in a file, for example a docstring, a comment or a notebook cell.

    Attributes:
        kind: ``docs``, ``notebooks``, ``docstrings`` (also of attributes), ``comments`` or ``strings``.
        path: The file that contains the text.
        line: The first line of the text, or the number of its notebook cell.
        text: The text. ``{}`` replaces each value of an f-string or template.
        is_error: Whether the text is the message or the hint of an error.
    """

    kind: str
    path: Path
    line: int
    text: str
    is_error: bool = False


def texts(path: Path) -> Iterator[Text]:
    """Yields every piece of text in a file.

    Args:
        path: The file. Its suffix selects the language.
    """
    content = path.read_text(encoding="utf-8")
    match path.suffix:
        case ".md":
            yield Text("docs", path, 1, content)
        case ".ipynb":
            yield from _notebook(path, content)
        case ".py":
            yield from _python(path, content)
        case ".ts" | ".js":
            yield from _typescript(path, content)
        case ".html":
            yield from _html(path, content)
        case ".toml":
            yield from (Text("strings", path, 1, each) for each in _values(tomllib.loads(content)) if _is_prose(each))
        case ".yaml" | ".yml":
            lines = enumerate(content.splitlines(), 1)
            yield from (Text("comments", path, at, line.lstrip(" #")) for at, line in lines if line.lstrip()[:1] == "#")


def _is_prose(text: str) -> bool:
    return len(_WORD.findall(text)) >= _FEWEST_WORDS and not _CODE.match(text)


def _notebook(path: Path, content: str) -> Iterator[Text]:
    for number, cell in enumerate(json.loads(content)["cells"], 1):
        if cell["cell_type"] == "markdown":
            yield Text("notebooks", path, number, "".join(cell["source"]))
        elif cell["cell_type"] == "code":
            with suppress(SyntaxError):  # a cell with a magic
                for each in _python(path, "".join(cell["source"])):
                    yield each._replace(line=number)


def _python(path: Path, content: str) -> Iterator[Text]:
    nodes = list(ast.walk(ast.parse(content)))
    statements = [node.value for node in nodes if isinstance(node, ast.Expr)]
    docstrings = {id(node): node for node in statements if isinstance(node, ast.Constant) and literal(node)}
    yield from (Text("docstrings", path, node.lineno, str(node.value)) for node in docstrings.values())
    parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
    errors = {id(node) for outer in nodes for node in _of_error(outer)}
    for node in nodes:
        text = literal(node)
        if text and id(node) not in docstrings and id(node) not in parts and _is_prose(text):
            yield Text("strings", path, getattr(node, "lineno", 1), text, id(node) in errors)
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
            yield Text("comments", path, token.start[0], token.string.lstrip("# "))


def _of_error(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        for argument in [*node.exc.args, *(keyword.value for keyword in node.exc.keywords)]:
            yield from ast.walk(argument)
    elif isinstance(node, ast.keyword) and node.arg in {"hint", "fix"}:
        yield from ast.walk(node.value)


def literal(node: ast.AST) -> str:
    """Returns the text of a string literal.

    Args:
        node: A node of a syntax tree.

    Returns:
        The text with ``{}`` for each value of an f-string. It is empty for other nodes.
    """
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _typescript(path: Path, content: str) -> Iterator[Text]:
    at = 0
    while found := _TYPESCRIPT.search(content, at):
        at, text, kind = found.end(), found["double"] or found["single"] or "", "strings"
        if found["template"]:
            text, at = _template(content, at)
        elif found["comment"]:
            text, kind = re.sub(r"^\s*(//|/\*+|\*/|\*)|\*/$", "", found["comment"], flags=re.MULTILINE), "comments"
        if _is_prose(text):
            yield Text(kind, path, content.count("\n", 0, found.start()) + 1, text)


def _template(content: str, at: int) -> tuple[str, int]:
    """Returns the text of a template string with ``{}`` for its values, and the position after the template string."""
    parts, depth = [], 0
    while at < len(content) and (depth or content[at] != "`"):
        if depth and content[at] == "`":  # a template inside a value
            at = _template(content, at + 1)[1]
            continue
        if content[at] == "\\":
            at += 1
        elif content.startswith("${", at):
            depth += 1
            at += 1
        elif depth and content[at] in "{}":
            depth += 1 if content[at] == "{" else -1
            parts += [] if depth else ["{}"]
        elif not depth:
            parts.append(content[at])
        at += 1
    return "".join(parts), at + 1


def _html(path: Path, content: str) -> Iterator[Text]:
    page = _Page()
    page.feed(content)
    yield from (Text("strings", path, line, text) for line, text in page.texts if _is_prose(text))


class _Page(HTMLParser):
    """Parser that collects the visible texts of a page, and the attributes that browsers and screen readers present."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[tuple[int, str]] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden = tag in {"script", "style"}
        self.texts += [(self.getpos()[0], value) for name, value in attrs if name in _SHOWN_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the signature of HTMLParser
        self._hidden = False

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.texts.append((self.getpos()[0], data))


def _values(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from _values(value)
    elif isinstance(tree, list):
        for value in tree:
            yield from _values(value)
