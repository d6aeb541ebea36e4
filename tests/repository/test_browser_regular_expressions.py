"""No regular expression in the front end, the engines or the recipes takes more than linear time.

The test reads the expressions from the JavaScript and TypeScript sources, and measures them like those of Python.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from svcnb import tools
from tests.repository.test_regular_expressions import growth, is_steep

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
FOLDERS = ("widgets/src", "svcnb/toolkit/cookbook/recipes")
# Files that read only files of this project, during the build of the bundles.
BUILDS = ("build.ts", "widgets/src/engine/ethers/lean.ts", "widgets/src/engine/page/quotes.ts")
# Expressions for short texts: 250 characters of a line, and 60 characters of a change.
BOUNDED = {
    "widgets/src/codemirror/completion.ts": r"(?:[A-Za-z_$][\w$]*\s*\.\s*)*[A-Za-z_$]?[\w$]*$",
    "widgets/src/lib/change.ts": r"^\s+|\s+$|[\r\n\t\u00a0\u200b\ufeff]",
}
# Files that create expressions from the text of an action, which the action itself controls.
OF_ACTIONS = {
    "widgets/src/engine/fast/inner/clone.ts",
    "widgets/src/engine/fast/inspect.ts",
}


class Found(NamedTuple):
    """Regular expression. The source is empty if the code creates the expression when it runs."""

    file: str
    line: int
    source: str
    flags: str


def expressions() -> list[Found]:
    files = [path for folder in FOLDERS for ending in ("ts", "js") for path in (ROOT / folder).rglob(f"*.{ending}")]
    names = sorted(path.relative_to(ROOT).as_posix() for path in files)
    allowed = ["--no-prompt", "--cached-only", "--no-check", "--allow-env=LOG", f"--allow-read={','.join(FOLDERS)}"]
    script = ["--config=widgets/deno.json", "widgets/tests/regular_expressions.ts"]
    command = [str(tools.deno()), "run", "--quiet", *allowed, *script, *names]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, timeout=300, check=True)
    found = [Found(*each) for each in json.loads(done.stdout)]
    return [each for each in found if not each.file.endswith(BUILDS)]


_PIECE = re.compile(
    r"\\(?:p\{[^}]*\}|u\{([0-9a-fA-F]+)\}|k<(\w+)>|.)|\[\^\]|\[\^?|\]|\(\?<(?=\w)|\$|[\s\S]", re.IGNORECASE
)


def _escape(found: re.Match[str]) -> str:
    if found[1]:
        return re.escape(chr(int(found[1], 16)))
    if found[2]:
        return f"(?P={found[2]})"
    return {r"\/": "/", r"\p": r"\w", r"\P": r"\w"}.get(found[0][:2], found[0])


def in_python(source: str, flags: str) -> re.Pattern[str]:
    """Converts an expression to the syntax of Python's parser, which differs in some parts."""
    made, in_class = "", False
    for found in _PIECE.finditer(source):
        piece = found[0]
        if piece.startswith("\\"):
            made += _escape(found)
        elif in_class:
            in_class = piece != "]"
            made += rf"\{piece}" if piece.startswith("[") else piece
        else:
            in_class = piece in {"[", "[^"}
            made += {"[^]": r"[\s\S]", "(?<": "(?P<", "$": "$" if "m" in flags else r"\Z"}.get(piece, piece)
    names = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
    return re.compile(made, sum(names.get(each, 0) for each in flags))


def test_every_regular_expression_takes_linear_time() -> None:
    found = expressions()
    assert len(found) > 80
    made = {each.file for each in found if not each.source}
    assert made == OF_ACTIONS, "review what makes regular expressions of values"
    measured = {each: growth(in_python(each.source, each.flags), anywhere=True) for each in found if each.source}
    steep = {each: how for each, (ratio, how) in measured.items() if is_steep(ratio)}
    assert {each.file: each.source for each in steep} == BOUNDED, steep


@pytest.mark.parametrize(
    ("source", "flags", "text"),
    [
        (r"^\/a[{[\/]$", "", "/a["),
        (r"(?<year>\d{4})-\k<year>", "i", "2024-2024"),
        (r"\u{1F600}[^]$", "u", "\U0001f600\n"),
        (r"a$.b", "ms", "a\nb"),
        (r"\p{L}\[\]", "u", "x[]"),
    ],
)
def test_an_expression_means_the_same_in_python(source: str, flags: str, text: str) -> None:
    assert in_python(source, flags).search(text)
    assert not in_python(source, flags).search("b")
