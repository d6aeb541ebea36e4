"""Plans with the real service: differences, costs, and interrupted changes that lose no data."""

from __future__ import annotations

import json
import os
import re
import secrets as secrets_module
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from svcnb import Action, InvalidArgument, LocalSigner, OutOfCredit, TransportError
from svcnb.toolkit.history import History
from svcnb.toolkit.plan import Description, Plan, plan

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADD = "const main = ({ n }) => n + 1"
SMALL: dict[str, Any] = {
    "actions": {
        "add": {"source": ADD, "description": "adds one"},
        "twice": {"source": "const main = ({ n }) => n * 2"},
    },
    "wallets": {"hot": {}},
    "groups": {"sums": {"actions": ["add", "twice"], "wallets": ["hot"], "description": "they count"}},
    "keys": {"runner": {"execute_in_groups": ["sums"]}},
}


def changed(**tables: Any) -> dict[str, Any]:
    """Returns the small description with changed entries. None removes an entry."""
    copy: dict[str, Any] = json.loads(json.dumps(SMALL))
    for table, entries in tables.items():
        for name, entry in entries.items():
            if entry is None:
                del copy[table][name]
            else:
                copy[table][name] = copy[table].get(name, {}) | entry
    return copy


@pytest.fixture
def svc(emulator):
    client = emulator.client()
    account = client.accounts.create("planned")
    emulator.credit(account.wallet_address, 10_000)
    return client.with_key(account)


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "account.state.json"


@pytest.fixture
def applied(svc, state, tmp_path):
    """Applies the small description."""
    plan(svc, SMALL, state=state).apply(secrets=tmp_path / "keys.json")
    return svc


def steps(found: Plan) -> list[str]:
    return [str(step) for step in found]


def test_a_plan_shows_its_steps_and_their_cost(svc, state) -> None:
    found = plan(svc, SMALL, state=state)
    assert repr(found) == textwrap.dedent("""\
        + action add: register
        + action twice: register
        + wallet hot: create
        + group sums: create with 2 actions and 1 wallet
        + key runner: create
        cost: $0.05""")
    assert "<table" in found._repr_html_()
    assert len(svc.groups.list()) == 0, "planning changes nothing"


def test_an_applied_plan_works_has_the_shown_cost_and_leaves_no_steps(svc, state, tmp_path) -> None:
    found = plan(svc, SMALL, state=state)
    before = svc.billing.balance().available_cents
    found.apply(secrets=tmp_path / "keys.json")
    assert before - svc.billing.balance().available_cents == found.cost.cents == 5
    assert steps(plan(svc, SMALL, state=state)) == []
    assert repr(plan(svc, SMALL, state=state)) == "no changes needed: the account matches the description"
    secrets = json.loads((tmp_path / "keys.json").read_text())
    assert stat.S_IMODE((tmp_path / "keys.json").stat().st_mode) == 0o600
    assert secrets["runner"] not in state.read_text()
    assert svc.with_key(secrets["runner"]).run(ADD, n=1).response == 2


def test_secrets_are_stored_only_where_the_user_chooses(svc, state, tmp_path) -> None:
    with pytest.raises(InvalidArgument, match="returns each secret only once"):
        plan(svc, SMALL, state=state).apply()
    assert len(svc.wallets.list()) == 1, "nothing was done"
    kept: dict[str, str] = {}
    plan(svc, SMALL, state=state).apply(secrets=kept)
    assert list(kept) == ["runner"]
    told: list[tuple[str, str]] = []
    more = changed(keys={"second": {"execute_in_groups": ["*"]}})
    plan(svc, more, state=state).apply(secrets=lambda name, secret: told.append((name, secret)))
    assert [name for name, _ in told] == ["second"]
    assert [path.name for path in tmp_path.iterdir()] == [state.name]


def drift_description(svc) -> None:
    svc.groups.update(1, description="other words")


def drift_name(svc) -> None:
    svc.groups.update(1, name="renamed")


def drift_action(svc) -> None:
    svc.groups.remove_action(1, ADD)


def drift_wallet(svc) -> None:
    svc.groups.remove_wallet(1, svc.groups.contents(1).wallets[0])


def drift_stranger(svc) -> None:
    svc.groups.add_action(1, Action("const main = () => 'stranger'"))


def drift_master(svc) -> None:
    svc.groups.add_wallet(1, svc.wallets.list()[0])


def drift_wildcard(svc) -> None:
    svc.groups.update(1, actions=[0, Action(ADD)])


