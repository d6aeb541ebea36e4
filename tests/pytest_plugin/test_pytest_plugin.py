"""The pytest plugin in a small separate project, in a separate environment with the installed wheel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

pytestmark = [pytest.mark.chain, pytest.mark.engine]

OUTSIDE = Path(__file__).with_name("outside")
ROOT = Path(__file__).resolve().parents[2]


def run(command: list[str | Path], folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """Runs a command whose environment contains no reference to this working copy."""
    own = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return subprocess.run(
        command, cwd=folder, env=own | settings, capture_output=True, text=True, timeout=600, check=False
    )


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python interpreter of a new environment with the installed wheel."""
    folder = tmp_path_factory.mktemp("kit")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")],
        cwd=ROOT,
        env=os.environ | {"SVCNB_BUNDLES": "reuse"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    interpreter = folder / "venv" / "bin" / "python"
    wheel = next((folder / "dist").glob("*.whl"))
    done = run(
        [interpreter, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--disable-pip-version-check", wheel],
        folder,
    )
    assert done.returncode == 0, done.stderr
    # The dependencies come from the current environment, because the tests have no network. The package comes from the
    # wheel.
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    (site / "borrowed.pth").write_text(f"{sysconfig.get_paths()['purelib']}\n")
    return interpreter


@pytest.fixture
def project(tmp_path: Path) -> Path:
    shutil.copy(OUTSIDE / "increment.js", tmp_path)
    shutil.copy(OUTSIDE / "check_increment.py", tmp_path / "test_increment.py")
    return tmp_path


@pytest.mark.slow
def test_an_outside_project_tests_its_action(python: Path, project: Path) -> None:
    done = run([python, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "no:asyncio"], project)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout
    where = run([python, "-c", "import svcnb; print(svcnb.__file__)"], project).stdout
    assert str(python.parents[1]) in where


@pytest.mark.slow
def test_the_same_tests_run_against_a_live_service_except_tests_that_control_it(python, project, emulator) -> None:
    account = emulator.client().accounts.create("live")
    settings = {"SVC_BASE_URL": emulator.base_url, "SVC_API_KEY": account.api_key.reveal()}
    done = run(
        [python, "-m", "pytest", "-q", "-rs", "--svc-live", "-k", "counts or reach or wrong"], project, **settings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed, 1 skipped" in done.stdout
    assert "requires an emulator, but" in done.stdout
    config = project / "config.toml"
    config.touch(0o600)
    stored = f'base_url = "{emulator.base_url}"\napi_key = "{account.api_key.reveal()}"\n'
    config.write_text(f"[profiles.test]\n{stored}")
    profile = {"SVCNB_CONFIG": str(config), "SVC_PROFILE": "test"}
    done = run([python, "-m", "pytest", "-q", "--svc-live", "-k", "counts"], project, **profile)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_live_run_without_a_key_reports_the_missing_settings(python: Path, project: Path) -> None:
    done = run([python, "-m", "pytest", "-q", "--svc-live", "-k", "counts"], project)
    assert done.returncode == 1
    assert "SVC_BASE_URL and SVC_API_KEY" in done.stdout


@pytest.mark.slow
def test_settings_of_a_wrong_type_give_a_clear_failure(python: Path, project: Path) -> None:
    fixture = "@pytest.fixture(scope='session')\ndef svc_emulator_settings():\n    {'seed': 'mine'}\n"
    (project / "conftest.py").write_text(f"import pytest\n{fixture}")
    done = run([python, "-m", "pytest", "-q", "-k", "counts"], project)
    assert done.returncode == 1
    assert "svc_emulator_settings returned a value of type NoneType: the fixture must return a dict" in done.stdout


@pytest.mark.slow
def test_a_project_that_does_not_use_the_plugin_does_not_import_the_client(python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\ndef test_light():\n    assert not {'httpx', 'pydantic', 'svcnb.client'} & set(sys.modules)\n"
    )
    done = run([python, "-m", "pytest", "-q", "-p", "no:langsmith", tmp_path], tmp_path)
    assert done.returncode == 0, done.stdout
