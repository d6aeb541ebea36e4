from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import svcnb

ODD = svcnb.Action(
    "const main = ({ n }) => { if (n % 2) throw new Error('odd <b>' + n); return n; }", name="odd<script>"
)


class Place(NamedTuple):
    """Account with recorded data, and the environment of its reports."""

    settings: Mapping[str, str]
    secrets: tuple[str, ...]
    svc: Any
    out: Path


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Creates ten runs with five failures, a failed webhook run, a schedule, and excessive permissions."""
    folder = tmp_path_factory.mktemp("reports")
    history = folder / "history.sqlite"
    with svcnb.Emulator(starter_credits=1_000) as emulator:
        account = emulator.client().accounts.create("reported")
        svc = emulator.client(history=history).with_key(account)
        svc.map(ODD, [{"n": n} for n in range(10)], progress=False)
        group = svc.groups.create("odd", actions=[ODD])
        svc.groups.create("wide", actions=[ODD], wallets=svcnb.everything)
        key = svc.usage_keys.create("hook", execute_in_groups=[group])
        svc.usage_keys.create("self-granting", execute_in_groups=[group], manage_ipfs_ids_in_groups=[group])
        with emulator.triggers("reports") as triggers:
            thrower = svcnb.Action("const main = () => { throw new Error('thrown') }")
            svc.groups.add_action(group, thrower)
            hook = triggers.webhook("hook", thrower, key)
            triggers.wait_for_run(hook, triggers.fire(hook, {"n": 1}))
            triggers.schedule("nightly", ODD, key, cron="0 3 * * *")
            token = folder / "token"
            token.write_text(triggers.token.reveal())
            settings = {
                "SVC_BASE_URL": emulator.base_url,
                "SVC_API_KEY": account.api_key.reveal(),
                "SVC_TRIGGERS_URL": emulator.triggers_url,
                "SVC_TRIGGERS_TOKEN_FILE": str(token),
                "SVC_HISTORY": str(history),
            }
            yield Place(settings, (account.api_key.reveal(), triggers.token.reveal()), svc, folder)


class Hook(NamedTuple):
    """Webhook server, which returns the status at the end of the path."""

    url: str
    got: list[Any]


@pytest.fixture
def hook() -> Iterator[Hook]:
    got: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(int(self.path.rpartition("/")[2]))
            self.send_header("Location", "/again/200")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Suppresses log messages."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Hook(f"http://127.0.0.1:{server.server_port}/marked-secret", got)
        server.shutdown()
