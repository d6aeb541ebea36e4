"""Grants that take a while to act, by the setting grant_delay_ms.

Source: docs/service/permissions.md#delay-of-grants.
"""

from __future__ import annotations

import time

import pytest

from svcnb.protocol.cid import source_cid

DELAY_S = 0.7
CODE = "function main() { return 'ran'; }"


def polled(run, expected: int) -> set[int]:
    """Polls the real execution path until it answers so, as callers are told to; what it answered before."""
    before: set[int] = set()
    started = time.monotonic()
    while (status := run().status_code) != expected:
        before.add(status)
        assert time.monotonic() - started < 300, before
    return before


@pytest.mark.slow
def test_new_keys_and_grants_act_late_and_removals_at_once(local):
    wire = local(grant_delay_ms=int(DELAY_S * 1000), starter_credits=1_000)
    account = wire.account(credit=1_000)
    group = account.group("x")
    begun = time.monotonic()
    key = account.usage_key(execute_in_groups=[group])

    # The key lists at once, and is unknown to execution for as long as the setting says.
    assert len(wire.listed("list_api_keys", key)) == 1
    assert polled(lambda: account.run(CODE, key=key), 403) <= {401}
    assert time.monotonic() - begun >= DELAY_S

    # Its group permits the action at once in the lists, and late in execution.
    begun = time.monotonic()
    account.ok("add_action_to_group", {"group_id": group, "action_ipfs_cid": source_cid(CODE)})
    assert len(account.listed("list_actions", group_id=group)) == 1
    assert polled(lambda: account.run(CODE, key=key), 200) <= {403}
    assert time.monotonic() - begun >= DELAY_S

    # Other grants under way do not take back what acts already.
    account.ok("add_pkp_to_group", {"group_id": group, "pkp_id": account.wallet})
    assert account.run(CODE, key=key).status_code == 200

    # What is taken away is gone at once, whatever is under way.
    account.ok("update_usage_api_key", {"usage_api_key": key, "name": "n", "description": "", "execute_in_groups": []})
    assert account.run(CODE, key=key).status_code == 403
    account.ok("remove_usage_api_key", {"usage_api_key": key})
    assert account.run(CODE, key=key).status_code == 401


def test_the_account_key_does_not_wait(local):
    wire = local(grant_delay_ms=60_000, starter_credits=500)
    assert wire.account().run(CODE).status_code == 200
