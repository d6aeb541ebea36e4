"""Parallel map: results in order, the first error, and no remaining threads."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import pytest

from svcnb.protocol import in_order
from svcnb.protocol.in_order import process_in_order

LIMIT_S = 60


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_results_come_in_the_order_of_the_items(workers: int) -> None:
    assert list(process_in_order(lambda item: item * item, range(200), workers)) == [item * item for item in range(200)]


def test_a_slow_item_delays_no_other_item_and_still_comes_first() -> None:
    last_is_done = threading.Event()

    def work(item: int) -> int:
        if item == 0:
            assert last_is_done.wait(LIMIT_S)
        if item == 9:
            last_is_done.set()
        return item

    assert list(process_in_order(work, range(10), 2)) == list(range(10))


class Counting:
    """Function that counts its calls and the calls in progress."""

    def __init__(self, failing: int | None = None) -> None:
        self.failing = failing
        self.begun = 0
        self.under_way = 0
        self._lock = threading.Lock()

    def __call__(self, item: int) -> int:
        with self._lock:
            self.begun += 1
            self.under_way += 1
        try:
            if item == self.failing:
                raise LookupError("three")
            return item
        finally:
            with self._lock:
                self.under_way -= 1


@pytest.mark.parametrize("workers", [1, 3])
def test_the_first_error_is_raised_and_no_item_starts_after_it(workers: int) -> None:
    work = Counting(failing=3)
    with pytest.raises(LookupError, match="three"):
        list(process_in_order(work, range(1_000_000), workers))
    assert work.under_way == 0
    assert work.begun < 1_000_000
    assert nothing_more_is_begun(work)


def test_closing_the_iterator_waits_for_the_other_threads() -> None:
    mine, helping, items = threading.get_ident(), threading.Event(), 1_000_000
    begun: list[int] = []
    ended: list[int] = []

    def work(item: int) -> int:
        if threading.get_ident() == mine:
            assert helping.wait(LIMIT_S)
            return item
        begun.append(item)
        helping.set()
        if len(begun) < 4:
            threading.Event().wait(0.05)  # so that the call is in progress when the caller stops
        ended.append(item)
        return item

    results = process_in_order(work, range(items), 2)
    assert [next(results), next(results)] == [0, 1]
    results.close()
    assert begun
    assert begun == ended
    assert items - 1 not in begun, "the other thread went on to the end"


def nothing_more_is_begun(work: Counting) -> bool:
    """Returns whether no item starts during a time in which a remaining thread starts hundreds of items."""
    begun = work.begun
    for _ in process_in_order(lambda item: item, range(1_000), 2):
        pass
    return work.begun == begun


def test_without_other_threads_the_calling_thread_processes_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object) -> int:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(in_order, "start_new_thread", none_left)
    threads: set[int] = set()

    def work(item: int) -> int:
        threads.add(threading.get_ident())
        return item

    assert list(process_in_order(work, range(50), 4)) == list(range(50))
    assert threads == {threading.get_ident()}


def test_threads_that_start_late_are_not_awaited_and_keep_no_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late: list[tuple[Any, tuple[Any, ...]]] = []
    monkeypatch.setattr(in_order, "start_new_thread", lambda begin, arguments: late.append((begin, arguments)))
    work = Counting()
    assert list(process_in_order(work, range(50), 3)) == list(range(50))
    seen = weakref.ref(work)
    del work
    assert seen() is None, "a thread to come holds what belongs to the caller"
    assert len(late) == 2
    for begin, arguments in late:  # only after all results
        begin(*arguments)
