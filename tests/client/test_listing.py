from __future__ import annotations

from datetime import UTC, datetime
from urllib.parse import parse_qs

import httpx
import pytest

from svcnb.client import display
from svcnb.client.listing import Listing
from svcnb.client.models.actions import RegisteredAction
from svcnb.client.models.billing import Balance
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.resources.reading import PAGE_SIZE


def wallet(number: int) -> dict[str, str]:
    return {"id": "0", "name": "", "description": "", "wallet_address": f"0x{number:040x}"}


def reference_paging(entries: list[dict[str, str]], asked: list[tuple[int, int]]):
    """Returns a response function that follows the paging rule of docs/service/http.md#paging."""

    def answer(request: httpx.Request) -> httpx.Response:
        query = {name: int(value[0]) for name, value in parse_qs(request.url.query.decode()).items()}
        number, size = query["page_number"], query["page_size"]
        asked.append((number, size))
        if size > len(entries):
            return httpx.Response(200, json=entries)
        return httpx.Response(200, json=entries[number * size : (number + 1) * size])

    return answer


@pytest.mark.parametrize("total", [0, 1, PAGE_SIZE - 1, PAGE_SIZE, PAGE_SIZE + 1, 3 * PAGE_SIZE, 3 * PAGE_SIZE + 7])
def test_every_entry_is_listed_once_and_in_order(scripted, total: int) -> None:
    entries = [wallet(number + 1) for number in range(total)]
    asked: list[tuple[int, int]] = []
    svc = scripted(reference_paging(entries, asked))
    addresses = [entry["wallet_address"] for entry in entries]
    assert [item.wallet_address for item in svc.wallets.list()] == addresses
    pages = len(asked)
    assert [item.wallet_address for item in svc.wallets.iter()] == addresses
    assert pages <= total // PAGE_SIZE + 1


async def test_the_asynchronous_iterator_returns_the_same_entries(async_scripted) -> None:
    entries = [wallet(number + 1) for number in range(2 * PAGE_SIZE + 3)]
    svc = await async_scripted(reference_paging(entries, []))
    assert [item.wallet_address async for item in svc.wallets.iter()] == [e["wallet_address"] for e in entries]


def test_listing_ends_even_if_the_service_ignores_the_page_number(scripted) -> None:
    entries = [wallet(number + 1) for number in range(PAGE_SIZE)]
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=entries)

    assert len(scripted(answer).wallets.list()) == PAGE_SIZE
    assert len(asked) == 2


def test_the_iterator_requests_a_page_only_when_it_reaches_the_page(scripted) -> None:
    asked: list[tuple[int, int]] = []
    svc = scripted(reference_paging([wallet(number + 1) for number in range(250)], asked))
    next(svc.wallets.iter())
    assert asked == [(0, PAGE_SIZE)]


def test_group_ids_are_parsed_in_every_form(scripted) -> None:
    forms = [1, "2", "0x" + "0" * 63 + "3"]
    body = [{"id": form, "name": "", "description": ""} for form in forms]
    assert [group.id for group in scripted(lambda _: httpx.Response(200, json=body)).groups.list()] == [1, 2, 3]


def test_the_hash_of_an_action_can_be_named_id_or_hashed_cid(scripted) -> None:
    one, two, zero = "0x" + "1" * 64, "0x" + "2" * 64, "0x" + "0" * 64
    body = [
        {"id": one, "hashed_cid": one, "name": "a", "description": ""},
        {"id": two, "name": "b", "description": ""},
        {"id": "n/a", "name": "Any", "description": ""},
        {"id": zero, "hashed_cid": zero, "name": "Any", "description": ""},
    ]
    listed = scripted(lambda _: httpx.Response(200, json=body)).actions.list()
    assert [action.hashed_cid for action in listed] == [one, two, None, zero]
    assert [action.is_wildcard for action in listed] == [False, False, False, True]


def test_usage_keys_are_parsed_with_the_field_names_of_lists(scripted) -> None:
    hashed = "0x" + "3" * 64
    body = [
        {
            "id": hashed,
            "api_key_hash": hashed,
            "name": "k",
            "description": "d",
            "expiration": "1800000000",
            "balance": 10_000_000,
            "can_create_groups": True,
            "can_delete_groups": False,
            "can_create_pkps": False,
            "can_manage_ipfs_ids_in_groups": [1],
            "can_add_pkp_to_groups": [2],
            "can_remove_pkp_from_groups": [3],
            "can_execute_in_groups": [0],
        }
    ]
    (key,) = scripted(lambda _: httpx.Response(200, json=body)).usage_keys.list()
    assert key.permissions() == {
        "can_create_groups": True,
        "can_delete_groups": False,
        "can_create_pkps": False,
        "manage_ipfs_ids_in_groups": [1],
        "add_pkp_to_groups": [2],
        "remove_pkp_from_groups": [3],
        "execute_in_groups": [0],
    }
    assert key.expires_at is not None
    assert key.expires_at.isoformat() == "2027-01-15T08:00:00+00:00"
    assert key.usage_api_key is None
    assert not key.execute_only
    assert key.may == (
        "execute in every group; manage actions in group 1; add wallets to group 2; remove wallets from group 3; "
        "create groups"
    )
    assert repr(key) == f"UsageKey(name='k', description='d', may={key.may!r}, api_key_hash='{hashed}')"


def test_a_list_is_displayed_as_text_and_as_a_table() -> None:
    listing = Listing([Wallet(wallet_address="0x1", name="<b>")], of="wallets", kind=Wallet)
    assert repr(listing) == "[Wallet(wallet_address='0x1', name='<b>')]"
    html = listing._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert Listing([], of="wallets", kind=Wallet)._repr_html_().endswith(">no wallets</div>")


def test_a_key_without_permissions_is_described_as_read_only() -> None:
    assert UsageKey(api_key_hash="0x1").may == "only read"


def test_a_list_is_a_sequence() -> None:
    items = [RegisteredAction(hashed_cid=f"0x{n}") for n in range(3)]
    listing = Listing(items, of="actions", kind=RegisteredAction)
    assert listing == items
    assert listing[-1] is items[-1]
    assert listing[1:] == items[1:]
    assert items[0] in listing
    assert len(listing) == 3


def test_a_list_can_be_converted_to_a_frame() -> None:
    frame = Listing([Wallet(wallet_address="0x1", name="a")], of="wallets", kind=Wallet).to_frame()
    assert frame.to_dict("records") == [{"wallet_address": "0x1", "id": "", "name": "a", "description": ""}]


def test_tables_use_readable_column_names_and_show_each_time_on_one_line() -> None:
    assert ">balance</th>" in Balance(balance_cents=-500, balance_display="$5.00 credit")._repr_html_()
    key = UsageKey(name="k", api_key_hash="0x1", execute_in_groups=(2, 5))
    assert key.may == "execute in groups 2, 5"
    moment = datetime(2026, 1, 1, 12, 30, tzinfo=UTC)
    assert "white-space:nowrap'>2026-01-01 12:30:00+00:00</td>" in display.table(["time"], [[moment]], empty="")


def test_models_keep_unknown_fields() -> None:
    assert Wallet.model_validate({"wallet_address": "0x1", "colour": "red"}).model_extra == {"colour": "red"}
