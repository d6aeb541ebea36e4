"""Projects from recipes, whose tests pass."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from collections import Counter
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
    with pytest.raises(InvalidArgument, match=r"cannot create the folder .*: Not a directory"):
        create_project(NAMES[0], tmp_path / "mine.txt" / "project")
    (tmp_path / "empty").mkdir()
    assert (create_project(NAMES[0], tmp_path / "empty") / "action.js").is_file()


def test_several_recipes_can_be_applied_to_one_account() -> None:
    names = [
        (kind, name)
        for each in recipes()
        for kind, entries in tomllib.loads((each.folder / "account.toml").read_text("utf-8")).items()
        for name in entries
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert len(names) > 30


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


def test_each_parameter_without_a_name_needs_its_own_argument(program: ModuleType) -> None:
    interface = [{"type": "function", "name": "balances", "inputs": [{"name": "", "type": "uint256"}] * 2}]
    assert program.arguments(interface, "balances", ("1", "2")) == [1, 2]
    with pytest.raises(ClickException, match=r"got 1, expected 2: argument 1 .uint256., argument 2 .uint256."):
        program.arguments(interface, "balances", ("1",))


def points() -> Any:
    return json.loads(recipe("signed-records").artifact("Points").read_text("utf-8"))["abi"]


TOTAL = {
    "customer": "0x" + "11" * 20, "points": 3, "previous": "0x" + "00" * 32, "head": "0x" + "01" * 32, "deadline": 1,
    "signature": "0x" + "22" * 65,
}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            json.dumps({"customer": TOTAL["customer"]}),
            "lacks points, head, deadline, signature, which update",
        ),
        (json.dumps(TOTAL | {"points": "three"}), "invalid argument points: expected uint256, got 'three'"),
        (json.dumps(TOTAL | {"points": None}), "invalid argument points: expected uint256, got None"),
        (json.dumps(TOTAL | {"customer": "kim.eth"}), "invalid argument customer: expected address, got 'kim.eth'"),
        (json.dumps(TOTAL | {"signature": "0x11"}), "the signature has 1 bytes: expected 65 bytes"),
        (json.dumps(TOTAL | {"signature": "none"}), "non-hexadecimal number found"),
        (json.dumps(TOTAL | {"signature": None}), "signature"),
        ("[1]", "does not contain a JSON object: expected the response of a run"),
        ("{", "cannot use .*answer.json: "),
        (None, "cannot use .*answer.json: .*No such file"),
    ],
)
def test_contract_py_explains_what_is_wrong_with_a_response(
    program: ModuleType, tmp_path: Path, content: str | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "answer.json").write_text(content)
    with pytest.raises(ClickException, match=message):
        program.arguments(points(), "update", (str(tmp_path / "answer.json"),))


def test_contract_py_needs_a_signature_only_for_functions_that_use_it(program: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps({"signer": TOTAL["customer"]}))
    assert program.arguments(points(), "trust", (str(tmp_path / "answer.json"),)) == [TOTAL["customer"]]
    (tmp_path / "answer.json").write_text(json.dumps(TOTAL))
    assert len(program.arguments(points(), "update", (str(tmp_path / "answer.json"),))) == 7


SCRIPTS = {
    "daily-attestation": ("verify.py", ("reports.json", "0x" + "11" * 20)),
    "signed-records": ("verify.py", ("receipts.json", "0x" + "11" * 20)),
    "user-keys": ("users.py", ("Kim",)),
}


def script(name: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(recipe(name).folder / SCRIPTS[name][0]), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_program_of_a_recipe_prints_its_usage_instead_of_a_traceback(name: str, tmp_path: Path) -> None:
    for arguments in ((), SCRIPTS[name][1]):  # the second arguments are a missing file, or an invalid name
        done = script(name, *arguments, folder=tmp_path)
        assert (done.returncode, done.stderr.splitlines()[0][:7]) == (2, "usage: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "records"),
    [
        ("daily-attestation", [1, {}, {"title": "a", "period": "1", "value": "1", "previous": "", "signature": ""}]),
        ("daily-attestation", [{"title": "\ud800", "period": 1, "value": "1", "previous": "", "signature": ""}]),
        ("signed-records", [1, {}, {"receipt": None}, {"receipt": {}}, {"receipt": {"a": "\ud800"}, "signature": ""}]),
    ],
)
def test_a_verifier_reports_a_malformed_record_as_a_problem(name: str, records: Any, tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps(records))
    done = script(name, "list.json", "0x" + "11" * 20, folder=tmp_path)
    assert (done.returncode, done.stderr) == (1, "")
    for number, _ in enumerate(records, 1):
        starts = (f"report {number}:", f"receipt {number}:", "period 1:")
        assert any(line.startswith(starts) for line in done.stdout.splitlines())
    assert "EIP-55 checksum" in script(name, "list.json", "0x11", folder=tmp_path).stderr
    (tmp_path / "list.json").write_text("{}")
    assert "does not contain a list" in script(name, "list.json", "0x" + "11" * 20, folder=tmp_path).stderr


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
