"""Keys, actions and wallets with one missing permission each. `explain` finds the permission, and each repair works."""

from __future__ import annotations

import pickle
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from svcnb import (
    Action,
    ActionError,
    Forbidden,
    InvalidArgument,
    LocalSigner,
    OutOfCredit,
    SvcnbError,
    Unauthorized,
    everything,
)
from svcnb.client.errors import EXPIRED_HINT
from svcnb.client.explanation_graph import drawing
from svcnb.client.models.explanation import Explanation

pytestmark = [pytest.mark.chain, pytest.mark.engine]

SOURCE = (
    "async function main({ pkpId }) {\n  return pkpId ? (await Svc.Actions.getPrivateKey({ pkpId })).length : 1;\n}\n"
)
ACTION = Action(SOURCE, name="sign")
OTHER = Action("const main = () => 2", name="other")
STRANGER = "0x" + "ab" * 20


class SetUp(NamedTuple):
    """Key, action and wallet to explain."""

    key: Any
    action: Any = ACTION
    wallet: Any = None


Build = Callable[[Any, Any], SetUp]
CASES: dict[str, tuple[str, Build]] = {}


def broken(missing: str) -> Callable[[Build], Build]:
    """Registers a set-up under the name of its function, together with its missing permission."""

    def register(build: Build) -> Build:
        CASES[build.__name__] = (missing, build)
        return build

    return register


# --- the key and its groups -----------------------------------------------------------------------------------------


@broken("key_executes_nowhere")
def a_key_for_nothing_in_an_empty_account(svc, _) -> SetUp:
    return SetUp(svc.usage_keys.create("k"))


@broken("key_executes_nowhere")
def a_key_for_nothing_beside_a_group_with_the_action(svc, _) -> SetUp:
    svc.groups.create("g", actions=[ACTION])
    return SetUp(svc.usage_keys.create("k"))


@broken("key_executes_nowhere")
def a_key_that_may_manage_but_not_run(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=[ACTION])
    return SetUp(svc.usage_keys.create("k", manage_ipfs_ids_in_groups=[group], can_create_groups=True))


@broken("key_executes_nowhere")
def a_key_for_nothing_beside_a_group_with_action_and_wallet(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    svc.groups.create("g", actions=[ACTION], wallets=[wallet])
    return SetUp(svc.usage_keys.create("k"), ACTION, wallet)


@broken("groups_removed")
def a_key_whose_group_was_removed(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=[ACTION])
    key = svc.usage_keys.create("k", execute_in_groups=[group])
    svc.groups.delete(group)
    return SetUp(key)


@broken("groups_removed")
def a_key_both_of_whose_groups_were_removed_while_another_has_the_action(svc, _) -> SetUp:
    old = [svc.groups.create(name, actions=[ACTION]) for name in ("a", "b")]
    svc.groups.create("c", actions=[ACTION])
    key = svc.usage_keys.create("k", execute_in_groups=old)
    for group in old:
        svc.groups.delete(group)
    return SetUp(key)


@broken("key_not_in_group")
def the_action_in_another_group(svc, _) -> SetUp:
    svc.groups.create("b", actions=[ACTION])
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a")]))


@broken("key_not_in_group")
def the_action_in_two_other_groups(svc, _) -> SetUp:
    for name in ("b", "c"):
        svc.groups.create(name, actions=[ACTION, OTHER])
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a", actions=[OTHER])]))


@broken("key_not_in_group")
def the_right_group_removed_and_made_again(svc, _) -> SetUp:
    group, kept = svc.groups.create("g", actions=[ACTION]), svc.groups.create("kept")
    key = svc.usage_keys.create("k", execute_in_groups=[group, kept])
    svc.groups.delete(group)
    svc.groups.create("g", actions=[ACTION])
    return SetUp(key)


@broken("key_not_in_group")
def a_key_with_fifty_groups_and_the_action_in_the_next(svc, _) -> SetUp:
    groups = [svc.groups.create(f"g{number}") for number in range(50)]
    svc.groups.create("last", actions=[ACTION])
    return SetUp(svc.usage_keys.create("k", execute_in_groups=groups))


@broken("key_not_in_group")
def the_key_permitted_where_every_wallet_is_but_not_the_action(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    svc.groups.create("b", actions=[ACTION])
    return SetUp(
        svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a", wallets=everything)]), ACTION, wallet
    )


@broken("key_not_in_group")
def wallet_and_key_in_one_group_and_the_action_in_another(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    svc.groups.create("b", actions=[ACTION])
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a", wallets=[wallet])])
    return SetUp(key, ACTION, wallet)


@broken("key_unknown")
def a_key_that_was_removed(svc, _) -> SetUp:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])])
    svc.usage_keys.delete(key)
    return SetUp(key)


