"""Tracked files are suitable for every machine."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

# Folders of a single machine. The strings are split, so that the test does not find this file.
# /home/jovyan is the home of the user in the container images of Jupyter.
MACHINE_PATHS = re.compile(r"(?<![\w.:/-])/(?:home(?!/jovyan\b)|Users|work|" + "farm|tmp/" + r"team)/[A-Za-z]")
LOCKS = ("constraints.txt", "deno.lock", "solc.lock", "anvil-linux-amd64.lock")
LARGEST_TRACKED_KIB = 1500
LONGEST_LINES = 400


@pytest.fixture(scope="module")
def tracked(root: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True, timeout=300
    )
    return [path for name in listed.stdout.split("\0") if name and (path := root / name).is_file()]


def test_no_tracked_file_names_a_folder_of_one_machine(tracked: list[Path], root: Path) -> None:
    found = []
    for path in tracked:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(root)}: {match.group()}" for match in MACHINE_PATHS.finditer(text)]
    assert found == []


def test_text_contains_no_invisible_characters(tracked: list[Path], root: Path) -> None:
    invisible = re.compile(r"[^\S\n\t ]|[\x00-\x08\x0e-\x1f\x7f\u200b\u200c\u200e\u200f\u202a-\u202e\u2060\ufeff]")
    found = []
    for path in tracked:
        if path.suffix in {".py", ".md", ".ts", ".js", ".toml", ".html", ".css", ".ipynb", ".sol", ".yml", ".yaml"}:
            text = path.read_bytes().decode()
            found += [f"{path.relative_to(root)}: {match.group()!r}" for match in invisible.finditer(text)]
    assert found == []


def test_locks_name_packages_and_hashes_but_no_address(tracked: list[Path], root: Path) -> None:
    locks = [path for path in tracked if path.name in LOCKS]
    assert {path.name for path in locks} == set(LOCKS)
    for path in locks:
        text = path.read_text(encoding="utf-8")
        assert "://" not in text, path.relative_to(root)
        assert not re.search(r"\b(?:index-url|find-links|registry)\b", text), path.relative_to(root)


def test_every_constraint_is_one_exact_version(root: Path) -> None:
    for line in (root / "constraints.txt").read_text(encoding="utf-8").splitlines():
        assert re.fullmatch(r"[a-z0-9][a-z0-9._-]*==[0-9][\w.!+]*( ; .+)?", line), line


def test_built_bundles_are_not_tracked(tracked: list[Path], root: Path) -> None:
    assert [path for path in tracked if "static" in path.relative_to(root).parts[:-1]] == []


def test_no_tracked_file_is_large(tracked: list[Path], root: Path) -> None:
    large = [path.relative_to(root) for path in tracked if path.stat().st_size > LARGEST_TRACKED_KIB * 1024]
    assert large == []


TOPICS = {
    "api": "the whole service over HTTP, as a client sees it",
    "benchmarks": "measurements",
    "faults": "failures of the parts of a running emulator",
    "fuzz": "random requests",
    "launch": "processes of the emulator, and how programs find them",
    "lessons": "notebooks of lessons as a whole",
    "repository": "the files of this repository",
}
"""Folders of tests that do not belong to a package."""


def test_folders_of_tests_mirror_the_package(root: Path) -> None:
    folders = {path.parent.relative_to(root / "tests") for path in (root / "tests").rglob("test_*.py")}
    places = [root / "svcnb" / folder for folder in folders if not TOPICS.keys() & set(folder.parts[:1])]
    assert [str(place) for place in places if not place.is_dir() and not place.with_suffix(".py").is_file()] == []


def test_no_test_file_is_named_after_a_module_of_another_package(root: Path, modules: dict[str, Path]) -> None:
    homes: dict[str, set[Path]] = {}
    for path in modules.values():
        inside = path.relative_to(root / "svcnb")
        place = inside.parent if inside.name == "__init__.py" else inside.with_suffix("")
        if len(place.parts) > 1 and not place.is_relative_to("toolkit/cookbook/recipes"):
            homes.setdefault(place.name.lstrip("_"), set()).add(place.parent)
    wrong = []
    for path in (root / "tests").rglob("test_*.py"):
        folder = path.parent.relative_to(root / "tests")
        places = homes.get(path.stem.removeprefix("test_"), {folder})
        if not TOPICS.keys() & set(folder.parts[:1]) and not any(place.is_relative_to(folder) for place in places):
            wrong.append(f"{path.relative_to(root)}: its module is in {', '.join(map(str, places))}")
    assert wrong == []


def test_no_file_of_the_package_is_long(modules: dict[str, Path], root: Path) -> None:
    lines = {str(path.relative_to(root)): len(path.read_text("utf-8").splitlines()) for path in modules.values()}
    assert {name: n for name, n in lines.items() if n > LONGEST_LINES} == {}


def test_the_name_of_the_service_is_in_one_place(modules: dict[str, Path]) -> None:
    # Vocabulary determines the names in the protocol. Names in other places do not follow a change of Vocabulary.
    names = re.compile(r"svc_action|get_svc_|getSvc|SvcActions|Svc\.Actions|/processor_config|Svc ChainSecured")
    elsewhere = {name: path for name, path in modules.items() if name != "svcnb.protocol.vocabulary"}
    # Exercises and recipes contain the names as the reader writes them.
    shown = ("svcnb.toolkit.exercises", "svcnb.toolkit.cookbook.recipes")
    code = {name: path for name, path in elsewhere.items() if not name.startswith(shown)}
    wrong = [
        f"{name}:{text.lineno} {match.group()}"
        for name, path in code.items()
        for text in _texts(path.read_text(encoding="utf-8"))
        for match in names.finditer(str(text.value))
    ]
    assert wrong == []


def _texts(source: str) -> list[ast.Constant]:
    """Yields every string of a program except docstrings, because comments and docstrings can contain any name."""
    tree = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]
