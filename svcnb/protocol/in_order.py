"""Work that several threads do, with its results in the order of the work."""

from __future__ import annotations

import os
from _thread import LockType, allocate_lock, start_new_thread
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _Shared(Generic[Item, Result]):
    """Items that several threads take one by one, and what came of them.

    Attributes:
        results: What is done, by the place of its item.
        failures: What was raised; after the first one nothing is begun.
        helping: Locks that are free once a helper that has begun is done.
    """

    def __init__(self, work: Callable[[Item], Result], items: Iterable[Item]) -> None:
        self._left: Iterator[tuple[int, Callable[[Item], Result], Item]] = (
            (position, work, item) for position, item in enumerate(items)
        )
        self._lock = allocate_lock()
        self._over = False
        self.results: dict[int, Result] = {}
        self.failures: list[BaseException] = []
        self.helping: list[LockType] = []

    def work_one(self) -> bool:
        """Does the next item; whether there was one. After a failure there is none."""
        with self._lock:
            taken = None if self.failures else next(self._left, None)
        if taken is None:
            return False
        position, work, item = taken
        try:
            self.results[position] = work(item)
        except BaseException as error:  # noqa: BLE001 - raised again by the calling thread
            self.failures.append(error)
        return True

    def help(self) -> None:
        """Does items until there are none; what a helper does."""
        ended = allocate_lock()
        ended.acquire()
        with self._lock:
            if self._over:
                return
            self.helping.append(ended)
        try:
            while self.work_one():
                pass
        finally:
            ended.release()

    def close(self) -> None:
        """Waits for helpers that have begun. Those that the system has not let begin will find nothing to do.

        Where every core is busy, a thread may wait for its turn several times as long as a MiB takes.
        """
        with self._lock:
            self._over = True
            self._left = iter(())  # whoever comes late holds nothing that belongs to the caller
        for ended in self.helping:
            ended.acquire()


def working_along(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """Results in the order of the items, for items that cost nothing to make: the calling thread is one of the workers.

    Whichever thread is free takes the next item, so that none waits for one that the system holds up.

    Args:
        work: May raise: what it raised first comes out here, and nothing is begun after it.
        items: Any number.
        workers: How many threads work, with the calling one; fewer where the system has none left.
    """
    if workers == 1:
        yield from map(work, items)
        return
    shared = _Shared(work, items)
    with suppress(RuntimeError):  # the system has no thread left
        for _ in range(workers - 1):
            # Not a `threading.Thread`: whoever starts one waits until it runs, a tenth of what a MiB costs to hash.
            start_new_thread(shared.help, ())
    position = 0
    try:
        while shared.work_one():
            while position in shared.results:
                yield shared.results.pop(position)
                position += 1
    except BaseException as error:  # whoever wanted the results has enough: the helpers stop as well
        shared.failures.append(error)
        raise
    finally:
        shared.close()
    if shared.failures:
        raise shared.failures[0]
    yield from (shared.results[at] for at in sorted(shared.results))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results in the order of the items, with at most two items a worker under way.

    The calling thread makes the items, such as by reading them.
    """
    if workers == 1:
        yield from map(work, items)
        return
    # Loaded here: threads are for large sources, and the module brings logging along.
    from concurrent.futures import ThreadPoolExecutor

    under_way: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(workers, thread_name_prefix="svcnb-cid") as pool:
        try:
            for item in items:
                under_way.append(pool.submit(work, item))
                if len(under_way) > 2 * workers:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            for future in under_way:
                future.cancel()
