"""The magics in a real kernel: outputs of cells, completions, and the state after unloading."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from svcnb import Action
from svcnb.magics.action import OPTIONS

GUIDE = Path(__file__).resolve().parents[2] / "docs/magics.md"
ADD = "async function main({ n }) { return n + 1; }\n"
THROWS = "async function main() {\n  const missing = undefined;\n  return missing.length;\n}\n"


@pytest.fixture
def connected(notebook, emulator):
    """Notebook with a client in `svc`, and an account with credit."""
    made = notebook.run(
        f"emu = svcnb.Emulator.connect({emulator.base_url!r})\n"
        "svc = emu.client()\n"
        "account = svc.accounts.create('cells')\n"
        "svc = svc.with_key(account)"
    )
    assert not made.error, made.trace
    return notebook


def test_a_cell_is_an_action_and_shows_its_cid(notebook):
    answer = notebook.run("%%action add\n" + ADD)
    assert answer.value == f"Action('add', {Action(ADD).cid}, {len(ADD)} bytes)"
    assert Action(ADD).hashed_cid in answer.html
    assert notebook.run("add.source").value == repr(ADD)


def test_a_cell_has_the_cid_of_the_file_it_saves(notebook, tmp_path):
    file = tmp_path / "add.js"
    # Front ends send a cell without its final line end. IPython adds it.
    notebook.run(f"%%action add --save {file}\n" + ADD.rstrip("\n"))
    assert file.read_bytes() == ADD.encode()
    assert notebook.run(f"add.cid == svcnb.Action.from_file({str(file)!r}).cid").value == "True"


def test_json_and_dollar_signs_reach_the_magic_unchanged(connected):
    connected.run("n = 5")
    answer = connected.run("""%%action --run --params '{"n": 41}'\nconst main = (given) => [`${given.n}`, given];""")
    assert answer.value.startswith("Run(response=['41', {'n': 41}], cid='Qm"), answer.trace


@pytest.mark.chain
@pytest.mark.engine
def test_a_cell_runs_with_parameters_by_name_variable_and_json(connected):
    connected.run("given = {'n': 1}")
    cell = "\nconst main = (params) => params;\n"
    for words, received in {
        "n=3 to=0xab": {"n": 3, "to": "0xab"},
        "given": {"n": 1},
        "given n=2": {"n": 2},
        "n=@given": {"n": {"n": 1}},
        "'[1, 2]'": [1, 2],
        """'{"n": null}' text="two words" """: {"n": None, "text": "two words"},
    }.items():
        answer = connected.run(f"%%action --run --params {words}{cell}")
        assert f"response={received!r}" in answer.value, (words, answer.trace or answer.value)
    assert "response=None" in connected.run(f"%%action --run{cell}").value


@pytest.mark.chain
@pytest.mark.engine
def test_a_run_is_the_value_of_its_cell(connected):
    answer = connected.run("%%action add --run --params n=41\n" + ADD)
    assert "42" in answer.html
    assert connected.run("_.response, add.name").value == "(42, 'add')"


@pytest.mark.chain
@pytest.mark.engine
def test_the_timeline_is_next_to_the_result(connected):
    answer = connected.run("%%action --run --trace --params n=1\n" + ADD)
    assert answer.shown[0]["text/plain"].startswith("Trace('fast', start")
    assert answer.value.startswith("Run(response=2")


@pytest.mark.chain
@pytest.mark.engine
def test_an_error_names_the_line_of_the_cell_and_shows_no_frames_of_python(connected):
    answer = connected.run("%%action --run --no-lint\n" + THROWS)
    assert answer.error == "ActionError"
    assert "(line 3)" in answer.trace
    assert "Line 3 of the action is line 4 of the cell." in answer.trace
    assert "File " not in answer.trace
    assert "Traceback" not in answer.trace


@pytest.mark.chain
@pytest.mark.engine
def test_the_error_for_a_rejected_run_names_the_explanation(connected):
    connected.run("key = svc.usage_keys.create('nothing')\n")
    connected.run("%svc connect svc --key key")
    answer = connected.run("%%action --run --params n=1\n" + ADD)
    assert answer.error == "Forbidden"
    assert "sys.last_value.explain()" in answer.trace
    explained = connected.run("import sys; sys.last_value.explain()")
    assert not explained.error, explained.trace


@pytest.mark.chain
def test_an_action_is_registered_under_its_name(connected):
    answer = connected.run("%%action adder --register --description 'adds one'\n" + ADD)
    assert "RegisteredAction(" in answer.shown[0]["text/plain"]
    listed = connected.run("[(each.name, each.description) for each in svc.actions.list()]")
    assert listed.value == "[('adder', 'adds one')]"


def test_a_derived_action_has_the_constant_behind_the_cell(notebook):
    template = "const main = () => LIMIT.cents;\n"
    notebook.run(f"""%%action limited --derive 'LIMIT={{"cents": 500}}'\n{template}""")
    wanted = Action(template).derive({"cents": 500}, name="LIMIT")
    assert notebook.run("limited.cid").value == repr(wanted.cid)
    assert notebook.run("limited.template_cid").value == repr(Action(template).cid)


def test_changes_since_the_last_time_are_shown(notebook):
    notebook.run("%%action add\n" + ADD)
    answer = notebook.run("%%action add --diff\n" + ADD.replace("+ 1", "+ 2"))
    assert "-async function main({ n }) { return n + 1; }" in answer.shown[0]["text/plain"]


def test_findings_of_the_linter_are_shown_with_the_action(notebook):
    answer = notebook.run("%%action\nconst run = () => 1\n")
    assert "main_missing" in answer.shown[0]["text/plain"]
    assert answer.value.startswith("Action(Qm")
    assert len(notebook.run("%%action --no-lint\nconst run = () => 1\n").shown) == 1


def test_a_file_of_the_user_is_not_overwritten(notebook, tmp_path):
    file = tmp_path / "precious.js"
    file.write_text("// mine\n")
    refused = notebook.run(f"%%action --save {file}\n" + ADD)
    assert refused.error == "InvalidArgument"
    assert "--force" in refused.trace
    assert file.read_text() == "// mine\n"
    assert not notebook.run(f"%%action --save {file} --force\n" + ADD).error
    # After a change of the cell, the magic overwrites the file that this notebook wrote.
    assert not notebook.run(f"%%action --save {file}\n" + ADD.replace("1", "2")).error
    assert file.read_text() == ADD.replace("1", "2")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--run --params n", "expected JSON or a variable of this notebook"),
        ("--run --params '{n: 1}'", "invalid JSON"),
        ("--run --params 1 n=2", "name=value can only be combined with an object, not with a value of type int"),
        ("--params n=1", "--params requires --run"),
        ("--until-effective 3", "--until-effective requires --run"),
        ("--force", "--force requires --save"),
        ("--register", "--register requires a name for the action"),
        ("--nonsense", "unrecognized arguments"),
        ("two-words", "invalid variable name"),
        ("'open", "the line cannot be parsed"),
        ("--run --client nobody", "undefined variable 'nobody'"),
        ("--run --client svcnb", "invalid variable 'svcnb' of type module"),
        ("--derive '{'", "invalid JSON"),
        ("--derive main=1", "invalid constant name"),
    ],
)
def test_an_invalid_line_is_rejected_with_the_fix(notebook, line, said):
    answer = notebook.run(f"%%action {line}\n{ADD}")
    assert said in answer.trace
    assert "Next step: " in answer.trace
    assert "Traceback" not in answer.trace


def test_without_a_service_the_magic_says_how_to_get_one(notebook):
    answer = notebook.run("%%action --run\n" + ADD)
    assert answer.error == "ConfigError"
    assert "%svc connect" in answer.trace


@pytest.mark.chain
def test_the_status_shows_service_key_and_credit_but_no_secret(connected):
    answer = connected.run("%svc")
    assert "key='yes'" in answer.value
    assert "credit='$10.00 credit'" in answer.value
    secret = connected.run("account.api_key.reveal()").value.strip("'")
    assert secret not in answer.html
    assert connected.run("%svc connect emu").value.count("key='none'") == 1
    assert connected.run("%svc connect emu --key account").value.count("key='yes'") == 1


@pytest.mark.chain
def test_the_status_accepts_a_usage_key_of_a_chain_secured_account(connected, tmp_path):
    made = connected.run(
        "import os\n"
        f"os.environ['SVCNB_PENDING'] = {str(tmp_path)!r}\n"
        "owner = svcnb.LocalSigner.random()\n"
        "emu.faucet(owner.address)\n"
        "key = svc.chain_secured.create(owner, 'treasury').usage_keys.create('reader')\n"
        "emu.credit(owner.address, 300)\n"
        "other = 'c3RyYW5nZXI='"
    )
    assert not made.error, made.trace
    answer = connected.run("%svc connect emu --key key").value
    assert "key='yes'" in answer
    assert "credit='$3.00 credit'" in answer
    assert "key='unknown'" in connected.run("%svc connect emu --key other").value


@pytest.mark.chain
def test_the_status_does_not_need_the_credit(connected):
    connected.run("emu.faults.next('billing', status=500)")
    answer = connected.run("%svc")
    assert "key='yes'" in answer.value
    assert "credit='unknown'" in answer.value


def test_an_unavailable_service_is_reported_in_one_line(notebook):
    answer = notebook.run("%svc connect http://127.0.0.1:9")
    assert answer.error == "TransportError"
    assert "Next step: " in answer.trace
    assert "Traceback" not in answer.trace


def test_help_names_every_option(notebook):
    told = notebook.run("%%action --help\n" + ADD)
    assert not told.error
    assert "--until-effective" in told.printed
    assert "%svc" in notebook.run("%svc help").printed
    assert "Creates an action from the JavaScript" in notebook.inspect("%%action")


@pytest.mark.slow
def test_tab_offers_options_services_and_functions(notebook):
    notebook.run("given = 1\nemu = svcnb.Emulator.connect.__self__")
    assert notebook.complete("%%action add --ru") == ["--run"]
    assert notebook.complete("%svc con") == ["connect"]
    first = "%%action\nconst main = async () => "
    assert notebook.complete(first + "await Svc.") == ["Actions", "Auth", "Headers"]
    assert notebook.complete(first + "await Svc.Actions.getP") == ["getPrivateKey"]
    assert notebook.complete(first + "ethe") == ["ethers"]
    # Names of Python have no meaning in JavaScript.
    assert notebook.complete(first + "giv") == ["giv"]
    assert "given" in notebook.complete("giv")


@pytest.mark.chain
def test_tab_offers_the_clients_that_can_be_connected(connected):
    assert connected.complete("%svc connect ") == ["emu", "svc", "--help", "--key"]


def test_unloading_leaves_no_trace(notebook):
    survey = (
        "ip = get_ipython()\n"
        "sorted(ip.magics_manager.magics['line']), sorted(ip.magics_manager.magics['cell']), "
        "len(ip.Completer.custom_matchers), sorted(name for name in vars(ip) if 'svcnb' in name)"
    )
    notebook.run("%unload_ext svcnb")
    without = notebook.run(survey).value
    assert "svc" not in without.replace("svcnb", "")
    notebook.run("%load_ext svcnb")
    assert notebook.run(survey).value != without
    notebook.run("%unload_ext svcnb")
    assert notebook.run(survey).value == without
    assert (
        notebook.run("%%action\n" + ADD).error == "UsageError"
        or "not found" in notebook.run("%%action\n" + ADD).printed
    )


def test_loading_twice_has_no_additional_effect(notebook):
    notebook.run("%reload_ext svcnb")
    assert notebook.complete("%%action --ru") == ["--run"]
    assert notebook.run("len(get_ipython().Completer.custom_matchers)").value == "1"


@pytest.mark.slow
@pytest.mark.chain
@pytest.mark.engine
def test_the_guide_runs_from_its_first_cell_to_its_last(notebook):
    cells = re.findall(r"^```ipython\n(.*?)^```", GUIDE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    answers = [notebook.run(cell) for cell in cells]
    assert [answer.trace for answer in answers if answer.error] == []
    assert "response={'sum': 6}" in answers[4].value
    assert "name='limited'" in answers[5].shown[0]["text/plain"]


def test_every_option_has_a_place_in_the_guide():
    told = GUIDE.read_text(encoding="utf-8")
    assert [flag for flag in OPTIONS.flags if flag != "--help" and f"`{flag}" not in told] == []


def test_importing_the_package_needs_no_notebook(tmp_path: Path):
    import subprocess
    import sys

    code = "import sys, svcnb; assert svcnb.load_ipython_extension and 'IPython' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300, cwd=tmp_path)


@pytest.mark.slow
def test_an_error_that_nobody_catches_shows_the_readers_lines_and_the_next_step(notebook):
    notebook.run("gone = svcnb.Client('http://127.0.0.1:9', history=False)")
    answer = notebook.run("def ask():\n    return gone.accounts.create('x')\n\nask()")
    assert answer.error == "TransportError"
    assert "return gone.accounts.create('x')" in answer.trace
    assert "Next step: " in answer.trace
    assert "resources/accounts.py" not in answer.trace
    assert "ConnectError" not in answer.trace
    verbose = notebook.run("%xmode Verbose\ngone.accounts.create('x')")
    notebook.run("%xmode Context")
    assert "resources/accounts.py" in verbose.trace
