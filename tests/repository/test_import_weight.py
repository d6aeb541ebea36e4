"""`import svcnb` and `svcnb --help` load few modules."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ["altair", "anywidget", "dbos", "eth_account", "fastapi", "ipywidgets", "pandas", "sqlalchemy", "web3"]


def loaded_by(code: str) -> set[str]:
    """Returns the top-level modules that a new interpreter has loaded after it ran some code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{n.partition('.')[0] for n in sys.modules}})))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=300)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("import svcnb", id="import svcnb"),
        pytest.param("import svcnb.launch", id="import svcnb.launch"),
        pytest.param("from svcnb.cli import main; main(['--help'])", id="svcnb --help"),
    ],
)
def test_nothing_heavy_is_loaded_by(code: str) -> None:
    assert loaded_by(code) & set(HEAVY) == set()


def test_help_loads_no_command_line_library_at_all() -> None:
    assert loaded_by("from svcnb.cli import main; main(['--help'])") & {"click", "pydantic", "httpx"} == set()


def test_the_public_names_alone_load_no_http_library() -> None:
    assert "httpx" not in loaded_by("import svcnb; svcnb.__all__")


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("svcnb.cid('text')", id="a CID"),
        pytest.param("svcnb.LocalSigner.from_key('0x' + '11' * 32).sign_message('hello')", id="a signature"),
    ],
)
def test_no_library_for_files_or_addresses_is_loaded_by(code: str) -> None:
    # Disable the module site, because files of other packages there can import anything.
    script = f"import sys; sys.path[:0] = {sys.path!r}\nimport svcnb; {code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) & {"ipaddress", "pathlib", "secrets", "svcnb.bundles", "urllib.parse"} == set()