def drift_group_gone(svc) -> None:
    svc.groups.delete(1)


def drift_key_list(svc) -> None:
    svc.usage_keys.update(svc.usage_keys.list()[0], execute_in_groups=[0], can_create_groups=True)


def drift_key_name(svc) -> None:
    svc.usage_keys.update_metadata(svc.usage_keys.list()[0], description="other words")


def drift_key_gone(svc) -> None:
    svc.usage_keys.delete(svc.usage_keys.list()[0])


def drift_action_name(svc) -> None:
    svc.actions.update(ADD, name="other")


def drift_action_deleted(svc) -> None:
    svc.actions.delete(ADD)


DRIFTS = {
    drift_description: ["~ group sums: replace: the name or description differs"],
    drift_name: ["~ group sums: replace: the name or description differs"],
    drift_action: ["+ group sums: permit action add"],
    drift_wallet: ["+ group sums: permit wallet hot"],
    drift_stranger: [f"- group sums: remove action {Action('const main = () => ' + repr('stranger')).hashed_cid}"],
    drift_master: ["- group sums: remove wallet "],
    drift_wildcard: ["~ group sums: replace: a wildcard is added or removed"],
    drift_group_gone: ["+ group sums: create with 2 actions and 1 wallet", "~ key runner: correct execute_in_groups"],
    drift_key_list: ["~ key runner: correct can_create_groups, execute_in_groups"],
    drift_key_name: ["~ key runner: correct name or description"],
    drift_key_gone: ["+ key runner: create"],
    drift_action_name: ["~ action add: correct name or description"],
    drift_action_deleted: ["+ action add: register", "+ group sums: permit action add"],
}


@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: drift.__name__)
def test_manual_changes_are_found_and_reverted(applied, state, tmp_path, drift) -> None:
    drift(applied)
    found = plan(applied, SMALL, state=state)
    said = steps(found)
    assert [line.startswith(expected) for line, expected in zip(said, DRIFTS[drift], strict=True)] == [True] * len(said)
    found.apply(secrets=tmp_path / "more.json")
    assert steps(plan(applied, SMALL, state=state)) == []


def test_a_changed_source_adds_the_new_action_before_it_removes_the_old_one(applied, state) -> None:
    found = plan(applied, changed(actions={"add": {"source": ADD + "\n"}}), state=state)
    assert steps(found) == [
        "+ action add: register",
        "+ group sums: permit action add",
        "- group sums: remove action add",
    ]


def test_resources_outside_the_description_stay_without_prune(applied, state) -> None:
    applied.groups.create("mine", actions=[ADD])
    applied.usage_keys.create("mine")
    applied.actions.register("const main = () => 3", name="three")
    assert steps(plan(applied, SMALL, state=state)) == []
    pruning = plan(applied, SMALL, state=state, prune=True)
    assert [str(step).split(":")[0] for step in pruning] == ["- key mine", "- group mine", "- action three"]
    pruning.apply()
    assert steps(plan(applied, SMALL, state=state, prune=True)) == []


@pytest.mark.slow
def test_more_than_ten_members_are_created_and_kept_in_an_update(svc, state) -> None:
    many = {
        "actions": {f"a{number}": {"source": f"const main = () => {number}"} for number in range(14)},
        "wallets": {f"w{number}": {} for number in range(12)},
        "groups": {"g": {"actions": [f"a{number}" for number in range(14)], "wallets": [f"w{n}" for n in range(12)]}},
    }
    found = plan(svc, many, state=state)
    assert found.cost.cents == 14 + 12 + 1 + 4 + 2
    found.apply()
    svc.groups.update(
        1, name="renamed", actions=[f"const main = () => {n}" for n in range(14)], wallets=svc.wallets.list()[1:]
    )
    plan(svc, many, state=state).apply()
    contents = svc.groups.contents(1)
    assert (len(contents.actions), len(contents.wallets)) == (14, 12)
    assert steps(plan(svc, many, state=state)) == []


def test_an_existing_account_is_matched_by_names(svc, state) -> None:
    wallet = svc.wallets.create()
    action = svc.actions.register(ADD, name="add", description="adds one")
    group = svc.groups.create("sums", actions=[ADD], wallets=[wallet])
    svc.usage_keys.create("runner", execute_in_groups=[group])
    described = changed(wallets={"hot": {"address": wallet.address}})
    assert steps(plan(svc, described, state=state)) == [
        "+ action twice: register",
        "~ group sums: replace: the name or description differs",
    ]
    assert action.cid == Action(ADD).cid


