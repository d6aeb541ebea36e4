"""Functions that process items on several threads, and yield the results in the order of the items."""

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
    """Returns the number of processors that this process can use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class _Shared(Generic[Item, Result]):
    """Items that the threads of `process_in_order` share, and their results.

    Attributes:
        results: Results, with the position of each item as key.
        failures: Errors that occurred during the processing. After the first error, no thread starts another item.
        helping: Locks of the started helper threads. A thread releases its lock when it ends.
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
        """Processes the next item. Returns False if no item is left, or after a failure."""
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
        """Main function of a helper thread: processes items until none remain."""
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
        """Waits for helper threads that have started. Threads that start later find no items.

        The method does not wait for threads that have not started yet. If every core is busy, a start can take longer
        than the work.
        """
        with self._lock:
            self._over = True
            self._left = iter(())  # a helper thread that starts late must not keep a reference to the caller's items
        for ended in self.helping:
            ended.acquire()


def process_in_order(
    work: Callable[[Item], Result], items: Iterable[Item], workers: int
) -> Generator[Result, None, None]:
    """Processes items on several threads, and yields the results in the order of the items.

    Use this function for items that are cheap to create. The caller's thread also processes items. Each idle thread
    takes the next item. Therefore, the other threads continue if the operating system delays a thread.

    Args:
        work: Function that processes one item. After the first error of this function, the iterator starts no other
            item, and raises the error.
        items: Items to process.
        workers: Number of threads, including the calling thread. The number is lower if the system cannot start more
            threads.
    """
    if workers == 1:
        yield from map(work, items)
        return
    shared = _Shared(work, items)
    with suppress(RuntimeError):  # the system cannot start another thread
        for _ in range(workers - 1):
            # Do not use `threading.Thread`, because its `start` waits until the thread runs. This wait takes a tenth of
            # the time that hashing a MiB takes.
            start_new_thread(shared.help, ())
    position = 0
    try:
        while shared.work_one():
            while position in shared.results:
                yield shared.results.pop(position)
                position += 1
    except BaseException as error:  # stop the helper threads, because no more results are needed
        shared.failures.append(error)
        raise
    finally:
        shared.close()
    if shared.failures:
        raise shared.failures[0]
    yield from (shared.results[at] for at in sorted(shared.results))


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Processes items on a thread pool, and yields the results in the order of the items.

    Use this function for items that need much memory or time to create. The calling thread creates the items, for
    example by reading a file. About two items for each worker are in the pool at the same time.

    Args:
        work: Function that processes one item. The iterator raises the first error of this function.
        items: Items to process.
        workers: Number of threads in the pool. With 1, the calling thread processes the items.
    """
    if workers == 1:
        yield from map(work, items)
        return
    # Import the module here, because it imports logging, and only large sources use threads.
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
