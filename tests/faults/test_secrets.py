"""Every kind of secret, which the emulator and its client must never show or store."""

from __future__ import annotations

import base64
import http.server
import logging
import os
import stat
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import svcnb
from svcnb.launch import Emulator

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]
CONTROL_TOKEN = "control-token-0f7c1a55e2d34b10"
OUTGOING = "outgoing-credential-91d2c0aa41"

WORK = """
async function main({ pkpId, url, secret, mode }) {
  const key = await Svc.Actions.getPrivateKey({ pkpId });
  await fetch(url, { headers: { Authorization: "Bearer " + secret } });
  if (mode === "throw") throw new Error("failed as asked");
  console.log("signing");
  return await new ethers.Wallet(key).signMessage("hello");
}
"""


@pytest.fixture
def outside() -> Iterator[str]:
    """Server to which an action sends a credential."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def forms(secret: str) -> list[bytes]:
    """Returns every encoding of a secret's bytes."""
    found = {secret, secret.encode().hex(), base64.b64encode(secret.encode()).decode()}
    if len(secret) == 44 and secret.endswith("="):
        found.add(base64.b64decode(secret).hex())
        raw = [base64.b64decode(secret)]
    else:
        raw = []
    return [text.encode() for text in found] + raw


def processes(find: Callable[..., list[int]], emulator: Emulator) -> Iterator[tuple[str, bytes]]:
    """Returns the data about the processes that anyone on the machine can read."""
    for pid in find(emulator, "everything"):
        for name in ("cmdline", "environ"):
            try:
                yield f"{name} of process {pid}", Path(f"/proc/{pid}/{name}").read_bytes()
            except OSError:
                continue


def test_no_secret_is_shown_stored_or_left_behind(  # noqa: PLR0915, C901 - one long day's work
    start_emulator: Callable[..., Emulator],
    find_processes: Callable[..., list[int]],
    tmp_path: Path,
    outside: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    state, recording = tmp_path / "state", tmp_path / "network.json"
    emulator = start_emulator(
        state=str(state),
        starter_credits=2_000,
        control_token=CONTROL_TOKEN,
        allow_address=["127.0.0.1"],
        network_policy="record",
        network_file=str(recording),
        auto_approve_agents=True,
    )
    anyone = emulator.client(history=tmp_path / "history.db")
    account = anyone.accounts.create("marked")
    svc = anyone.with_key(account.api_key)
    wallet = svc.wallets.create()
    key = svc.usage_keys.create("marked", execute_in_groups=[0])
    payment = svc.billing.create_payment_intent(500)
    runner = svc.with_key(key)
    shown: list[tuple[str, bytes]] = []
    value: Any

    def show(what: str, value: Any) -> None:
        texts = [repr(value), str(value)]
        if isinstance(value, BaseException):
            texts += traceback.format_exception(value)
        if callable(html := getattr(value, "_repr_html_", None)):
            texts.append(str(html()))
        shown.extend((what, text.encode()) for text in texts)

    params = {"pkpId": wallet.address, "url": outside, "secret": OUTGOING}
    done = runner.run(WORK, {**params, "mode": "return"})
    show("a run", done)
    show("its trace", runner.trace(done))
    with pytest.raises(svcnb.SvcnbError) as thrown:
        runner.run(WORK, {**params, "mode": "throw"})
    with pytest.raises(svcnb.SvcnbError) as forbidden:
        runner.groups.create("not allowed")
    with pytest.raises(svcnb.SvcnbError) as unknown:
        svc.with_key(account.api_key.reveal()[:-6] + "AAAAA=").groups.list()
    for number, error in enumerate((thrown, forbidden, unknown)):
        show(f"error {number}", error.value)
    with emulator.triggers() as triggers:
        trigger = triggers.webhook("marked", "const main = () => 1;", key)
        triggers.wait_for_run(trigger, triggers.fire(trigger, {"a": 1}))
        token = triggers.token.reveal()
        for value in (triggers, trigger, triggers.list(), triggers.runs(trigger), triggers.tokens()):
            show("triggers", value)
    emulator.snapshot("marked")
    for value in (emulator, anyone, svc, runner, account, key, wallet, payment, svc.usage_keys.list(), svc.config):
        show(type(value).__name__, value)
    show("explanation", svc.explain(key, svcnb.Action(WORK), wallet))
    for path in ("state", "runs", "snapshots"):
        answer = httpx.get(
            f"{emulator.control_url}/{path}",
            headers={"Authorization": f"Bearer {CONTROL_TOKEN}"},
            trust_env=False,
            timeout=300,
        )
        shown.append((f"control plane: {path}", answer.content))
    if sys.platform == "linux":
        shown += processes(find_processes, emulator)
    shown.append(("the emulator's log", emulator.log.encode()))
    shown.append(("logs of this process", caplog.text.encode()))
    emulator.stop()
    for file in [*state.rglob("*"), *tmp_path.glob("history.db*"), recording]:
        if file.is_file():
            shown.append((f"file {file.name}", file.read_bytes()))
            assert stat.S_IMODE(file.stat().st_mode) & 0o077 == 0 or os.name != "posix", f"others can read {file.name}"

    assert key.usage_api_key is not None
    secrets = {
        "account key": account.api_key.reveal(),
        "usage key": key.usage_api_key.reveal(),
        "control token": CONTROL_TOKEN,
        "triggers token": token,
        "client secret": payment.client_secret.reveal(),
        "credential sent by an action": OUTGOING,
    }
    # The processor's own table contains the values for its comparisons, like the table of a real processor.
    allowed = {("client secret", "file svcnb.db"), ("client secret", "file svcnb.db-wal")}
    found = sorted(
        {
            (name, where)
            for name, secret in secrets.items()
            for where, content in shown
            if any(form in content for form in forms(secret))
        }
        - allowed
    )
    assert not found


def test_the_search_finds_secrets_that_exist() -> None:
    """Checks that the test above searches for the correct values."""
    key = base64.b64encode(bytes(range(32))).decode()
    for content in (key.encode(), bytes(range(32)), bytes(range(32)).hex().encode()):
        assert any(form in b"before " + content + b" after" for form in forms(key))


def test_emulators_listen_on_loopback_by_default_and_always_with_a_seed() -> None:
    from svcnb.emulator.settings import Settings

    assert Settings.load({}).host == "127.0.0.1"
    with pytest.raises(ValueError, match="not a loopback address"):
        Settings.load({}, host="0.0.0.0", control_token="t", seed="lesson")  # noqa: S104 - refused, which is what is tested


def test_secrets_are_compared_in_constant_time() -> None:
    """The emulator compares secrets only with hmac.compare_digest, and never with == or in."""
    import ast

    folder = Path(svcnb.__file__).parent / "emulator"
    words = ("secret", "token", "signature", "csrf", "api_key", "password")
    found = []
    for file in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and any(isinstance(op, (ast.Eq, ast.NotEq)) for op in node.ops):
                sides = [side for side in (node.left, *node.comparators) if isinstance(side, (ast.Name, ast.Attribute))]
                if any(ast.unparse(side).lower().endswith(words) for side in sides):
                    found.append(f"{file.relative_to(folder)}:{node.lineno}: {ast.unparse(node)}")
    assert found == []
