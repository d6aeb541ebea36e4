"""Server in a separate thread, and the processor time of each iteration of its event loop.

As a script, this module sends one request to every endpoint of a new emulator. The script prints the longest iteration
for each endpoint as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx

ACTIONS = {
    "a wallet's key": "const main = ({ pkpId }) => Svc.Actions.getPrivateKey({ pkpId }).then(() => 1)",
    "encryption": "const main = ({ pkpId }) => Svc.Actions.Encrypt({ pkpId, message: 'a' }).then(() => 1)",
    "a request": "const main = async ({ url }) => (await fetch(url + '/core/v1/version')).status",
}
CIDS = [
    "QmTp2hEo8eXRp6wg7jXv1BLCMh5a4F3B7buAUZNZUu772j",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    "f01551220c3c4733ec8affd06cf9e9ff50ffc6bcd2ec85a6170004bb709669c31de94391a",
]
TRIGGERS: dict[str, dict[str, Any]] = {
    "webhook": {},
    "schedule": {"cron": "*/5 * * * *"},
    "chain_event": {"chain": "base", "contract_address": "0x" + "1" * 40, "event_signature": "Moved(uint256)"},
}


class Turns:
    """Processor time of the iterations of a thread's event loop.

    Processor time does not depend on other programs. The measured time includes the work of this thread, but not the
    time for which another thread has the interpreter lock.
    """

    def __init__(self) -> None:
        self.thread = 0
        self._longest_s = 0.0
        self._what = ""
        self._original = asyncio.events.Handle._run

    def install(self) -> None:
        original = self._original

        def timed(handle: asyncio.Handle) -> None:
            if threading.get_ident() != self.thread:
                original(handle)
                return
            since = time.thread_time()
            original(handle)
            took_s = time.thread_time() - since
            if took_s > self._longest_s:
                self._longest_s, self._what = took_s, describe(handle)

        asyncio.events.Handle._run = timed  # type: ignore[method-assign,assignment]
        gc.disable()  # a garbage collection also visits all objects of the test

    def remove(self) -> None:
        asyncio.events.Handle._run = self._original  # type: ignore[method-assign]
        gc.enable()

    def take(self) -> tuple[float, str]:
        """Returns the seconds of the longest iteration since the last call, and a description of its work."""
        found = self._longest_s, self._what
        self._longest_s, self._what = 0.0, ""
        return found


def describe(handle: asyncio.Handle) -> str:
    """Describes an iteration: its task, and the line at which the task waits afterwards."""
    task = getattr(getattr(handle, "_callback", None), "__self__", None)
    if not isinstance(task, asyncio.Task):
        return repr(handle)[:400]
    places = []
    step: Any = task.get_coro()
    while (frame := getattr(step, "cr_frame", None)) is not None:
        places.append(f"{step.__qualname__}:{frame.f_lineno}")
        step = step.cr_await
    return f"{task.get_name()} {' > '.join(places) or task}"[:1_000]


class WatchedServer:
    """Emulator that listens on loopback.

    Attributes:
        url: Address of the emulator.
        control_token: The token of its control plane.
        turns: The iterations of its event loop.
        loop: Its event loop.
        service: Its components.
    """

    def __init__(self, **settings: Any) -> None:
        self.turns = Turns()
        self._settings = settings
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._ready = threading.Event()
        self._problem: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="watched server")

    @contextmanager
    def running(self) -> Iterator[WatchedServer]:
        self.turns.install()
        self._thread.start()
        try:
            self._ready.wait()
            if self._problem is not None:
                raise self._problem
            yield self
        finally:
            if self._problem is None:
                self.loop.call_soon_threadsafe(self._server.stop)
            self._thread.join()
            self._listener.close()
            self.turns.remove()

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, timeout=300, trust_env=False)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - belongs to the thread of the test
            self._problem = error
            self._ready.set()

    async def _serve(self) -> None:
        from svcnb.emulator.http.server import Server
        from svcnb.emulator.main import build_app
        from svcnb.emulator.service import Service
        from svcnb.emulator.settings import Settings

        self.service = Service(Settings.load({}, **self._settings))
        self.service.listens_at(self.url)
        self.control_token = self.service.control_token
        await self.service.start()
        try:
            self._server = Server(build_app(self.service))
            self.loop = asyncio.get_running_loop()
            self.turns.thread = threading.get_ident()
            await self._server.run(self._listener, self._ready.set)
        finally:
            await self.service.stop()


def first_requests() -> dict[str, tuple[float, str]]:
    """Returns the longest iteration of the first request to each endpoint, in milliseconds."""
    found: dict[str, tuple[float, str]] = {}
    settings = {"action_spares": 1, "auto_approve_agents": True, "starter_credits": 1_000}
    with WatchedServer(**settings).running() as server, server.client() as http:

        def ask(method: str, path: str, what: str | None = None, **given: Any) -> Any:
            server.turns.take()
            answer = http.request(method, path, **given)
            http.get("/health")  # the loop has finished the iteration in which the request ended
            seconds, turn = server.turns.take()
            found[what or f"{method} {path}"] = (round(seconds * 1000, 2), turn)
            assert answer.status_code < 500, answer.text
            return answer

        http.get("/health")
        made = ask("POST", "/core/v1/new_account", json={"account_name": "a", "account_description": ""}).json()
        http.headers["x-api-key"] = made["api_key"]
        control = {"authorization": f"Bearer {server.control_token}"}
        triggers = {"authorization": "Bearer triggers-token-of-this-test"}
        run = server.service.settings.vocabulary.run_path
        ask("POST", f"/core/v1{run}", json={"code": "const main = () => 1"})
        wallet = http.get("/core/v1/create_wallet").json()["wallet_address"]
        for name, code in ACTIONS.items():
            given = {"code": code, "js_params": {"pkpId": wallet, "url": server.url}}
            answer = ask("POST", f"/core/v1{run}", what=name, json=given)
            assert answer.status_code == 200, answer.text
        for cid in CIDS:
            body = {"name": "", "description": "", "action_ipfs_cid": cid}
            ask("POST", "/core/v1/add_action", what=f"add_action {cid}", json=body)
        for kind, config in TRIGGERS.items():
            trigger = {"name": "t", "kind": kind, "action_code": "1", "usage_api_key": "a key", "config": config}
            made = ask("POST", "/api/triggers", what=f"a trigger of the kind {kind}", json=trigger, headers=triggers)
            assert made.status_code == 200, made.text
            if kind == "webhook":
                ask("POST", f"/webhook/{made.json()['id']}", what="a webhook", json={"a": 1})
        ask("POST", "/rpc", json={"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"})
        ask("POST", "/_emulator/snapshots/s", json={}, headers=control)
        ask("POST", "/_emulator/snapshots/s/restore", json={}, headers=control)
        ask("POST", "/_emulator/credit", json={"wallet_address": "0x" + "1" * 40, "cents": 1}, headers=control)
        ask("GET", "/_emulator/runs", headers=control)
        ask("GET", "/core/v1/openapi.json")
        ask("GET", "/core/v1/swagger-ui/swagger-ui-bundle.js", headers={"accept-encoding": "identity"})
        description = http.get("/core/v1/openapi.json").json()
        for path, methods in description["paths"].items():
            for method in methods:
                name = f"{method.upper()} {path}"
                if name not in found and "{" not in path:
                    sent: dict[str, Any] = {} if method in {"get", "delete"} else {"json": {}}
                    ask(method.upper(), path, params={"page_number": 0, "page_size": 10}, **sent)
    return found


if __name__ == "__main__":
    json.dump(first_requests(), sys.stdout)
