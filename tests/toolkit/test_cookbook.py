"""Projects from recipes, whose tests pass."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from xml.dom import minidom

import pytest
from click import ClickException
from click.testing import CliRunner

from svcnb import Action, InvalidArgument, tools
from svcnb.toolkit.cookbook import create_project, recipe, recipes
from svcnb.toolkit.lint import lint
from svcnb.toolkit.plan import plan

ROOT = Path(__file__).resolve().parents[2]
NAMES = [each.name for each in recipes()]
every_recipe = pytest.mark.parametrize("name", NAMES)
STALE = "run: python .ci/cookbook.py"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Script that generates files from the folder of a recipe."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    return import_module("cookbook")


@every_recipe
def test_the_notebook_is_generated_from_the_folder_of_the_recipe(name: str, made: ModuleType) -> None:
    stored = json.loads((made.NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))["cells"]
    wanted = [(cell.id, cell.cell_type, cell.source) for cell in made.notebook(recipe(name)).cells]
    assert [(cell["id"], cell["cell_type"], "".join(cell["source"])) for cell in stored] == wanted, STALE


@every_recipe
def test_the_notebook_shows_all_required_parts_of_a_recipe(name: str, made: ModuleType) -> None:
    kinds = made.cells(recipe(name))
    text = "\n".join(source for kind, source in kinds if kind == "markdown")
    action = (recipe(name).folder / "action.js").read_text("utf-8").rstrip("\n")
    assert [source.partition("\n")[2] for kind, source in kinds if source.startswith("%%action template ")] == [action]
    for wanted in (
        "](images/", "## Trust assumptions", "## Attack on a vulnerable version", "## Threat model", "## Cost",
        "## Go live",
    ):  # fmt: skip
        assert wanted in text
    printed = made.printed(recipe(name))
    assert "vulnerable: " in printed
    assert "this recipe: " in printed
    assert made._COST_LINE.search(printed)
    if list(recipe(name).folder.glob("*.sol")):
        assert len(made._GAS_LINE.findall(printed)) >= 3
        assert "```solidity" in text
    table = made.sections(text)["Threat model"]
    assert len([line for line in table.splitlines() if line.startswith("| ")]) >= 6


@every_recipe
def test_the_picture_is_generated_from_the_folder_of_the_recipe(name: str, made: ModuleType) -> None:
    wanted = made.picture(recipe(name))
    minidom.parseString(wanted)  # noqa: S318 - our own
    assert (recipe(name).folder / "diagram.svg").read_text("utf-8") == wanted, STALE
    assert (made.NOTEBOOKS / "images" / f"{name}.svg").read_text("utf-8") == wanted, STALE


def test_the_gallery_is_generated_from_the_recipes(made: ModuleType) -> None:
    page = made.GALLERY.read_text("utf-8")
    assert made.page_with_gallery(page) == page, STALE
    assert all(f"svcnb new {name} " in page for name in NAMES)


@every_recipe
def test_the_linter_finds_no_problem_in_a_recipe(name: str) -> None:
    described = tomllib.loads((recipe(name).folder / "account.toml").read_text())
    for told in described["actions"].values():
        if "constant" in told:
            action = Action.from_file(recipe(name).folder / told["file"])
            assert list(lint(action.derive(told["constant"], name=told["constant_name"]))) == []


@every_recipe
def test_a_recipe_has_at_least_eight_attacks(name: str) -> None:
    (file,) = recipe(name).folder.glob("test_*.py")
    assert file.read_text("utf-8").count("\ndef test_") >= 10  # including tests of correct use


def test_an_unknown_contract_of_a_recipe_is_an_error() -> None:
    with pytest.raises(InvalidArgument, match="has no contract 'PriceOracle'") as refused:
        recipe("price-oracle").artifact("PriceOracle")
    assert "PriceConsumer" in str(refused.value.hint)


@every_recipe
def test_a_project_contains_all_its_files(name: str, tmp_path: Path) -> None:
    made = create_project(name, tmp_path / "project")
    found = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert found >= {
        ".github/workflows/test.yml", ".gitignore", "README.md", "account.toml", "action.js", "requirements.txt",
    }  # fmt: skip
    assert [each for each in found if each.startswith("test_")]
    assert not [each for each in found if Path(each).name in {"recipe.toml", "notebook.md"} or "__pycache__" in each]
    files = {path.relative_to(recipe(name).folder).as_posix() for path in recipe(name).folder.rglob("*.*")}
    for file in (found & files) - {"README.md"}:
        assert (made / file).read_bytes() == (recipe(name).folder / file).read_bytes()
    readme = (made / "README.md").read_text("utf-8")
    assert readme.startswith((recipe(name).folder / "README.md").read_text("utf-8"))
    assert "## Run the tests" in readme
    assert (made / "diagram.svg").is_file()


def test_no_existing_file_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InvalidArgument, match="not an empty folder"):
        create_project(NAMES[0], tmp_path)
    with pytest.raises(InvalidArgument, match="not an empty folder"):
        create_project(NAMES[0], tmp_path / "mine.txt")
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]
    (tmp_path / "empty").mkdir()
    assert (create_project(NAMES[0], tmp_path / "empty") / "action.js").is_file()


@pytest.fixture
def program(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program `contract.py` of a project, without a chain."""
    loaded = import_module("svcnb.toolkit.cookbook.project.contract")
    monkeypatch.setattr(loaded, "connected", lambda: None)
    return loaded


def test_contract_py_prints_bytes_in_hex(program: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "bound", lambda *_: SimpleNamespace(call=lambda: b"\x12" * 32))
    done = CliRunner().invoke(program.main, ["call", "Points", "headOf", "0x" + "00" * 20])
    assert done.output == "0x" + "12" * 32 + "\n"


def test_contract_py_lists_the_functions_of_a_contract(program: ModuleType) -> None:
    interface = json.loads(recipe("signed-records").artifact("Points").read_text("utf-8"))["abi"]
    with pytest.raises(ClickException, match=r"unknown function 'heads': expected one of headOf, owner, "):
        program.arguments(interface, "heads", ())


@pytest.mark.parametrize("name", ["price-orcale", "", "../price_oracle", "Price oracle"])
def test_the_error_for_an_unknown_recipe_lists_the_recipes(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match=r"expected one of .*price-oracle"):
        create_project(name, tmp_path / "project")
    assert not (tmp_path / "project").exists()


@every_recipe
@pytest.mark.chain
@pytest.mark.engine
def test_the_plan_of_a_project_creates_its_account(name: str, svc: Any, tmp_path: Path) -> None:
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
        assert any(action.is_wildcard or action.hashed_cid == derived.hashed_cid for action in allowed)


@pytest.mark.slow
@every_recipe
@pytest.mark.skipif(not tools.solc_fetched(), reason="needs the compiler: svcnb fetch --compiler")
def test_the_committed_contract_equals_its_compiled_source(name: str, made: ModuleType) -> None:
    for source in recipe(name).folder.glob("*.sol"):
        assert json.loads(source.with_suffix(".json").read_text("utf-8")) == made.compiled(source), STALE


@pytest.mark.slow
@every_recipe
def test_the_tests_of_a_new_project_pass(name: str, tmp_path: Path) -> None:
    made = create_project(name, tmp_path / "project")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stdout[-4000:]
