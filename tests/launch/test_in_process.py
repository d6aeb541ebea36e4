"""Service in the caller's process, as in a browser page: the same application without a socket."""

from __future__ import annotations

import subprocess
import sys
import time

import httpx
import pytest
import requests

import svcnb
from svcnb.client import AsyncClient
from svcnb.client._http import AsyncTransport
from svcnb.client.in_page import PageTransport, patch_libraries
from svcnb.client.session import AsyncSession
from svcnb.emulator.in_page import ABSENT, PageService
from svcnb.emulator.main import build_app
from svcnb.emulator.sandbox.run_result import unsupported_text
from svcnb.emulator.service import Service
from svcnb.emulator.settings import Settings
from svcnb.in_process import EmulatorNotFound, answer, new_address, pause, register, unregister

PATIENCE_S = 300.0
SETTINGS = Settings.load({}, seed="in", chain_engine="ethereumjs", action_engine="fast", starter_credits=500)


@pytest.fixture
async def address():
    service = Service(
        Settings.load({}, seed="in process", chain_engine="ethereumjs", action_engine="fast", starter_credits=500)
    )
    url = new_address()
    service.listens_at(url)
    app = build_app(service)
    await service.start()
    register(url, app)
    yield url
    unregister(url)
    await service.stop()


@pytest.mark.engine
@pytest.mark.slow
async def test_a_client_in_the_same_interpreter_signs_with_an_action(address):
    async with AsyncClient(address) as plain:
        client = AsyncClient.__new__(AsyncClient)
        client._start(AsyncSession(AsyncTransport(address, PageTransport()), plain._config, []), owner=True)
    account = await client.accounts.create("Ada")
    svc = client.with_key(account)
    wallet = await svc.wallets.create()
    assert wallet.wallet_address in {each.wallet_address for each in await svc.wallets.list()}
    run = await svc.run("const main = ({ n }) => ({ n: n + 1 })", n=41)
    assert run.response == {"n": 42}
    health = await answer("GET", f"{address}/health", {}, b"", PATIENCE_S)
    assert health.status == 200
    unknown = await answer("GET", f"{address}/no/such?path=1", {}, b"", PATIENCE_S)
    assert unknown.status == 404
    await client.close()


@pytest.mark.engine
@pytest.mark.slow
async def test_other_clients_of_the_http_library_reach_the_emulator_too(address, monkeypatch):
    for kind, method in (
        (httpx.HTTPTransport, "handle_request"),
        (httpx.AsyncHTTPTransport, "handle_async_request"),
        (requests.adapters.HTTPAdapter, "send"),
    ):
        monkeypatch.setattr(kind, method, getattr(kind, method))  # the block's end restores the original value
    patch_libraries()
    async with httpx.AsyncClient() as client:
        found = await client.get(f"{address}/core/v1/version")
        assert found.status_code == 200
        with pytest.raises(httpx.ConnectError):
            await client.get("http://localhost:1/")


async def test_requests_to_an_address_without_an_emulator_fail():
    with pytest.raises(EmulatorNotFound, match="no emulator in this page has the address http://localhost:1"):
        await answer("GET", "http://localhost:1/core/v1/version", {}, b"", PATIENCE_S)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("action_engine", "v8"), ("idle_stop_s", 60), ("database", "postgresql://h/n"), ("chain_rpc", "http://h")],
)
def test_a_setting_that_a_page_cannot_have_is_refused_with_the_reason(setting, value):
    with pytest.raises(ValueError, match=ABSENT[setting].split("'")[0][:20]):
        PageService({setting: value})


def test_the_error_for_a_database_in_a_page_does_not_contain_its_password():
    with pytest.raises(ValueError, match="database: an emulator in a browser page") as refused:
        PageService({"database": "postgresql://ada:hunter2@h/n"})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("name", ["", "../other", "a/b", ".hidden", "x" * 61])
def test_a_state_of_a_page_has_a_plain_name(name):
    with pytest.raises(svcnb.InvalidArgument, match="invalid state name"):
        PageService({"state": name})


async def test_a_pause_outside_of_a_page_is_an_ordinary_sleep():
    began = time.perf_counter()
    pause(0.02)
    assert time.perf_counter() - began >= 0.02


def test_a_page_suggests_no_installation(monkeypatch):
    assert svcnb.ExtraMissing("charts require the package numpy", "lab").hint.startswith(
        "Install the package: pip install"
    )
    monkeypatch.setattr("sys.platform", "emscripten")
    assert svcnb.ExtraMissing("charts require the package numpy", "lab").hint == (
        "This page does not contain the package. Install svcnb outside the browser, and repeat the step there."
    )
    monkeypatch.setattr("svcnb.emulator.sandbox.run_result.IN_PAGE", True)
    assert unsupported_text("a stack").endswith("run this action with an installed svcnb.")


def test_requests_is_prepared_when_it_is_imported(tmp_path):
    code = (
        "import sys\nfrom svcnb.client.in_page import _send, patch_libraries\n"
        "patch_libraries()\npatch_libraries()\nassert 'requests' not in sys.modules\n"
        "import requests\nassert requests.adapters.HTTPAdapter.send is _send\n"
        "print(any(type(each).__name__ == '_RequestsFinder' for each in sys.meta_path))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["False"]
