"""The roster and the board of a workshop."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.workshop import UnknownLearner, Workshop
from svcnb.workshop.roster import Roster


def test_a_name_that_could_be_no_user_is_refused(room: Workshop) -> None:
    for name in ("", "Ada", "a b", "../roster", "x" * 65, "-"):
        with pytest.raises(svcnb.InvalidArgument, match="cannot be a learner's name"):
            room.add(name)


def test_the_roster_goes_on_in_another_process_and_is_the_instructors_alone(folder: Path) -> None:
    with Workshop(["mary"], folder=folder) as first:
        first.record("mary", "quickstart.length", right=True)
    with Workshop(["mary"], folder=folder) as again:
        assert again.learner("mary").token == first.learner("mary").token
        assert again.board().solved("mary") == 1
    assert stat.S_IMODE((folder / "roster.json").stat().st_mode) == 0o600


def test_the_board_counts_solved_exercises_and_names_who_is_stuck() -> None:
    with Workshop(["ada", "grace"]) as room:
        room.record("ada", "quickstart.length", right=False)
        room.record("ada", "quickstart.length", right=True)
        room.record("ada", "quickstart.length", right=False)  # once solved, solved
        for _ in range(3):
            room.record("grace", "cids.derive", right=False)
        board = room.board()
        assert (board.solved("ada"), board.solved("grace")) == (1, 0)
        assert board.stuck() == [("grace", "cids.derive", 3)]
        assert [row[0] for row in board.rows()] == ["ada", "grace"]
        with pytest.raises(svcnb.InvalidArgument, match="no exercise"):
            room.record("ada", "quickstart.nonsense", right=True)
        with pytest.raises(UnknownLearner):
            room.record("nobody", "quickstart.length", right=True)


def test_a_learner_who_comes_while_tokens_are_looked_for_disturbs_no_one(tmp_path: Path) -> None:
    roster = Roster(tmp_path / "roster.json")
    ada = roster.add("ada")

    class Token(str):
        """One that takes its time to be encoded: meanwhile another learner comes."""

        __slots__ = ()

        def encode(self, *_: Any, **__: Any) -> bytes:
            roster.add(f"another-{len(list(roster))}")
            return str.encode(self)

    ada.token = Token(ada.token)
    assert roster.of_token(str(ada.token)) is ada
    assert len(list(roster)) == 2
