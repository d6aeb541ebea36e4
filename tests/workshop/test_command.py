"""Commands of a workshop: their output, and the files that they write."""

from __future__ import annotations

import csv
import json
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.process_groups import running

Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Command]:
    """Runs a command with the workshop that runs in this test's folder."""
    (tmp_path / "roster.csv").write_text("name,email\nJosé,jose@example.org\nAda Lovelace,\n,\n", encoding="utf-8")
    program = [sys.executable, "-m", "svcnb", "workshop"]
    with running([*program, "start", "roster.csv"], cwd=tmp_path, stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        printed = "".join(server.stdout.readline() for _ in range(5))
        assert "(3 learners)" in printed

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            done = subprocess.run(
                [*program, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
            )
            nonlocal printed
            printed += done.stdout + done.stderr
            return done

        yield run
        places = json.loads((tmp_path / "workshop/hand-out.json").read_text())
        kept = [place["SVC_WORKSHOP_TOKEN"] for place in places.values()]
        kept.append(json.loads((tmp_path / "workshop/server.json").read_text())["token"])
        assert [secret for secret in kept if secret in printed] == []


@pytest.mark.slow
def test_an_instructor_starts_from_a_roster_and_helps_learners_by_name(workshop: Command, tmp_path: Path) -> None:
    folder = tmp_path / "workshop"
    assert sorted(path.name for path in folder.glob("places/*")) == ["ada-lovelace.env", "jose.env", "learner-3.env"]
    assert workshop("add", "Grace Hopper", "--email", "grace@example.org").returncode == 0
    assert set(json.loads((folder / "hand-out.json").read_text())) == {
        "ada-lovelace", "grace-hopper", "jose", "learner-3",
    }  # fmt: skip
    for who in ("José", "jose@example.org", "jose"):
        done = workshop("reset", who)
        assert done.returncode == 0, done.stderr
    missing = workshop("reset", "Alan")
    assert missing.returncode != 0
    assert "no learner has the name 'Alan'" in missing.stderr
    assert "1, 2" in workshop("unlock", "1", "2").stdout
    assert "Choose a number from 0 to 17." in workshop("unlock", "99").stderr
    assert "so the fault was not injected" in workshop("fault", "chain").stdout
    assert workshop("add", "").stdout.startswith("learner-5: the environment file is ")
    assert "no learner has the name ''" in workshop("reset", "").stderr
    board = json.loads(workshop("board", "--json").stdout)
    assert [each["display"] for each in board] == ["Ada Lovelace", "Grace Hopper", "José", "Learner 3", "Learner 5"]
    assert "total: 5" in workshop("board").stdout
    assert workshop("export", "progress.csv").returncode == 0
    with (tmp_path / "progress.csv").open(encoding="utf-8", newline="") as file:
        assert [row["email"] for row in csv.DictReader(file)] == ["", "grace@example.org", "jose@example.org", "", ""]
    written = [path for path in [*folder.rglob("*"), tmp_path / "progress.csv"] if path.is_file()]
    open_to_others = [path.name for path in written if stat.S_IMODE(path.stat().st_mode) & 0o077]
    assert open_to_others == []


def test_a_learner_without_a_name_is_rejected_before_the_start(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "svcnb", "workshop", "start", "ada", "", "--folder", str(tmp_path / "room")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 2
    assert "a learner has an empty name" in done.stderr
    assert not (tmp_path / "room").exists()
