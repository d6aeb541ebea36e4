from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable

import pytest

from svcnb.emulator.billing.intents import Intent, save
from svcnb.emulator.billing.pages import pay_page
from svcnb.emulator.billing.processor import Processor, ProcessorRefusal
from svcnb.emulator.errors import EndpointFailure
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.settings import Settings

ANNA = "0x" + "a" * 40
BORIS = "0x" + "b" * 40


async def confirm(processor: Processor, intent: Intent, method: str = "card", **more: str) -> Intent:
    return await processor.confirm(intent.id, intent.client_secret, method, **more)


async def refused(credit: Awaitable[int | Intent]) -> tuple[int, str]:
    with pytest.raises(EndpointFailure) as caught:
        await credit
    return caught.value.status, caught.value.message


async def test_a_new_payment_has_the_processors_format(processor):
    intent = await processor.create_intent(ANNA, 500)
    assert re.fullmatch("pi_[0-9A-Za-z]{24}", intent.id)
    assert re.fullmatch(f"{intent.id}_secret_[0-9A-Za-z]{{25}}", intent.client_secret)
    assert (intent.status, intent.amount_cents) == ("requires_payment_method", 500)
    assert intent.client_secret not in repr(intent)


def test_the_publishable_key_names_one_emulator(processor, store, clock):
    assert re.fullmatch("pk_test_[0-9A-Za-z]{24}", processor.publishable_key)

    def other(root: bytes) -> Processor:
        settings, randomness = Settings(), Randomness()
        custody = Custody(root, settings.vocabulary, randomness)
        return Processor(store=store, clock=clock, randomness=randomness, custody=custody, settings=settings)

    assert other(b"\7" * 32).publishable_key == processor.publishable_key
    assert other(b"\x08" * 32).publishable_key != processor.publishable_key


async def test_a_card_payment_succeeds_at_once_and_credits_once(processor, ledger):
    intent = await processor.create_intent(ANNA, 500)
    assert (await confirm(processor, intent)).status == "succeeded"
    assert await ledger.credit_cents(ANNA) == 0, "paying is not crediting"
    assert await processor.credit(ANNA, intent.id) == 500
    assert await refused(processor.credit(ANNA, intent.id)) == (
        400,
        "this payment of $5.00 is already credited; GET billing/balance shows the credit",
    )
    assert await ledger.credit_cents(ANNA) == 500
    assert await ledger.verify() == []


async def test_many_confirmations_at_once_credit_once(processor, ledger):
    intent = await processor.create_intent(ANNA, 500)
    await confirm(processor, intent)
    answers = await asyncio.gather(*(processor.credit(ANNA, intent.id) for _ in range(20)), return_exceptions=True)
    assert answers.count(500) == 1
    assert all(isinstance(answer, EndpointFailure) for answer in answers if answer != 500)
    assert await ledger.credit_cents(ANNA) == 500
    assert [entry.reference for entry in await ledger.entries(ANNA)] == [f"payment:{intent.id}"]


async def test_unpaid_foreign_and_unknown_payments_are_not_credited(processor, ledger):
    intent = await processor.create_intent(ANNA, 500)
    assert (await refused(processor.credit(ANNA, intent.id)))[0] == 400
    await confirm(processor, intent)
    status, text = await refused(processor.credit(BORIS, intent.id))
    assert status == 400
    assert text.startswith("this payment belongs to another account:")
    for unknown in ("pi_unknown", "", "\0", "pi_" + "x" * 500, intent.id + "\0", "pi_\ud800"):
        assert (await refused(processor.credit(ANNA, unknown)))[0] == 404
    assert await ledger.credit_cents(ANNA) == await ledger.credit_cents(BORIS) == 0
    assert await processor.credit(ANNA.upper().replace("X", "x"), intent.id) == 500


async def test_a_crypto_payment_takes_its_configured_time(processor, clock):
    intent = await processor.create_intent(ANNA, 2500)
    intent = await confirm(processor, intent, "crypto")
    assert (intent.status, intent.due_at) == ("processing", clock.now() + 60)
    clock.advance(59.9)
    status, message = await refused(processor.credit(ANNA, intent.id))
    assert status == 400
    assert "still processing" in message
    clock.advance(0.1)
    assert (await processor.find(intent.id, intent.client_secret)).status == "succeeded"
    assert await processor.credit(ANNA, intent.id) == 2500


