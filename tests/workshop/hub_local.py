"""JupyterHub with a workshop, with real processes: the workshop, the hub, the proxy, two learners' servers and kernels.

The test is slow. Run it with ``pytest tests/workshop/hub_local.py``. The test needs the extra ``workshop``.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PASSWORD = "a long password of this test alone"
PATIENCE_S = 180.0
# Like JupyterLab's request for the kernel of a notebook.
KERNEL = {"name": "python3", "path": "01-quickstart.ipynb"}

FIRST_CELLS = """
import os, svcnb
emu = svcnb.lesson("quickstart", starter_credits=500)
emu.clock.advance("1d")
print(svcnb.Client().accounts.create("mine").wallet_address)
print(type(emu).__name__, "01-quickstart.ipynb" in os.listdir())
svcnb.exercises.check("cids.changes", {"different js_params"})
"""


def wait_for(what: str, ready: Callable[[], Any]) -> Any:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(0.2)
    raise AssertionError(f"{what}: not within {PATIENCE_S:g} s")


def free_port() -> int:
    with socket.socket() as asking:
        asking.bind(("127.0.0.1", 0))
        return int(asking.getsockname()[1])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def room(folder: Path) -> Iterator[dict[str, Any]]:
    data = folder / "workshop"
    command = [sys.executable, "-m", "svcnb", "workshop", "start", "ada", "--credit", "300", "--folder", str(data)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for("the workshop", (data / "server.json").exists)
        yield json.loads((data / "server.json").read_text())
    finally:
        process.terminate()
        assert process.wait(60) == 0


@pytest.fixture
def hub(folder: Path, room: dict[str, Any]) -> Iterator[str]:
    assert room["url"]
    port = free_port()
    environment = os.environ | {
        "SVC_HUB_PASSWORD": PASSWORD,
        "SVC_HUB_URL": f"http://127.0.0.1:{port}",
        "CONFIGPROXY_AUTH_TOKEN": uuid.uuid4().hex,
        "JUPYTERHUB_CRYPT_KEY": uuid.uuid4().hex * 2,
    }
    config = [
        f"--JupyterHub.hub_port={free_port()}",
        f"--ConfigurableHTTPProxy.api_url=http://127.0.0.1:{free_port()}",
        "--Spawner.start_timeout=170",
        "--Spawner.http_timeout=170",
    ]
    if os.geteuid() == 0:
        config.append('--Spawner.args=["--allow-root"]')
    command = [sys.executable, "-m", "jupyterhub", "-f", str(ROOT / "docs/workshop/jupyterhub_config.py"), *config]
    with (folder / "hub.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
    try:
        wait_for("the hub", lambda: process.poll() is not None or _answers(f"http://127.0.0.1:{port}/hub/login"))
        assert process.poll() is None, (folder / "hub.log").read_text()[-3000:]
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(60)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


class Learner:
    """Client with the cookies of a browser at the hub."""

    def __init__(self, hub: str, name: str, password: str = PASSWORD) -> None:
        self.hub, self.name = hub, name
        self.http = httpx.Client(headers={"Connection": "close"}, follow_redirects=True, timeout=60, trust_env=False)
        page = self.http.get(f"{hub}/hub/login")
        form = {"username": name, "password": password, "_xsrf": self.http.cookies.get("_xsrf", path="/hub/")}
        self.page = self.http.post(f"{hub}/hub/login?next=/hub/spawn", data=form)
        assert page.status_code == httpx.codes.OK

    def server(self) -> str:
        """Returns the address of the learner's own server, after it has started."""
        base = f"{self.hub}/user/{self.name}"
        wait_for("the learner's server", lambda: self.http.get(f"{base}/api").status_code == httpx.codes.OK)
        self.http.get(f"{base}/lab")
        return base

    def run(self, code: str) -> str:
        """Runs code in a kernel of the learner's server. Returns its output."""
        base = self.server()
        xsrf = next(c.value for c in self.http.cookies.jar if c.name == "_xsrf" and c.path == f"/user/{self.name}/")
        made = self.http.post(f"{base}/api/kernels", headers={"X-XSRFToken": str(xsrf)}, json=KERNEL)
        assert made.status_code == httpx.codes.CREATED, made.text
        cookies = "; ".join(
            f"{c.name}={c.value}" for c in self.http.cookies.jar if f"/user/{self.name}/".startswith(c.path)
        )
        return asyncio.run(_execute(base.replace("http", "ws", 1), made.json()["id"], cookies, code))


async def _execute(base: str, kernel: str, cookies: str, code: str) -> str:
    from tornado.httpclient import HTTPRequest
    from tornado.websocket import websocket_connect

    url = f"{base}/api/kernels/{kernel}/channels"
    socket_ = await websocket_connect(HTTPRequest(url, headers={"Cookie": cookies}, connect_timeout=60))
    header = {"msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "version": "5.3"}
    content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
    message = {"header": header | {"msg_type": "execute_request"}, "parent_header": {}, "metadata": {}}
    await socket_.write_message(json.dumps(message | {"content": content, "channel": "shell", "buffers": []}))
    printed = ""
    try:
        while True:
            raw = await asyncio.wait_for(socket_.read_message(), PATIENCE_S)
            answer = json.loads(str(raw))
            if answer["parent_header"].get("msg_id") != header["msg_id"]:
                continue
            if answer["msg_type"] == "stream":
                printed += answer["content"]["text"]
            elif answer["msg_type"] == "error":
                raise AssertionError("\n".join(answer["content"]["traceback"]))
            elif answer["msg_type"] == "execute_reply":
                return printed
    finally:
        socket_.close()
        while await socket_.read_message() is not None:
            pass


def test_learners_log_in_and_their_notebooks_have_their_environment(
    hub: str, room: dict[str, Any], folder: Path
) -> None:
    printed = {name: Learner(hub, name).run(FIRST_CELLS).split() for name in ("ada", "linus")}

    wallets = {name: words[0] for name, words in printed.items()}
    assert all(words[1:] == ["WorkshopEmulator", "True"] for words in printed.values()), printed
    assert wallets["ada"] != wallets["linus"]
    roster = json.loads((folder / "workshop/roster.json").read_text())["learners"]
    assert set(roster) == set(wallets)

    board = httpx.get(f"{room['url']}/board.json", headers={"Authorization": f"Bearer {room['token']}"}).json()
    assert board["ada"]["cids.changes"] == board["linus"]["cids.changes"] == {"right": False, "tries": 1}


def test_a_wrong_password_and_an_impossible_name_are_refused(hub: str) -> None:
    assert Learner(hub, "ada", "a guess").page.status_code == httpx.codes.FORBIDDEN
    assert Learner(hub, "..", PASSWORD).page.status_code == httpx.codes.FORBIDDEN