def test_the_description_supports_wildcards_and_the_master_wallet(svc, state) -> None:
    described = {
        "groups": {"all": {"actions": ["*"], "wallets": ["*"]}, "top": {"wallets": ["master"]}},
        "keys": {"any": {"execute_in_groups": ["*"], "can_create_groups": True}},
    }
    plan(svc, described, state=state).apply(secrets={})
    assert svc.groups.contents(1).any_action
    assert svc.groups.contents(1).any_wallet
    assert svc.groups.contents(2).wallets[0].wallet_address == svc.wallets.list()[0].wallet_address
    assert svc.usage_keys.list()[0].execute_in_groups == (0,)
    assert steps(plan(svc, described, state=state)) == []


def test_paths_are_relative_to_the_description(svc, tmp_path) -> None:
    (tmp_path / "add.js").write_text(ADD)
    (tmp_path / "template.js").write_text("const main = () => LIMIT.cents")
    file = tmp_path / "account.toml"
    file.write_text(
        '[actions.add]\nfile = "add.js"\n[actions.capped]\nfile = "template.js"\nconstant = { cents = 500 }\n'
        'constant_name = "LIMIT"\n[groups.g]\nactions = ["add", "capped"]\n[keys.k]\nexecute_in_groups = ["g"]\n'
    )
    kept: dict[str, str] = {}
    plan(svc, file).apply(secrets=kept)
    assert (tmp_path / "account.state.json").exists()
    derived = Action("const main = () => LIMIT.cents").derive({"cents": 500}, name="LIMIT")
    assert svc.with_key(kept["k"]).run(derived).response == 500
    assert steps(plan(svc, file)) == []


@pytest.mark.parametrize(
    ("described", "said"),
    [
        ({"groups": {"g": {"actions": ["none"]}}}, "groups.g.actions contains 'none'"),
        ({"keys": {"k": {"execute_in_groups": ["none"]}}}, "keys.k.execute_in_groups contains 'none'"),
        ({"grups": {}}, "unknown setting grups"),
        (
            {"actions": {"a": {}}},
            "invalid setting actions.a: expected exactly one of 'file', 'source', 'cid' and 'action'",
        ),
        ({"actions": {"a": {"source": ADD, "cid": Action(ADD).cid}}}, "got 'source', 'cid'"),
        ({"actions": {"a": {"source": ADD}, "b": {"source": ADD}}}, "have the same CID"),
        ({"wallets": {"master": {}}}, "is a reserved name"),
        ({"groups": {"g": {"wallets": ["*", "*"]}}}, "more than once"),
        ({"actions": {"a": {"file": "nowhere.js"}}, "groups": {"g": {"actions": ["a"]}}}, "action 'a'"),
    ],
)
def test_the_error_for_an_invalid_description_contains_the_location(described, said) -> None:
    with pytest.raises(InvalidArgument, match=said.replace(".", r"\.")):
        Description.of(described)


def test_the_error_for_an_invalid_file_contains_its_path(tmp_path) -> None:
    file = tmp_path / "account.toml"
    file.write_text("grups = {}")
    with pytest.raises(InvalidArgument, match=re.escape(f"unknown setting grups in {file}")):
        Description.load(file)


def test_a_file_that_is_not_toml_is_an_error(tmp_path) -> None:
    file = tmp_path / "account.toml"
    file.write_text("[actions")
    with pytest.raises(InvalidArgument, match="is not valid TOML"):
        Description.load(file)
    with pytest.raises(InvalidArgument, match="cannot be read"):
        Description.load(tmp_path / "none.toml")


@pytest.mark.usefixtures("applied")
def test_ambiguous_names_and_resources_of_other_accounts_are_errors(svc, emulator, state) -> None:
    with pytest.raises(InvalidArgument, match="without a state file"):
        plan(svc, SMALL)
    other = emulator.client().with_key(emulator.client().accounts.create("another"))
    with pytest.raises(InvalidArgument, match="belongs to the account"):
        plan(other, SMALL, state=state)
    other.groups.create("twin")
    other.groups.create("twin")
    with pytest.raises(InvalidArgument, match="several groups named 'twin'"):
        plan(other, {"groups": {"twin": {}}})
    with pytest.raises(InvalidArgument, match="does not belong to this account"):
        plan(other, {"wallets": {"w": {"address": "0x" + "11" * 20}}})
    state.write_text("[]")
    with pytest.raises(InvalidArgument, match="does not contain the state of a plan"):
        plan(svc, SMALL, state=state)


