"""Tables, amounts and charts of reports."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from svcnb.reports.pictures import MOST, Picture, Rows, money, permission_matrix


def test_a_table_shows_the_number_of_omitted_rows() -> None:
    rows = Rows(["action"], [["a"], ["b"]], "Nothing ran.", total=1_200)
    assert "2 of 1,200 rows are shown." in rows._repr_html_()
    assert repr(rows).endswith("2 of 1,200 rows are shown.")
    for whole in (Rows(["action"], [["a"]], "", total=1), Rows(["action"], [["a"]], "")):
        assert "shown" not in whole._repr_html_() + repr(whole)
    assert repr(Rows(["action"], [], "Nothing ran.")) == "Nothing ran."


@pytest.mark.parametrize(
    ("cents", "text"),
    [
        (0, "$0.00"), (-7, "-$0.07"), (1_234_567, "$12,345.67"), (-123_456, "-$1,234.56"), (3.5, "3.5 cents"),
        (0.021, "0.021 cents"), (123_456.4, "$1,234.56"),
    ],
)  # fmt: skip
def test_small_and_large_amounts_can_be_read(cents, text) -> None:
    assert money(cents) == text


def key(number: int, *, groups: tuple[int, ...]) -> Any:
    nothing: tuple[int, ...] = ()
    return SimpleNamespace(
        name=f"key {number}", api_key_hash=f"0x{number:064x}", execute_in_groups=groups, remove_pkp_from_groups=nothing,
        manage_ipfs_ids_in_groups=nothing, add_pkp_to_groups=nothing,
    )  # fmt: skip


def test_a_key_with_rights_in_every_group_is_drawn_even_if_other_keys_are_omitted() -> None:
    keys = [key(number, groups=(1,)) for number in range(MOST + 3)] + [key(99, groups=(0,))]
    groups = [(SimpleNamespace(id=1, name="prices"), ())]
    drawn = permission_matrix(SimpleNamespace(keys=keys, groups=groups))  # type: ignore[arg-type]
    assert isinstance(drawn, Picture)
    assert ">key 99<" in drawn._svg
    assert ">every group<" in drawn._svg
    assert f">key {MOST + 2}<" not in drawn._svg
