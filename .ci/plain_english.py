"""Checks the English of everything that people read: `poe english`.

Reads Markdown, notebooks, docstrings, comments and string literals. The rules are in `english.toml`. Prints the number
of findings for each 1,000 lines by kind of text, and with ``--list`` each finding.
"""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
PHRASES = [(re.compile(each["find"], re.IGNORECASE), each["use"]) for each in RULES["phrases"]]
_CODE = re.compile(r"```.*?(?:```|\Z)|``[^`]*``|`[^`]*`|<[^>]{1,200}>|\]\([^)]*\)|https?://\S+", re.DOTALL)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`\"])|\n\s*\n|\n\s*[-*|#>]|\n\s*\d+\. |: ?\n|\n\s+\*{0,2}\w+: ")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|ruff:|pragma)")
_NOT_PROSE = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|<)")
_FEWEST_WORDS = 3
_DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Text(NamedTuple):
    """A piece of text.

    Attributes:
        kind: ``docs``, ``notebooks``, ``docstrings``, ``comments`` or ``strings``.
        path: Its file.
        line: Its first line, or the number of the cell of a notebook.
        text: The text.
    """

    kind: str
    path: Path
    line: int
    text: str


class Finding(NamedTuple):
    """Something to change in a text."""

    source: Text
    line: int
    what: str


def texts(path: Path) -> Iterator[Text]:
    """Every piece of text of a file."""
    content = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        yield Text("docs", path, 1, content)
    elif path.suffix == ".ipynb":
        for number, cell in enumerate(json.loads(content)["cells"], 1):
            if cell["cell_type"] == "markdown":
                yield Text("notebooks", path, number, "".join(cell["source"]))
    elif path.suffix == ".py":
        tree = ast.parse(content)
        docstrings = {id(node): node for node in map(_docstring, ast.walk(tree)) if node}
        yield from (Text("docstrings", path, node.lineno, str(node.value)) for node in docstrings.values())
        for node in ast.walk(tree):
            text = _literal(node)
            if id(node) not in docstrings and len(_WORD.findall(text)) >= _FEWEST_WORDS and not _NOT_PROSE.match(text):
                yield Text("strings", path, getattr(node, "lineno", 1), text)
        for token in tokenize.generate_tokens(io.StringIO(content).readline):
            if token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string):
                yield Text("comments", path, token.start[0], token.string.lstrip("# "))


def _docstring(node: ast.AST) -> ast.Constant | None:
    first = node.body[0] if isinstance(node, _DOCUMENTED) and node.body else None
    value = first.value if isinstance(first, ast.Expr) else None
    return value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def _literal(node: ast.AST) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def findings(source: Text) -> Iterator[Finding]:
    """What to change in a piece of text."""
    plain = _CODE.sub(lambda found: "code" + "\n" * found.group().count("\n"), source.text)

    def line(place: int) -> int:
        return source.line if source.kind == "notebooks" else source.line + plain.count("\n", 0, place)

    for pattern, instead in PHRASES:
        for found in pattern.finditer(plain):
            yield Finding(source, line(found.start()), f"{found.group()!r}: {instead}")
    at = 0
    for sentence in _END.split(plain):
        at = max(at, plain.find(sentence, at))
        words = 0 if "|" in sentence else len(_WORD.findall(sentence))
        if words > RULES["sentence_words"]:
            yield Finding(source, line(at), f"a sentence of {words} words: {' '.join(sentence.split())[:60]!r}")


def files(names: tuple[str, ...]) -> list[Path]:
    """The files that the rules include, of those that git tracks.

    Args:
        names: Files or folders; all when empty.
    """
    git = subprocess.run(["git", "ls-files", *names], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    chosen = re.compile("|".join(RULES["include"]))
    return [ROOT / name for name in git.stdout.splitlines() if chosen.fullmatch(name)]


@click.command(help=__doc__)
@click.option("--list", "listed", is_flag=True, help="Show each finding.")
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...], *, listed: bool) -> None:
    """Prints findings and figures, and fails if there are any."""
    lines: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for path in files(names):
        for source in texts(path):
            lines[source.kind] += source.text.count("\n") + 1
            for finding in findings(source):
                counts[source.kind] += 1
                if listed:
                    click.echo(f"{path.relative_to(ROOT)}:{finding.line}: {finding.what}")
    for kind, number in sorted(lines.items()):
        rate = 1000 * counts[kind] / number
        click.echo(f"{kind}: {counts[kind]} findings in {number} lines, {rate:.1f} for each 1,000")
    sys.exit(bool(counts))


if __name__ == "__main__":
    main()
