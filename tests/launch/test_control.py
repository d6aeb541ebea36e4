"""Client of the control plane, with a real emulator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest

import svcnb
from svcnb.control import ControlRefused
from svcnb.launch import Emulator

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture(scope="module")
def own() -> Iterator[Emulator]:
    """Separate emulator, because these tests reset and freeze the emulator."""
    with svcnb.Emulator(starter_credits=100) as running:
        yield running


@pytest.fixture(autouse=True)
def from_the_start(own: Emulator) -> None:
    own.faults.clear()
    own.reset()


def test_reset_deletes_accounts(own: Emulator) -> None:
    account = own.client().accounts.create("gone")
    keyed = own.client(api_key=account.api_key)
    assert keyed.accounts.exists()
    own.reset()
    assert not keyed.accounts.exists()


def test_restore_restores_the_database_and_the_chain(own: Emulator) -> None:
    account = own.client().accounts.create("kept")
    keyed = own.client(api_key=account.api_key)
    own.snapshot("before")
    keyed.groups.create("later")
    assert len(keyed.groups.list()) == 1
    own.restore("before")
    assert len(keyed.groups.list()) == 0
    assert keyed.billing.balance().available_cents == 100


def test_a_snapshot_that_does_not_exist_is_refused(own: Emulator) -> None:
    with pytest.raises(ControlRefused) as caught:
        own.restore("nothing")
    assert caught.value.status == 404


def test_time_can_be_frozen_advanced_and_resumed(own: Emulator) -> None:
    own.clock.freeze(1_767_225_600)
    assert own.clock.now() == 1_767_225_600
    own.clock.advance("10m")
    assert own.clock.now() == 1_767_225_600 + 600
    own.clock.advance(hours=1)
    assert own.clock.now() == 1_767_225_600 + 4200
    own.clock.real()
    assert own.clock.now() != 1_767_225_600 + 4200


@pytest.mark.parametrize(
    "at", [1_767_225_600, "2026-01-01", "2026-01-01T01:00+01:00", datetime(2026, 1, 1, tzinfo=UTC)]
)
def test_time_can_be_frozen_at_a_number_a_text_or_a_datetime(own: Emulator, at) -> None:
    own.clock.freeze(at)
    assert own.clock.now() == 1_767_225_600  # date -u -d 2026-01-01 +%s
    own.clock.real()


def test_invalid_times_and_names_are_rejected_by_the_client(own: Emulator) -> None:
    with pytest.raises(ValueError, match="invalid time"):
        own.clock.freeze("tomorrow")
    for name in ("a/b", ""):
        with pytest.raises(ValueError, match="invalid snapshot name"):
            own.snapshot(name)


def test_advance_takes_a_span_or_units_not_both(own: Emulator) -> None:
    with pytest.raises(TypeError, match="a duration or units"):
        own.clock.advance("10m", minutes=1)


def test_the_next_call_that_needs_a_faulty_part_fails_once(own: Emulator) -> None:
    svc = own.client(retries=0)
    own.faults.next("chain")
    with pytest.raises(svcnb.Unavailable):
        svc.accounts.create("refused")
    svc.accounts.create("accepted")


def test_a_fault_lasts_until_it_is_cleared(own: Emulator) -> None:
    svc = own.client(retries=0)
    own.faults.until_cleared("chain")
    for _ in range(3):
        with pytest.raises(svcnb.Unavailable):
            svc.accounts.create("refused")
    own.faults.clear()
    svc.accounts.create("accepted")


def test_credit_is_added_without_a_payment(own: Emulator) -> None:
    account = own.client().accounts.create("rich")
    own.credit(account.wallet_address, 250)
    assert own.client(api_key=account.api_key).billing.balance().available_cents == 350


def test_a_payment_succeeds_when_the_page_says_so(own: Emulator) -> None:
    account = own.client().accounts.create("payer")
    keyed = own.client(api_key=account.api_key)
    payment = keyed.billing.create_payment_intent(500)
    own.processor(payment.payment_intent_id, "succeeded")
    assert keyed.billing.confirm(payment).available_cents == 600


def test_runs_are_listed_with_their_logs(own: Emulator) -> None:
    account = own.client().accounts.create("runner")
    run = own.client(api_key=account.api_key).run("async function main() { console.log('seen'); return 1; }")
    assert [each["request_id"] for each in own.runs(limit=1)] == [run.request_id]
    assert "seen" in own.run_record(run.request_id)["logs"]


@pytest.mark.slow
def test_state_contains_no_secret(start_emulator: Callable[..., Emulator]) -> None:
    running = start_emulator(control_token="a-marked-token")
    account = running.client().accounts.create("secret")
    told = str(running.state())
    assert "a-marked-token" not in told
    assert account.api_key.reveal() not in told
