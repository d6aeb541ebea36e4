"""Both clients call every endpoint of docs/service/endpoints.md#endpoints on the emulator."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from svcnb import Action, everything
from svcnb.client import errors
from svcnb.client.models.usage_keys import UsageKey

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADD = Action("async function main({ n }) {\n  console.log('adding to', n);\n  return n + 1;\n}\n", name="increment")
ADDRESS = Action(
    "const main = async ({ pkpId }) => new ethers.Wallet(await Svc.Actions.getPrivateKey({ pkpId })).address"
)


async def done(value: Any) -> Any:
    """Returns the result of a call of either client."""
    return await value if inspect.isawaitable(value) else value


async def walked(items: Any) -> list[Any]:
    return [item async for item in items] if hasattr(items, "__aiter__") else list(items)


@pytest.fixture(params=["sync", "async"])
async def anyone(request, emulator):
    """Yields a client without a key: first a `Client`, then an `AsyncClient`."""
    client = emulator.client() if request.param == "sync" else emulator.async_client()
    yield client
    await done(client.close())


@pytest.fixture
async def account(anyone):
    return await done(anyone.accounts.create("client tests", description="made by a test", email="a@example.org"))


@pytest.fixture
async def svc(anyone, account):
    return anyone.with_key(account)


async def test_an_account_is_created_known_and_funded(anyone, account, svc) -> None:
    assert account.name == "client tests"
    assert account.wallet_address.startswith("0x")
    assert await done(svc.accounts.exists()) is True
    assert await done(anyone.with_key("bm9ib2R5IGtub3dz").accounts.exists()) is False
    before = await done(svc.billing.balance())
    payment = await done(svc.billing.top_up(500))
    assert (payment.status, payment.amount_cents) == ("credited", 500)
    after = await done(svc.billing.balance())
    assert after.available_cents == before.available_cents + 500
    assert payment.balance == after


async def test_calls_that_need_a_key_say_so_without_one(anyone) -> None:
    with pytest.raises(errors.Unauthorized) as caught:
        await done(anyone.wallets.list())
    assert caught.value.structured
    assert caught.value.request_id


async def test_wallets_are_created_and_listed_from_the_master_wallet_on(account, svc) -> None:
    wallet = await done(svc.wallets.create())
    listed = await done(svc.wallets.list())
    assert [item.wallet_address for item in listed] == [account.wallet_address, wallet.wallet_address]
    assert [item.id for item in listed] == ["0", "1"]
    assert await walked(svc.wallets.iter()) == list(listed)


async def test_the_life_of_a_group(svc) -> None:
    wallet = await done(svc.wallets.create())
    group = await done(svc.groups.create("adders", description="they add", wallets=[wallet], actions=[ADD]))
    assert list(await done(svc.groups.list())) == [group]
    assert await walked(svc.groups.iter()) == [group]
    contents = await done(svc.groups.contents(group))
    assert [item.hashed_cid for item in contents.actions] == [ADD.hashed_cid]
    assert [item.wallet_address for item in contents.wallets] == [wallet.wallet_address]
    assert not contents.any_action
    assert not contents.any_wallet

    renamed = await done(svc.groups.update(group, name="adders and more"))
    assert (renamed.name, renamed.description) == ("adders and more", "they add")
    assert await done(svc.groups.contents(group)) == contents  # the replacement of the whole record kept all values

    await done(svc.groups.add_action(group, ADDRESS))
    await done(svc.groups.add_action(group, ADDRESS))
    await done(svc.groups.remove_action(group, ADD))
    await done(svc.groups.remove_wallet(group, wallet))
    await done(svc.groups.add_wallet(group, everything))
    contents = await done(svc.groups.contents(group))
    assert [item.hashed_cid for item in contents.actions] == [ADDRESS.hashed_cid]
    assert contents.any_wallet

    with pytest.raises(errors.NotFound):
        await done(svc.groups.remove_action(group, ADD))
    await done(svc.groups.delete(group))
    assert list(await done(svc.groups.list())) == []
    with pytest.raises(errors.NotFound):
        await done(svc.groups.delete(group))


async def test_one_entry_is_read_by_its_reference(svc) -> None:
    wallet = await done(svc.wallets.create())
    group = await done(svc.groups.create("adders", actions=[ADD]))
    key = await done(svc.usage_keys.create("runner", execute_in_groups=[group]))
    await done(svc.actions.register(ADD))
    assert (await done(svc.wallets.get(wallet.address.upper().replace("0X", "0x")))).address == wallet.address
    assert await done(svc.groups.get(group.id)) == group
    assert (await done(svc.usage_keys.get(key))).api_key_hash == key.api_key_hash
    assert (await done(svc.actions.get(ADD.cid))).name == "increment"
    for resource, missing in (("wallets", "0x" + "1" * 40), ("groups", group.id + 1), ("usage_keys", "0x" + "1" * 64)):
        with pytest.raises(errors.NotFound, match=r"To list the|Use a key from"):
            await done(getattr(svc, resource).get(missing))
    with pytest.raises(errors.NotFound, match="To list the"):
        await done(svc.actions.get(ADDRESS))
    for resource in ("wallets", "groups", "actions"):
        with pytest.raises(errors.InvalidArgument):
            await done(getattr(svc, resource).get(0))


async def test_old_names_delete_as_before_and_warn_at_the_line_of_the_caller(svc) -> None:
    group = await done(svc.groups.create("adders"))
    key = await done(svc.usage_keys.create("runner"))
    with pytest.warns(DeprecationWarning, match=r"groups.remove is deprecated.*use groups.delete") as caught:
        await done(svc.groups.remove(group))
    assert caught[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="use usage_keys.delete"):
        await done(svc.usage_keys.remove(key))
    assert not await done(svc.groups.list())
    assert not await done(svc.usage_keys.list())


async def test_a_group_of_thirteen_entries_is_created_with_ten_and_extended_by_three(svc) -> None:
    actions = [Action(f"const main = () => {number}") for number in range(13)]
    group = await done(svc.groups.create("many", actions=actions))
    contents = await done(svc.groups.contents(group))
    assert {item.hashed_cid for item in contents.actions} == {action.hashed_cid for action in actions}
    with pytest.raises(errors.InvalidArgument, match="13 actions"):
        await done(svc.groups.update(group, name="renamed"))


async def test_the_life_of_an_action(svc) -> None:
    assert await done(svc.actions.cid(ADD)) == ADD.cid
    registered = await done(svc.actions.register(ADD, description="adds one"))
    assert (registered.name, registered.cid) == ("increment", ADD.cid)
    await done(svc.actions.update(ADD, name="adder"))
    (listed,) = await done(svc.actions.list())
    assert (listed.hashed_cid, listed.name, listed.description) == (ADD.hashed_cid, "adder", "adds one")
    assert await walked(svc.actions.iter()) == [listed]
    await done(svc.actions.delete(listed))
    assert list(await done(svc.actions.list())) == []


async def test_the_life_of_a_usage_key(anyone, svc) -> None:
    group = await done(svc.groups.create("adders", actions=[ADD]))
    key = await done(svc.usage_keys.create("runner", description="runs", execute_in_groups=[group]))
    assert key.execute_only
    (listed,) = await done(svc.usage_keys.list())
    assert (listed.api_key_hash, listed.name, listed.execute_in_groups) == (key.api_key_hash, "runner", (group.id,))
    assert listed.usage_api_key is None
    assert await walked(svc.usage_keys.iter()) == [listed]

    runner = anyone.with_key(key)
    run = await done(runner.run(ADD, n=41, until_effective=300))
    assert (run.response, run.logs, run.cid) == (42, "adding to 41\n", ADD.cid)
    with pytest.raises(errors.Forbidden):
        await done(runner.run(ADDRESS, pkpId="0x" + "1" * 40))

    await done(svc.usage_keys.update(key, description="runs no more", execute_in_groups=[]))
    with pytest.raises(errors.Forbidden):
        await done(runner.run(ADD, n=1))
    await done(svc.usage_keys.update(listed, execute_in_groups=everything))
    assert (await done(runner.run(ADD, n=1, until_effective=300))).response == 2
    await done(svc.usage_keys.update_metadata(key.api_key_hash, name="walker"))
    (listed,) = await done(svc.usage_keys.list())
    assert (listed.name, listed.description, listed.execute_in_groups) == ("walker", "runs no more", (0,))

    await done(svc.usage_keys.delete(key))
    assert list(await done(svc.usage_keys.list())) == []
    with pytest.raises(errors.Unauthorized):
        await done(runner.run(ADD, n=1))


async def test_an_action_uses_a_wallet_of_its_group(anyone, svc) -> None:
    wallet = await done(svc.wallets.create())
    group = await done(svc.groups.create("signers", actions=[ADDRESS], wallets=[wallet]))
    key = await done(svc.usage_keys.create("signer", execute_in_groups=group))
    run = await done(anyone.with_key(key).run(ADDRESS, pkpId=wallet.address, until_effective=300))
    assert run.response.lower() == wallet.wallet_address


async def test_the_errors_of_actions_name_their_place(svc) -> None:
    thrown = "function main() {\n  const missing = null;\n  return missing.member;\n}\n"
    with pytest.raises(errors.ActionError) as caught:
        await done(svc.run(thrown))
    assert (caught.value.name, caught.value.line, caught.value.stage) == ("TypeError", 3, "run")
    with pytest.raises(errors.ActionError) as caught:
        await done(svc.run("function main( {"))
    assert (caught.value.name, caught.value.stage) == ("SyntaxError", "compile")


async def test_a_failed_run_costs_nothing_and_a_successful_run_costs_the_recorded_amount(emulator, svc) -> None:
    before = (await done(svc.billing.balance())).available_cents
    with pytest.raises(errors.ActionError):
        await done(svc.run("const main = () => { throw new Error('boom') }"))
    assert (await done(svc.billing.balance())).available_cents == before
    run = await done(svc.run(ADD, n=1))
    cost = emulator.run_record(run.request_id)["cost_cents"]
    assert 1 <= cost <= run.cost_cents  # one cent, or more on a slow machine
    assert (await done(svc.billing.balance())).available_cents == before - cost


@pytest.mark.slow
async def test_the_error_for_an_account_without_credit_explains_how_to_add_credit(start_emulator) -> None:
    with start_emulator().client() as anyone:
        svc = anyone.with_key(anyone.accounts.create("poor"))
        with pytest.raises(errors.OutOfCredit) as caught:
            svc.wallets.create()
        assert "top_up" in caught.value.hint
        assert svc.billing.top_up(500, method="card").status == "credited"
        assert svc.wallets.create().wallet_address


async def test_a_payment_is_started_paid_on_the_page_and_confirmed(emulator, svc) -> None:
    payment = await done(svc.billing.create_payment_intent(500))
    assert payment.payment_intent_id.startswith("pi_")
    assert (await done(svc.billing.publishable_key())).startswith("pk_")
    with pytest.raises(errors.BadRequest):
        await done(svc.billing.confirm(payment))
    assert (await done(svc.billing.pay_page(payment))).startswith(emulator.base_url)
    emulator.processor(payment.payment_intent_id, "succeeded")
    before = await done(svc.billing.balance())
    after = await done(svc.billing.confirm(payment.payment_intent_id))
    assert after.available_cents == before.available_cents + 500
    with pytest.raises(errors.BadRequest):
        await done(svc.billing.confirm(payment))


async def test_the_node_returns_its_properties(emulator, anyone) -> None:
    chain = await done(anyone.node.chain_config())
    assert (chain.chain_id, chain.contract_address.lower()) == (emulator.chain_id, emulator.contract_address.lower())
    payers = await done(anyone.node.payers())
    assert payers
    assert await done(anyone.node.admin_payer()) not in payers
    assert (await done(anyone.node.limits())).max_fetch_count == 50  # docs/service/limits.md#limits-of-the-service
    assert (await done(anyone.node.version())).version
    assert (await done(anyone.node.health())).healthy in (True, False)
    described = await done(anyone.node.openapi())
    assert anyone.vocabulary.run_path in {path.removeprefix("/core/v1") for path in described["paths"]}


async def test_the_clock_of_the_service_is_known(anyone) -> None:
    await done(anyone.node.version())
    assert abs(anyone.clock_skew) < 60  # the header has a resolution of one second, and a busy machine responds late


@pytest.mark.slow
async def test_fifty_simultaneous_runs_return_their_own_responses(emulator) -> None:
    async with emulator.async_client() as anyone:
        svc = anyone.with_key(await anyone.accounts.create("many"))
        runs = await asyncio.gather(*(svc.run(ADD, n=number) for number in range(50)))
        assert [run.response for run in runs] == list(range(1, 51))


@pytest.mark.slow
def test_a_run_waits_until_a_new_permission_takes_effect(start_emulator) -> None:
    with start_emulator(starter_credits=100, grant_delay_ms=700).client() as anyone:
        svc = anyone.with_key(anyone.accounts.create("delayed"))
        group = svc.groups.create("adders", actions=[ADD])
        for _ in range(50):  # on a busy machine a key may be effective before its first use
            runner = anyone.with_key(svc.usage_keys.create("runner", execute_in_groups=[group]))
            try:
                runner.run(ADD, n=1)
            except (errors.Unauthorized, errors.Forbidden):
                break
        else:
            raise AssertionError("no key was ever too fresh")
        assert runner.run(ADD, n=1, until_effective=300).response == 2


@pytest.mark.slow
def test_the_client_uses_the_configured_names_of_a_service(start_emulator) -> None:
    emulator = start_emulator(service_name="acme", processor_name="payco", starter_credits=100)
    with emulator.client() as anyone:
        assert anyone.vocabulary.namespace == "Acme"
        svc = anyone.with_key(anyone.accounts.create("acme"))
        source = "const main = async () => (await Acme.Actions.getAcmeActionPrivateKey()).length"
        assert svc.run(source).response == 66
        assert svc.actions.cid(source)
        assert svc.billing.publishable_key()


def test_a_key_from_a_listing_has_no_secret_and_cannot_run(emulator) -> None:
    with emulator.client() as anyone:
        svc = anyone.with_key(anyone.accounts.create("listing"))
        svc.usage_keys.create("runner")
        (listed,) = svc.usage_keys.list()
        assert isinstance(listed, UsageKey)
        with pytest.raises(errors.InvalidArgument):
            anyone.with_key(listed)
