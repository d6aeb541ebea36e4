"""Work that several threads do, with its results in the order of the work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

Item = TypeVar("Item")
Result = TypeVar("Result")


def cores() -> int:
    """Processors this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def in_order(work: Callable[[Item], Result], items: Iterable[Item], workers: int) -> Iterator[Result]:
    """Results in the order of the items, with at most two items a worker under way."""
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