async def test_a_payment_stays_succeeded_after_the_clock_is_set_back(processor, clock):
    intent = await confirm(processor, await processor.create_intent(ANNA, 500), "crypto")
    clock.advance(61)
    assert (await processor.find(intent.id, intent.client_secret)).status == "succeeded"
    clock.freeze(clock.now() - 3600)
    assert (await processor.find(intent.id, intent.client_secret)).status == "succeeded"


async def test_a_declined_card_may_be_followed_by_a_good_one(processor):
    intent = await processor.create_intent(ANNA, 500)
    declined = await confirm(processor, intent, card_number="4000000000000002")
    assert (declined.status, declined.problem_code) == ("failed", "card_declined")
    status, message = await refused(processor.credit(ANNA, intent.id))
    assert status == 400
    assert message.startswith("the card was declined; pay again")
    paid = await confirm(processor, intent)
    assert (paid.status, paid.problem) == ("succeeded", None)


@pytest.mark.parametrize(
    ("stored", "problem", "sentence"),
    [
        ("The card was declined.", "the card was declined", "The card was declined."),
        (
            "The payment failed: the transaction was reverted. No money was deducted.",
            "the payment failed: the transaction was reverted; no money was deducted",
            "The payment failed: the transaction was reverted; no money was deducted.",
        ),
    ],
)
async def test_the_reason_that_an_earlier_version_stored_is_one_clause(processor, store, stored, problem, sentence):
    intent = await confirm(processor, await processor.create_intent(ANNA, 500), card_number="4000000000000002")
    await store.run(lambda connection: save(connection, intent._replace(problem=stored)))
    read = await processor.find(intent.id, intent.client_secret)
    assert read.problem == problem
    assert await refused(processor.credit(ANNA, intent.id)) == (400, f"{problem}; pay again, or create another payment")
    assert f"<p>{sentence}</p>" in re.sub(r"<p [^>]*>", "<p>", pay_page(read, action="?", crypto_delay_s=1.0))


@pytest.mark.parametrize("first", ["card", "crypto"])
async def test_a_paid_or_processing_payment_cannot_be_paid_or_cancelled(processor, first):
    intent = await processor.create_intent(ANNA, 500)
    await confirm(processor, intent, first)
    for again in (confirm(processor, intent), processor.cancel(intent.id, intent.client_secret)):
        with pytest.raises(ProcessorRefusal) as caught:
            await again
        assert (caught.value.status, caught.value.code) == (400, "payment_intent_unexpected_state")


async def test_a_canceled_payment_stays_canceled(processor):
    intent = await processor.create_intent(ANNA, 500)
    assert (await processor.cancel(intent.id, intent.client_secret)).status == "canceled"
    with pytest.raises(ProcessorRefusal, match="is canceled, so the payment cannot be confirmed"):
        await confirm(processor, intent)
    with pytest.raises(ProcessorRefusal, match="so the outcome of the payment cannot be changed"):
        await processor.set_outcome(intent.id, "succeeded")
    assert "was canceled" in (await refused(processor.credit(ANNA, intent.id)))[1]


async def test_without_its_client_secret_a_payment_is_invisible(processor):
    intent = await processor.create_intent(ANNA, 500)
    seen = set()
    for intent_id, secret in [
        (intent.id, "x"),
        (intent.id, ""),
        (intent.id, "\ud800"),
        ("pi_none", intent.client_secret),
    ]:
        for attempt in (
            processor.find(intent_id, secret),
            processor.confirm(intent_id, secret, "card"),
            processor.cancel(intent_id, secret),
        ):
            with pytest.raises(ProcessorRefusal) as caught:
                await attempt
            seen.add((caught.value.status, caught.value.code))
    assert seen == {(404, "resource_missing")}


