"""Record of the order of a run's operations and results, so that a repeated run receives its results in this order.

The next steps of an action often depend on which of two parallel requests completes first. A repeated run that receives
the results in a different order can therefore make different requests.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable, Hashable
from typing import Final

GRACE_S: Final = 1.0
"""Maximum additional delay of a result compared with the first attempt, in seconds.

After this delay, `AnswerOrder` stops delaying results.
"""


class AnswerOrder:
    """Recorded order of the starts and results of operations in the first attempt of a run.

    In the second attempt, the class delays each result until all earlier events of this order have occurred. The class
    does not delay operations that only the second attempt starts, because these operations have no position in the
    order.

    Args:
        clock: Monotonic clock that returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        # Pairs of the kind of an event (True for a result, False for the start of an operation) and the operation.
        self._log: list[tuple[bool, Hashable]] = []
        self._times = [clock()]  # time of the start, then of each event
        self._positions: dict[Hashable, float] = {}  # number of events before a result
        self._answered_at: dict[Hashable, float] = {}
        self._repeats = False
        self._is_given_up = False
        self._happened: set[tuple[bool, Hashable]] = set()
        self._next = 0
        self._last_at = 0.0
        self._turns: dict[Hashable, asyncio.Future[None]] = {}

    def started(self, operation: Hashable) -> None:
        """Records that the action started an operation.

        Args:
            operation: The operation. In the second attempt, this is the matching operation of the first attempt.
        """
        self._note(operation, is_answer=False)

    def answered(self, operation: Hashable) -> None:
        """Records that the action received the result of an operation."""
        if not self._repeats:
            if operation in self._positions:
                return  # the action has already aborted the operation
            self._set_position(operation, len(self._log))
        self._note(operation, is_answer=True)

    def aborted(self, operation: Hashable) -> None:
        """Records that the action aborted an operation."""
        if self._repeats:
            self._note(operation, is_answer=True)
        else:
            self._set_position(operation, math.inf)  # the second attempt also aborts the operation

    def repeat(self) -> None:
        """Ends the recording. Call this method when the second attempt starts.

        Results that did not arrive in the first attempt are last in the order.
        """
        for is_answer, operation in self._log:
            if not is_answer and operation not in self._positions:
                self._set_position(operation, len(self._log))
        self._repeats = True

    def give_up(self) -> None:
        """Stops delaying results, so that all waiting and later results are available immediately."""
        self._is_given_up = True
        self._log.clear()
        self._happened.clear()
        self._positions.clear()
        self._answered_at.clear()
        self._release()

    async def turn(self, operation: Hashable) -> None:
        """Waits for all events that preceded the operation's result in the first attempt.

        The method does nothing before a call of `repeat`.
        """
        if not self._repeats or not self._has_to_wait(operation):
            return
        turn = self._turns[operation] = asyncio.get_running_loop().create_future()
        try:
            while not turn.done():
                expected_s = self._answered_at[operation] - self._times[self._next]
                left_s = expected_s + GRACE_S - (self._clock() - self._last_at)
                if left_s <= 0:
                    self.give_up()
                else:
                    await asyncio.wait([turn], timeout=left_s)
        finally:
            del self._turns[operation]

    def _set_position(self, operation: Hashable, position: float) -> None:
        if self._is_given_up:
            return
        self._positions[operation] = position
        self._answered_at[operation] = self._clock()

    def _note(self, operation: Hashable, *, is_answer: bool) -> None:
        if self._is_given_up:
            return
        self._last_at = self._clock()
        if not self._repeats:
            self._log.append((is_answer, operation))
            self._times.append(self._last_at)
            return
        self._happened.add((is_answer, operation))
        while self._next < len(self._log) and self._log[self._next] in self._happened:
            self._next += 1
        self._release()

    def _has_to_wait(self, operation: Hashable) -> bool:
        return self._positions.get(operation, 0) > self._next

    def _release(self) -> None:
        for operation, turn in self._turns.items():
            if not turn.done() and not self._has_to_wait(operation):
                turn.set_result(None)