@broken("key_unknown")
def a_key_that_was_mistyped(svc, _) -> SetUp:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])])
    text = key.usage_api_key.reveal()
    return SetUp(("A" if text[0] != "A" else "B") + text[1:])


@broken("key_of_another_account")
def a_key_of_another_account(svc, other) -> SetUp:
    svc.groups.create("g", actions=[ACTION])
    return SetUp(other.usage_keys.create("k", execute_in_groups=[other.groups.create("theirs")]))


# --- the action -----------------------------------------------------------------------------------------------------


@broken("action_in_no_group")
def an_empty_group(svc, _) -> SetUp:
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g")]))


@broken("action_in_no_group")
def a_registered_action_that_no_group_permits(svc, _) -> SetUp:
    svc.actions.register(ACTION)
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[OTHER])]))


@broken("action_in_no_group")
def a_source_with_one_byte_more(svc, _) -> SetUp:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])])
    return SetUp(key, Action(SOURCE + "\n"))


@broken("action_in_no_group")
def an_action_that_was_withdrawn(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=[ACTION])
    key = svc.usage_keys.create("k", execute_in_groups=[group])
    svc.groups.remove_action(group, ACTION)
    return SetUp(key)


@broken("action_in_no_group")
def an_action_that_was_deleted(svc, _) -> SetUp:
    svc.actions.register(ACTION)
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])])
    svc.actions.delete(ACTION)
    return SetUp(key)


@broken("action_in_no_group")
def a_group_that_is_full_of_others(svc, _) -> SetUp:
    others = [Action(f"const main = () => {number}") for number in range(10)]
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=others)]))


@broken("action_in_no_group")
def an_action_known_by_hash_alone(svc, _) -> SetUp:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[OTHER])])
    return SetUp(key, ACTION.hashed_cid)


@broken("action_in_no_group")
def an_action_known_by_hash_alone_and_a_full_group(svc, _) -> SetUp:
    others = [Action(f"const main = () => {number}") for number in range(10)]
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=others)])
    return SetUp(key, ACTION.hashed_cid)


# --- the wallet -----------------------------------------------------------------------------------------------------


@broken("wallet_in_no_group")
def a_wallet_that_no_group_permits(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=[ACTION])
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[group]), ACTION, svc.wallets.create())


@broken("wallet_in_no_group")
def a_wallet_that_was_withdrawn(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    group = svc.groups.create("g", actions=[ACTION], wallets=[wallet])
    svc.groups.remove_wallet(group, wallet)
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[group]), ACTION, wallet)


@broken("wallet_in_no_group")
def every_action_permitted_but_no_wallet(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=everything)
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[group]), ACTION, svc.wallets.create())


@broken("wallet_in_another_group")
def the_wallet_alone_in_another_group(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    svc.groups.create("b", wallets=[wallet])
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a", actions=[ACTION])])
    return SetUp(key, ACTION, wallet)


@broken("wallet_in_another_group")
def wallet_and_action_in_a_group_that_the_key_lacks(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    svc.groups.create("b", actions=[ACTION], wallets=[wallet])
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a", actions=[ACTION])])
    return SetUp(key, ACTION, wallet)


@broken("wallet_in_another_group")
def the_wallet_in_the_key_s_other_group(svc, _) -> SetUp:
    wallet = svc.wallets.create()
    groups = [svc.groups.create("a", actions=[ACTION]), svc.groups.create("b", wallets=[wallet])]
    return SetUp(svc.usage_keys.create("k", execute_in_groups=groups), ACTION, wallet)


@broken("wallet_not_registered")
def a_wallet_of_another_account(svc, other) -> SetUp:
    wallet = other.wallets.create()
    group = svc.groups.create("g", actions=[ACTION], wallets=[wallet])
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[group]), ACTION, wallet)


