"""Tools for tests that send raw HTTP without this project's client."""

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
# Long timeout, because a busy machine is slow. Successful operations usually end much earlier.
PATIENCE_S = 300


class Wire:
    """HTTP connection to an emulator.

    Args:
        base_url: Address of the emulator.
        control_token: Token for calls of the control plane. None means the token that the emulator stored.
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
        """Sends a request. ``path`` is relative to the API unless it starts with a slash."""
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
        """Sends a POST request that must succeed, and returns the parsed response."""
        answer = self.post(path, key, body)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def listed(self, path: str, key: str, **query: Any) -> Any:
        """Sends a GET request that must succeed, and returns the parsed response."""
        answer = self.get(path, key, **query)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def control(self, path: str, body: Any = None, method: str = "POST") -> Any:
        """Sends a request to the control plane that must succeed, and returns the parsed response."""
        options: dict[str, Any] = {} if method in {"GET", "DELETE"} else {"json": {} if body is None else body}
        answer = self.call(method, f"/_emulator{path}", **options)
        assert answer.status_code == 200, (path, answer.status_code, answer.text)
        return answer.json()

    def account(self, name: str = "test", credit: int = 500) -> Account:
        """Creates an account with at least this credit, in cents."""
        made = self.ok("new_account", body={"account_name": name, "account_description": "made by a test"})
        account = Account(self, made["api_key"], made["wallet_address"])
        if (missing := credit - account.credit()) > 0:
            self.control("/credit", {"wallet_address": account.wallet, "cents": missing})
        return account


class Account:
    """Account on an emulator, used with its account key."""

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
        """Returns the credit in cents."""
        return -int(self.wire.listed("billing/balance", self.key)["balance_cents"])

    def group(self, name: str = "group", *, cids: list[Any] | None = None, pkps: list[str] | None = None) -> int:
        """Creates a group, and returns its id."""
        body = {
            "group_name": name,
            "group_description": "",
            "cid_hashes_permitted": cids or [],
            "pkp_ids_permitted": pkps or [],
        }
        return int(self.ok("add_group", body)["group_id"])

    def usage_key(self, name: str = "key", **permissions: Any) -> str:
        """Creates a usage key with only these permissions."""
        return str(self.ok("add_usage_api_key", usage_key_body(name, **permissions))["usage_api_key"])

    def wallet_made(self) -> str:
        """Creates a wallet, and returns its address."""
        return str(self.ok("create_wallet")["wallet_address"])

    def run(self, code: str, params: Any = None, key: str | None = None) -> httpx.Response:
        return self.wire.post("svc_action", key or self.key, {"code": code, "js_params": params})

    def price(self, ran: httpx.Response) -> int:
        """Returns the recorded cost of a run in cents. The cost can be more than one cent on a slow machine."""
        record = self.wire.control(f"/runs/{ran.headers['X-Request-Id']}", method="GET")
        assert 1 <= record["cost_cents"] <= max(1, record["elapsed_ms"] // 1000)
        return int(record["cost_cents"])


def usage_key_body(name: str = "key", **permissions: Any) -> dict[str, Any]:
    """Returns the body of add_usage_api_key, in which every permission is off by default."""
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
    """Emulator in a thread of this process, for tests with other settings than those of the shared emulator."""

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
    """Raw HTTP connection to the shared emulator, whose new accounts have 1000 cents."""
    with Wire(session_emulator.base_url) as connected:
        yield connected


@pytest.fixture(scope="package")
def poor() -> Iterator[Wire]:
    """Second emulator without starter credit, for tests that inject faults."""
    with Local() as connected:
        yield connected


@pytest.fixture
def account(wire: Wire) -> Account:
    """Returns a new account with credit."""
    return wire.account(credit=1_000)


@pytest.fixture
def broke(poor: Wire) -> Account:
    """Returns a new account without credit."""
    return poor.account(credit=NO_CREDIT)


@pytest.fixture(scope="module")
def start_local() -> Iterator[Callable[..., Wire]]:
    """Returns a function that starts an emulator with other settings, which stops after the last test of the file."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Local(**settings))


@pytest.fixture
def local() -> Iterator[Callable[..., Wire]]:
    """Returns a function that starts an emulator with other settings, which stops after the test."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(Local(**settings))


@pytest.fixture(scope="package")
def key_body() -> Callable[..., dict[str, Any]]:
    """Returns a function that creates bodies of add_usage_api_key."""
    return usage_key_body


@pytest.fixture
def connect() -> Iterator[Callable[[str], Wire]]:
    """Returns a function that connects to an emulator at an address."""
    with ExitStack() as stack:
        yield lambda base_url: stack.enter_context(Wire(base_url))


def signed(
    wire: Wire, signer: Any, primary_type: str, *, issued_at: int | None = None, **changes: Any
) -> dict[str, Any]:
    """Returns typed data of a flow, and its signature by another library. ``changes`` replace members after signing."""
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
    """Returns a function that creates signed requests: ``sign_envelope(wire, signer, primary_type)``."""
    return signed
