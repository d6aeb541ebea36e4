"""`svcnb lab`, which opens the first lesson in JupyterLab and starts the emulator."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import nbformat
import pytest

from svcnb.cli._workbench import NAME, workbench_folder
from tests.process_groups import running

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]

DEADLINE_S = 300


def answer(url: str, token: str) -> object:
    """Returns the JSON of a page with one request, because the command prints only addresses that already respond."""
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as page:  # noqa: S310 - loopback
        return json.load(page)


def test_the_workbench_notebook_has_one_cell_that_shows_the_panels(tmp_path: Path, session_emulator) -> None:
    folder = workbench_folder(tmp_path / "new")
    notebook = nbformat.read(folder / NAME, as_version=4)  # type: ignore[no-untyped-call]  # of another library
    nbformat.validate(notebook)
    (code,) = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    shown = subprocess.run(
        [sys.executable, "-c", f"{code.replace('svcnb.panels.W', 'bench = svcnb.panels.W')}\nprint(bench.tabs)"],
        env=os.environ | {"SVC_BASE_URL": session_emulator.base_url},
        capture_output=True, text=True, check=True, timeout=DEADLINE_S,
    )  # fmt: skip
    assert "'Account', 'Actions'" in shown.stdout
    (folder / NAME).write_text("mine", encoding="utf-8")
    assert (workbench_folder(folder) / NAME).read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_lab_opens_the_first_lesson_with_an_emulator_and_stops_both(tmp_path: Path, number: signal.Signals) -> None:
    own = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    own["IPYTHONDIR"] = str(tmp_path / "ipython")
    with running(
        [sys.executable, "-m", "svcnb", "lab", "--no-browser", "--folder", str(tmp_path / "lessons")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | own,
    ) as lab:
        assert lab.stdout is not None
        assert lab.stdout.readline().startswith("Starting JupyterLab")
        told = dict(lab.stdout.readline().split() for _ in range(3))
        page = urlsplit(told["JupyterLab"])
        token = parse_qs(page.query)["token"][0]
        server = f"{page.scheme}://{page.netloc}"
        assert page.path == "/lab/tree/01-quickstart.ipynb"

        listed = answer(f"{server}/api/contents", token)
        assert isinstance(listed, dict)
        assert "01-quickstart.ipynb" in {entry["name"] for entry in listed["content"]}
        config = answer(f"{told['Emulator']}/core/v1/get_node_chain_config", token)
        assert isinstance(config, dict)
        assert config["contract_address"].startswith("0x")

        lab.send_signal(number)
        lab.communicate(timeout=DEADLINE_S)
    for gone in (server, told["Emulator"]):
        with pytest.raises(urllib.error.URLError):
            urllib.request.urlopen(gone, timeout=5)  # noqa: S310 - loopback


def test_a_learner_of_a_workshop_uses_the_emulator_on_its_machine(tmp_path: Path) -> None:
    folder = tmp_path / "room"
    svcnb = [sys.executable, "-m", "svcnb"]
    jupyter = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    with running([*svcnb, "workshop", "start", "ada", "--folder", str(folder)], stdout=subprocess.PIPE) as workshop:
        assert workshop.stdout is not None
        assert any(line.startswith("Press Ctrl-C") for line in workshop.stdout)  # this is the last line of the start
        place = folder / "places/ada.env"
        assert place.stat().st_mode & 0o777 == 0o600
        # The shell reads the file, as for a learner.
        lab_line = f'. "{place}" && exec "$@" lab --no-browser --folder "{tmp_path / "lessons"}"'
        with running(["sh", "-c", lab_line, "sh", *svcnb], stdout=subprocess.PIPE, env=os.environ | jupyter) as lab:
            assert lab.stdout is not None
            said = [lab.stdout.readline().split() for _ in range(5)]
            lab.send_signal(signal.SIGTERM)
            lab.communicate(timeout=DEADLINE_S)
        own = re.findall(r"SVC_BASE_URL=(\S+)", place.read_text())[0]
        assert ["Workshop", own] in said
        assert ["Press", "Ctrl-C", "to", "stop", "JupyterLab."] in said
        assert answer(f"{own}/core/v1/get_node_chain_config", "")  # the workshop still runs
        workshop.send_signal(signal.SIGTERM)
        workshop.communicate(timeout=DEADLINE_S)
