"""Kernel side of the runs panel, with a real service."""

from __future__ import annotations

import json
import re

import pytest

import svcnb
from svcnb.panels.runs import RunsPanel

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADD = svcnb.Action("async function main({ n }) {\n  console.log('got', n);\n  return n.toFixed();\n}\n", name="add")


@pytest.fixture
async def svc(emulator, tmp_path):
    with emulator.client(history=tmp_path / "history.sqlite") as client:
        yield client.with_key(client.accounts.create("runner"))


@pytest.fixture
async def panel(svc):
    made = RunsPanel(svc)
    yield made
    await made.service.close()


async def test_runs_have_names_and_amounts(panel, svc, emulator):
    key = svc.usage_keys.create("night shift", execute_in_groups=[svc.groups.create("adders", actions=[ADD])])
    ran = svc.with_key(key).run(ADD, n=1)
    with pytest.raises(svcnb.ActionError):
        svc.run(ADD, n=None)
    answer = await panel.read("")
    told = [(row["action"], row["key"], row["status"]) for row in answer["rows"]]
    assert told == [("add", "account key", "failed"), ("add", "night shift", "success")]
    charged = emulator.run_record(ran.request_id)["cost_cents"]  # less than the estimate on a busy machine
    assert [row["cost_cents"] for row in answer["rows"]] == [0, charged]
    assert (answer["summary"]["count"], answer["summary"]["succeeded"]) == (2, 1)


async def test_a_usage_key_of_the_client_has_its_name(svc):
    key = svc.usage_keys.create("night shift", execute_in_groups=[svc.groups.create("adders", actions=[ADD])])
    limited = svc.with_key(key)
    limited.run(ADD, n=1)
    panel = RunsPanel(limited)
    assert [row["key"] for row in (await panel.read(""))["rows"]] == ["night shift"]
    await panel.service.close()


async def test_a_view_with_current_runs_receives_no_data(panel, svc):
    svc.run(ADD, n=1)
    first = await panel.read("")
    assert await panel.read(first["state"]) == {"state": first["state"]}
    svc.run(ADD, n=2)
    assert len((await panel.read(first["state"]))["rows"]) == 2


async def test_a_filter_shows_only_matching_runs(panel, svc):
    svc.run(ADD, n=1)
    svc.run("const main = () => 1;\n")
    panel.choose({**panel.filters, "action": ADD.cid})
    assert [row["action"] for row in (await panel.read(""))["rows"]] == ["add"]
    assert [run.cid for run in panel.runs] == [ADD.cid]
    panel.choose({**panel.filters, "status": "failed"})
    assert (await panel.read(""))["rows"] == []
    assert repr(panel) == f"RunsPanel(action={ADD.cid!r}, status='failed')"


async def test_runs_of_other_accounts_are_shown_on_request(panel, emulator):
    with emulator.client(history=False) as other:
        ran = other.with_key(other.accounts.create("stranger")).run(ADD, n=1)
    assert (await panel.read(""))["rows"] == []
    panel.choose({**panel.filters, "everyone": True})
    assert ran.request_id in [row["id"] for row in (await panel.read(""))["rows"]]


async def test_an_open_run_shows_all_available_data(panel, svc):
    with pytest.raises(svcnb.ActionError) as caught:
        svc.run(ADD, n=None)
    await panel.read("")
    told = await panel.look_at(caught.value.request_id)
    assert (told["status"], told["logs"].strip(), told["cid"]) == ("failed", "got null", ADD.cid)
    assert json.loads(told["params"]) == {"n": None}
    assert told["trace"]["rows"][-1]["failed"]


async def test_a_run_of_a_trigger_is_one_row_with_timeline_and_output(svc, emulator):
    with emulator.triggers() as triggers:
        key = svc.usage_keys.create("bell", execute_in_groups=[svc.groups.create("bells", actions=[ADD])])
        hook = triggers.webhook("bell", ADD, key, default_params={"n": 1})
        triggers.wait_for_run(hook, triggers.fire(hook, {}))
        panel = RunsPanel(svc, triggers=triggers)
        try:
            (row,) = [row for row in (await panel.read(""))["rows"] if row["key"] == "bell"]
            told = await panel.look_at(row["id"])
        finally:
            await panel.service.close()
    assert (row["origin"], row["action"], row["status"]) == ("trigger", "bell", "success")
    assert row["cost_cents"] >= 1  # one cent, unless this machine needs seconds for the run
    assert told["logs"].strip() == "got 1"
    assert [each["kind"] for each in told["trace"]["rows"]] == ["start", "console", "end"]


async def test_the_charts_show_the_displayed_runs(panel, svc, monkeypatch):
    with pytest.raises(svcnb.InvalidArgument, match="no runs to draw"):
        await panel.draw()
    svc.run(ADD, n=1)
    with pytest.raises(svcnb.ActionError):
        svc.run(ADD, n=None)
    assert [svg.startswith("<svg") for svg in await panel.draw()] == [True] * 4
    panel.choose({**panel.filters, "status": "failed"})
    drawn = await panel.draw()
    assert any("1 run, 1 failed" in svg for svg in drawn)
    assert len(drawn) < 4  # no run succeeded, so there is no latency
    monkeypatch.setenv("SVC_HISTORY", str(svc.config.history))
    around: dict[str, object] = {}
    panel.lines[:] = panel.lines[:1]
    exec(panel.as_code(), around)  # noqa: S102 - our own lines
    around["svc"].close()  # type: ignore[attr-defined]


async def test_the_error_for_a_deleted_run_has_a_hint(panel):
    with pytest.raises(svcnb.InvalidArgument, match="no longer stored") as caught:
        await panel.look_at("no-such-run")
    assert caught.value.hint


async def test_no_part_of_the_panel_shows_secrets_of_a_run(panel, svc):
    secret = "0x" + "5e" * 32
    ran = svc.run("const main = (given) => given;\n", privateKey=secret)
    answer = await panel.read("")
    told = await panel.look_at(ran.request_id)
    assert secret not in json.dumps([answer, told, panel.get_state()], default=str) + panel.as_code()


async def test_the_recorded_filters_are_runnable_python(panel, svc, monkeypatch):
    ran = svc.run(ADD, n=1)
    await panel.read("")
    panel.choose({**panel.filters, "action": ADD.cid, "status": "success"})
    await panel.look_at(ran.request_id)
    assert re.search(rf"runs = History\(\)\.runs\(action='{ADD.cid}', status='success'\)", panel.as_code())
    monkeypatch.setenv("SVC_HISTORY", str(svc.config.history))
    monkeypatch.setenv("SVC_API_KEY", svc.config.api_key.reveal())
    around: dict[str, object] = {}
    exec(panel.as_code(), around)  # noqa: S102 - our own lines
    assert [run.run_id for run in around["runs"]] == [ran.request_id]  # type: ignore[attr-defined]
    around["svc"].close()  # type: ignore[attr-defined]
