"""Tools of the tests that speak raw HTTP: no client library of ours stands between a test and the wire."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Self

import httpx
import pytest

from svcnb import control_tokens
from tests.envelopes import envelope

API = "/core/v1"
NO_CREDIT = 0
# A machine that does ten other things at once is slow, not broken: what ends, ends long before.
PATIENCE_S = 300


class Wire:
    """One HTTP connection to an emulator.

    Args:
        base_url: Its address.
        control_token: Sent with calls of the control plane; the one that a started emulator of ours keeps when None.
    """

    def __init__(self, base_url: str, control_token: str | None = None) -> None:
        self.base_url = base_url
        self.control_token = control_token or ((found := control_tokens.find(base_url)) and found.reveal())
        self.http = httpx.Client(base_url=base_url, timeout=PATIENCE_S, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def call(self, method: str, path: str, key: str | None = None, **options: Any) -> httpx.Response:
        """One request; ``path`` is relative to the API unless it starts with a slash."""
        headers = dict(options.pop("headers", {}))
        if key is not None:
            headers["X-Api-Key"] = key
        if path.startswith("/_emulator") and self.control_token is not None:
            headers = {"Authorization": f"Bearer {self.control_token}"} | headers
        target = path if path.startswith("/") else f"{API}/{path}"
        return self.http.request(method, target, headers=headers, **options)

    def get(self, path: str, key: str | None = None, **query: Any) -> httpx.Response:
        return self.call("GET", path, key, params=query)

    def post(self, path: str, key: str | None = None, body: Any = None, **options: Any) -> httpx.Response:
        return self.call("POST", path, key, json={} if body is None else body, **options)

    def ok(self, path: str, key: str | None = None, body: Any = None) -> Any:
        """A POST that must succeed."""
        answer = self.post(path, key, body)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def listed(self, path: str, key: str, **query: Any) -> Any:
        """A GET that must succeed."""
        answer = self.get(path, key, **query)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def control(self, path: str, body: Any = None, method: str = "POST") -> Any:
        """A control request that must succeed."""
        options: dict[str, Any] = {} if method in {"GET", "DELETE"} else {"json": {} if body is None else body}
        answer = self.call(method, f"/_emulator{path}", **options)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def account(self, name: str = "test", credit: int = 500) -> Account:
        """A fresh account with at least this credit."""
        made = self.ok("new_account", body={"account_name": name, "account_description": "made by a test"})
        account = Account(self, made["api_key"], made["wallet_address"])
        if (missing := credit - account.credit()) > 0:
            self.control("/credit", {"wallet_address": account.wallet, "cents": missing})
        return account


class Account:
    """An account on an emulator, seen through its account key."""

    def __init__(self, wire: Wire, key: str, wallet: str) -> None:
        self.wire = wire
        self.key = key
        self.wallet = wallet

    def ok(self, path: str, body: Any = None) -> Any:
        return self.wire.ok(path, self.key, body)

    def post(self, path: str, body: Any = None) -> httpx.Response:
        return self.wire.post(path, self.key, body)

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.wire.get(path, self.key, **query)

    def listed(self, path: str, **query: Any) -> Any:
        return self.wire.listed(path, self.key, **({"page_number": 0, "page_size": 100} | query))

    def credit(self) -> int:
        """Cents of credit."""
        return -int(self.wire.listed("billing/balance", self.key)["balance_cents"])

    def group(self, name: str = "group", *, cids: list[Any] | None = None, pkps: list[str] | None = None) -> int:
        """A new group's id."""
        body = {
            "group_name": name,
            "group_description": "",
            "cid_hashes_permitted": cids or [],
            "pkp_ids_permitted": pkps or [],
        }
        return int(self.ok("add_group", body)["group_id"])

    def usage_key(self, name: str = "key", **permissions: Any) -> str:
        """A new usage key with these permissions and no others."""
        return str(self.ok("add_usage_api_key", usage_key_body(name, **permissions))["usage_api_key"])

    def wallet_made(self) -> str:
        """Address of a new wallet."""
        return str(self.ok("create_wallet")["wallet_address"])

    def run(self, code: str, params: Any = None, key: str | None = None) -> httpx.Response:
        return self.wire.post("svc_action", key or self.key, {"code": code, "js_params": params})

    def price(self, ran: httpx.Response) -> int:
        """Cents on record for a run: one, or one a whole second where it took several."""
        record = self.wire.control(f"/runs/{ran.headers['X-Request-Id']}", method="GET")
        assert 1 <= record["cost_cents"] <= max(1, record["elapsed_ms"] // 1000)
        return int(record["cost_cents"])


def usage_key_body(name: str = "key", **permissions: Any) -> dict[str, Any]:
    """The body of add_usage_api_key, every permission off unless given."""
    return {
        "name": name,
        "description": "",
        "can_create_groups": False,
        "can_delete_groups": False,
        "can_create_pkps": False,
        "manage_ipfs_ids_in_groups": [],
        "add_pkp_to_groups": [],
        "remove_pkp_from_groups": [],
        "execute_in_groups": [],
    } | permissions


class Local:
    """An emulator inside this process, on a thread of its own: quick to start with other settings."""

    def __init__(self, **settings: Any) -> None:
        self._settings = settings
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="svcnb-local-emulator", daemon=True)
        self.service: Any = None
        self.base_url = ""

    def __enter__(self) -> Wire:
        self._thread.start()
        assert self._ready.wait(PATIENCE_S), "the emulator did not start"
        if self._problem is not None:
            raise self._problem
        self._wire = Wire(self.base_url, self.service.control_token)
        self._wire.local = self  # type: ignore[attr-defined]
        return self._wire

    def __exit__(self, *_: object) -> None:
        self._wire.http.close()
        self.loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive(), "the emulator did not stop"

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as problem:  # noqa: BLE001  told to the test's thread
            self._problem = problem
        finally:
            self._ready.set()

    async def _serve(self) -> None:
        from svcnb.emulator.http.server import Server
        from svcnb.emulator.main import build_app
        from svcnb.emulator.service import Service
        from svcnb.emulator.settings import Settings

        self.loop = asyncio.get_running_loop()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.service = Service(Settings.load({}, action_spares=1, **self._settings))
            self.base_url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            self.service.listens_at(self.base_url)
            await self.service.start()
            try:
                self._server = Server(build_app(self.service))
                await self._server.run(listener, self._ready.set)
            finally:
                await self.service.stop()


