"""Work that several threads share: in order, with the first failure, and nothing left behind."""

from __future__ import annotations

import threading

import pytest

from svcnb.protocol.in_order import working_along

LIMIT_S = 60


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(working_along(lambda item: item * item, range(200), workers)) == [item * item for item in range(200)]


def test_one_that_takes_long_holds_up_nobody_and_still_comes_first() -> None:
    last_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert last_is_done.wait(LIMIT_S)
        if item == 9:
            last_is_done.set()
        return item

    assert list(working_along(work, range(10), 2)) == list(range(10))


@pytest.mark.parametrize("workers", [1, 3])
def test_what_the_work_raises_comes_out_and_nothing_is_begun_after_it(workers: int) -> None:
    begun: list[int] = []

    def work(item: int) -> int:
        begun.append(item)
        if item == 3:
            raise LookupError("three")
        return item

    before = threading.active_count()
    with pytest.raises(LookupError, match="three"):
        list(working_along(work, range(1_000_000), workers))
    assert len(begun) < 1_000_000
    assert threading.active_count() == before


def test_whoever_has_enough_leaves_no_thread_behind() -> None:
    before = threading.active_count()
    results = working_along(lambda item: item, range(10**9), 3)
    assert [next(results), next(results)] == [0, 1]
    results.close()
    assert threading.active_count() == before
