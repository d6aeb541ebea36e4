"""`svcnb new` creates a project and prints the next steps."""

from __future__ import annotations

import json
from pathlib import Path

from svcnb.exit_codes import ExitCode


def test_new_lists_the_recipes_and_creates_a_project(svcnb, tmp_path: Path) -> None:
    listed = svcnb("new", "--list", "--json")
    assert listed.returncode == ExitCode.OK
    name = json.loads(listed.stdout)[0]["name"]
    done = svcnb("new", name, str(tmp_path / "project"))
    assert done.returncode == ExitCode.OK, done.stderr
    assert done.stdout.endswith("project && svcnb fetch && pytest\n")
    assert (tmp_path / "project" / "action.js").is_file()


def test_an_incomplete_call_is_an_error_and_creates_nothing(svcnb, tmp_path: Path) -> None:
    assert "svcnb new --list" in svcnb("new").stderr
    assert svcnb("new", "price-oracle").returncode == ExitCode.USAGE
    unknown = svcnb("new", "price-orcale", str(tmp_path / "project"))
    assert unknown.returncode != ExitCode.OK
    assert "Use the recipe price-oracle." in unknown.stderr
    assert not (tmp_path / "project").exists()