@pytest.mark.slow
def test_a_plan_without_enough_credit_changes_nothing(start_emulator, state) -> None:
    emulator = start_emulator(starter_credits=4)
    svc = emulator.client().with_key(emulator.client().accounts.create("poor"))
    with pytest.raises(OutOfCredit, match=r"costs \$0.05, but the account has \$0.04"):
        plan(svc, SMALL, state=state).apply(secrets={})
    assert len(svc.actions.list()) == 0


class Cut(TransportError):
    """Error for an interrupted connection."""


def cut_off(account: Any, at: str, when: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interrupts the connection in a method of an account, before or after the change by the service."""
    resource, verb = at.split(".")
    resource = getattr(account, resource)
    original = getattr(resource, verb)

    def cut(*arguments: Any, **options: Any) -> Any:
        if when == "after":
            original(*arguments, **options)
        raise Cut("gone")

    monkeypatch.setattr(resource, verb, cut)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("at", ["wallets.create", "groups.create", "usage_keys.create", "actions.register"])
def test_an_interrupted_creation_is_neither_lost_nor_repeated(svc, state, monkeypatch, at, when) -> None:
    cut_off(svc, at, when, monkeypatch)
    with pytest.raises(Cut) as caught:
        plan(svc, SMALL, state=state).apply(secrets={})
    assert "apply again to continue" in caught.value.__notes__[0]
    monkeypatch.undo()
    kept: dict[str, str] = {}
    plan(svc, SMALL, state=state).apply(secrets=kept)
    assert steps(plan(svc, SMALL, state=state)) == []
    assert [len(svc.groups.list()), len(svc.usage_keys.list()), len(svc.actions.list())] == [1, 1, 2]
    assert len([item for item in svc.wallets.list() if item.name == "Wallet"]) == 1
    assert svc.with_key(kept["runner"]).run(ADD, n=1).response == 2


def test_the_same_plan_continues_after_an_interruption(svc, state, monkeypatch) -> None:
    found = plan(svc, SMALL, state=state)
    monkeypatch.setattr(svc.groups, "create", lambda *_, **__: (_ for _ in ()).throw(Cut("gone")))
    with pytest.raises(Cut):
        found.apply(secrets={})
    monkeypatch.undo()
    assert [step.kind for step in found.apply(secrets={})] == ["group", "key"]


# --- the same in an account that a wallet owns ----------------------------------------------------------------------


@pytest.fixture
def mine(emulator, tmp_path, monkeypatch):
    """ChainSecured account, opened by its owner, with credit for runs."""
    monkeypatch.setenv("SVCNB_PENDING", str(tmp_path / "pending"))
    owner = LocalSigner.random()
    emulator.faucet(owner.address, 10**20)
    account = emulator.client().chain_secured.create(owner, "planned")
    account.billing.top_up(500)
    return account


def test_on_chain_a_plan_costs_gas_and_no_credit(mine, emulator, tmp_path) -> None:
    found = plan(mine, SMALL)
    assert (found.cost.cents, found.cost.calls) == (0, 5)
    before = mine.billing.balance()
    written = len(mine.receipts)
    found.apply(secrets=tmp_path / "keys.json")
    used = sum(receipt.gas_used for receipt in mine.receipts[written:])
    assert used / 1.2 < found.cost.gas < used * 1.2
    assert mine.billing.balance() == before
    assert steps(plan(mine, SMALL)) == []
    kept = json.loads((tmp_path / "keys.json").read_text())
    assert emulator.client(api_key=kept["runner"]).run(ADD, n=1).response == 2
    assert "gas" in repr(plan(mine, changed(keys={"more": {}})))


@pytest.mark.slow
@pytest.mark.parametrize("drift", DRIFTS, ids=lambda drift: drift.__name__)
def test_on_chain_changes_of_others_are_found_and_reverted(mine, state, drift) -> None:
    plan(mine, SMALL, state=state).apply(secrets={})
    if drift is drift_master:
        mine.groups.add_wallet(1, mine.wallets.create("other"))
    else:
        drift(mine)
    found = plan(mine, SMALL, state=state)
    assert [str(step).startswith(said) for step, said in zip(found, DRIFTS[drift], strict=True)] == [True] * len(found)
    found.apply(secrets={})
    assert steps(plan(mine, SMALL, state=state)) == []


@pytest.mark.parametrize("when", [pytest.param("before", marks=pytest.mark.slow), "after"])
@pytest.mark.parametrize("at", ["wallets.create", "groups.create", "usage_keys.create", "actions.register"])
def test_on_chain_an_interrupted_creation_is_neither_lost_nor_repeated(mine, state, monkeypatch, at, when) -> None:
    with monkeypatch.context() as broken:
        cut_off(mine, at, when, broken)
        with pytest.raises(Cut):
            plan(mine, SMALL, state=state).apply(secrets={})
    plan(mine, SMALL, state=state).apply(secrets={})
    assert steps(plan(mine, SMALL, state=state)) == []
    assert [len(mine.groups.list()), len(mine.usage_keys.list()), len(mine.actions.list())] == [1, 1, 2]
    assert [item.name for item in mine.wallets.list()].count("hot") == 1


def test_a_missing_master_wallet_is_an_error(mine) -> None:
    with pytest.raises(InvalidArgument, match="has no master wallet"):
        plan(mine, {"groups": {"g": {"wallets": ["master"]}}}).apply()


# --- a large account ------------------------------------------------------------------------------------------------


def large(groups: int) -> dict[str, Any]:
    """Returns a description with a number of groups, each with two actions and two wallets. Four of five groups have a
    key."""
    actions, keys = range(2 * groups), range(groups * 4 // 5)
    return {
        "actions": {f"action-{n}": {"source": f"const main = () => {n}", "description": f"the {n}th"} for n in actions},
        "wallets": {f"wallet-{n}": {} for n in range(2 * groups)},
        "groups": {
            f"group-{n}": {
                "actions": [f"action-{k}" for k in actions if k // 2 == n or (n == 3 and k < 12)],
                "wallets": [f"wallet-{2 * n}", f"wallet-{2 * n + 1}"],
            }
            for n in range(groups)
        },
        "keys": {f"key-{n}": {"execute_in_groups": [f"group-{n}", f"group-{(n + 10) % groups}"]} for n in keys},
    }


# Accounts of both modes. In ChainSecured mode, every step is a transaction, so this account has half as many groups.
GROUPS = {"managed": 50, "owned": 25}
PROGRAMS = {
    "managed": "account = svcnb.Client()",
    "owned": "account = svcnb.Client().chain_secured.open(svcnb.LocalSigner.from_key(os.environ['OWNER_KEY']))",
}


@pytest.fixture(params=["managed", "owned"])
def large_account(request, emulator, tmp_path, monkeypatch):
    """Account in each mode, with its number of groups. A process with the returned program and settings applies the
    plan, until it is killed after a number of creations.
    """
    monkeypatch.setenv("SVCNB_PENDING", str(tmp_path / "pending"))
    settings = {"SVC_BASE_URL": emulator.base_url}
    if request.param == "managed":
        account = request.getfixturevalue("svc")
        settings["SVC_API_KEY"] = account.config.api_key.reveal()
    else:
        key = "0x" + secrets_module.token_hex(32)
        owner = LocalSigner.from_key(key)
        emulator.faucet(owner.address, 10**21)
        account = emulator.client().chain_secured.create(owner, "large")
        account.billing.top_up(500)
        settings["OWNER_KEY"] = key
    program = textwrap.dedent(f"""
        import json, os, signal, sys, svcnb
        from svcnb.toolkit.plan import plan
        description, state, secrets, resource, left = sys.argv[1:]
        {PROGRAMS[request.param]}
        resource, left = getattr(account, resource), int(left)
        create = resource.create

        def mortal(*arguments, **options):
            global left
            made = create(*arguments, **options)
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)
            return made

        resource.create = mortal
        plan(account, json.load(open(description)), state=state).apply(secrets=secrets, progress=False)
    """)
    return account, GROUPS[request.param], program, settings


@pytest.mark.slow
def test_a_large_plan_continues_after_a_killed_process(large_account, emulator, tmp_path) -> None:
    account, size, program, settings = large_account
    wanted = large(size)
    described, state, secrets = tmp_path / "large.json", tmp_path / "large.state.json", tmp_path / "keys.json"
    described.write_text(json.dumps(wanted))
    command = [sys.executable, "-W", "ignore", "-c", program, str(described), str(state), str(secrets)]
    for resource, made in (("wallets", size * 4 // 5), ("groups", size * 2 // 5), ("usage_keys", 2)):
        killed = subprocess.run([*command, resource, str(made)], env=os.environ | settings, timeout=600, check=False)
        assert killed.returncode == -signal.SIGKILL, "it was killed, not done"
    found = plan(account, wanted, state=state)
    assert 0 < len(found) < size * 6 // 5
    found.apply(secrets=secrets)
    assert steps(plan(account, wanted, state=state)) == []
    counts = [len(account.groups.list()), len(account.actions.list()), len(account.usage_keys.list())]
    assert counts == [size, 2 * size, size * 4 // 5]
    assert len([item for item in account.wallets.list() if item.name in {"Wallet", *wanted["wallets"]}]) == 2 * size
    three = plan(account, wanted, state=state)._state.groups["group-3"]
    assert len(account.groups.contents(three).actions) == 12
    kept = json.loads(secrets.read_text())
    assert sorted(kept) == sorted(wanted["keys"])
    for name in ("key-0", f"key-{size * 4 // 5 - 1}"):
        number = 2 * int(name.split("-")[1])
        assert emulator.client(api_key=kept[name]).run(f"const main = () => {number}").response == number
    account.groups.delete(7)
    account.usage_keys.update(account.usage_keys.list()[5], execute_in_groups=[0])
    account.groups.remove_wallet(9, account.groups.contents(9).wallets[0])
    repair = plan(account, wanted, state=state)
    assert {step.kind for step in repair} == {"group", "key"}
    repair.apply(secrets=secrets)
    assert steps(plan(account, wanted, state=state)) == []


# --- triggers -------------------------------------------------------------------------------------------------------


TRIGGERED = changed() | {
    "triggers": {
        "hook": {"action": "add", "key": "runner", "default_params": {"n": 1}},
        "nightly": {
            "action": "add",
            "key": "runner",
            "kind": "schedule",
            "config": {"cron": "0 3 * * *"},
            "enabled": False,
            "max_queued_runs": 3,
        },
    }
}


@pytest.fixture
def triggers(emulator):
    with emulator.triggers("plans") as client:
        for trigger in client.list():  # includes triggers of other tests
            client.delete(trigger)
        yield client


def test_triggers_are_created_with_keys_of_the_plan_and_run(svc, state, triggers, tmp_path) -> None:
    found = plan(svc, TRIGGERED, state=state, triggers=triggers)
    assert [line for line in steps(found) if "trigger" in line] == [
        "+ trigger hook: create",
        "+ trigger nightly: create",
    ]
    found.apply(secrets=tmp_path / "keys.json")
    assert steps(plan(svc, TRIGGERED, state=state, triggers=triggers)) == []
    made = {trigger.name: trigger for trigger in triggers.list()}
    assert (made["nightly"].enabled, made["nightly"].max_queued_runs) == (False, 3)
    run = triggers.wait_for_run(made["hook"], triggers.fire(made["hook"], {}))
    assert (run.status, run.result) == ("success", 2)
    history = History(tmp_path / "history.sqlite")
    assert history.add_trigger_runs(triggers) == 1
    [past] = history.runs(source="trigger")
    assert (past.action, past.status, past.response, past.run_id) == ("hook", "success", 2, run.id)


def test_changed_triggers_are_found_and_reverted(svc, state, triggers, tmp_path) -> None:
    keys = tmp_path / "keys.json"
    plan(svc, TRIGGERED, state=state, triggers=triggers).apply(secrets=keys)
    made = {trigger.name: trigger for trigger in triggers.list()}
    triggers.enable(made["nightly"])
    triggers.update(made["nightly"], config={"cron": "0 4 * * *"})
    triggers.delete(made["hook"])
    svc.usage_keys.delete(svc.usage_keys.list()[0])
    found = plan(svc, TRIGGERED, state=state, triggers=triggers)
    assert steps(found) == [
        "+ key runner: create",
        "+ trigger hook: create",
        "~ trigger nightly: correct config, enabled, usage key",
    ]
    found.apply(secrets=keys)
    assert steps(plan(svc, TRIGGERED, state=state, triggers=triggers)) == []


def test_a_trigger_with_an_unknown_secret_is_an_error(svc, state, triggers, tmp_path) -> None:
    plan(svc, SMALL, state=state).apply(secrets={})
    with pytest.raises(InvalidArgument, match="requires the secret of the key 'runner'"):
        plan(svc, TRIGGERED, state=state, triggers=triggers).apply(secrets=tmp_path / "keys.json")
    with pytest.raises(InvalidArgument, match="the client of the triggers service is missing"):
        plan(svc, TRIGGERED, state=state)
