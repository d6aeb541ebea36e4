from __future__ import annotations

import pandas as pd
import pytest

from svcnb.client import references
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.groups import Group
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.secret import Secret
from svcnb.protocol.action import Action

SOURCE = "async function main({ n }) { return n + 1; }"
ACTION = Action(SOURCE)
HASH = "0x" + "ab" * 32
ADDRESS = "0x" + "Ab" * 20
KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


@pytest.mark.parametrize("value", [7, "7", " 7 ", "0x7", "0x" + "0" * 63 + "7", Group(id=7), Group(id="0x07")])
def test_a_group_can_be_an_object_a_number_or_a_string(value) -> None:
    assert references.group_id(value) == 7


@pytest.mark.parametrize("value", ["seven", "", -1, 2**64, True, None, 1.0, "7.0", [7]])
def test_an_invalid_group_is_rejected(value) -> None:
    with pytest.raises(InvalidArgument) as caught:
        references.group_id(value)
    assert caught.value.hint


def test_the_error_names_the_type_of_a_value_that_is_not_text() -> None:
    with pytest.raises(InvalidArgument, match="invalid group of type dict"):
        references.group_id({})  # type: ignore[arg-type]  # on purpose


def test_a_numpy_integer_of_a_data_frame_is_a_group() -> None:
    number = pd.DataFrame({"id": [7]})["id"].iloc[0]
    assert references.group_id(number) == 7
    assert references.group_ids(number, "execute_in_groups") == [7]
    with pytest.raises(InvalidArgument, match="invalid group"):
        references.group_id(pd.DataFrame({"id": [1.5]})["id"].iloc[0])


def test_group_zero_is_rejected_where_one_group_is_required() -> None:
    with pytest.raises(InvalidArgument, match="all groups"):
        references.group_id(references.everything)


def test_the_groups_of_a_key_can_be_a_list_or_one_group_and_zero_means_all() -> None:
    assert references.group_ids([Group(id=2), "3", 3], "execute_in_groups") == [2, 3]
    assert references.group_ids(references.everything, "execute_in_groups") == [0]
    assert references.group_ids((), "execute_in_groups") == []


def test_a_key_can_have_at_most_fifty_groups() -> None:
    assert len(references.group_ids(range(1, 51), "execute_in_groups")) == 50
    with pytest.raises(InvalidArgument, match="51 groups, but at most 50"):
        references.group_ids(range(1, 52), "execute_in_groups")


@pytest.mark.parametrize(
    "value", [ADDRESS, ADDRESS[2:], ADDRESS.upper().replace("0X", "0x"), Wallet(wallet_address=ADDRESS)]
)
def test_a_wallet_can_be_an_object_or_an_address(value) -> None:
    assert references.wallet_address(value) == ADDRESS.lower()


@pytest.mark.parametrize("value", [0, "0", "0x0", "0x" + "0" * 64, "0x" + "0" * 40])
def test_zero_means_every_wallet(value) -> None:
    assert references.wallet_address(value) == "0x" + "0" * 40


@pytest.mark.parametrize("value", ["0x12", 5, True, None, HASH, "wallet"])
def test_an_invalid_wallet_is_rejected(value) -> None:
    with pytest.raises(InvalidArgument, match="invalid wallet"):
        references.wallet_address(value)


@pytest.mark.parametrize(
    "value",
    [ACTION, SOURCE, ACTION.cid, f" {ACTION.cid} ", RegisteredAction(hashed_cid=ACTION.hashed_cid, cid=ACTION.cid)],
)
def test_an_action_can_be_an_object_a_source_or_a_cid(value) -> None:
    assert references.raw_cid(value) == ACTION.cid
    assert references.action_hash(value) == ACTION.hashed_cid


def test_a_hash_is_rejected_where_a_cid_is_required() -> None:
    for value in (HASH, RegisteredAction(hashed_cid=HASH)):
        with pytest.raises(InvalidArgument, match="pass the CID itself") as caught:
            references.raw_cid(value)
        assert "cannot be computed from its hash." in caught.value.hint


def test_a_hash_is_accepted_where_a_hash_is_required() -> None:
    assert references.action_hash(HASH.upper().replace("0X", "0x")) == HASH
    assert references.action_hash(RegisteredAction(hashed_cid=HASH)) == HASH


@pytest.mark.parametrize("value", [0, "0", "0x0", "0x" + "0" * 64])
def test_zero_means_every_action(value) -> None:
    assert references.action_hash(value) == "0x" + "0" * 64


@pytest.mark.parametrize("value", ["hello", "", 5, None, b"source", "QmShort", "Qm" + "z" * 44, ["const main = 1"]])
def test_an_invalid_action_is_rejected(value) -> None:
    for convert in (references.raw_cid, references.action_hash, references.source_or_cid):
        with pytest.raises(InvalidArgument, match="invalid action"):
            convert(value)


def test_the_error_for_a_version_1_cid_says_how_to_fix_it() -> None:
    with pytest.raises(InvalidArgument, match="version 1"):
        references.raw_cid("bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi")


def test_a_source_that_utf_8_cannot_encode_is_rejected() -> None:
    with pytest.raises(InvalidArgument):
        references.source_or_cid("const main = () => '\ud800'")


def test_run_distinguishes_a_source_from_a_cid() -> None:
    assert references.source_or_cid(SOURCE) == (SOURCE, ACTION.cid)
    assert references.source_or_cid(ACTION) == (SOURCE, ACTION.cid)
    assert references.source_or_cid(ACTION.cid) == (None, ACTION.cid)


def test_a_key_can_be_the_key_or_its_hash() -> None:
    from svcnb.protocol.hashes import api_key_hash

    hashed = api_key_hash(KEY)
    fresh = UsageKey(api_key_hash=hashed, usage_api_key=KEY)
    listed = UsageKey(api_key_hash=hashed)
    assert [references.key_reference(key) for key in (fresh, Secret(KEY), KEY, listed, hashed)] == [
        KEY,
        KEY,
        KEY,
        hashed,
        hashed,
    ]
    assert {references.key_hash(key) for key in (fresh, Secret(KEY), KEY, listed, hashed)} == {hashed}


def test_a_missing_key_is_rejected() -> None:
    for value in ("", " "):
        with pytest.raises(InvalidArgument):
            references.key_reference(value)
