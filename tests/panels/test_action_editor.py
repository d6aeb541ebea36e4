"""Kernel side of the action editor, with a real service."""

from __future__ import annotations

import json

import pytest

import svcnb
from svcnb import Action, InvalidArgument
from svcnb.client.models.runs import Run
from svcnb.panels.action_editor import ActionEditor, python_text
from svcnb.panels.code_editor import names
from svcnb.protocol.vocabulary import Vocabulary
from svcnb.toolkit.runtime import functions

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADD = Action("async function main({ n }) {\n  console.log('got', n);\n  return n + 1;\n}\n", name="add")


@pytest.fixture
async def svc(emulator):
    with emulator.client() as client:
        yield client.with_key(client.accounts.create("writer"))


@pytest.fixture
async def editor(svc):
    made = ActionEditor(svc, ADD, {"n": 41})
    yield made
    await made.service.close()


async def test_the_result_of_a_run_contains_response_logs_and_timeline(editor):
    answer = await editor.run(ADD.source, '{"n": 41}')
    assert (answer["ok"], answer["response"], answer["logs"].strip()) == (True, "42", "got 41")
    assert [row["kind"] for row in answer["trace"]["rows"]] == ["start", "console", "end"]
    assert json.loads(json.dumps(answer)) == answer
    assert editor.result is not None
    assert editor.result.response == 42


async def test_the_result_of_a_failed_run_contains_line_logs_and_timeline(editor):
    source = "async function main() {\n  console.log('here');\n  return missing;\n}\n"
    answer = await editor.run(source, "")
    assert (answer["ok"], answer["stage"], answer["name"], answer["line"]) == (False, "run", "ReferenceError", 3)
    assert answer["logs"].strip() == "here"
    assert answer["trace"]["rows"][-1]["failed"]
    assert editor.result is None
    assert isinstance(editor.error, svcnb.ActionError)


async def test_the_choices_contain_the_clients_key_if_it_is_a_usage_key(editor, svc):
    assert (await editor.resources())["client_key"] == ""
    key = svc.usage_keys.create("night shift", execute_in_groups=[svc.groups.create("adders", actions=[ADD])])
    editor.client = svc.with_key(key)
    assert (await editor.resources())["client_key"] == "night shift"


async def test_the_explanation_of_a_rejected_run_contains_repairs(editor, svc):
    key = svc.usage_keys.create("nothing")
    editor.client = svc.with_key(key)
    with pytest.raises(svcnb.Forbidden):
        await editor.run(ADD.source, '{"n": 1}')
    told = await editor.explain(ADD.source)
    assert not told["permitted"]
    assert "svc." in told["repairs"][0]["code"]
    assert told["group"] == 0


async def test_a_rejection_contains_the_group_that_lacks_only_one_permission(editor, svc):
    group, wallet = svc.groups.create("adders"), svc.wallets.create()
    editor.client = svc.with_key(svc.usage_keys.create("night shift", execute_in_groups=[group]))
    assert (await editor.explain(ADD.source))["group"] == group.id
    svc.groups.add_action(group, ADD)
    assert (await editor.explain(ADD.source))["permitted"]
    told = await editor.explain(ADD.source, wallet.address)
    assert (told["permitted"], told["group"]) == (False, group.id)
    svc.groups.add_wallet(group, wallet)
    told = await editor.explain(ADD.source, wallet.address)
    assert (told["permitted"], told["group"]) == (True, 0)


async def test_the_panel_reads_the_name_and_the_groups_of_a_cid(editor, svc):
    svc.actions.register(ADD)
    adders = svc.groups.create("adders", actions=[ADD])
    every = svc.groups.create("every", actions=[svcnb.everything])
    seen = await editor.look_up()
    assert seen["registered"][ADD.hashed_cid] == "add"
    assert [(group["id"], group["every"], ADD.hashed_cid in group["hashes"]) for group in seen["groups"]] == [
        (adders.id, False, True),
        (every.id, True, False),
    ]


async def test_registering_stores_the_name_of_the_action(editor, svc):
    await editor.register(ADD.source, "one more")
    assert [action.name for action in svc.actions.list()] == ["one more"]
    assert editor.action.name == "one more"


