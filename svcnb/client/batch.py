"""Batches of `svc.map`. A batch runs one action once for each set of parameters, with limited concurrency.

`Work` stores the outcomes, selects the next run, and decides when to slow down and when to stop. The synchronous batch
executes the runs in threads. The asynchronous batch executes the runs in tasks.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, overload

from svcnb.brief import NO_MATH
from svcnb.client import display
from svcnb.client.batch_file import BatchFile
from svcnb.client.batch_work import Work
from svcnb.client.errors import InvalidArgument
from svcnb.client.frames import pandas
from svcnb.client.models.outcomes import Outcome
from svcnb.client.progress import bar
from svcnb.client.references import ActionRef, source_or_cid
from svcnb.protocol.action import Action
from svcnb.protocol.limits import DEFAULT_BATCH_CONCURRENCY, MAX_BATCH_CONCURRENCY

if TYPE_CHECKING:
    from pandas import DataFrame

    from svcnb.client.models.runs import Run

INTERRUPT_GRACE_S: Final = 5.0
"""Time that an interrupted batch waits for runs in progress, in seconds."""


class _Results(Sequence[Outcome]):
    """Sequence of the outcomes of all completed runs, in the order of the parameters."""

    def __init__(
        self,
        run: Any,
        action: ActionRef,
        params: Iterable[object],
        *,
        concurrency: int,
        resume: str | Path | None,
        progress: bool | None,
    ) -> None:
        if not 1 <= concurrency <= MAX_BATCH_CONCURRENCY:
            raise InvalidArgument(
                f"invalid concurrency {concurrency!r}: expected 1 to {MAX_BATCH_CONCURRENCY} concurrent runs",
                hint=f"Omit concurrency to use the default of {DEFAULT_BATCH_CONCURRENCY}.",
            )
        source, cid = source_or_cid(action)
        self.cid: str = cid
        # Compute the CID only once, not for each run.
        name = getattr(action, "name", "")
        self._action: ActionRef = Action(source, name=name) if source is not None else self.cid
        self._run = run
        self._concurrency = concurrency
        self._progress = progress
        # Only DataFrames have columns. Their conversion also replaces NumPy values with Python values.
        rows: Any = params
        if hasattr(rows, "columns") and hasattr(rows, "to_dict"):
            rows = rows.to_dict("records")
        # Reject dictionaries and strings, because the batch would iterate over their keys or characters.
        if isinstance(rows, (Mapping, str, bytes)) or not isinstance(rows, Iterable):
            raise InvalidArgument(
                f"the parameters of a batch must be a list with one entry per run, not a single {type(rows).__name__}",
                hint='Call svc.map(action, [{"n": n} for n in range(10)]). For one run, call svc.run(action, n=1).',
            )
        self.params: tuple[object, ...] = tuple(rows)
        file = None if resume is None else BatchFile(Path(resume), self.cid, self.params)
        self._work = Work(self.params, file)

    # --- outcomes ---------------------------------------------------------------------------------------------------

    @property
    def outcomes(self) -> list[Outcome]:
        """Outcomes of all completed runs, in the order of the parameters."""
        return [outcome for outcome in self._work.outcomes if outcome is not None]

    @property
    def failed(self) -> list[Outcome]:
        """Outcomes of all failed runs."""
        return [outcome for outcome in self.outcomes if not outcome.ok]

    @property
    def pending(self) -> list[int]:
        """Indexes of the runs without a final outcome: the run did not end, or ended with a temporary error.

        A run has the same index as its parameters in ``params``, starting at 0.
        """
        return self._work.left()

    @property
    def done(self) -> bool:
        """Whether every run has a final outcome: a response, or an error that is not temporary."""
        return not self.pending

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C or a cancellation interrupted the batch."""
        return self._work.interrupted

    @property
    def stopped_by(self) -> Exception | None:
        """Error that stopped the batch, for example `OutOfCredit`. None if no error stopped the batch."""
        return self._work.fatal

    @property
    def cost_cents(self) -> int:
        """Estimated cost of all completed runs, in US cents."""
        return sum(outcome.cost_cents for outcome in self.outcomes)

    def responses(self) -> list[Any]:
        """Returns the responses in the order of the parameters, with None for each run without a response."""
        return [None if outcome is None else outcome.response for outcome in self._work.outcomes]

    def to_frame(self) -> DataFrame:
        """Returns a pandas DataFrame with one row for each completed run, in the order of the parameters.

        Raises:
            ExtraMissing: pandas is not installed. The hint contains the command that installs pandas.
        """
        pd = pandas()
        columns = ["params", "ok", "response", "logs", "error", "elapsed", "cost_cents", "request_id"]
        rows = self.outcomes
        index = pd.Index([outcome.index for outcome in rows], name="run")
        frame = pd.DataFrame([[getattr(row, name) for name in columns] for row in rows], columns=columns, index=index)
        types = {"ok": "bool", "elapsed": "float64", "cost_cents": "int64"}
        responses = [row.response for row in rows if row.response is not None]
        if 0 < len(responses) < len(rows) and all(type(it) is int and it.bit_length() < 64 for it in responses):  # noqa: PLR2004 - bits of Int64
            types["response"] = "Int64"
        # pandas determines the types of strings from the rows, which an empty batch does not have.
        return frame.astype(types if rows else types | dict.fromkeys(("logs", "error", "request_id"), "str"))

    @overload
    def __getitem__(self, index: int) -> Outcome: ...
    @overload
    def __getitem__(self, index: slice) -> list[Outcome]: ...
    def __getitem__(self, index: int | slice) -> Outcome | list[Outcome]:
        return self.outcomes[index]

    def __len__(self) -> int:
        return len(self.outcomes)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self._said())})"

    def _repr_html_(self) -> str:
        rows = [
            [row.index, display.shorten(repr(row.params), 60), display.shorten(row.shown_result, 120)]
            for row in self.outcomes[:10]
        ]
        table = display.table(["run", "params", "result"], rows, empty="no runs yet")
        more = f"<div>and {len(self) - 10} more</div>" if len(self) > 10 else ""  # noqa: PLR2004 - number of displayed rows
        return f"<div class='{NO_MATH}'>{', '.join(self._said())}</div>{table}{more}"

    def _said(self) -> list[str]:
        ended = len(self) - sum(outcome.transient for outcome in self.failed)
        said = [f"{ended} of {len(self.params)} runs"]
        if self.failed:
            said.append(f"{len(self.failed)} failed")
        if self.interrupted and not self.done:
            said.append("interrupted: call resume() to continue")
        elif self.stopped_by is not None:
            said.append(f"stopped by {type(self.stopped_by).__name__}: call resume() to continue")
        return said