@broken("wallet_not_registered")
def a_wallet_of_nobody_in_a_group_of_every_wallet(svc, _) -> SetUp:
    group = svc.groups.create("g", actions=[ACTION], wallets=everything)
    return SetUp(svc.usage_keys.create("k", execute_in_groups=[group]), ACTION, STRANGER)


@broken("wallet_not_registered")
def a_wildcard_key_and_a_wallet_of_nobody(svc, _) -> SetUp:
    return SetUp(svc.usage_keys.create("k", execute_in_groups=everything), ACTION, STRANGER)


@broken("wallet_not_registered")
def the_master_key_and_a_wallet_of_nobody(svc, _) -> SetUp:
    return SetUp(svc.config.api_key, ACTION, STRANGER)


@broken("wallet_not_registered")
def nothing_at_all(svc, _) -> SetUp:
    return SetUp(
        svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])]), ACTION, STRANGER
    )


# --- displays -------------------------------------------------------------------------------------------------------


@pytest.fixture
def svc(emulator):
    return emulator.client().with_key(emulator.client().accounts.create("explained"))


@pytest.fixture
def other(emulator):
    return emulator.client().with_key(emulator.client().accounts.create("another"))


def use(svc, given: SetUp) -> Any:
    """Runs the action with the key and the wallet."""
    wallet = getattr(given.wallet, "address", given.wallet)
    action = ACTION if isinstance(given.action, str) else given.action
    return svc.with_key(given.key).run(action, {"pkpId": wallet} if wallet else {}).response


def repaired(code: str, svc, given: SetUp) -> SetUp:
    """Runs the code of a repair, which can create another key or wallet to use."""
    names: dict[str, Any] = {"svc": svc, "mine": svc}
    exec(code, names)  # noqa: S102 - that it runs is what is tested
    return given._replace(key=names.get("key", given.key), wallet=names.get("wallet", given.wallet))


def test_thirty_broken_set_ups_cover_each_kind_of_missing_link() -> None:
    assert len(CASES) >= 30
    assert {missing for missing, _ in CASES.values()} >= {
        "key_unknown", "key_of_another_account", "key_executes_nowhere", "groups_removed", "action_in_no_group",
        "key_not_in_group", "wallet_not_registered", "wallet_in_no_group", "wallet_in_another_group",
    }  # fmt: skip


def one_of_each_link(names: list[str]) -> list[Any]:
    """Returns all set-ups. A set-up with the same missing link as an earlier one belongs to the full tier."""
    seen: set[str] = set()
    found = []
    for name in names:
        link = CASES[name][0]
        found.append(pytest.param(name, marks=[pytest.mark.slow] if link in seen else []))
        seen.add(link)
    return found


def refused(name: str, svc: Any, other: Any) -> tuple[SetUp, Any]:
    """Builds a set-up, checks that the service rejects the run, and returns the set-up with the explanation."""
    missing, build = CASES[name]
    given = build(svc, other)
    with pytest.raises((Forbidden, Unauthorized, ActionError)):
        use(svc, given)
    explanation = svc.explain(*given)
    assert (explanation.allowed, explanation.missing) == (False, missing)
    return given, explanation


@pytest.mark.parametrize("name", one_of_each_link(list(CASES)))
def test_the_missing_link_is_found_and_the_first_fix_works(name, svc, other) -> None:
    given, explanation = refused(name, svc, other)
    now_given = repaired(explanation.repair.code, svc, given)
    assert use(svc, now_given) == (66 if now_given.wallet else 1)
    assert svc.explain(*now_given).missing == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_every_fix_works_and_costs_the_stated_price(name, svc, other) -> None:
    given, explanation = refused(name, svc, other)
    assert 1 <= len(explanation.repairs) <= 3
    for number in range(len(explanation.repairs)):
        if number:
            svc = svc.with_key(svc.accounts.create("again"))
            given, explanation = refused(name, svc, other)
        way = explanation.repairs[number]
        before = svc.billing.balance().available_cents
        now_given = repaired(way.code, svc, given)
        assert before - svc.billing.balance().available_cents == way.cost_cents
        assert use(svc, now_given) == (66 if now_given.wallet else 1)
        assert svc.explain(*now_given).missing == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of_each_link(list(CASES)))
