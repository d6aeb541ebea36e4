"""Pages of lists (reference facts 2.4.1)."""

from __future__ import annotations

import pytest

MADE = 5


@pytest.fixture(scope="module")
def many(wire):
    account = wire.account(credit=1_000)
    for n in range(MADE):
        account.group(f"g{n}")
    return account


def names(account, **query: object) -> list[str]:
    return [group["name"] for group in account.wire.listed("list_groups", account.key, **query)]


EVERYTHING = [f"g{n}" for n in range(MADE)]


@pytest.mark.parametrize(
    ("page_number", "page_size", "expected"),
    [
        (0, 2, ["g0", "g1"]),
        (1, 2, ["g2", "g3"]),
        (2, 2, ["g4"]),
        (3, 2, []),
        (0, 5, EVERYTHING),
        (1, 5, []),
        (0, 6, EVERYTHING),
        (1, 6, EVERYTHING),
        (7, 100, EVERYTHING),
        (0, 0, []),
        (1, 0, []),
        (2**64 - 1, 2, []),
        (2**64 - 1, 2**64 - 1, EVERYTHING),
    ],
)
def test_pages_follow_the_rule_of_the_reference(many, page_number, page_size, expected):
    assert names(many, page_number=page_number, page_size=page_size) == expected


def test_ten_entries_of_the_first_page_when_nothing_is_asked(many):
    """Reference facts 2.3."""
    assert names(many) == EVERYTHING
    assert names(many, page_number=0) == names(many, page_size=5) == EVERYTHING


@pytest.mark.parametrize("wrong", ["", "-1", "1.0", "x", "0x1", str(2**64)])
@pytest.mark.parametrize("name", ["page_number", "page_size"])
def test_a_malformed_page_is_422(many, name, wrong):
    query = {"page_number": 0, "page_size": 1} | {name: wrong}
    answer = many.get("list_groups", **query)
    assert answer.status_code == 422
    assert answer.json()["error"] == "unprocessable_entity"


def test_removing_an_entry_moves_the_last_one_into_its_place(wire):
    """Reference facts 2.4.1."""
    account = wire.account(credit=100)
    for n in range(3):
        account.group(f"g{n}")
    account.ok("remove_group", {"group_id": 1})
    assert names(account) == ["g2", "g1"]


def test_strict_paging_is_empty_beyond_the_end(local):
    """Reference facts Appendix B, strict_paging and max_page_size."""
    account = local(strict_paging=True, max_page_size=3).account()
    for n in range(2):
        account.group(f"g{n}")
    assert names(account, page_number=0, page_size=3) == ["g0", "g1"]
    assert names(account, page_number=1, page_size=3) == []
    for n in range(2, 5):
        account.group(f"g{n}")
    assert names(account, page_number=0, page_size=100) == ["g0", "g1", "g2"]
    assert names(account, page_number=1, page_size=100) == ["g3", "g4"]


def test_a_list_is_answered_however_much_it_holds(account):
    """Reference facts 2.4.1: a page larger than the list is the whole list. A read has no block's gas to fit into."""
    names = [f"{number:02} " + "n" * 25_000 for number in range(24)]
    for name in names:
        account.group(name)
    assert [entry["name"] for entry in account.listed("list_groups", page_size=2**64 - 1)] == names
