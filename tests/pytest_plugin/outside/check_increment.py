"""Tests of a small separate project, which has svcnb installed but no access to this repository."""

from pathlib import Path

import pytest

import svcnb
from svcnb.testing import assert_signed_by, assert_trace

ACTION = svcnb.Action.from_file(Path(__file__).with_name("increment.js"))


@pytest.fixture
def runner(svc):
    """Client with a key that may run the action with only one wallet."""
    wallet = svc.wallets.create()
    group = svc.groups.create("increment", actions=[ACTION], wallets=[wallet])
    key = svc.usage_keys.create("runner", execute_in_groups=[group])
    return svc.with_key(key), wallet


def test_it_counts(runner):
    svc, _ = runner
    assert svc.run(ACTION, n=41).response == 42


def test_it_signs_with_the_wallet_and_asks_for_one_key_only(runner, svc_recorded):
    svc, wallet = runner
    run = svc.run(ACTION, n=0, pkpId=wallet.address)
    assert_signed_by("hello", run.response["signature"], wallet.address)
    assert_trace(svc_recorded(run).trace, key_operations=1, fetches=0, hosts=[])


def test_every_test_begins_with_one_wallet_and_full_credit(svc):
    assert len(svc.wallets.list()) == 1
    assert svc.billing.balance().available_cents == 10_000


def test_faults_and_time_of_one_test(svc, svc_emulator):
    svc_emulator.faults.until_cleared("runtime")
    svc_emulator.clock.advance("1h")
    with pytest.raises(svcnb.Unavailable):
        svc.with_options(retries=0).run(ACTION, n=1)


def test_do_not_reach_the_next(svc, svc_emulator):
    import time

    assert abs(svc_emulator.clock.now() - time.time()) < 60
    assert svc.run(ACTION, n=1).response == 2


def test_a_failed_run_has_logs_and_costs_nothing(svc, svc_recorded):
    with pytest.raises(svcnb.ActionError) as caught:
        svc.run("function main() { console.log('before'); throw new Error('no'); }")
    assert svc_recorded(caught.value).logs == "before\n"
    assert svc_recorded(caught.value).cost_cents == 0


def test_a_wrong_signer_is_told(runner):
    svc, wallet = runner
    run = svc.run(ACTION, n=0, pkpId=wallet.address)
    with pytest.raises(AssertionError, match="the signer is 0x"):
        assert_signed_by("hello", run.response["signature"], "0x" + "11" * 20)