def test_a_refused_run_can_explain_the_refusal(name, svc, other) -> None:
    missing, build = CASES[name]
    given = build(svc, other)
    with pytest.raises(SvcnbError) as caught:
        use(svc, given)
    explanation = caught.value.explain()  # type: ignore[attr-defined]
    # The rejected key reads its own account, which does not contain the group.
    assert explanation.missing == ("action_in_no_group" if missing == "key_of_another_account" else missing)


# --- ChainSecured accounts ------------------------------------------------------------------------------------------

NOT_ON_CHAIN = {"the_master_key_and_a_wallet_of_nobody", "a_key_with_fifty_groups_and_the_action_in_the_next"}


@pytest.fixture
def open_account(emulator):
    """Returns a function that opens ChainSecured accounts with credit."""

    def make(name: str) -> Any:
        owner = LocalSigner.random()
        emulator.faucet(owner.address)
        mine = emulator.client().chain_secured.create(owner, name)
        mine.billing.top_up(500)
        return mine

    return make


@pytest.mark.slow
@pytest.mark.parametrize("name", one_of_each_link([name for name in CASES if name not in NOT_ON_CHAIN]))
def test_the_fix_works_in_a_chain_secured_account(name, emulator, open_account) -> None:
    missing, build = CASES[name]
    mine, other = open_account("explained"), open_account("another")
    given = build(mine, other)
    anyone = emulator.client()
    with pytest.raises((Forbidden, Unauthorized, ActionError)):
        use(anyone, given)
    explanation = mine.explain(*given)
    # The contract does not show which account an unlisted key belongs to.
    assert explanation.missing == ("key_unknown" if missing == "key_of_another_account" else missing)
    assert explanation.repair.cost_cents == 0
    now_given = repaired(explanation.repair.code, mine, given)
    assert use(anyone, now_given) == (66 if now_given.wallet else 1)
    assert mine.explain(*now_given).allowed


def test_over_http_only_the_owner_can_fix_a_chain_secured_account(emulator, open_account) -> None:
    mine = open_account("explained")
    key = mine.usage_keys.create("k", execute_in_groups=[mine.groups.create("g")])
    with pytest.raises(Forbidden) as caught:
        emulator.client(api_key=key).run(ACTION, {})
    explanation = caught.value.explain()
    assert explanation.repair.code.startswith("mine.groups.add_action(1, ")
    assert use(emulator.client(), repaired(explanation.repair.code, mine, SetUp(key))) == 1


def test_a_chain_secured_account_has_no_warning_about_a_master_wallet(open_account) -> None:
    mine = open_account("explained")
    wallet = mine.wallets.create()
    key = mine.usage_keys.create("k", execute_in_groups=[mine.groups.create("g", actions=[ACTION], wallets=[wallet])])
    assert mine.explain(key, ACTION, wallet).warnings == ()


# --- rejections -----------------------------------------------------------------------------------------------------


async def test_an_awaited_refusal_can_also_explain_itself(emulator, svc) -> None:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g")])
    async with emulator.async_client(api_key=key) as client:
        with pytest.raises(Forbidden) as caught:
            await client.run(ACTION, {})
        assert (await caught.value.explain()).missing == "action_in_no_group"
        assert (await client.explain(None, ACTION)).missing == "action_in_no_group"


def test_nothing_is_missing_for_an_error_that_the_action_itself_raised(svc) -> None:
    with pytest.raises(ActionError) as caught:
        svc.run("const main = () => { throw new Error('mine') }")
    assert caught.value.explain().allowed


def test_a_pickled_refusal_does_not_contain_the_key(svc) -> None:
    key = svc.usage_keys.create("k")
    with pytest.raises(Forbidden) as caught:
        svc.with_key(key).run(ACTION, {})
    packed = pickle.dumps(caught.value)
    assert key.usage_api_key.reveal().encode() not in packed
    with pytest.raises(InvalidArgument, match="this error has no explanation"):
        pickle.loads(packed).explain()  # noqa: S301 - our own bytes


