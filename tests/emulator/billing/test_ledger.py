from __future__ import annotations

import asyncio

import pytest

from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.store import Store
from tests.emulator.billing.charging import charge

ANNA = "0x" + "a" * 40
BORIS = "0x" + "b" * 40


async def fund(ledger: Ledger, cents: int, wallet: str = ANNA) -> int:
    return await ledger.add_credit(wallet, cents, reason="test", reference=f"test {wallet} {cents}")


async def test_an_unknown_wallet_has_no_credit(ledger):
    assert await ledger.credit_cents(ANNA) == 0
    assert await ledger.entries(ANNA) == []
    assert await ledger.verify() == []


async def test_credit_and_charges_change_only_one_account(ledger):
    assert await fund(ledger, 500) == 500
    assert await charge(ledger, ANNA, 1, reason="add_group", request_id="r1") == 499
    assert await ledger.credit_cents(ANNA) == 499
    assert await ledger.credit_cents(BORIS) == 0


async def test_the_spelling_of_the_address_does_not_matter(ledger):
    await fund(ledger, 500, ANNA.upper().replace("X", "x"))
    assert await ledger.credit_cents(ANNA) == 500


async def test_entries_contain_the_event_the_time_and_the_reason(ledger, clock):
    await ledger.add_credit(ANNA, 500, reason="starter credits", reference=ANNA, kind="starter")
    clock.advance(10)
    await charge(ledger, ANNA, 3, reason="svc_action", request_id="r1")
    starter, charged = await ledger.entries(ANNA)
    assert (starter.cents, starter.kind, starter.request_id) == (500, "starter", None)
    assert (charged.cents, charged.kind, charged.reason, charged.request_id) == (-3, "charge", "svc_action", "r1")
    assert charged.at - starter.at == 10


async def test_a_request_is_charged_once_even_if_settled_repeatedly(ledger):
    await fund(ledger, 500)
    made = await asyncio.gather(*(charge(ledger, ANNA, 2, reason="again", request_id="one") for _ in range(20)))
    assert set(made) == {498}
    assert await ledger.verify() == []


async def test_a_reference_credits_once_and_kinds_do_not_collide(ledger):
    for _ in range(3):
        await ledger.add_credit(ANNA, 100, reason="gift", reference="x")
    await ledger.add_credit(ANNA, 100, reason="paid", reference="x", kind="payment")
    assert await ledger.credit_cents(ANNA) == 200


async def test_a_charge_past_zero_is_recorded_as_owed(ledger):
    await fund(ledger, 1)
    credit = await charge(ledger, ANNA, 4, reason="svc_action", request_id="long")
    assert credit == -3


@pytest.mark.parametrize("cents", [0, -1])
async def test_amounts_below_one_cent_are_rejected(ledger, cents):
    with pytest.raises(ValueError, match="expected an integer of at least 1"):
        await charge(ledger, ANNA, cents, reason="nothing", request_id="r")
    with pytest.raises(ValueError, match="expected an integer of at least 1"):
        await ledger.add_credit(ANNA, cents, reason="nothing", reference="r")
    assert await ledger.entries(ANNA) == []


# --- holds --------------------------------------------------------------------------------------------------------


async def test_without_credit_a_hold_is_refused_with_402(ledger):
    with pytest.raises(StructuredError) as caught:
        await ledger.hold(ANNA, 1)
    assert caught.value.status == 402
    assert await ledger.verify() == []


async def test_calls_at_once_cannot_spend_the_same_cent(ledger):
    await fund(ledger, 3)

    async def call(number: int) -> bool:
        try:
            hold = await ledger.hold(ANNA)
        except StructuredError:
            return False
        await hold.settle(1, reason="add_group", request_id=f"r{number}")
        return True

    served = await asyncio.gather(*(call(number) for number in range(40)))
    assert sum(served) == 3
    assert await ledger.credit_cents(ANNA) == 0


async def test_a_released_hold_costs_nothing_and_frees_its_cent(ledger):
    await fund(ledger, 1)
    hold = await ledger.hold(ANNA)
    with pytest.raises(StructuredError):
        await ledger.hold(ANNA)
    hold.release()
    hold.release()
    async with await ledger.hold(ANNA):
        pass
    async with await ledger.hold(ANNA) as settled:
        assert await settled.settle(1, reason="done", request_id="r") == 0
    assert await ledger.credit_cents(ANNA) == 0


