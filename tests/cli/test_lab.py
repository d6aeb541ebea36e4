"""`svcnb lab`: JupyterLab on the first lesson, with the emulator running."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

pytestmark = [pytest.mark.chain, pytest.mark.engine, pytest.mark.slow]

DEADLINE_S = 300


def answer(url: str, token: str) -> object:
    """The JSON of a page, at the first try: an address is told only once it answers."""
    request = urllib.request.Request(url, headers={"Authorization": f"token {token}"})  # noqa: S310 - loopback
    with urllib.request.urlopen(request, timeout=DEADLINE_S) as page:  # noqa: S310 - loopback
        return json.load(page)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_opens_the_first_lesson_beside_an_emulator_and_stops_both(tmp_path: Path, number: signal.Signals) -> None:
    own = {name: str(tmp_path / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    own["IPYTHONDIR"] = str(tmp_path / "ipython")
    with subprocess.Popen(
        [sys.executable, "-m", "svcnb", "lab", "--no-browser", "--folder", str(tmp_path / "lessons")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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
