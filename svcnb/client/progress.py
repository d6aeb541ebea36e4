"""Progress bar for terminals and notebooks, if tqdm is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from svcnb.errors import ExtraMissing

MIN_STEPS: Final = 2


class Bar:
    """Progress bar of a batch or another operation with several steps.

    Args:
        shown: Progress bar of tqdm. With None, the object shows nothing.
    """

    def __init__(self, shown: Any = None) -> None:
        self._shown = shown

    def step(self, text: str = "") -> None:
        """Advances the progress bar by one step.

        Args:
            text: Description of the completed step, shown next to the bar.
        """
        if self._shown is not None:
            if text:
                self._shown.set_postfix_str(text, refresh=False)
            self._shown.update(1)


@contextmanager
def bar(total: int, done: int, *, wanted: bool | None, unit: str = "run") -> Iterator[Bar]:
    """Context manager that shows a progress bar during a block.

    Args:
        total: Total number of steps.
        done: Number of steps that are already completed.
        wanted: Whether to show the bar. None shows the bar in a terminal or a notebook if tqdm is installed and at
            least two steps remain.
        unit: Name of one step, for example ``run``.

    Raises:
        ExtraMissing: The caller requested a bar, but tqdm is not installed.
    """
    if wanted is False or (wanted is None and (total - done < MIN_STEPS or not _watched())):
        yield Bar()
        return
    try:
        from tqdm.auto import tqdm
    except ImportError as error:
        if wanted:
            raise ExtraMissing("a progress bar requires tqdm", "lab") from error
        yield Bar()
        return
    with tqdm(total=total, initial=done, unit=unit) as shown:
        yield Bar(shown)


def _watched() -> bool:
    if sys.stderr is not None and sys.stderr.isatty():
        return True
    kernel = sys.modules.get("ipykernel.zmqshell")
    shell = sys.modules.get("IPython")
    return kernel is not None and shell is not None and isinstance(shell.get_ipython(), kernel.ZMQInteractiveShell)