async def test_a_hold_may_settle_for_more_than_was_held(ledger):
    await fund(ledger, 5)
    hold = await ledger.hold(ANNA, 1)
    assert await hold.settle(9, reason="svc_action", request_id="r") == -4
    with pytest.raises(StructuredError, match=r"is -\$0\.04"):
        await ledger.hold(ANNA)


async def test_a_hold_grows_within_the_credit_and_no_further(ledger):
    await fund(ledger, 5)
    hold, other = await ledger.hold(ANNA), await ledger.hold(ANNA)
    await hold.grow(4)
    await hold.grow(2)  # the hold never decreases
    with pytest.raises(StructuredError) as caught:
        await hold.grow(5)
    assert caught.value.status == 402
    with pytest.raises(StructuredError):
        await ledger.hold(ANNA)
    other.release()
    await hold.grow(5)
    hold.release()
    await hold.grow(9)  # the hold has ended
    async with await ledger.hold(ANNA, 5):
        pass
    assert await ledger.credit_cents(ANNA) == 5


async def test_a_caller_cancelled_before_the_hold_reserves_no_credit(ledger):
    await fund(ledger, 1)
    for _ in range(50):
        waiting = asyncio.ensure_future(ledger.hold(ANNA))
        await asyncio.sleep(0)
        if waiting.cancel():
            with pytest.raises(asyncio.CancelledError):
                await waiting
        else:  # in memory, a hold begins immediately, so no cancellation can precede it
            waiting.result().release()
    hold = await ledger.hold(ANNA)
    assert await hold.settle(1, reason="add_group", request_id="r") == 0


async def test_a_caller_cancelled_during_settlement_still_pays(ledger, store):
    await fund(ledger, 5)
    hold = await ledger.hold(ANNA)
    settling = asyncio.ensure_future(hold.settle(1, reason="add_group", request_id="r"))
    await asyncio.sleep(0)
    if settling.cancel():  # not in memory, where the hold has already ended
        with pytest.raises(asyncio.CancelledError):
            await settling
    await store.run(lambda _: None)  # the database has committed all earlier functions
    assert await ledger.credit_cents(ANNA) == 4


# --- consistency of balances and entries ---------------------------------------------------------------------------


async def test_the_ledger_survives_a_restart(tmp_path, clock):
    url = f"sqlite:///{tmp_path / 'state.db'}"
    store = Store(url)
    await fund(Ledger(store, clock), 500)
    store.close()
    store = Store(url)
    assert await Ledger(store, clock).credit_cents(ANNA) == 500
    store.close()


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (
            "UPDATE ledger_balances SET cents = cents + 1",
            "the balance is 500 cents, but the sum of the ledger entries is 499 cents",
        ),
        ("DELETE FROM ledger_balances", "the balance is 0 cents, but the sum of the ledger entries is 499 cents"),
        ("DELETE FROM ledger_entries", "the balance is 499 cents, but the sum of the ledger entries is 0 cents"),
        (
            "DELETE FROM ledger_entries WHERE kind = 'charge'",
            ("the balance is 499 cents, but the sum of the ledger entries is 500 cents"),
        ),
        ("UPDATE ledger_entries SET kind = 'charge'", "is a charge of 500 cents"),
    ],
)
async def test_verify_reports_changed_balances_and_entries(ledger, store, damage, found):
    await fund(ledger, 500)
    await charge(ledger, ANNA, 1, reason="add_group", request_id="r")
    assert await ledger.verify() == []
    await store.run(lambda connection: connection.run(damage))
    problems = await ledger.verify()
    assert len(problems) == 1
    assert problems[0].startswith(ANNA)
    assert found in problems[0]


async def test_an_entry_of_zero_cents_cannot_be_stored(store):
    from svcnb.emulator.billing.store import Entry, post
    from svcnb.emulator.platform.database import ConstraintBroken

    with pytest.raises(ConstraintBroken):
        await store.run(lambda connection: post(connection, Entry(ANNA, 0, "grant", "nothing", "g:0", 0.0)))
