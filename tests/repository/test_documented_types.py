"""The package and the documentation's examples pass mypy and pyright, which both find deliberate mistakes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MISTAKES = """\
import svcnb
import svcnb.panels

svcnb.Clinet()
svcnb.panels.Workbnech
svcnb.Emulator(starter_credit=1)
svcnb.TriggersClient("http://localhost").create("webhook", "n", usage_kye="k")
"""
WRONG_LINES = [4, 5, 6, 7]

pytestmark = pytest.mark.slow


def write_examples(folder: Path) -> None:
    for page in PAGES:
        for number, source in enumerate(PYTHON.findall(page.read_text(encoding="utf-8"))):
            (folder / f"{page.stem.lower().replace('-', '_')}_{number}.py").write_text(source, encoding="utf-8")
    assert len(list(folder.iterdir())) > 20


def mypy(folder: Path) -> str:
    settings = folder / "mypy.ini"
    # Examples also use packages without types. `poe types` finds errors in this package.
    settings.write_text("[mypy]\nstrict = true\nfollow_imports = silent\nignore_missing_imports = true\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(ROOT / ".mypy_cache")]
    done = subprocess.run(
        [*command, *map(str, sorted(folder.glob("*.py")))], capture_output=True, text=True, timeout=900, check=False
    )
    return done.stdout + done.stderr


def pyright(folder: Path) -> list[str]:
    """Returns pyright's findings in a folder of examples."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard"}))
    files, errors = checked(folder)
    assert files == len(list(folder.glob("*.py")))
    return errors


def checked(project: Path) -> tuple[int, list[str]]:
    """Returns the number of files that pyright read, and its findings. basedpyright is pyright in a complete wheel."""
    pytest.importorskip("basedpyright", reason="pyright comes with the extra types")
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "--pythonpath", sys.executable]
    done = subprocess.run(
        [*command, "--project", str(project)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode in {0, 1}, done.stdout + done.stderr
    found = json.loads(done.stdout)
    return found["summary"]["filesAnalyzed"], [
        f"{Path(each['file']).name}:{each['range']['start']['line'] + 1}: {each['message']}"
        for each in found["generalDiagnostics"]
        if each["severity"] == "error"
    ]


def test_examples_pass_mypy(tmp_path: Path) -> None:
    write_examples(tmp_path)
    assert "Success: no issues found" in mypy(tmp_path), mypy(tmp_path)


def test_examples_pass_pyright(tmp_path: Path) -> None:
    write_examples(tmp_path)
    assert pyright(tmp_path) == []


def test_the_package_passes_pyright() -> None:
    files, errors = checked(ROOT)
    assert files > 500
    assert errors == []


def test_misspelt_names_and_settings_are_found_by_both(tmp_path: Path) -> None:
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    by_mypy = {int(line) for line in re.findall(r"mistakes\.py:(\d+): error", mypy(tmp_path))}
    by_pyright = {int(line.split(":")[1]) for line in pyright(tmp_path)}
    assert sorted(by_mypy) == sorted(by_pyright) == WRONG_LINES
