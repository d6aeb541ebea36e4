"""Kernel side of the permissions panel, with a real service."""

from __future__ import annotations

import pytest

import svcnb
from svcnb.panels.permissions import PermissionsPanel

pytestmark = [pytest.mark.chain, pytest.mark.engine]

ADD = svcnb.Action("const main = ({ n }) => n + 1", name="add")


async def test_the_panel_rejects_calls_that_it_did_not_show(emulator) -> None:
    client = emulator.client()
    svc = client.with_key(client.accounts.create("owner"))
    group = svc.groups.create("adders")
    panel = PermissionsPanel(svc, [ADD])
    await panel.read()
    changes = [{"kind": "action", "id": ADD.hashed_cid, "group": group.id, "on": True}]
    shown = (await panel.preview(changes))["calls"]
    assert len(shown) == 1
    with pytest.raises(svcnb.InvalidArgument, match="the account changed after these calls were shown"):
        await panel.apply(changes, [])
    assert not svc.actions.list(group)
    await panel.apply(changes, shown)
    assert [each.hashed_cid for each in svc.actions.list(group)] == [ADD.hashed_cid]
    await panel.service.close()