@pytest.mark.parametrize("chosen", [None, "card", "crypto"])
@pytest.mark.parametrize(("outcome", "delay_ms"), [("succeeded", 0), ("failed", 0), ("succeeded", 5000), ("failed", 1)])
async def test_the_control_plane_overrides_earlier_choices(processor, clock, chosen, outcome, delay_ms):
    intent = await processor.create_intent(ANNA, 500)
    if chosen == "crypto":
        await confirm(processor, intent, "crypto")
    elif chosen == "card":
        await confirm(processor, intent, card_number="4000000000000002")
    decided = await processor.set_outcome(intent.id, outcome, delay_ms)
    assert decided.status == ("processing" if delay_ms else outcome)
    clock.advance(delay_ms / 1000)
    settled = await processor.find(intent.id, intent.client_secret)
    assert settled.status == outcome
    assert bool(settled.problem) == (outcome == "failed")


async def test_a_payment_set_to_processing_waits_for_a_decision(processor, clock):
    intent = await processor.create_intent(ANNA, 500)
    await processor.set_outcome(intent.id, "processing")
    clock.advance(10**6)
    assert (await processor.find(intent.id, intent.client_secret)).status == "processing"
    assert (await processor.set_outcome(intent.id, "succeeded")).status == "succeeded"
    assert (await processor.set_outcome(intent.id, "succeeded")).status == "succeeded", "again is harmless"
    with pytest.raises(ProcessorRefusal, match="is succeeded, so the outcome of the payment cannot be changed"):
        await processor.set_outcome(intent.id, "failed")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda p, i: p.set_outcome(i.id, "lost"), "invalid outcome 'lost'"),
        (lambda p, i: p.set_outcome(i.id, "succeeded", -1), "delay of -0.001 s: use a delay from 0 to"),
        (lambda p, i: p.set_outcome(i.id, "succeeded", 10**15), "invalid delay"),
        (lambda p, _: p.set_outcome("pi_none", "succeeded"), "there is no payment 'pi_none'"),
        (lambda p, i: p.confirm(i.id, i.client_secret, "cash"), "invalid method 'cash': use card or crypto"),
        (lambda p, i: p.attempt(i.id, i.client_secret, "card", outcome="?", delay_s=0), "invalid outcome '\\?'"),
        (
            lambda p, i: p.attempt(i.id, i.client_secret, "card", outcome="failed", delay_s=float("nan")),
            "delay of nan s",
        ),
    ],
)
async def test_invalid_requests_are_rejected_without_effect(processor, change, why):
    intent = await processor.create_intent(ANNA, 500)
    with pytest.raises(ProcessorRefusal, match=why):
        await change(processor, intent)
    assert await processor.find(intent.id, intent.client_secret) == intent


@pytest.mark.parametrize("amount", [499, 0, -1, 10**9])
async def test_amounts_out_of_bounds_begin_no_payment(processor, amount):
    assert (await refused(processor.create_intent(ANNA, amount)))[0] == 400


async def test_customers_are_made_once_and_keep_the_last_email(processor, store):
    await processor.ensure_customer(ANNA, None)
    await processor.ensure_customer(ANNA, "anna@example.org")
    await processor.ensure_customer(ANNA, None)
    await processor.create_intent(ANNA, 500)
    await processor.ensure_customer(BORIS, "bad\0 \ud800 mail" + "x" * 1000)
    found = await store.run(lambda connection: connection.records("SELECT * FROM processor_customers"))
    rows = {row["wallet"]: row for row in found}
    assert set(rows) == {ANNA, BORIS}
    assert rows[ANNA]["email"] == "anna@example.org"
    assert re.fullmatch("cus_[0-9A-Za-z]{14}", rows[ANNA]["id"])
    assert len(rows[BORIS]["email"]) == 320


async def test_the_same_seed_gives_the_same_ids(store, clock):
    made = []
    for _ in range(2):
        settings, randomness = Settings(seed="lesson"), Randomness("lesson")
        custody = Custody(b"\7" * 32, settings.vocabulary, randomness)
        seeded = Processor(store=store, clock=clock, randomness=randomness, custody=custody, settings=settings)
        made.append(seeded._token(24))
    assert made[0] == made[1]
