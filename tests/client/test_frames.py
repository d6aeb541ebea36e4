"""Data frames have the column types that analysts expect."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from datetime import UTC, datetime
from typing import Any

import pandas as pd
import pytest

import svcnb.client
from svcnb import ExtraMissing
from svcnb.client.chain_secured.pending import PendingMint
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.base import Model
from svcnb.client.models.triggers import TriggerRun
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.secret import Secret
from svcnb.toolkit.history import PastRun, Spend

KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="
BEGUN = datetime(2026, 1, 1, 12, tzinfo=UTC)


def types(listing: Listing[Any]) -> dict[str, str]:
    return {name: str(kind) for name, kind in listing.to_frame().dtypes.items()}


def test_times_are_utc_timestamps_and_states_are_categories() -> None:
    runs = [
        TriggerRun(id="1", status="success", started_at=BEGUN, finished_at=BEGUN, attempt=2),
        TriggerRun(id="2", status="queued"),
    ]
    listing = Listing(runs, of="runs", kind=TriggerRun)
    found = types(listing)
    assert found["started_at"] == found["finished_at"] == "datetime64[us, UTC]"
    assert found["status"] == "category"
    assert found["attempt"] == "int64"
    frame = listing.to_frame()
    assert frame["started_at"].iloc[0] == pd.Timestamp("2026-01-01T12:00Z")
    assert pd.isna(frame["started_at"].iloc[1])
    assert list(frame["id"]) == ["1", "2"]


def test_cents_are_integers_and_an_empty_list_has_the_same_columns_and_types() -> None:
    spent = [Spend(name="a", runs=2, failed=0, seconds=0.5, cost_cents=7)]
    full, empty = types(Listing(spent, of="runs", kind=Spend)), types(Listing([], of="runs", kind=Spend))
    assert full["cost_cents"] == "int64"
    assert full == empty
    assert list(Listing([], of="past runs", kind=PastRun).to_frame()["status"]) == []


def test_optional_strings_have_the_string_type() -> None:
    actions = Listing(
        [RegisteredAction(hashed_cid="0x01", name="a"), RegisteredAction(hashed_cid="0x02", name="b", cid="QmX")],
        of="actions",
        kind=RegisteredAction,
    )
    assert types(actions)["cid"] == types(Listing([], of="actions", kind=RegisteredAction))["cid"] == "str"
    assert list(actions.to_frame()["cid"].isna()) == [True, False]


def subclasses(kind: type[Model]) -> set[type[Model]]:
    return {kind}.union(*(subclasses(each) for each in kind.__subclasses__()))


def test_the_frame_of_an_empty_list_has_the_columns_and_types_of_its_class() -> None:
    for module in pkgutil.walk_packages(svcnb.client.__path__, "svcnb.client."):
        importlib.import_module(module.name)
    for name in ("alarms", "cookbook", "drift", "history", "permission_audit", "templates", "trigger_health"):
        importlib.import_module(f"svcnb.toolkit.{name}")
    kinds = subclasses(Model) - {Model}
    assert len(kinds) > 40
    proper = {datetime: "datetime64[us, UTC]", bool: "bool", int: "int64", float: "float64", str: "str"}
    for kind in kinds:
        frame = Listing([], of="things", kind=kind).to_frame()
        fields = kind.framed()
        assert list(frame.columns) == list(fields), kind
        for column, annotation in fields.items():
            if annotation in proper and column not in kind.categories | kind.unix_seconds:
                assert str(frame[column].dtype) in {proper[annotation], "category"}, (kind, column)


def test_an_expiration_is_a_time_and_no_expiration_is_none() -> None:
    keys = [UsageKey(api_key_hash="0x1", expiration=1_767_225_600), UsageKey(api_key_hash="0x2", expiration=0)]
    frame = Listing(keys, of="usage keys", kind=UsageKey).to_frame()
    assert frame["expiration"].iloc[0] == pd.Timestamp("2026-01-01T00:00Z")
    assert pd.isna(frame["expiration"].iloc[1])
    assert frame["can_create_groups"].dtype == bool


def test_the_start_of_a_mint_is_a_time() -> None:
    assert types(Listing([], of="interrupted creations", kind=PendingMint))["begun"] == "datetime64[us, UTC]"


def test_a_frame_contains_no_secret() -> None:
    keys = [UsageKey(api_key_hash="0x1", usage_api_key=Secret(KEY))]
    frame = Listing(keys, of="usage keys", kind=UsageKey).to_frame()
    assert "usage_api_key" not in frame.columns
    assert KEY not in frame.to_csv()


def test_the_error_for_missing_pandas_contains_the_extra(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExtraMissing, match=r"\[lab\]") as caught:
        Listing([], of="runs", kind=Spend).to_frame()
    assert isinstance(caught.value, ImportError)
