"""The explanation of every rejected management call names the missing permission, and its repair works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from svcnb import Action, Forbidden, LocalSigner
from svcnb.client.explanation_graph import drawing
from svcnb.client.models.usage_keys import UsageKey

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ACTION = Action("const main = () => 1", name="one")
OTHER = Action("const main = () => 2", name="two")


class Account(NamedTuple):
    """Account with objects to change."""

    svc: Any
    group: Any
    wallet: Any
    spare: Any
    other: UsageKey


@pytest.fixture
def account(emulator) -> Account:
    svc = emulator.client().with_key(emulator.client().accounts.create("refused"))
    return filled(svc)


def filled(svc: Any) -> Account:
    wallet, spare = svc.wallets.create(), svc.wallets.create()
    svc.actions.register(ACTION)
    group = svc.groups.create("g", actions=[ACTION], wallets=[wallet])
    return Account(svc, group, wallet, spare, svc.usage_keys.create("other"))


CALLS: dict[str, tuple[str, Callable[[Any, Account], Any]]] = {
    "add_group": ("permission", lambda svc, _: svc.groups.create("y", actions=[ACTION])),
    "remove_group": ("permission", lambda svc, it: svc.groups.delete(it.group)),
    "create_wallet": ("permission", lambda svc, _: svc.wallets.create()),
    "add_action_to_group": ("permission", lambda svc, it: svc.groups.add_action(it.group, OTHER)),
    "remove_action_from_group": ("permission", lambda svc, it: svc.groups.remove_action(it.group, ACTION)),
    "add_pkp_to_group": ("permission", lambda svc, it: svc.groups.add_wallet(it.group, it.spare)),
    "remove_pkp_from_group": ("permission", lambda svc, it: svc.groups.remove_wallet(it.group, it.wallet)),
    "update_group": ("master_only", lambda svc, it: svc.groups.update(it.group, name="h", description="d")),
    "add_usage_api_key": (
        "master_only",
        lambda svc, it: svc.usage_keys.create("z", can_create_groups=True, execute_in_groups=[it.group]),
    ),
    "update_usage_api_key": ("master_only", lambda svc, it: svc.usage_keys.update(it.other, execute_in_groups=[0])),
    "update_usage_api_key_metadata": (
        "master_only",
        lambda svc, it: svc.usage_keys.update_metadata(it.other, name="renamed"),
    ),
    "remove_usage_api_key": ("master_only", lambda svc, it: svc.usage_keys.delete(it.other)),
    "add_action": ("master_only", lambda svc, _: svc.actions.register(OTHER, description="two")),
    "update_action_metadata": ("master_only", lambda svc, _: svc.actions.update(ACTION, name="eins")),
    "delete_action": ("master_only", lambda svc, _: svc.actions.delete(ACTION)),
}


def state(svc: Any) -> list[Any]:
    """Returns the listings of all objects of an account."""
    groups = svc.groups.list()
    held = [svc.groups.contents(group) for group in groups]
    return [*svc.wallets.list(), *groups, *held, *svc.actions.list(), *svc.usage_keys.list()]


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_the_explanation_contains_the_missing_permission_and_its_fix_works(name, account) -> None:
    missing, call = CALLS[name]
    key = account.svc.usage_keys.create("refused", execute_in_groups=[account.group])
    limited = account.svc.with_key(key)
    with pytest.raises(Forbidden) as caught:
        call(limited, account)
    explanation = caught.value.explain()
    assert (explanation.call, explanation.missing) == (name, missing)
    before, credit = state(account.svc), account.svc.billing.balance().available_cents
    exec(explanation.repair.code, {"svc": account.svc})  # noqa: S102 - that it runs is what is tested
    assert credit - account.svc.billing.balance().available_cents == explanation.repair.cost_cents == 1
    if missing == "permission":
        call(limited, account)
        assert next(each for each in account.svc.usage_keys.list() if each.name == "refused").execute_in_groups == (
            account.group.id,
        )
    assert state(account.svc) != before, "the repair is the call, or made it possible"
    assert key.usage_api_key.reveal() not in repr(explanation)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (missing, _) in CALLS.items() if missing == "permission"])
def test_the_explanation_also_offers_the_call_with_the_account_key(name, account) -> None:
    _, call = CALLS[name]
    with pytest.raises(Forbidden) as caught:
        call(account.svc.with_key(account.svc.usage_keys.create("refused")), account)
    before = state(account.svc)
    exec(caught.value.explain().repairs[1].code, {"svc": account.svc})  # noqa: S102 - as above
    assert state(account.svc) != before


def test_over_http_only_the_owner_can_change_a_chain_secured_account(emulator) -> None:
    owner = LocalSigner.random()
    emulator.faucet(owner.address)
    mine = emulator.client().chain_secured.create(owner, "owned")
    mine.billing.top_up(500)
    key = mine.usage_keys.create("k", can_create_groups=True)
    with pytest.raises(Forbidden) as caught:
        emulator.client(api_key=key).groups.create("y")
    explanation = caught.value.explain()
    assert (explanation.missing, explanation.repair.cost_cents) == ("owner_only", 0)
    exec(explanation.repair.code, {"mine": mine})  # noqa: S102 - as above
    assert [group.name for group in mine.groups.list()] == ["y"]


@pytest.mark.slow
def test_the_explanation_says_that_the_key_has_expired(start_emulator) -> None:
    emulator = start_emulator(starter_credits=100)
    svc = emulator.client().with_key(emulator.client().accounts.create("old"))
    key = svc.usage_keys.create("k", can_create_groups=True)
    emulator.clock.advance(days=3_651)
    with pytest.raises(Forbidden) as caught:
        svc.with_key(key).groups.create("y")
    explanation = caught.value.explain()
    assert explanation.missing == "key_expired"
    exec(explanation.repair.code, {"svc": svc})  # noqa: S102 - as above
    svc.with_key(key).groups.create("y")


async def test_the_asynchronous_client_also_explains_and_draws_the_refusal(emulator, account) -> None:
    key = account.svc.usage_keys.create("<runner>")
    async with emulator.async_client(api_key=key) as client:
        with pytest.raises(Forbidden) as caught:
            await client.groups.create("y")
        explanation = await caught.value.explain()
    assert explanation.missing == "permission"
    drawn = drawing(explanation)
    assert ">call<" in drawn
    assert ">add_group<" in drawn
    assert "✕" in drawn
    assert "<runner>" not in drawn + explanation._repr_html_()


def test_nothing_is_missing_after_the_permission_is_granted(account) -> None:
    key = account.svc.usage_keys.create("k")
    with pytest.raises(Forbidden) as caught:
        account.svc.with_key(key).groups.create("y")
    account.svc.usage_keys.update(key, can_create_groups=True)
    assert caught.value.explain().allowed
