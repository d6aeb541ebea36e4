"""Recipes become projects whose own tests pass."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from svcnb import Action, InvalidArgument, tools
from svcnb.toolkit.cookbook import create_project, recipe, recipes
from svcnb.toolkit.plan import plan

NAMES = [each.name for each in recipes()]
every_recipe = pytest.mark.parametrize("name", NAMES)


@every_recipe
def test_a_project_has_all_that_it_needs(name: str, tmp_path: Path) -> None:
    made = create_project(name, tmp_path / "project")
    found = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert found >= {
        ".github/workflows/test.yml", ".gitignore", "README.md", "account.toml", "action.js", "requirements.txt",
    }  # fmt: skip
    assert [each for each in found if each.startswith("test_")]
    assert not [each for each in found if "recipe.toml" in each or "__pycache__" in each]
    files = {path.relative_to(recipe(name).folder).as_posix() for path in recipe(name).folder.rglob("*.*")}
    for file in found & files:
        assert (made / file).read_bytes() == (recipe(name).folder / file).read_bytes()


def test_nothing_is_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidArgument, match="not empty"):
        create_project(NAMES[0], tmp_path)
    with pytest.raises(InvalidArgument, match="not empty"):
        create_project(NAMES[0], tmp_path / "mine.txt")
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert (create_project(NAMES[0], tmp_path / "empty") / "action.js").is_file()


@pytest.mark.parametrize("name", ["price-orcale", "", "../price_oracle", "Price oracle"])
def test_an_unknown_recipe_is_refused_and_the_known_ones_are_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"there are: .*price-oracle"):
        create_project(name, tmp_path / "project")
    assert not (tmp_path / "project").exists()


@every_recipe
@pytest.mark.chain
@pytest.mark.engine
def test_the_plan_of_a_project_makes_its_account(name: str, svc: Any, tmp_path: Path) -> None:
    made = create_project(name, tmp_path / "project")
    state, secrets = tmp_path / "state.json", tmp_path / "keys.json"
    plan(svc, made / "account.toml", state=state).apply(secrets=secrets)
    assert not plan(svc, made / "account.toml", state=state)
    described = tomllib.loads((made / "account.toml").read_text())
    assert set(json.loads(secrets.read_text())) == set(described["keys"])
    for told in described["actions"].values():
        template = Action((made / told["file"]).read_text())
        derived = template.derive(told["constant"], name=told["constant_name"])
        allowed = [action for group in svc.groups.list() for action in svc.groups.contents(group).actions]
        assert derived.hashed_cid in {action.hashed_cid for action in allowed}


@pytest.mark.slow
@every_recipe
@pytest.mark.skipif(not tools.solc_fetched(), reason="needs the compiler: svcnb fetch --compiler")
def test_the_committed_contract_is_what_its_source_compiles_to(name: str) -> None:
    from svcnb.emulator.chain import compile as compiler

    for source in recipe(name).folder.glob("*.sol"):
        wanted = {source.name: {"*": ["abi", "evm.bytecode.object"]}}
        request = {
            "language": "Solidity",
            "sources": {source.name: {"content": source.read_text()}},
            "settings": {**compiler.SETTINGS, "outputSelection": wanted},
        }
        (answer,) = compiler._run(json.dumps([request]))
        assert not answer.get("errors"), answer["errors"]
        (built,) = answer["contracts"][source.name].values()
        committed = json.loads(source.with_suffix(".json").read_text())
        assert committed == {"abi": built["abi"], "bytecode": "0x" + built["evm"]["bytecode"]["object"]}


@pytest.mark.slow
@every_recipe
def test_the_tests_of_a_new_project_pass(name: str, tmp_path: Path) -> None:
    made = create_project(name, tmp_path / "project")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
