"""The documentation's nbgitpuller link on a real server, with a clone of this repository.

The test needs a package index. Run it with ``pytest tests/workshop/nbgitpuller_local.py``.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKEN = "a token of this test alone"
LIMIT_S = 120.0


def link() -> dict[str, str]:
    """Returns the parts of the link."""
    (found,) = re.findall(r"https://HUB/hub/user-redirect/git-pull\S+", (ROOT / "docs/workshop.md").read_text())
    return {name: values[0] for name, values in parse_qs(urlsplit(found).query).items()}


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packages")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=120)  # for its pip
    into = ["--target", str(folder / "target"), "--no-deps"]
    subprocess.run([str(folder / "venv/bin/pip"), "install", "-q", *into, "nbgitpuller"], check=True, timeout=300)
    return folder / "target"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Creates a bare clone with the branch in the link, like a repository on a public host."""
    target = tmp_path / "REPOSITORY"
    subprocess.run(["git", "clone", "-q", "--bare", str(ROOT), str(target)], check=True, timeout=120)
    subprocess.run(["git", "branch", "-f", link()["branch"], "HEAD"], cwd=target, check=True, timeout=60)
    return target


@pytest.fixture
def server(tmp_path: Path, packages: Path) -> Iterator[str]:
    with socket.socket() as asking:
        asking.bind(("127.0.0.1", 0))
        port = asking.getsockname()[1]
    (tmp_path / "home").mkdir()
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")]),
        "JUPYTER_CONFIG_PATH": str(packages / "etc/jupyter"),
        "JUPYTER_TOKEN": TOKEN,
        "HOME": str(tmp_path),
    }
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1"),
        *("--ServerApp.port_retries=0", f"--ServerApp.root_dir={tmp_path / 'home'}"),
    ]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, cwd=tmp_path / "home", stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + LIMIT_S
        while time.monotonic() < deadline and process.poll() is None:
            try:
                httpx.get(f"http://127.0.0.1:{port}/api", trust_env=False)
                break
            except httpx.TransportError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def test_the_link_brings_the_lessons_and_opens_the_first(server: str, repository: Path, tmp_path: Path) -> None:
    asked = link()
    name = asked["repo"].rpartition("/")[2]
    asked["repo"] = repository.as_uri()
    headers = {"Authorization": f"token {TOKEN}"}
    with httpx.Client(trust_env=False, headers=headers, timeout=LIMIT_S) as http:
        assert http.get(f"{server}/git-pull", params=asked).status_code == 200
        answer = http.get(f"{server}/git-pull/api", params={**asked, "targetpath": name}).text
        events = [json.loads(line[5:]) for line in answer.splitlines() if line.startswith("data:")]
        assert [each for each in events if each.get("phase") == "error"] == []
        assert events[-1]["phase"] == "finished"
        opened = asked["urlpath"].removeprefix("lab/tree/")
        assert http.get(f"{server}/{asked['urlpath']}").status_code == 200
        assert http.get(f"{server}/api/contents/{opened}").json()["type"] == "notebook"
    assert (tmp_path / "home" / opened).is_file()
