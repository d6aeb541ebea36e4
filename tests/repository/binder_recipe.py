"""Binder's recipe, step by step in a clean environment, and the memory use of a reader's notebooks.

The test is slow and needs a package index. Run it with ``pytest tests/repository/binder_recipe.py -s``. The test
performs the steps of repo2docker with `binder/`, without Docker and conda. The test creates an environment with the
Jupyter packages of repo2docker, runs ``postBuild`` in this environment, and starts JupyterLab.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ALLOWED_MIB = 1024
PATIENCE_S = 1_500

# Environment of a Binder image, without the caches and settings of this user, and without a proxy for local addresses.
KEPT = ("PATH", "LANG", "TMPDIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the image's content: the repository's tracked files, an environment, and an empty home folder."""
    folder = tmp_path_factory.mktemp("image")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (folder / "repository" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / "repository" / name)
    (folder / "home").mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=120)
    # Packages of repo2docker's own environment before the recipe runs.
    base = [str(folder / "venv/bin/pip"), "install", "-q", "-r", str(ROOT / "binder/base.txt")]
    subprocess.run(base, check=True, timeout=PATIENCE_S)
    return folder


def environment(image: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in KEPT or name.startswith("PIP_")}
    path = f"{image / 'venv/bin'}{os.pathsep}{kept['PATH']}"
    return kept | {"HOME": str(image / "home"), "PATH": path, "VIRTUAL_ENV": str(image / "venv")} | more


@pytest.fixture(scope="module")
def built(image: Path) -> Path:
    done = subprocess.run(
        ["bash", "binder/postBuild"],
        cwd=image / "repository",
        env=environment(image),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return image


def test_the_environment_names_a_python_that_svcnb_runs_on() -> None:
    text = (ROOT / "binder/environment.yml").read_text(encoding="utf-8")
    assert "python=3.12" in text
    assert "pip" in text


def test_the_recipe_keeps_the_versions_of_the_environment_it_is_built_into(built: Path) -> None:
    listed = subprocess.run(
        [str(built / "venv/bin/pip"), "freeze"], capture_output=True, text=True, check=True, timeout=300
    )
    found = {line.lower().replace("_", "-") for line in listed.stdout.splitlines()}
    base = (ROOT / "binder/base.txt").read_text(encoding="utf-8").splitlines()
    assert {line for line in base if "==" in line} <= found
    assert any(line.startswith("jupyter-server-proxy==") for line in found)


def without_network(command: list[str]) -> list[str]:
    """Returns the command in a network namespace with only loopback, if the system supports this."""
    inner = 'ip link set lo up 2>/dev/null || ifconfig lo up 2>/dev/null; exec "$@"'
    wrapped = ["unshare", "--net", "--map-root-user", "bash", "-c", inner, "-", *command]
    tried = subprocess.run(["unshare", "--net", "--map-root-user", "true"], capture_output=True, check=False)
    return wrapped if tried.returncode == 0 else command


def test_after_the_build_a_lesson_runs_without_network(built: Path) -> None:
    done = subprocess.run(
        without_network(
            ["jupyter", "nbconvert", "--to", "notebook", "--execute", "--stdout", "notebooks/01-quickstart.ipynb"]
        ),
        cwd=built / "repository",
        env=environment(built),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Hello, Ada!" in done.stdout


@pytest.fixture
def lab(built: Path) -> Iterator[tuple[str, int]]:
    """Starts JupyterLab like Binder. Yields its address and process id."""
    with (built / "lab.log").open("wb") as log:
        process = subprocess.Popen(
            [
                "jupyter",
                "lab",
                "--no-browser",
                "--ip=127.0.0.1",
                "--port=0",
                "--allow-root",
                "--IdentityProvider.token=t",
            ],
            cwd=built / "repository",
            env=environment(built),
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        deadline = time.monotonic() + 120
        found: list[Path] = []
        while not found and time.monotonic() < deadline:
            time.sleep(0.2)
            found = list((built / "home").rglob("jpserver-*.json"))
        assert found, (built / "lab.log").read_text()[-2000:]
        yield json.loads(found[0].read_text())["url"], process.pid
    finally:
        os.killpg(process.pid, 15)
        process.wait(60)


def ask(url: str, body: object = None) -> object:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data)  # noqa: S310 - JupyterLab's own address
    request.add_header("Authorization", "token t")
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=120) as answer:
        return json.loads(answer.read())


def family(pid: int) -> dict[int, str]:
    """Returns a process and all its descendants, with their names."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text()
            except OSError:
                continue
            name, _, rest = stat.partition("(")[2].rpartition(")")
            parents[int(entry.name)], names[int(entry.name)] = int(rest.split()[1]), name
    found = {pid}
    while grown := {child for child, parent in parents.items() if parent in found} - found:
        found |= grown
    return {each: names[each] for each in sorted(found) if each in names}


def proportional_mib(pid: int) -> float:
    """Returns the proportional set size (PSS) of a process."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return next(int(line.split()[1]) / 1024 for line in rollup.splitlines() if line.startswith("Pss:"))


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads Linux's /proc")
def test_lab_emulator_and_one_kernel_stay_below_what_binder_gives(lab: tuple[str, int]) -> None:
    url, pid = lab
    url = url.rstrip("/")
    session = {"path": "notebooks/01-quickstart.ipynb", "type": "notebook", "name": "", "kernel": {"name": "python3"}}
    kernel = ask(f"{url}/api/sessions", session)
    assert isinstance(kernel, dict)
    notebook = json.loads((ROOT / "notebooks/01-quickstart.ipynb").read_text(encoding="utf-8"))
    sources = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    _run_in(kernel["kernel"]["id"], url, "\n".join(sources))

    used = {each: (name, proportional_mib(each)) for each, name in family(pid).items()}
    total = sum(mib for _, mib in used.values())
    print(f"\nJupyterLab, kernel, emulator, all they started: {total:.0f} MiB")  # noqa: T201 - a measured figure
    for each, (name, mib) in used.items():
        print(f"  {each} {name}: {mib:.0f} MiB")  # noqa: T201
    assert len(used) >= 4, used
    assert total < ALLOWED_MIB


def _run_in(kernel: str, url: str, code: str) -> None:
    import asyncio
    import uuid

    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    async def talk() -> None:
        address = f"{url.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
        socket = await websocket_connect(HTTPRequest(address, headers={"Authorization": "token t"}, connect_timeout=60))
        header = {"msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "version": "5.3"}
        content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
        message = {"header": header | {"msg_type": "execute_request"}, "parent_header": {}, "metadata": {}}
        await socket.write_message(json.dumps(message | {"content": content, "channel": "shell", "buffers": []}))
        try:
            while True:
                answer = json.loads(str(await asyncio.wait_for(socket.read_message(), 300)))
                if answer["parent_header"].get("msg_id") == header["msg_id"] and answer["msg_type"] == "execute_reply":
                    assert answer["content"]["status"] == "ok", answer["content"]
                    return
        finally:
            socket.close()
            while await socket.read_message() is not None:
                pass

    asyncio.run(talk())