class Batch(_Results):
    """Batch of one `Client.map` call: a sequence with one `Outcome` for each completed run."""

    _run: Callable[[ActionRef, object], Run]

    def resume(self, *, retry_failed: bool = False) -> Self:
        """Executes the remaining runs, and returns this batch.

        Args:
            retry_failed: Whether to also repeat runs that failed with a final error, such as an error of the action.

        Raises:
            Forbidden: The service permitted none of the runs. An unknown key raises `Unauthorized`, and insufficient
                credit raises `OutOfCredit`.
            InvalidArgument: The parameters of a run are invalid, and no run executed the action.
        """
        work = self._work
        work.begin(retry_failed=retry_failed)
        ended: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        stop = threading.Event()
        # The threads are daemons, because a run can take fifteen minutes and an interrupted program must be able to
        # exit.
        workers = [
            threading.Thread(target=self._drain, args=(ended, stop), daemon=True, name=f"svc-map-{number}")
            for number in range(min(self._concurrency, len(work.todo)))
        ]
        with bar(len(self.params), len(self.params) - len(work.todo), wanted=self._progress) as shown, work:
            try:
                for worker in workers:
                    worker.start()
                left = len(workers)
                while left:
                    if ended.get() is None:
                        left -= 1
                    else:
                        shown.step()
            except KeyboardInterrupt:
                work.interrupted = True
                stop.set()
                until = time.monotonic() + INTERRUPT_GRACE_S
                for worker in workers:
                    if worker.ident is not None:  # the thread has started
                        worker.join(max(0.0, until - time.monotonic()))
        work.raise_if_useless()
        return self

    def _drain(self, ended: queue.SimpleQueue[int | None], stop: threading.Event) -> None:
        try:
            while not stop.is_set() and (index := self._work.take()) is not None:
                if stop.wait(self._work.pause()):
                    self._work.put_back(index)
                    return
                try:
                    run = self._run(self._action, self.params[index])
                except Exception as error:  # noqa: BLE001 - every error is an outcome
                    if self._work.failed(index, error):
                        ended.put(index)
                else:
                    self._work.succeeded(index, run)
                    ended.put(index)
        finally:
            ended.put(None)


class AsyncBatch(_Results):
    """Batch of one `AsyncClient.map` call: a sequence with one `Outcome` for each completed run.

    To execute the runs, await the batch. To execute the remaining runs after an interruption, await the batch again.
    """

    _run: Callable[[ActionRef, object], Awaitable[Run]]

    def __await__(self) -> Generator[Any, None, Self]:
        return self.resume().__await__()

    async def resume(self, *, retry_failed: bool = False) -> Self:
        """Asynchronous version of `Batch.resume`."""
        work = self._work
        work.begin(retry_failed=retry_failed)
        count = min(self._concurrency, len(work.todo))
        with bar(len(self.params), len(self.params) - len(work.todo), wanted=self._progress) as shown, work:
            tasks = [asyncio.ensure_future(self._drain(shown.step)) for _ in range(count)]
            try:
                await asyncio.gather(*tasks)
            except asyncio.CancelledError:
                work.interrupted = True
                raise
            finally:
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
        work.raise_if_useless()
        return self

    async def _drain(self, step: Any) -> None:
        while (index := self._work.take()) is not None:
            try:
                await asyncio.sleep(self._work.pause())
                run = await self._run(self._action, self.params[index])
            except asyncio.CancelledError:
                self._work.put_back(index)
                raise
            except Exception as error:  # noqa: BLE001 - every error is an outcome
                if self._work.failed(index, error):
                    step()
            else:
                self._work.succeeded(index, run)
                step()
