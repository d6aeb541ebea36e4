"""Changes to an account, read from the events on the chain."""

from __future__ import annotations

from datetime import timedelta

import pytest

import svcnb
from svcnb.toolkit.account_changes import read_changes
from svcnb.toolkit.account_data import Period

pytestmark = [pytest.mark.chain]


@pytest.fixture(scope="module")
def anyone():
    with svcnb.Emulator(starter_credits=500) as emulator:
        yield emulator.client(history=False)


@pytest.fixture
def svc(anyone):
    """Client of a new account, because tests change the account."""
    other = anyone.with_key(anyone.accounts.create("other"))
    other.groups.create("not counted")
    mine = anyone.with_key(anyone.accounts.create("mine"))
    mine.groups.create("first")
    return mine


@pytest.mark.slow
def test_the_events_of_the_account_in_the_period_are_listed_oldest_first(svc) -> None:
    found = read_changes(svc, svc.usage_keys.list(), Period.back("1h"))
    assert [each.event for each in found.entries] == ["AccountCreated", "WalletDerivationRegistered", "GroupAdded"]
    assert "'first'" in found.entries[-1].what
    assert found.not_visible == ()
    last = found.entries[-1].time
    before = Period(last - timedelta(days=1), last)
    assert "GroupAdded" not in [each.event for each in read_changes(svc, [], before).entries]


@pytest.mark.slow
def test_unavailable_events_have_a_reason(svc) -> None:
    key = svc.usage_keys.create("runner", execute_in_groups=[])
    with_usage_key = read_changes(svc.with_key(key), svc.usage_keys.list(), Period.back("1h"))
    assert "use the account key" in with_usage_key.not_visible[0]
    assert list(with_usage_key.entries) == []
    key_of_account = svc.config.api_key
    without_chain = svcnb.Client(svc.base_url, api_key=key_of_account, rpc_url="http://127.0.0.1:9", history=False)
    with without_chain:
        [sentence] = read_changes(without_chain, [], Period.back("1h")).not_visible
    assert sentence.startswith("Changes on the chain could not be read: ")