async def test_the_recorded_python_repeats_the_actions(editor, svc, monkeypatch):
    await editor.run(ADD.source, '{"n": 41}')
    editor.derive("const main = () => LIMIT.cents;\n", '{"cents": 500}', "LIMIT", 2)
    monkeypatch.setenv("SVC_API_KEY", svc.config.api_key.reveal())
    around: dict[str, object] = {}
    exec(editor.as_code(), around)  # noqa: S102 - our own lines
    assert isinstance(around["run"], Run)
    assert around["run"].response == 42
    wanted = Action("const main = () => LIMIT.cents;\n").derive({"cents": 500}, name="LIMIT", protocol_version=2)
    assert around["action"] == wanted
    around["svc"].close()  # type: ignore[attr-defined]


async def test_the_recorded_python_contains_a_source_once(editor):
    await editor.run(ADD.source, '{"n": 1}')
    await editor.run(ADD.source, '{"n": 2}')
    assert editor.as_code().count("svcnb.Action(") == 1


async def test_the_recorded_python_contains_no_secret_parameters(editor):
    secret = "0x" + "5e" * 32
    await editor.run("const main = () => 1;\n", json.dumps({"privateKey": secret}))
    assert secret not in editor.as_code() + repr(editor) + json.dumps(editor.get_state(), default=str)


async def test_the_derived_action_is_the_same_as_in_the_toolkit(editor):
    derived = editor.derive(ADD.source, '{"b": 1, "a": "é"}', "CONST", 1)
    assert derived["cid"] == ADD.derive({"b": 1, "a": "é"}).cid
    assert ADD.source + derived["added"] == derived["source"]


@pytest.mark.parametrize("text", ["{n: 1}", "[1,]", "nothing"])
async def test_invalid_json_is_rejected_before_the_run(editor, text):
    with pytest.raises(InvalidArgument, match="the parameters"):
        await editor.run(ADD.source, text)
    with pytest.raises(InvalidArgument, match="the constant"):
        editor.derive(ADD.source, text, "CONST", 1)


async def test_the_linter_returns_lines_and_columns(editor):
    assert editor.lint(ADD.source) == {"marks": [], "missing": ""}
    (mark,) = editor.lint("const main = () => missing;\n")["marks"]
    assert (mark["line"], mark["column"], mark["severity"]) == (1, 20, "error")


async def test_the_repr_of_the_editor_contains_the_cid(editor, svc):
    assert repr(editor) == f"ActionEditor(cid={ADD.cid!r}, size={ADD.size})"
    assert (editor.action, editor.params) == (ADD, {"n": 41})
    assert ActionEditor(svc, ADD.source).params is None
    assert ActionEditor(svc).params == {"n": 41}  # an example to start with


async def test_a_value_that_is_not_an_action_is_rejected(svc):
    with pytest.raises(InvalidArgument, match=r"expected Action \| str \| None, got int"):
        ActionEditor(svc, 7)  # type: ignore[arg-type] # on purpose


async def test_the_bundle_is_identified_by_its_content_and_sent_on_request(editor):
    told = editor.editor_bundle(with_script=False)
    assert set(told) == {"hash"}
    sent = editor.editor_bundle(with_script=True)
    assert sent["hash"] == told["hash"]
    assert "mount" in sent["script"]


@pytest.mark.parametrize(
    "source", ["x\n", "x", 'a"""b\n', "a\\n\n", "x\r\n", "'\"\n", '"""', "`${x}`\n", "\n", 'tail "\n']
)
def test_a_source_as_a_python_literal_is_unchanged(source):
    assert eval(python_text(source)) == source  # noqa: S307 - our own text


def test_the_completions_contain_every_function_of_the_service():
    words = Vocabulary(service="acme")
    offered = names(words)
    for owner in ("Acme.Actions", "AcmeActions"):
        assert [each["name"] for each in offered[owner]] == list(functions(words))
    assert {"Acme", "AcmeActions", "ethers", "fetch"} <= {each["name"] for each in offered[""]}
