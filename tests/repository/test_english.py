"""The texts of the project follow the rules of `.ci/english.toml`, and the checker finds violations of the rules."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def checker(root: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(root / ".ci"))
    return import_module("plain_english")


def test_no_text_has_more_findings_than_the_rules_allow(root: Path) -> None:
    command = [sys.executable, ".ci/plain_english.py", "--list"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr


def test_strings_and_docstrings_may_have_no_finding_and_every_exception_has_a_reason(root: Path) -> None:
    rules = tomllib.loads((root / ".ci" / "english.toml").read_text(encoding="utf-8"))
    assert [kind for kind in ("strings", "docstrings", "notebooks") if rules["allowed"].get(kind, 0)] == []
    assert [each for each in rules["exceptions"] if not each["reason"].strip()] == []


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("a.py", 'raise ValueError(f"{value} is no address: write {digits} digits")\n', "strings"),
        ("a.py", 'x = ("a text is " "wanted here")\n', "strings"),
        ("a.py", 'def f():\n    """Whoever calls it waits."""\n', "docstrings"),
        ("a.py", 'x = 1\n"""What the caller is told."""\n', "docstrings"),
        ("a.py", "x = 1  # nobody reads this\n", "comments"),
        ("a.ts", 'throw new Error("nobody reads this");\n', "strings"),
        ("a.ts", "const x = `the ${part ? `inner` : ''} list is no ${kind} list`;\n", "strings"),
        ("a.ts", 'const x = /["`]/; const y = "nobody reads this";\n', "strings"),
        ("a.ts", "/** Nobody reads this. */\n", "comments"),
        ("a.js", "const x = 'nobody reads this';\n", "strings"),
        ("a.html", "<style>p { nobody: reads this }</style><p>Nobody reads this</p>", "strings"),
        ("a.html", '<input placeholder="nobody reads this">', "strings"),
        ("a.toml", 'says = "nobody reads this"\n', "strings"),
        ("a.yaml", "# nobody reads this\nkey: 1\n", "comments"),
        ("a.md", "Nobody reads this.\n", "docs"),
        ("a.md", " ".join(["The", "long"] * 13) + ".\n", "docs"),
    ],
)
def test_each_kind_of_text_is_checked_in_each_language(
    checker: ModuleType, tmp_path: Path, name: str, content: str, kind: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = [finding for source in checker.texts(path) for finding in checker.findings(source)]
    assert [finding.source.kind for finding in found] == [kind], found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.py", 'x = "SELECT nobody FROM people"\n'),
        ("a.py", 'def f():\n    """Adds.\n\n    Example:\n        >>> nobody = "somebody"\n    """\n'),
        ("a.py", 'x = "AbortController AbortSignal Blob " * 20\n'),
        ("a.md", "Write `nobody` or:\n\n```python\nnobody = 1\n```\n"),
        ("a.md", "There is no limit, and a run is no longer queued.\n"),
    ],
)
def test_code_is_not_prose(checker: ModuleType, tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert [finding for source in checker.texts(path) for finding in checker.findings(source)] == []


def test_a_sample_is_the_same_for_the_same_seed(checker: ModuleType, root: Path) -> None:
    sources = [source for path in checker.files(("svcnb/client",)) for source in checker.texts(path)]
    first, second = list(checker.sample(sources, 7)), list(checker.sample(sources, 8))
    assert list(checker.sample(sources, 7)) == first
    assert first != second
    assert sum(source.is_error for source in first) == 50
    assert all(source.path.is_relative_to(root) for source in first)


_COMMAND = re.compile(r": (pip|svcnb|python) .*[^.]$")
"""The end of a hint that contains a command for the shell, which the reader copies without a full stop."""


@pytest.mark.usefixtures("checker")
def test_a_hint_is_a_sentence_with_a_capital_letter_and_a_full_stop(root: Path) -> None:
    found = [
        f"{path.relative_to(root)}:{line}: {hint}"
        for path in sorted((root / "svcnb").rglob("*.py"))
        for line, hint in _hints(ast.parse(path.read_text(encoding="utf-8")))
        if not _is_sentence(hint)
    ]
    assert found == []


def _hints(tree: ast.AST) -> Iterator[tuple[int, str]]:
    literal = import_module("english_texts").literal  # the fixture `checker` adds its folder to the path
    for node in ast.walk(tree):
        values: list[ast.expr] = []
        if isinstance(node, ast.keyword) and node.arg in {"hint", "fix"}:
            values = [node.value]
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = {each.id.lower() for each in targets if isinstance(each, ast.Name)}
            values = [node.value] if any("hint" in each or each == "fix" for each in names) else []
        for value in values:
            branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            yield from ((each.lineno, text) for each in branches if (text := literal(each)))


_NEXT_SENTENCE = re.compile(r"""[\w)}\]'"`…][.?] (?=[A-Z`'"])""")


@pytest.mark.usefixtures("checker")
def test_a_message_of_one_clause_has_no_full_stop_and_a_message_of_sentences_ends_with_one(root: Path) -> None:
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((root / "svcnb").rglob("*.py"))}
    calls = [(path, node) for path, tree in trees.items() for node in ast.walk(tree) if isinstance(node, ast.Call)]
    raised = {
        _called(node.exc)
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
    }
    assert {"InvalidArgument", "StructuredError", "ValueError"} <= raised
    found = [
        f"{path.relative_to(root)}:{line}: {message}"
        for path, call in calls
        if _called(call) in raised
        for line, message in _messages(call)
        if not _has_full_stop_of_its_kind(message)
    ]
    assert found == []


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _messages(call: ast.Call) -> Iterator[tuple[int, str]]:
    literal = import_module("english_texts").literal  # the fixture `checker` adds its folder to the path
    values = [*call.args, *(each.value for each in call.keywords if each.arg not in {"hint", "fix"})]
    for value in values:
        branches = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
        yield from ((each.lineno, text) for each in branches if " " in (text := literal(each)))


def _has_full_stop_of_its_kind(message: str) -> bool:
    if _NEXT_SENTENCE.search(message):
        return message.endswith((".", "?", "{}")) or _COMMAND.search(message) is not None
    return message[0].isupper() or not message.endswith(".") or message.endswith("...")


@pytest.mark.parametrize(
    ("message", "is_right"),
    [
        ("the group {} is not registered: create the group", True),
        ("the group {} is not registered.", False),
        ("{} does not exist. Create the group first", False),
        ("{} does not exist. Create the group first.", True),
        ("{} does not exist. Create the wallet: python contract.py wallet", True),
        ("{} needs 2 arguments. The arguments are: {}", True),
    ],
)
def test_a_missing_or_unnecessary_full_stop_is_found(message: str, *, is_right: bool) -> None:
    assert _has_full_stop_of_its_kind(message) is is_right


def _is_sentence(hint: str) -> bool:
    begins = not hint[0].islower() or hint.startswith("svcnb")
    return begins and (hint.endswith((".", "?", "{}")) or _COMMAND.search(hint) is not None)
