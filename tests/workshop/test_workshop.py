"""Roster and board of a workshop."""

from __future__ import annotations

import csv
import io
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.lessons import lessons_folder, solution_notebooks
from svcnb.workshop import UnknownLearner, Workshop
from svcnb.workshop.roster import Roster
from svcnb.workshop.roster_file import read_roster


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("José", "jose"),
        ("Ada Lovelace", "ada-lovelace"),
        ("../roster", "roster"),
        ("李小龙", "learner"),
        ("x" * 200, "x" * 48),
        ("-", "learner"),
    ],
)
def test_any_display_name_gets_an_identifier_for_files_and_addresses(given: str, name: str) -> None:
    with Workshop([given]) as room:
        learner = room.learner(given)
        assert (learner.name, learner.title) == (name, given)
        assert room.learner(name) is room.learner(given.upper()) is room.add(given) is learner
        assert repr(room.board()) == f"{given}: 0 of 38"


@pytest.mark.parametrize(("name", "wrong"), [("x" * 201, "201 characters"), ("a\x00b", "control character")])
def test_a_name_that_cannot_be_shown_is_refused(room: Workshop, name: str, wrong: str) -> None:
    with pytest.raises(svcnb.InvalidArgument, match=wrong):
        room.add(name)


def test_learners_with_the_same_name_are_distinguished_by_address() -> None:
    with Workshop() as room:
        one, other = room.add("Maria", "m@example.org"), room.add("Maria", "maria@example.org")
        unnamed = room.add()
        by_address = room.add(email="grace@example.org")
        assert [each.name for each in (one, other, unnamed)] == ["maria", "maria-2", "learner-3"]
        assert by_address.title == "grace@example.org"
        assert room.learner("M@example.org") is one
        with pytest.raises(UnknownLearner, match="2 learners have the name 'Maria'") as refused:
            room.learner("Maria")
        assert refused.value.hint == "Use one of the identifiers maria, maria-2."


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("José\nAda Lovelace\n", [("José", ""), ("Ada Lovelace", "")]),
        ("\ufeffE-Mail;Name\nada@example.org;Ada\n;\n", [("Ada", "ada@example.org"), ("Learner 2", "")]),
        ('name,group\n"Hopper, Grace",b\n', [("Hopper, Grace", "")]),
        (
            "ada@example.org\nada@example.org,Ada\n",
            [("ada@example.org", "ada@example.org"), ("Ada", "ada@example.org")],
        ),
        ("Maria\nmaria\n", [("Maria", ""), ("maria (2)", "")]),
        (",\n,\n", [("Learner 1", ""), ("Learner 2", "")]),
    ],
)
def test_a_roster_can_contain_names_and_addresses(tmp_path: Path, text: str, entries: list[tuple[str, str]]) -> None:
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    assert read_roster(path) == entries


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        (b"", "0 learners"),
        (b"\xff\xfe", "line 1 is not UTF-8 text"),
        ("name\nAda\nJosé\n".encode("cp1252"), "line 3 is not UTF-8 text"),
        (b"a\n" * 1001, "1001 learners"),
        (b"a" * (1 << 21), "bytes"),
    ],
)
def test_a_file_that_is_not_a_roster_is_rejected(tmp_path: Path, raw: bytes, wrong: str) -> None:
    (tmp_path / "roster.csv").write_bytes(raw)
    with pytest.raises(svcnb.InvalidArgument, match=wrong):
        read_roster(tmp_path / "roster.csv")


def test_the_error_for_a_missing_roster_contains_its_path(tmp_path: Path) -> None:
    with pytest.raises(svcnb.InvalidArgument, match=r"missing\.csv: No such file or directory") as refused:
        read_roster(tmp_path / "missing.csv")
    assert refused.value.hint == "Check the path and the permissions of the file."


def test_the_roster_is_private_and_survives_the_process(folder: Path) -> None:
    with Workshop(["mary"], folder=folder) as first:
        first.record("mary", "quickstart.length", right=True)
    with Workshop(["mary"], folder=folder) as again:
        assert again.learner("mary").token == first.learner("mary").token
        assert again.board().solved("mary") == 1
    assert stat.S_IMODE((folder / "roster.json").stat().st_mode) == 0o600


