"""Checks the English of everything that people read: `poe english`.

Reads Markdown, notebooks, docstrings, comments and string literals, in Python, TypeScript, HTML and TOML. The rules
are in `english.toml`. Prints the number of findings for each 1,000 lines by kind of text. Fails if a kind has more
findings than `english.toml` allows.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import click
from english_texts import Text, texts

ROOT = Path(__file__).resolve().parents[1]
RULES = tomllib.loads(Path(__file__).with_name("english.toml").read_text(encoding="utf-8"))
PHRASES = [(re.compile(each["find"], re.IGNORECASE), each["use"]) for each in RULES["phrases"]]
ANY_PHRASE = re.compile("|".join(f"(?:{each['find']})" for each in RULES["phrases"]), re.IGNORECASE)
EXCEPTIONS = {each["text"] for each in RULES["exceptions"]}
_CODE = re.compile(
    r"```.*?(?:```|\Z)|``[^`]*``|`[^`]*`|<(style|script)>.*?</\1>|<[^>]{1,200}>|\]\([^)]*\)"
    r"|https?://\S+|\b[\w.-]+/[\w./#-]+",
    re.DOTALL,
)
_EXAMPLE = re.compile(r"^[ \t]*(>>>|\.\.\.) .*$|(?<=::\n)\n(?:(?:[ \t]{4,}.*)?\n)+", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z*`\"])|\n\s*\n|\n\s*[-*|#>]|\n\s*\d+\. |: ?\n|\n\s+\*{0,2}\w+: |(?<=\S) {3,}")
_COMMON = re.compile(r"\b(a|an|and|are|in|is|it|not|of|or|the|to|with)\b", re.IGNORECASE)  # absent from lists of names
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")
_SAMPLE = {"docs": 10, "notebooks": 3, "docstrings": 50, "errors": 50}


class Finding(NamedTuple):
    """Necessary change of a text."""

    source: Text
    line: int
    what: str


def findings(source: Text) -> Iterator[Finding]:
    """Yields the necessary changes of a text."""
    if source.text in EXCEPTIONS:
        return

    def blank(found: re.Match[str]) -> str:
        return "Code" + "\n" * found.group().count("\n")

    plain = _CODE.sub(blank, _EXAMPLE.sub(blank, source.text))

    def line(place: int) -> int:
        return source.line if source.kind == "notebooks" else source.line + plain.count("\n", 0, place)

    for pattern, instead in PHRASES if ANY_PHRASE.search(plain) else ():
        for found in pattern.finditer(plain):
            yield Finding(source, line(found.start()), f"{found.group()!r}: {instead}")
    at = 0
    for sentence in _END.split(plain):
        at = max(at, plain.find(sentence, at))
        words = 0 if "|" in sentence or not _COMMON.search(sentence) else len(_WORD.findall(sentence))
        if words > RULES["sentence_words"]:
            yield Finding(source, line(at), f"a sentence of {words} words: {' '.join(sentence.split())[:60]!r}")


def files(names: tuple[str, ...]) -> list[Path]:
    """Returns the tracked files that the rules include.

    Args:
        names: Files or folders. An empty tuple means all files.
    """
    git = subprocess.run(["git", "ls-files", *names], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607
    chosen = re.compile("|".join(RULES["include"]))
    left_out = re.compile("|".join(RULES["not_ours"]))
    paths = [ROOT / name for name in git.stdout.splitlines() if chosen.fullmatch(name) and not left_out.fullmatch(name)]
    return [path for path in paths if path.exists()]  # the index of git can contain a deleted file


def sample(sources: list[Text], seed: int) -> Iterator[Text]:
    """Yields random texts for a review: pages, lessons, docstrings and error messages.

    Args:
        sources: All texts.
        seed: Random seed. The same seed selects the same texts.
    """
    chosen = random.Random(seed)  # noqa: S311 - not for secrets
    kinds: dict[str, dict[Path, list[Text]] | list[Text]] = {
        "docs": _by_file(sources, "docs"),
        "notebooks": _by_file(sources, "notebooks"),
        "docstrings": [each for each in sources if each.kind == "docstrings"],
        "errors": [each for each in sources if each.is_error],
    }
    for kind, count in _SAMPLE.items():
        found = kinds[kind]
        if isinstance(found, dict):
            for path in chosen.sample(sorted(found), min(count, len(found))):
                yield from found[path]
        else:
            yield from chosen.sample(found, min(count, len(found)))


def _by_file(sources: list[Text], kind: str) -> dict[Path, list[Text]]:
    found: dict[Path, list[Text]] = {}
    for each in sources:
        if each.kind == kind:
            found.setdefault(each.path, []).append(each)
    return found


@click.command(help=__doc__)
@click.option("--list", "listed", is_flag=True, help="Show each finding.")
@click.option(
    "--sample", "seed", type=int, help="Print random texts for a review. The same seed selects the same texts."
)
@click.argument("names", nargs=-1)
def main(names: tuple[str, ...], *, listed: bool, seed: int | None) -> None:
    """Prints findings and figures. Exits with 1 if there are more findings than the rules allow."""
    sources = [source for path in files(names) for source in texts(path)]
    if seed is not None:
        for source in sample(sources, seed):
            click.echo(f"{source.path.relative_to(ROOT)}:{source.line}: {source.text}")
        return
    lines: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    for source in sources:
        lines[source.kind] += source.text.count("\n") + 1
        for finding in findings(source):
            counts[source.kind] += 1
            if listed:
                click.echo(f"{source.path.relative_to(ROOT)}:{finding.line}: {finding.what}")
    for kind, number in sorted(lines.items()):
        rate = 1000 * counts[kind] / number
        click.echo(f"{kind}: {counts[kind]} findings in {number} lines, {rate:.1f} for each 1,000")
    unused = EXCEPTIONS - {source.text for source in sources}
    if not names and unused:
        click.echo(f"exceptions in english.toml that match no text: {sorted(unused)}")
    too_many = {kind: count for kind, count in counts.items() if count > RULES["allowed"].get(kind, 0)}
    for kind, count in too_many.items():
        click.echo(f"{kind}: {count} findings, allowed {RULES['allowed'].get(kind, 0)}; show them with --list")
    sys.exit(bool(too_many) or bool(not names and unused))


if __name__ == "__main__":
    main()
