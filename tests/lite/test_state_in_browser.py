"""State of an emulator in the page. The state survives a reload, an installed svcnb can open the state, and a button
deletes the state.
"""

from __future__ import annotations

import base64
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.engine]

BEGIN = """
import svcnb
emu = svcnb.Emulator(state="mine", seed="kept", starter_credits=500)
svc = emu.client()
me = svc.with_key(svc.accounts.create("Ada"))
wallet = me.wallets.create()
group = me.groups.create("desk", wallets=[wallet])
print(me.config.api_key.reveal(), wallet.address)
"""
AGAIN = """
import svcnb
emu = svcnb.Emulator(state="mine", seed="kept", starter_credits=500)
me = emu.client(api_key={key!r})
print(*sorted(each.address for each in me.wallets.list()), me.groups.list()[0].name)
"""
SAVED = """
import asyncio
from svcnb import page_storage
await asyncio.sleep(1)
await page_storage.save()
"""


@pytest.fixture
def kept(lab: Callable[[], Any]) -> tuple[Any, str, str]:
    """Page with a stored state, the account's key and its wallet."""
    page = lab()
    key, wallet = page.run(BEGIN).split()
    page.run(SAVED)
    return page, key, wallet


def test_a_reload_keeps_the_state_and_one_button_erases_it(kept: tuple[Any, str, str]):
    page, key, wallet = kept
    page.open()
    *wallets, name = page.run(AGAIN.format(key=key)).split()
    assert wallet in wallets
    assert name == "desk"
    page.run("emu.stop()")
    page.show("from svcnb import page_storage\npage_storage.panel()")
    page.tab.get_by_text("This page is for practice.").last.wait_for()
    page.tab.get_by_role("link", name="Download").wait_for()
    page.tab.get_by_role("button", name="Delete all states").click()
    page.tab.get_by_text("Deleted states: 1.").wait_for()
    page.open()
    assert page.run("from svcnb import page_storage\nprint(page_storage.names())").strip() == "[]"


def test_an_exported_state_opens_in_the_installed_toolkit(
    kept: tuple[Any, str, str], tmp_path: Path, start_emulator: Callable[..., Any]
):
    page, key, wallet = kept
    page.run("emu.stop()")
    page.run("from svcnb import page_storage\nfile = page_storage.export('mine', '/tmp/mine.zip')")
    packed = page.run("import base64\nprint(base64.b64encode(file.read_bytes()).decode())")
    (tmp_path / "mine.zip").write_bytes(base64.b64decode(packed))
    with zipfile.ZipFile(tmp_path / "mine.zip") as content:
        for each in content.infolist():  # with the file's mode, like unzip
            Path(content.extract(each, tmp_path / "mine")).chmod(each.external_attr >> 16 & 0o777)
    here = start_emulator(state=tmp_path / "mine", seed="kept", starter_credits=500, chain_engine="ethereumjs")
    me = here.client(api_key=key)
    assert wallet in {each.address for each in me.wallets.list()}
    assert [group.name for group in me.groups.list()] == ["desk"]
    assert me.wallets.create().address != wallet
    page.run("page_storage.erase()")


def test_a_second_tab_cannot_use_the_same_state(kept: tuple[Any, str, str], lab: Callable[[], Any]):
    page, _, _ = kept
    other = lab()
    refused = other.run(
        "import svcnb\ntry:\n    svcnb.Emulator(state='mine')\n"
        "except svcnb.SvcnbError as error:\n    print(type(error).__name__, error)"
    )
    assert refused.startswith("StateFolderUnusable the state 'mine' is in use in another tab")
    page.run("emu.stop()\nfrom svcnb import page_storage\npage_storage.erase()")


def test_a_lesson_continues_after_a_reload(lab: Callable[[], Any]):
    begin = "import json, svcnb\nemu = svcnb.lesson('quickstart', resume={resume})\nsvc = emu.client()\n"
    page = lab()
    first = page.run(begin.format(resume="True") + "print(svc.accounts.create('one').api_key.reveal())").strip()
    page.run(SAVED)
    page.open()
    seen = page.run(
        begin.format(resume="True") + f"print(json.dumps([len(svc.with_key({first!r}).wallets.list()),"
        " svc.accounts.create('two').api_key.reveal()]))"
    )
    wallets, second = json.loads(seen)
    assert wallets == 1
    assert second != first
    page.run("emu.stop()\nfrom svcnb import page_storage\npage_storage.erase()")