def test_the_board_counts_solved_exercises_and_lists_stuck_learners() -> None:
    with Workshop(["ada", "grace"]) as room:
        room.record("ada", "quickstart.length", right=False)
        room.record("ada", "quickstart.length", right=True)
        room.record("ada", "quickstart.length", right=False)  # a solved exercise stays solved
        for _ in range(3):
            room.record("grace", "cids.derive", right=False)
        board = room.board()
        assert (board.solved("ada"), board.solved("grace")) == (1, 0)
        assert board.stuck() == [("grace", "cids.derive", 3)]
        assert [row[0] for row in board.rows()] == ["ada", "grace", "total: 2"]
        with pytest.raises(svcnb.InvalidArgument, match="not found"):
            room.record("ada", "quickstart.nonsense", right=True)
        with pytest.raises(UnknownLearner):
            room.record("nobody", "quickstart.length", right=True)


def test_the_board_shows_lessons_stuck_learners_and_totals() -> None:
    with Workshop(["José", "grace"]) as room:
        room.arrive("José", "quickstart")
        room.record("José", "quickstart.length", right=True)
        for _ in range(3):
            room.record("José", "cids.derive", right=False)
        room.roster.of_name("José").last_at -= 900
        jose, total = (dict(zip(room.board().heads(), row, strict=True)) for row in room.board().rows()[1:])
        shown = {"lesson": "quickstart", "exercise": "cids.derive", "last activity": "15 min ago", "solved": "1 of 38"}
        assert {head: jose[head] for head in shown} == shown
        assert (jose["stuck"], jose["quickstart"], jose["cids"]) == ("⚑ cids.derive, 3 tries", "✓", "·")
        assert (total["solved"], total["stuck"], total["last activity"]) == ("1 of 76", "1 stuck", "0 now")
        assert total["quickstart"] == "1"
        assert "⚑ cids.derive" in room.board().page()


def test_progress_is_exported_as_csv_that_a_spreadsheet_reads_as_text() -> None:
    with Workshop() as room:
        room.add('=HYPERLINK("x"), Ada', "ada@example.org")
        room.record("ada@example.org", "cids.derive", right=False)
        room.record("ada@example.org", "cids.derive", right=True)
        (row,) = csv.DictReader(io.StringIO(room.board().csv()))
    assert row["display"] == '\'=HYPERLINK("x"), Ada'
    assert (row["email"], row["solved"], row["tries"], row["cids.derive"]) == ("ada@example.org", "1", "2", "ok 2")
    assert row["last_activity"].endswith("+00:00")
    assert row["quickstart.length"] == ""


def test_an_invalid_name_leaves_no_folder_behind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with pytest.raises(svcnb.InvalidArgument):
        Workshop(["a\x00b"])
    assert list(tmp_path.iterdir()) == []


def test_solutions_are_available_after_the_instructor_unlocks_them(
    room: Workshop, at_desk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lessons = lessons_folder(tmp_path / "lessons", solutions=False)
    assert (lessons / "01-quickstart.ipynb").is_file()
    assert list(lessons.glob("solutions/*")) == []
    monkeypatch.chdir(lessons)
    svcnb.exercises.check("cids.changes", set())
    assert list(lessons.glob("solutions/*")) == []
    with pytest.raises(svcnb.InvalidArgument, match="is not unlocked"):
        room.solution("02-actions-and-cids.ipynb")
    room.roster.unlocked.append("99-removed.ipynb")
    with pytest.raises(svcnb.InvalidArgument, match="is not unlocked or does not exist"):
        room.solution("99-removed.ipynb")
    room.roster.unlocked.clear()
    with pytest.raises(svcnb.InvalidArgument, match="unknown lesson 99"):
        room.unlock(99)
    assert room.unlock(2) == ["02-actions-and-cids.ipynb"]
    svcnb.exercises.check("cids.changes", set())
    assert [path.name for path in lessons.glob("solutions/*")] == ["02-actions-and-cids.ipynb"]
    solution = lessons / "solutions/02-actions-and-cids.ipynb"
    assert solution.read_bytes() == solution_notebooks()[2].read_bytes()
    solution.write_text("mine")
    svcnb.exercises.check("cids.changes", set())
    assert solution.read_text() == "mine"
    assert room.learner(at_desk).exercise == "cids.changes"


def test_a_learner_can_join_while_tokens_are_read(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    ada = roster.add("ada")

    class Token(str):
        """Text whose encoding takes a long time. During this time, the test adds another learner."""

        __slots__ = ()

        def encode(self, *_: Any, **__: Any) -> bytes:
            roster.add(f"another-{len(list(roster))}")
            return str.encode(self)

    ada.token = Token(ada.token)
    assert roster.of_token(str(ada.token)) is ada
    assert len(list(roster)) == 2
