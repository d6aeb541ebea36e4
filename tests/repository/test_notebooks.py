"""Outputs of lessons are the same on every machine, because tests compare every byte, and contain no secrets."""

from __future__ import annotations

import json
import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from svcnb.toolkit.exercises import EXERCISES

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "notebooks"
LESSONS = sorted(FOLDER.glob("*.ipynb"))
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))

CHECKED = re.compile(r"""exercises\.check\(["']([\w.-]+)["'], answer\)""")
LINK = re.compile(r"\[[^]]*\]\(([^)#:]+)\)")

# Texts that differ between runs, machines or days.
UNSTABLE = {
    "an address in memory": re.compile(r" at 0x[0-9a-f]{6,}"),
    "a port": re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\]):\d+"),
    "a folder of this machine": re.compile(r"(?<![\w.:/-])/(?:home|root|Users|tmp|var|opt|private)/\w"),
    "a duration": re.compile(r"(?<![\w.])\d+(?:\.\d+)?\s?(?:ms|µs|seconds elapsed|it/s|s/it)(?!\w)"),
    "a progress bar": re.compile(r"\d+%\|"),
    "a process id": re.compile(r"\bpid\W{1,3}\d"),
}
# 32 bytes in base64, the format of account and usage keys, and named private keys.
SECRETS = (
    re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{43}=(?!=)"),
    re.compile(r"(?i)(?:private_?key|secret|mnemonic)\W{1,5}(?:0x)?[0-9a-f]{64}"),
)
# Marks of cells that nbval does not compare, with all their names.
UNCOMPARED = re.compile(r"(?i)nbval[-_](?:ignore|skip|variable)")


@cache
def cells(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text(encoding="utf-8"))["cells"])


def code(path: Path) -> list[dict[str, Any]]:
    return [cell for cell in cells(path) if cell["cell_type"] == "code"]


def source(cell: dict[str, Any]) -> str:
    return "".join(cell["source"])


def prose(path: Path) -> str:
    return "\n".join(source(cell) for cell in cells(path) if cell["cell_type"] == "markdown")


def shown(path: Path, *, charts: bool = True) -> str:
    """Returns all outputs of a notebook as text, without charts, whose durations are data."""
    texts = [json.dumps(output, ensure_ascii=False) for cell in code(path) for output in cell["outputs"]]
    return "\n".join(text for text in texts if charts or "<img " not in text)


def exercises(path: Path) -> dict[str, str]:
    """Returns each exercise that a notebook checks, and the stored result."""
    found = {}
    for cell in code(path):
        for name in CHECKED.findall(source(cell)):
            texts = ["".join(output.get("data", {}).get("text/plain", "")) for output in cell["outputs"]]
            found[name] = texts[-1] if texts else ""
    return found