@pytest.mark.slow
def test_the_fix_for_an_expired_key_renews_it(start_emulator) -> None:
    emulator = start_emulator(starter_credits=1_000)
    svc = emulator.client().with_key(emulator.client().accounts.create("old"))
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION])])
    emulator.clock.advance(days=3_651)
    with pytest.raises(Forbidden) as caught:
        use(svc, SetUp(key))
    assert caught.value.hint == EXPIRED_HINT
    explanation = svc.explain(key, ACTION)
    assert explanation.missing == caught.value.explain().missing == "key_expired"
    assert use(svc, repaired(explanation.repair.code, svc, SetUp(key))) == 1


@pytest.mark.slow
def test_the_explanation_says_that_the_account_has_no_credit(start_emulator) -> None:
    emulator = start_emulator(starter_credits=0)
    svc = emulator.client().with_key(emulator.client().accounts.create("poor"))
    with pytest.raises(OutOfCredit):
        svc.run(ACTION, {})
    explanation = svc.explain(None, ACTION)
    assert explanation.missing == "credit"
    repaired(explanation.repair.code, svc, SetUp(None))
    assert svc.run(ACTION, {}).response == 1


def test_the_fix_with_the_fewest_permissions_comes_first(svc) -> None:
    wallet = svc.wallets.create()
    wide = svc.groups.create("wide", actions=[ACTION, OTHER], wallets=everything)
    narrow = svc.groups.create("narrow", actions=[ACTION], wallets=[wallet])
    key = svc.usage_keys.create("k")
    code = svc.explain(key, ACTION, wallet).repair.code
    assert code == f'svc.usage_keys.update("{key.api_key_hash}", execute_in_groups=[{narrow.id}])'
    assert narrow.id > wide.id


def test_a_fix_that_reveals_the_account_key_comes_last(svc) -> None:
    wallet = svc.wallets.create()
    svc.groups.create("wide", actions=[ACTION], wallets=everything)
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("own")])
    said = [way.says for way in svc.explain(key, ACTION, wallet).repairs]
    assert "'wide'" in said[-1]
    assert len(said) == 3


@pytest.mark.parametrize(
    ("group", "wallet", "codes"),
    [
        ({"actions": everything}, False, {"wildcard_action"}),
        ({"actions": [ACTION], "wallets": everything}, False, {"wildcard_wallet", "master_wallet"}),
        ({"actions": [ACTION], "wallets": everything}, True, {"wildcard_wallet", "master_wallet"}),
        ({"actions": [ACTION]}, False, set()),
    ],
)
def test_unnecessary_permissions_cause_a_warning(svc, group, wallet, codes) -> None:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", **group)])
    explanation = svc.explain(key, ACTION, svc.wallets.create() if wallet else None)
    assert explanation.allowed
    assert {warning.code for warning in explanation.warnings} == codes


def test_a_group_with_the_master_wallet_causes_a_warning(svc) -> None:
    master = svc.wallets.list()[0]
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g", actions=[ACTION], wallets=[master])])
    warnings = svc.explain(key, ACTION, master).warnings
    assert [warning.code for warning in warnings] == ["master_wallet"]
    assert "the account key" in warnings[0].text


def test_wildcard_keys_and_the_account_key_cause_a_warning(svc) -> None:
    wildcard = svc.explain(svc.usage_keys.create("k", execute_in_groups=everything), ACTION, svc.wallets.create())
    assert wildcard.allowed
    assert wildcard.every_group
    assert [warning.code for warning in wildcard.warnings] == ["wildcard_key"]
    master = svc.explain(None, ACTION)
    assert (master.allowed, [warning.code for warning in master.warnings]) == (True, ["master_key"])


def test_a_deleted_group_in_a_key_causes_a_warning_and_the_fix_removes_it(svc) -> None:
    gone, kept = svc.groups.create("gone"), svc.groups.create("kept")
    svc.groups.create("has", actions=[ACTION])
    key = svc.usage_keys.create("k", execute_in_groups=[gone, kept])
    svc.groups.delete(gone)
    explanation = svc.explain(key, ACTION)
    assert "removed_groups" in {warning.code for warning in explanation.warnings}
    assert all(f"[{gone.id}," not in way.code for way in explanation.repairs)


