"""The recorded Python code of a panel runs, and repeats the user's actions."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

import svcnb
from svcnb.panels import AccountPanel, PermissionsPanel, SigningPanel, TriggersPanel, Workbench
from svcnb.panels.base import Panel
from svcnb.panels.loop import BACKGROUND

pytestmark = [pytest.mark.chain]

# Commands that do not change the account. Some of them become part of a later line.
UNRECORDED = {
    "reads what the panel shows": {
        "approved", "code", "editor_bundle", "event", "has_faucet", "lint", "look_up", "pending", "preview", "read",
        "resources", "run", "runs", "schedule", "setting", "setup", "shared",
    },
    "chooses the key of the next run, which is recorded": {"choose_key"},
    "chooses the owner's wallet, which is recorded with its first transaction": {
        "address_of", "connected", "forget_owner", "use_browser_wallet", "use_contract_wallet", "use_key_file",
        "use_owner",
    },
    "ends a payment or a signature, which is recorded": {"check", "wait_for_payment"},
    "keeps what is typed": {"keep"},
    "opens a tab": {"open_tab"},
}  # fmt: skip
RECORDS = ("self.record", "self._record", "self._introduce", "self._do(")

ADD = svcnb.Action("const main = ({ n }) => n + 1", name="add")


def click(panel: Panel, name: str, /, **args: Any) -> Any:
    """Performs a command like the browser, and returns its response."""
    work = getattr(panel, name)
    return BACKGROUND.submit(work(**args)).result(300) if asyncio.iscoroutinefunction(work) else work(**args)


def confirm(panel: Panel) -> None:
    """Confirms every question of a panel."""
    send = panel.channel._send

    def answered(message: dict[str, Any]) -> None:
        send(message)
        if message["type"] == "ask":
            panel.channel.receive({"type": "reply", "id": message["id"], "ok": True, "value": True})

    panel.channel._send = answered


@pytest.fixture
def run():
    """Runs the recorded code of a panel, and closes the clients that it opened."""
    opened: list[dict[str, Any]] = []

    def ran(code: str) -> dict[str, Any]:
        names: dict[str, Any] = {}
        opened.append(names)
        exec(compile(code, "<as_code>", "exec"), names)  # noqa: S102 - what a reader would do with it
        return names

    yield ran
    for names in opened:
        names["svc"].close()
        names.clear()


@pytest.fixture
def show():
    """Creates panels, and closes them at the end of the test."""
    shown: list[Panel] = []

    def made(kind: type[Panel], *args: Any, **options: Any) -> Any:
        shown.append(kind(*args, **options))
        return shown[-1]

    yield made
    for panel in shown:
        panel.close()
    BACKGROUND.submit(asyncio.sleep(0)).result(300)  # earlier work of the loop has started


@pytest.fixture
def owner(emulator, monkeypatch):
    signer = svcnb.LocalSigner.random()
    emulator.faucet(signer.address)
    monkeypatch.setenv("SVC_WALLET_KEY", signer.reveal())
    return signer


def test_signing_and_sending_an_envelope(emulator, owner, run, show):
    with emulator.client() as svc:
        panel = show(SigningPanel, svc)
        typed_data = svc.chain_secured.sign(owner, "CreateWallet").typed_data
        signature = click(panel, "sign_here", typed_data=typed_data, key=owner.reveal())["signature"]
        first = click(panel, "send_envelope", typed_data=typed_data, signature=signature)
        assert owner.reveal() not in panel.as_code()
        names = run(panel.as_code())
        assert names["owner"] == owner
        again = names["svc"].chain_secured.send(names["signed"])
        assert again.wallet_address != first["wallet_address"]


def test_signing_for_a_contract_wallet(emulator, owner, run, show):
    contract = emulator.contract_wallet(owner.address)
    with emulator.client() as svc:
        panel = show(SigningPanel, svc, signer=owner)
        typed_data = svc.chain_secured.sign(svcnb.ContractWallet(contract, owner), "CreateWallet").typed_data
        click(panel, "sign_here", typed_data=typed_data)
        signed = run(panel.as_code())["signed"]
        assert signed.address.lower() == contract.lower()


def test_creating_and_converting_an_account(emulator, owner, run, show, monkeypatch):
    with emulator.client() as svc:
        panel = show(AccountPanel, svc)
        key = click(panel, "create", name="treasury")["api_key"]
        code = panel.as_code()
        assert key not in code
        assert run(code)["account"].name == "treasury"
        click(panel, "use_owner", key=owner.reveal())
        click(panel, "convert", confirm=True)
        other = svcnb.LocalSigner.random()
        monkeypatch.setenv("SVC_WALLET_KEY", other.reveal())
        assert run(panel.as_code())["mine"].describe().admin == other.address


def test_opening_an_account_on_the_chain_again(emulator, owner, run, show):
    with emulator.client() as svc:
        made = show(AccountPanel, svc, owner=owner)
        confirm(made)
        click(made, "create_on_chain", name="treasury")
        assert made.state["mode"] == "chain"
    with emulator.client() as svc:  # a different client has a different session
        click(panel := show(AccountPanel, svc, owner=owner), "open_on_chain")
        assert run(panel.as_code())["mine"].api_key_hash == made.state["hash"]


def test_changing_permissions_with_a_key(emulator, run, show, monkeypatch):
    with emulator.client() as nobody:
        svc = nobody.with_key(nobody.accounts.create("office"))
        monkeypatch.setenv("SVC_API_KEY", svc.config.api_key.reveal())
        group, wallet = svc.groups.create("desk"), svc.wallets.create()
        panel = show(PermissionsPanel, svc, [ADD])
        click(panel, "read")
        change = {"kind": "wallet", "id": wallet.address, "group": group.id, "on": True}
        shown = click(panel, "preview", changes=[change])
        click(panel, "apply", changes=[change], calls=shown["calls"])
        svc.groups.remove_wallet(group, wallet)
        again = run(panel.as_code())["svc"]
        assert [each.address for each in again.groups.contents(group).wallets] == [wallet.address]


def test_changing_permissions_on_the_chain(emulator, owner, run, show):
    with emulator.client() as svc:
        mine = svc.chain_secured.create(owner, "office")
        group = mine.groups.create("desk")
        panel = show(PermissionsPanel, svc, [ADD], owner=owner)
        click(panel, "read")
        change = {"kind": "action", "id": ADD.hashed_cid, "group": group.id, "on": True}
        shown = click(panel, "preview", changes=[change])
        click(panel, "apply", changes=[change], calls=shown["calls"])
        mine.groups.remove_action(group, ADD)
        again = run(panel.as_code())["mine"]
        assert [each.hashed_cid for each in again.groups.contents(group).actions] == [ADD.hashed_cid]


def test_creating_disabling_and_deleting_a_schedule(emulator, run, show, monkeypatch):
    with emulator.client() as nobody, emulator.triggers() as door:
        svc = nobody.with_key(nobody.accounts.create("office"))
        monkeypatch.setenv("SVC_API_KEY", svc.config.api_key.reveal())
        # The browser of the user, who approves the page that opens.
        monkeypatch.setattr(
            "webbrowser.open", lambda page: emulator.approve_agent(page.partition("challenge=")[2], "reader")
        )
        panel = show(TriggersPanel, svc, door)
        click(panel, "begin")
        asked = {"name": "nightly", "kind": "schedule", "source": ADD.source, "params": '{"n": 1}'}
        made = click(panel, "create", **asked, config={"cron": "0 3 * * *"}, usage_key="")
        click(panel, "switch", trigger=made["id"], on=False)
        door.update(made["id"], enabled=True)
        before = {each.id for each in door.list()}
        with run(panel.as_code())["triggers"]:
            found = {each.id: each for each in door.list()}
        assert not found[made["id"]].enabled
        (new,) = (each for number, each in found.items() if number not in before)
        assert (new.name, new.kind, new.config["cron"]) == ("nightly", "schedule", "0 3 * * *")


def test_the_notebooks_client_uses_the_account_from_a_tab(emulator, run, show):
    with emulator.client() as svc:
        bench = show(Workbench, svc)
        click(bench, "open_tab", name="Signing")
        click(bench.panels["Account"], "create", name="treasury")
        assert list(bench.panels) == ["Account", "Signing"]  # both panels share the session
        assert bench.client is svc
        assert svc.config.api_key is not None
        assert run(bench.as_code())["account"].name == "treasury"
        with pytest.raises(svcnb.InvalidArgument, match="unknown tab"):
            click(bench, "open_tab", name="Nothing")


def panels() -> list[type[Panel]]:
    found = [getattr(svcnb.panels, name) for name in svcnb.panels.__all__]
    return [each for each in found if isinstance(each, type) and issubclass(each, Panel)]


def test_every_command_that_changes_data_records_python():
    excused = {name for names in UNRECORDED.values() for name in names}
    seen, silent = set(), set()
    for panel in panels():
        for name in panel._commands():
            seen.add(name)
            if not any(word in inspect.getsource(getattr(panel, name)) for word in RECORDS):
                silent.add(name)
    assert silent - excused == set(), "record what was done, or say in UNRECORDED why there is nothing to record"
    assert excused - seen == set(), "these commands do not exist any more"


def test_deleting_a_record_and_closing_the_account(emulator, owner, run, show):
    class Stops(svcnb.LocalSigner):
        """Wallet that signs, but does not send the transaction."""

        def sign_transaction(self, transaction: Any) -> Any:  # noqa: ARG002 - not reached
            raise svcnb.SigningError("the wallet sends nothing")

    with emulator.client() as svc:
        svc.chain_secured.create(owner, "treasury")
        for _ in range(2):
            with pytest.raises(svcnb.SigningError):
                svc.chain_secured.open(Stops.from_key(owner.reveal())).wallets.create("half")
        panel = show(AccountPanel, svc, owner=owner)
        confirm(panel)
        click(panel, "open_on_chain")
        pending = click(panel, "pending")
        with pytest.raises(svcnb.NotConfirmed):
            click(panel, "abandon", mint=pending[0]["id"])
        click(panel, "abandon", mint=pending[0]["id"], confirm=True)
        assert len(click(panel, "pending")) == 1
        click(panel, "leave")
        names = run(panel.as_code())
        assert names["svc"].config.api_key is None
        # When the code runs again, it deletes no other record, not even one with the same name.
        assert len(click(panel, "pending")) == 1
