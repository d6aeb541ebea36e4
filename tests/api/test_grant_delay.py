"""Grants that take effect after the delay in the setting grant_delay_ms.

Source: docs/service/permissions.md#delay-of-grants.
"""

from __future__ import annotations

import time

import pytest

from svcnb.protocol.cid import source_cid

DELAY_S = 0.7
CODE = "function main() { return 'ran'; }"


def polled(run, expected: int) -> set[int]:
    """Repeats an execution until it returns this status. Returns the previous statuses."""
    before: set[int] = set()
    started = time.monotonic()
    while (status := run().status_code) != expected:
        before.add(status)
        assert time.monotonic() - started < 300, before
    return before


@pytest.mark.slow
def test_new_keys_and_grants_are_delayed_and_removals_are_immediate(local):
    wire = local(grant_delay_ms=int(DELAY_S * 1000), starter_credits=1_000)
    account = wire.account(credit=1_000)
    group = account.group("x")
    begun = time.monotonic()
    key = account.usage_key(execute_in_groups=[group])

    # The key can list resources immediately. Executions reject it until the delay ends.
    assert len(wire.listed("list_api_keys", key)) == 1
    assert polled(lambda: account.run(CODE, key=key), 403) <= {401}
    assert time.monotonic() - begun >= DELAY_S

    # Lists show immediately that the group permits the action. Executions use the grant later.
    begun = time.monotonic()
    account.ok("add_action_to_group", {"group_id": group, "action_ipfs_cid": source_cid(CODE)})
    assert len(account.listed("list_actions", group_id=group)) == 1
    assert polled(lambda: account.run(CODE, key=key), 200) <= {403}
    assert time.monotonic() - begun >= DELAY_S

    # Other grants in progress do not remove grants that are already in effect.
    account.ok("add_pkp_to_group", {"group_id": group, "pkp_id": account.wallet})
    assert account.run(CODE, key=key).status_code == 200

    # A removal takes effect immediately, even while grants are in progress.
    account.ok("update_usage_api_key", {"usage_api_key": key, "name": "n", "description": "", "execute_in_groups": []})
    assert account.run(CODE, key=key).status_code == 403
    account.ok("remove_usage_api_key", {"usage_api_key": key})
    assert account.run(CODE, key=key).status_code == 401


def test_the_account_key_does_not_wait(local):
    wire = local(grant_delay_ms=60_000, starter_credits=500)
    assert wire.account().run(CODE).status_code == 200
