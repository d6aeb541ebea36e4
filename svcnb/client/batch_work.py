"""Thread-safe batch scheduler. It tracks runs and outcomes, and decides when to slow down or stop."""

from __future__ import annotations

import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from svcnb.client.errors import (
    ConfigError,
    ExecutorLost,
    Forbidden,
    InvalidArgument,
    OutOfCredit,
    RateLimited,
    Unauthorized,
    Unavailable,
)
from svcnb.client.models.outcomes import Outcome

if TYPE_CHECKING:
    from svcnb.client.batch_file import BatchFile
    from svcnb.client.models.runs import Run

ATTEMPTS: Final = 4
"""Maximum number of attempts to execute one run while the service is overloaded.

The count does not include the client's own retries.
"""

_FATAL: Final = (Unauthorized, Forbidden, OutOfCredit, ConfigError, ExecutorLost)
"""Errors that also affect all other runs of the batch."""

_OVERLOAD: Final = (RateLimited, Unavailable)
_JITTER: Final = random.SystemRandom()


class Pace:
    """Rate controller, which slows down all workers while the service is overloaded.

    Args:
        clock: Monotonic clock in seconds.
        first: First pause in seconds. Each rejection because of overload doubles the pause. Each run that ends without
            such a rejection halves the pause.
        longest: Maximum pause in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, first: float = 0.25, longest: float = 8.0) -> None:
        self._clock = clock
        self._first = first
        self._longest = longest
        self._delay = 0.0
        self._until = 0.0

    def refused(self) -> None:
        """Records a 429 or 503 response. All rejections during one pause count as one rejection."""
        now = self._clock()
        if now >= self._until:
            self._delay = min(self._longest, max(self._first, self._delay * 2))
            self._until = now + self._delay

    def answered(self) -> None:
        """Records that a run ended without a rejection because of overload."""
        self._delay = 0.0 if self._delay <= self._first else self._delay / 2

    def wait(self) -> float:
        """Returns the time to wait before the next run, in seconds, with a random variation."""
        left = self._until - self._clock()
        return left * _JITTER.uniform(1.0, 1.5) if left > 0 else 0.0


class Work:
    """Scheduler of one batch, with the queue of runs, their outcomes and the current pause.

    Args:
        params: Parameters of all runs.
        file: File with earlier outcomes, which also stores new outcomes. None keeps the outcomes only in memory.
    """

    def __init__(self, params: Sequence[object], file: BatchFile | None) -> None:
        self.outcomes: list[Outcome | None] = [None] * len(params)
        self.todo: deque[int] = deque()
        self.interrupted = False
        self.fatal: Exception | None = None
        self._params = params
        self._file = file
        self._pace = Pace()
        self._tries: dict[int, int] = {}
        self._lock = threading.Lock()
        if file is not None:
            for outcome in file.read():
                self.outcomes[outcome.index] = outcome

    def __enter__(self) -> Self:
        if self._file is not None:
            self._file.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._file is not None:
                self._file.close()

    def left(self) -> list[int]:
        """Returns the indexes of the runs without a final outcome."""
        return [index for index, outcome in enumerate(self.outcomes) if outcome is None or outcome.transient]

    def begin(self, *, retry_failed: bool) -> None:
        """Queues all runs without a final outcome, and with ``retry_failed`` also all failed runs."""
        again = {index for index, outcome in enumerate(self.outcomes) if retry_failed and outcome and not outcome.ok}
        self.todo = deque(sorted({*self.left(), *again}))
        self.interrupted = False
        self.fatal = None
        self._tries = {}

    def take(self) -> int | None:
        """Dequeues the next run and returns its index. Returns None if the queue is empty or the batch has stopped."""
        with self._lock:
            return None if self.fatal is not None or not self.todo else self.todo.popleft()

    def put_back(self, index: int) -> None:
        """Puts a run back at the front of the queue, because an interruption prevented its outcome."""
        with self._lock:
            self.todo.appendleft(index)

    def pause(self) -> float:
        """Returns the time to wait before the next run, in seconds."""
        with self._lock:
            return self._pace.wait()

    def succeeded(self, index: int, run: Run) -> None:
        """Saves the result of a run."""
        with self._lock:
            self._pace.answered()
            self._store(Outcome.of_run(index, self._params[index], run))

    def failed(self, index: int, error: Exception) -> bool:
        """Saves the error of a run, or queues the run again if the service is overloaded.

        Returns:
            True if the method saved the error, False if it queued the run again.
        """
        with self._lock:
            if isinstance(error, _OVERLOAD):
                self._pace.refused()
                self._tries[index] = self._tries.get(index, 0) + 1
                if self._tries[index] < ATTEMPTS:
                    self.todo.append(index)
                    return False
            elif isinstance(error, _FATAL):
                self.fatal = self.fatal or error
            else:
                self._pace.answered()
            self._store(Outcome.of_error(index, self._params[index], error))
            return True

    def raise_if_useless(self) -> None:
        """Raises an error if no run of the batch executed the action.

        The method raises the error that stopped the batch. If no error stopped the batch, the method raises the first
        `InvalidArgument` of a run. Without such an error, the method returns.
        """
        if self.fatal is not None and not self._any_answer():
            raise self.fatal
        bad = next(
            (item.exception for item in self.outcomes if item and isinstance(item.exception, InvalidArgument)), None
        )
        if bad is not None and not self._any_answer():
            raise bad

    def _any_answer(self) -> bool:
        return any(outcome is not None and outcome.answered for outcome in self.outcomes)

    def _store(self, outcome: Outcome) -> None:
        self.outcomes[outcome.index] = outcome
        if self._file is not None:
            self._file.write(outcome)
