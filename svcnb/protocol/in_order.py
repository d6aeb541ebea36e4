"""Work on several threads, with the results in the order of the items."""

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
    """Returns the number of processors that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _Shared(Generic[Item, Result]):
    """Items that several threads take one by one, and their results.

    Attributes:
        results: Results by the position of their item.
        failures: Errors that were raised; after the first one no item is started.
        helping: Locks, each released when a started helper ends.
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
        """Processes the next item. Returns whether there was one; after a failure there is none."""
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
        """Processes items until there are none; the function of a helper thread."""
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
        """Waits for helpers that have started. Helpers that start later find no items.

        If every core is busy, a thread may wait several times as long as hashing a MiB takes.
        """
        with self._lock:
            self._over = True
            self._left = iter(())  # a helper that starts late keeps no reference to the caller's items
        for ended in self.helping:
            ended.acquire()


def working_along(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Generator[Result, None, None]:
    """Yields results in the order of the items, for items that are cheap to create. The calling thread also works.

    Each free thread takes the next item, so that no thread waits for one that the system delays.

    Args:
        work: Processes one item. Its first error is raised here, and no item is started after it.
        items: Any number.
        workers: Number of threads including the calling one; fewer if the system has none left.
    """
    if workers == 1:
        yield from map(work, items)
        return
    shared = _Shared(work, items)
    with suppress(RuntimeError):  # the system has no thread left
        for _ in range(workers - 1):
            # Not a `threading.Thread`: its `start` waits until it runs, a tenth of the time for hashing a MiB.
            start_new_thread(shared.help, ())
    position = 0
    try:
        while shared.work_one():
            while position in shared.results:
                yield shared.results.pop(position)
                position += 1
    except BaseException as error:  # the consumer needs no more results: the helpers stop, too
        shared.failures.append(error)
        raise
    finally:
        shared.close()
    if shared.failures:
        raise shared.failures[0]
    yield from (shared.results[at] for at in sorted(shared.results))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Yields results in the order of the items, with at most two items per worker in progress.

    The calling thread creates the items, for example by reading them.
    """
    if workers == 1:
        yield from map(work, items)
        return
    # Imported here: only large sources use threads, and the module imports logging.
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
