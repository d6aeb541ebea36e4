"""Accounts for learners, and one learner's way back while the others go on."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

import svcnb
from svcnb.launch import Emulator
from svcnb.workshop import UnknownLearner, Workshop
from svcnb.workshop.roster import Roster

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ACTION = svcnb.Action("const main = ({ n }) => n + 1;", name="next")


def test_every_learner_has_an_account_of_their_own_with_credit(room: Workshop, names: list[str]) -> None:
    clients = [room.client(name) for name in names]
    assert len({svc.wallets.list()[0].wallet_address for svc in clients}) == 2
    assert [svc.billing.balance().available_cents for svc in clients] == [300, 300]


def test_a_name_that_could_be_no_user_is_refused(room: Workshop) -> None:
    for name in ("", "Ada", "a b", "../roster", "x" * 65, "-"):
        with pytest.raises(svcnb.InvalidArgument, match="cannot be a learner's name"):
            room.add(name)


def test_the_roster_goes_on_in_another_process_and_is_the_teachers_alone(shared: Emulator, tmp_path: Path) -> None:
    first = Workshop(shared, ["mary"], folder=tmp_path)
    first.record("mary", "quickstart.length", right=True)
    again = Workshop(shared, ["mary"], folder=tmp_path)
    assert again.learner("mary").api_key == first.learner("mary").api_key
    assert again.board().solved("mary") == 1
    assert stat.S_IMODE((tmp_path / "roster.json").stat().st_mode) == 0o600


def test_no_secret_of_a_learner_is_shown(room: Workshop, names: list[str]) -> None:
    learner = room.learner(names[0])
    shown = repr(room) + repr(learner) + repr(learner.key) + repr(room.board()) + room.board()._repr_html_()
    assert learner.api_key not in shown
    assert learner.token not in shown


def test_a_reset_gives_a_fresh_account_and_leaves_the_others_alone(room: Workshop, names: list[str]) -> None:
    ada, grace = names
    room.client(grace).groups.create("mine")
    before = room.learner(ada).api_key
    room.record(ada, "quickstart.length", right=True)
    room.client(ada).groups.create("a muddle")

    room.reset(ada)

    assert room.learner(ada).api_key != before
    assert room.client(ada).groups.list() == []
    assert room.client(ada).billing.balance().available_cents == 300
    assert room.board().solved(ada) == 0
    assert [group.name for group in room.client(grace).groups.list()] == ["mine"]


def test_what_was_saved_comes_back_for_one_learner_while_the_other_goes_on(room: Workshop, names: list[str]) -> None:
    ada, grace = names
    svc, other = room.client(ada), room.client(grace)
    group = svc.groups.create("numbers", actions=[ACTION])
    key = svc.usage_keys.create("runner", execute_in_groups=[group])
    room.save(ada, "good")
    credit = svc.billing.balance().available_cents

    svc.groups.update(group, actions=[])
    svc.usage_keys.update(key, execute_in_groups=[], can_create_groups=True)
    svc.groups.create("a muddle")
    svc.usage_keys.create("another")
    svc.actions.register(ACTION, name="next")
    other.groups.create("hers")

    done = room.restore(ada, "good")

    assert done.lost == []
    assert [group.name for group in svc.groups.list()] == ["numbers"]
    assert [each.name for each in svc.usage_keys.list()] == ["runner"]
    assert svc.actions.list() == []
    assert svc.billing.balance().available_cents >= credit
    assert svc.with_key(key).run(ACTION, n=1, until_effective=300).response == 2
    assert [group.name for group in other.groups.list()] == ["hers"]


def test_what_cannot_come_back_is_said(room: Workshop, names: list[str]) -> None:
    svc = room.client(names[0])
    group = svc.groups.create("numbers", actions=[ACTION])
    key = svc.usage_keys.create("runner", execute_in_groups=[group])
    room.save(names[0], "good")
    svc.groups.remove(group)
    svc.usage_keys.remove(key)

    lost = " ".join(room.restore(names[0], "good").lost)

    assert "nobody has its secret" in lost
    assert "has the number 2 now" in lost
    with pytest.raises(svcnb.InvalidArgument, match=r"nothing of .* was saved as 'bad'"):
        room.restore(names[0], "bad")


def test_the_board_counts_what_was_solved_and_names_who_is_stuck(room: Workshop, names: list[str]) -> None:
    ada, grace = names
    room.record(ada, "quickstart.length", right=False)
    room.record(ada, "quickstart.length", right=True)
    room.record(ada, "quickstart.length", right=False)  # once solved, solved
    for _ in range(3):
        room.record(grace, "cids.derive", right=False)
    board = room.board()
    assert (board.solved(ada), board.solved(grace)) == (1, 0)
    assert board.stuck() == [(grace, "cids.derive", 3)]
    assert [row[0] for row in board.rows()] == [ada, grace]
    with pytest.raises(svcnb.InvalidArgument, match="no exercise"):
        room.record(ada, "quickstart.nonsense", right=True)
    with pytest.raises(UnknownLearner):
        room.record("nobody", "quickstart.length", right=True)


def test_a_learner_who_comes_while_tokens_are_looked_for_disturbs_nobody() -> None:
    roster = Roster(None)
    ada = roster.add("ada")

    class Token(str):
        """One that takes its time to be encoded: meanwhile somebody else comes."""

        __slots__ = ()

        def encode(self, *_: Any, **__: Any) -> bytes:
            roster.add(f"another-{len(list(roster))}")
            return str.encode(self)

    ada.token = Token(ada.token)
    assert roster.of_token(str(ada.token)) is ada
    assert len(list(roster)) == 2