def test_a_group_id_that_does_not_exist_yet_causes_a_warning(svc) -> None:
    key = svc.usage_keys.create("k", execute_in_groups=[1])
    (warning,) = (found for found in svc.explain(key, ACTION).warnings if found.code == "removed_groups")
    assert "group 1" in warning.text
    assert "do not exist" in warning.text
    assert svc.groups.create("first", actions=[ACTION]).id == 1
    assert svc.explain(key, ACTION).allowed


def test_the_explanation_uses_the_plural_for_several_groups(svc) -> None:
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("a")])
    for name in ("b", "c", "d"):
        svc.groups.create(name, actions=[ACTION])
    text = repr(svc.explain(key, ACTION))
    assert "refused: the action is permitted in groups 2, 3, 4, but the key can execute only in group 1" in text


def test_the_text_is_stable_and_contains_no_secret(svc) -> None:
    key = svc.usage_keys.create("runner", execute_in_groups=[svc.groups.create("a")])
    svc.groups.create("b", actions=[ACTION])
    text = repr(svc.explain(key, ACTION))
    hashed = key.api_key_hash
    assert text.splitlines()[:5] == [
        "refused: the action is permitted in group 2, but the key can execute only in group 1",
        f"  key     'runner' {hashed[:10]}…{hashed[-4:]}",
        f"  action  'sign' {ACTION.hashed_cid[:10]}…{ACTION.hashed_cid[-4:]}",
        "  group 1 'a': key yes, action NO",
        "  group 2 'b': key NO, action yes",
    ]
    assert key.usage_api_key.reveal() not in text


def test_the_drawing_does_not_depend_on_colour_alone(svc) -> None:
    key = svc.usage_keys.create("<runner>", execute_in_groups=[svc.groups.create("a")])
    svc.groups.create("b", actions=[ACTION], wallets=[svc.wallets.create()])
    explanation: Explanation = svc.explain(key, ACTION, svc.wallets.list()[-1])
    html = explanation._repr_html_()
    drawn = drawing(explanation)
    assert "alt='Refused: the action is permitted in group 2" in html
    assert b64encode(drawn.encode()).decode() in html, "an image survives where HTML is sanitised"
    assert len(re.findall("stroke-dasharray", drawn)) == drawn.count("✕") == 3
    assert "&lt;runner&gt;" in drawn
    assert "<runner>" not in html
    assert explanation.repair is not None
    assert explanation.repair.code.split('"')[0] in html


def test_only_the_closest_of_many_groups_are_drawn(svc) -> None:
    groups = [svc.groups.create(f"g{number}") for number in range(9)]
    has = svc.groups.create("has", actions=[ACTION])
    drawn = drawing(svc.explain(svc.usage_keys.create("k", execute_in_groups=[*groups, has]), ACTION))
    assert "and 4 more" in drawn
    assert f">{has.id} has<" in drawn


@pytest.mark.slow
def test_explain_works_with_a_service_that_uses_other_names(start_emulator) -> None:
    emulator = start_emulator(service_name="acme", starter_credits=100)
    svc = emulator.client().with_key(emulator.client().accounts.create("named"))
    key = svc.usage_keys.create("k", execute_in_groups=[svc.groups.create("g")])
    with pytest.raises(Forbidden) as caught:
        svc.with_key(key).run(OTHER)
    given = repaired(caught.value.explain().repair.code, svc, SetUp(key, OTHER))
    assert svc.with_key(given.key).run(OTHER).response == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (lambda key: (key, 0), "a single action"),
        (lambda key: (key, ACTION, 0), "a single wallet"),
        (lambda key: (key, "no-action"), "invalid action"),
    ],
)
def test_explain_rejects_invalid_arguments(svc, arguments, said) -> None:
    with pytest.raises(InvalidArgument, match=said):
        svc.explain(*arguments(svc.usage_keys.create("k")))


def test_explain_needs_a_client_with_a_key(emulator) -> None:
    with pytest.raises(InvalidArgument, match="no key was passed"):
        emulator.client().explain(None, ACTION)