def name_of(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
every_lesson = pytest.mark.parametrize("path", LESSONS, ids=name_of)


@every_notebook
def test_every_cell_was_run_once_from_top_to_bottom(path: Path) -> None:
    # nbval does not compare cells without a number.
    assert [cell["execution_count"] for cell in code(path)] == list(range(1, len(code(path)) + 1))


@every_notebook
def test_every_output_is_the_same_on_every_machine(path: Path) -> None:
    found = {
        what: sorted(set(pattern.findall(shown(path, charts=what != "a duration"))))
        for what, pattern in UNSTABLE.items()
    }
    assert {what: texts for what, texts in found.items() if texts} == {}


@every_notebook
def test_no_notebook_contains_a_secret(path: Path) -> None:
    assert [match for pattern in SECRETS for match in pattern.findall(shown(path))] == []


def control_tokens_in(text: str) -> list[str]:
    """Returns all places with a control token, its setting, or a value of its form (`secrets.token_urlsafe(32)`)."""
    named = re.findall(r"(?i)control[-_ ]?token", text)
    return named + [each for each in re.findall(r"(?<![\w+/=-])[\w-]{43}(?![\w+/=-])", text) if not each.isalnum()]


@pytest.mark.parametrize("path", [*NOTEBOOKS, ROOT / "README.md"], ids=lambda path: path.name)
def test_users_never_see_the_control_token(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "\n".join(source(cell) for cell in cells(path)) + shown(path)
    assert control_tokens_in(text) == []


def test_a_control_token_would_be_seen() -> None:
    assert len(control_tokens_in(f'connect(url, control_token="{"a-" * 21}a")')) == 2


@every_notebook
def test_no_cell_is_excluded_from_the_comparison(path: Path) -> None:
    assert UNCOMPARED.findall(path.read_text(encoding="utf-8")) == []
    allowed = {(), ("raises-exception",)}
    assert [cell["metadata"] for cell in cells(path) if tuple(cell["metadata"].get("tags", ())) not in allowed] == []


@every_notebook
def test_no_cell_warns_or_fails_unless_it_is_meant_to(path: Path) -> None:
    meant = {cell["id"] for cell in code(path) if "raises-exception" in cell["metadata"].get("tags", ())}
    wrong = [
        (cell["execution_count"], output.get("ename") or output.get("name"))
        for cell in code(path)
        for output in cell["outputs"]
        if (output["output_type"] == "error" and cell["id"] not in meant) or output.get("name") == "stderr"
    ]
    assert wrong == []


@every_notebook
def test_a_notebook_contains_no_data_of_its_author(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    assert notebook["metadata"]["language_info"] == {"name": "python"}
    assert [cell["id"] for cell in cells(path) if "execution" in cell["metadata"]] == []


@every_notebook
def test_every_link_leads_to_a_file(path: Path) -> None:
    assert [link for link in LINK.findall(prose(path)) if not (path.parent / link).is_file()] == []


@every_lesson
def test_a_lesson_has_a_reason_a_goal_a_picture_failures_on_purpose_exercises_and_a_recap(path: Path) -> None:
    first, text = source(cells(path)[0]), prose(path)
    assert re.match(rf"# {int(path.name[:2])}\. [^\n]*\n\n\*\*Why\.\*\* \S", first)
    assert re.search(r"\*\*Time:\*\* \d+ minutes", first)
    assert all(heading in first for heading in ("**You need:**", "**Live service:**", "**Goal.**"))
    assert "## Recap" in text
    assert re.search(r"To go further, [^.]*\]\(https://", text.rpartition("## Recap")[2])
    assert "](images/" in text
    assert "what could go wrong" in text.lower()
    assert "## Exercises" in text
    assert len(exercises(path)) > 0
    assert f"solutions/{path.name}" in text


@every_lesson
def test_a_lesson_leaves_its_exercises_open_and_its_solutions_solve_them(path: Path) -> None:
    solved = exercises(FOLDER / "solutions" / path.name)
    assert set(solved) == set(exercises(path))
    assert [verdict for verdict in exercises(path).values() if not verdict.startswith("Not yet: ")] == []
    assert [name for name, verdict in solved.items() if not verdict.startswith("Right: ")] == []


def test_every_exercise_belongs_to_one_lesson() -> None:
    asked = [name for path in LESSONS for name in exercises(path)]
    assert sorted(asked) == sorted(EXERCISES)


def test_each_lesson_leads_to_the_next() -> None:
    for path, following in pairwise(LESSONS):
        assert f"]({following.name})" in prose(path).rpartition("Next: ")[2], path.name


STEP = re.compile(r"^\d\. (.*(?:\n   .*)*)", re.MULTILINE)
LABEL = re.compile(r"(?<!\*)\*\*([^*]+)\*\*|(?:Choose|status) \*([^*]+)\*")
STRING = re.compile(r'"([^"\n]*)"|`([^`\n]+)`')


def test_the_steps_of_a_panel_name_labels_that_panels_have() -> None:
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "widgets/src").rglob("*.ts")]
    texts = {quoted or template for text in sources for quoted, template in STRING.findall(text)}
    beginnings = tuple(begins for text in texts if (begins := text.partition("${")[0]).endswith(" ") and begins != text)
    named = [
        (path.name, bold or chosen)
        for path in LESSONS
        for panel, steps in pairwise(cells(path))
        if "svcnb.panels." in source(panel) and steps["cell_type"] == "markdown"
        for step in STEP.findall(source(steps))
        for bold, chosen in LABEL.findall(step)
    ]
    assert len(named) > 15
    assert [label for label in named if label[1] not in texts and not f"{label[1]} ".startswith(beginnings)] == []


WRONG: tuple[object, ...] = (..., None, "", 7, [], {}, "no idea", object())


@pytest.mark.parametrize("name", sorted(EXERCISES))
def test_a_wrong_answer_gets_a_hint_and_no_traceback(name: str) -> None:
    # Do not pass the source of an action as a text, because pytest then runs it, which takes seconds. The solutions
    # notebook runs it.
    answers = [answer for answer in WRONG if name != "testing.mended" or not isinstance(answer, str)]
    for verdict in map(EXERCISES[name].check, answers):
        assert not verdict
        assert verdict.words.endswith((".", "?", ")"))


def test_the_text_of_a_notebook_has_no_control_characters() -> None:
    found = [
        (path.name, number, cell["source"])
        for path in NOTEBOOKS
        for number, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"])
        if re.search(r"[\x00-\x08\x0b-\x1f\x7f]", "".join(cell["source"]))
    ]
    assert found == []


LESSON_OF_TERMS = re.compile(r"## Lesson \[(\d+)\.")
OTHER_NAMES = re.compile(r"Also called ([^.]+)\.")
# These terms are also everyday words, which earlier lessons can use in their everyday meaning.
EVERYDAY = frozenset(
    {
        "account", "action", "address", "batch", "block", "chain", "contract", "credit", "event", "group", "hash",
        "log", "recovery", "run", "trace", "wallet",
    }
)  # fmt: skip


def terms() -> dict[str, int]:
    """Returns every name of every term of the glossary, and the lesson that defines it."""
    found: dict[str, int] = {}
    lesson = -1
    for line in (FOLDER / "glossary.md").read_text(encoding="utf-8").splitlines():
        if heading := LESSON_OF_TERMS.match(line):
            lesson = int(heading[1])
        elif line.startswith("### "):
            found[line[4:]] = lesson
        elif others := OTHER_NAMES.search(line):
            found |= dict.fromkeys((name.strip(" *") for name in others[1].split(",")), lesson)
    return found


def test_every_term_of_the_glossary_is_defined_in_the_lesson_that_it_names() -> None:
    texts = {int(path.name[:2]): prose(path).lower() for path in LESSONS}
    missing = [
        (name, lesson)
        for name, lesson in terms().items()
        if name.lower() not in texts[lesson] and name.rstrip("s").lower() not in texts[lesson]
    ]
    assert missing == []


def test_every_term_is_linked_to_the_glossary_by_the_lesson_that_defines_it() -> None:
    texts = {int(path.name[:2]): prose(path) for path in LESSONS}
    headings = [
        line[4:] for line in (FOLDER / "glossary.md").read_text(encoding="utf-8").splitlines() if line[:4] == "### "
    ]
    lessons = terms()
    assert len(headings) > 50
    anchors = {name: f"](glossary.md#{name.lower().replace(' ', '-')})" for name in headings}
    assert [name for name in headings if anchors[name] not in texts[lessons[name]]] == []


def test_no_lesson_uses_a_term_before_the_lesson_that_defines_it() -> None:
    early = [
        (path.name, name)
        for path in LESSONS
        for name, lesson in terms().items()
        if name not in EVERYDAY
        and int(path.name[:2]) < lesson
        and re.search(rf"\b{re.escape(name)}s?\b", prose(path).rpartition("Next: ")[0], re.IGNORECASE)
    ]
    assert early == []