@pytest.fixture(scope="package")
def wire(session_emulator) -> Iterator[Wire]:
    """The shared emulator, over raw HTTP; a new account there has 1000 cents."""
    with Wire(session_emulator.base_url) as connected:
        yield connected


@pytest.fixture(scope="package")
def poor() -> Iterator[Wire]:
    """A second emulator that gives no starter credit and is shared by the tests that inject faults."""
    with Local() as connected:
        yield connected


@pytest.fixture
def account(wire: Wire) -> Account:
    """A fresh account with credit."""
    return wire.account(credit=1_000)


@pytest.fixture
def broke(poor: Wire) -> Account:
    """A fresh account without credit."""
    return poor.account(credit=NO_CREDIT)


@pytest.fixture(scope="module")
def start_local() -> Iterator[Callable[..., Wire]]:
    """Starts an emulator with settings of one's own, ended with the file's last test."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Local(**settings))


@pytest.fixture
def local() -> Iterator[Callable[..., Wire]]:
    """Starts an emulator with settings of one's own, ended with the test."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Local(**settings))


@pytest.fixture(scope="package")
def key_body() -> Callable[..., dict[str, Any]]:
    """Makes bodies of add_usage_api_key."""
    return usage_key_body


@pytest.fixture
def connect() -> Iterator[Callable[[str], Wire]]:
    """Connects to an emulator at an address."""
    with ExitStack() as stack:
        yield lambda base_url: stack.enter_context(Wire(base_url))


def signed(
    wire: Wire, signer: Any, primary_type: str, *, issued_at: int | None = None, **changes: Any
) -> dict[str, Any]:
    """Typed data of one flow and its signature by another library; ``changes`` replace members after signing."""
    from eth_account import Account as EthAccount

    chain_id = wire.get("get_node_chain_config").json()["chain_id"]
    issued = int(time.time()) if issued_at is None else issued_at
    typed_data = envelope(primary_type, signer.address, issued, chain_id)
    as_numbers = envelope(primary_type, signer.address, issued, chain_id, int)
    signature = "0x" + EthAccount.sign_typed_data(signer.key, full_message=as_numbers).signature.hex().removeprefix(
        "0x"
    )
    return {"typed_data": typed_data | changes, "signature": signature}


@pytest.fixture(scope="package")
def sign_envelope() -> Callable[..., dict[str, Any]]:
    """Makes signed requests: ``sign_envelope(wire, signer, primary_type)``."""
    return signed
