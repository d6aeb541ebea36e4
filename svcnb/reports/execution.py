"""Runs a notebook from top to bottom in a kernel with an environment of its own."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, Final, NamedTuple, TypeAlias

from jupyter_core.utils import ensure_event_loop
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from papermill import execute_notebook
from papermill.clientwrap import PapermillNotebookClient
from papermill.engines import NBClientEngine, papermill_engines
from papermill.exceptions import PapermillExecutionError

from svcnb.errors import SvcnbError

ENGINE: Final = "svcnb"
START_TIMEOUT_S: Final = 180
"""Seconds that the kernel may take to start."""

OUTPUT_TIMEOUT_S: Final = 60
"""Seconds that outputs of a cell may arrive after its end; nbclient's own four lose those of a busy machine."""


_KERNEL: Final = "svcnb.reports.kernel"
Progress: TypeAlias = Callable[[int, int], object]


class KernelDidNotStart(SvcnbError, RuntimeError):
    """A kernel ended, or said nothing for `START_TIMEOUT_S`, before it took its first cell."""


class Executed(NamedTuple):
    """A notebook as far as it came.

    Attributes:
        notebook: The notebook.
        error: What ended it before its time.
        said: What its kernel wrote past the notebook, to its own standard output and error. Nobody else sees it: an
            interrupt or a socket that is shut while the kernel ends is no matter of a scheduler's mail, but a kernel
            that dies may say there why.
    """

    notebook: NotebookNode
    error: BaseException | None
    said: str


class _Client(PapermillNotebookClient):  # type: ignore[misc]  # papermill has no types
    """papermill's own client, which tells a kernel that does not start from other errors, and may use our kernel."""

    own_kernel = False
    """Whether the kernel is `svcnb.reports.kernel`."""

    def create_kernel_manager(self) -> Any:
        manager = super().create_kernel_manager()
        if self.own_kernel:
            spec = manager.kernel_spec
            spec.argv = [_KERNEL if each == "ipykernel_launcher" else each for each in spec.argv]
        return manager

    def start_new_kernel_client(self, **options: Any) -> Any:
        try:
            return super().start_new_kernel_client(**options)
        except RuntimeError as error:
            raise KernelDidNotStart(str(error)) from error


class _Engine(NBClientEngine):  # type: ignore[misc]  # papermill has no types
    """papermill's own engine, but that the kernel's environment can be told: several reports may run in one process."""

    @classmethod
    def execute_managed_notebook(
        cls,
        nb_man: Any,
        kernel_name: str,
        *,
        environment: Mapping[str, str],
        execution_timeout: float,
        said: IO[bytes],
        executed: Callable[[NotebookNode], object],
        progress: Progress | None,
        own_kernel: bool,
        **_: Any,
    ) -> None:
        if progress is not None:
            _follow(nb_man, progress)
        client = _Client(
            nb_man,
            kernel_name=kernel_name,
            timeout=execution_timeout,
            startup_timeout=START_TIMEOUT_S,
            iopub_timeout=OUTPUT_TIMEOUT_S,
            # Kernels warn that they speak over loopback, and call the interrupt that ends them an error. Neither is
            # what a kernel that died has said last.
            extra_arguments=[f"--IPKernelApp.log_level={logging.CRITICAL}"],
        )
        client.own_kernel = own_kernel
        executed(nb_man.nb)  # papermill passes an incomplete notebook on in a file alone
        client.execute(env=dict(environment), stdout=said, stderr=said)


def _follow(nb_man: Any, progress: Progress) -> None:
    """Reports each cell to `progress` when it begins."""
    begin = nb_man.cell_start

    def begun(cell: NotebookNode, cell_index: int | None = None, **more: Any) -> Any:
        progress(cell_index or 0, len(nb_man.nb.cells))
        return begin(cell, cell_index, **more)

    nb_man.cell_start = begun


def _close_loop() -> None:
    """Closes the event loop that nbclient made for this thread and leaves open; Jupyter makes a new one if need be."""
    loop = ensure_event_loop()
    if not loop.is_running():
        loop.close()


papermill_engines.register(ENGINE, _Engine)


def execute(
    template: Path,
    parameters: Mapping[str, Any],
    environment: Mapping[str, str],
    cell_timeout: float,
    *,
    folder: Path | None = None,
    progress: Progress | None = None,
    own_kernel: bool = False,
) -> Executed:
    """Executes a notebook.

    Args:
        template: The notebook.
        parameters: What its parameters are set to; JSON values.
        environment: The kernel's environment.
        cell_timeout: Seconds that one cell may take.
        folder: The kernel's working directory; that of this process when None.
        progress: Is told before each cell how many are done, and how many there are.
        own_kernel: Whether the kernel is `svcnb.reports.kernel`, which starts faster.

    Returns:
        The notebook as far as it came, what ended it before its time, and what its kernel said.
    """
    logging.getLogger("papermill").setLevel(logging.WARNING)
    notebooks: list[NotebookNode] = []
    with tempfile.TemporaryFile() as said:
        error: BaseException | None = None
        try:
            execute_notebook(
                template,
                None,  # not written before secrets are masked
                dict(parameters),
                engine_name=ENGINE,
                kernel_name="python3",
                language="python",
                progress_bar=False,
                request_save_on_cell_execute=False,
                autosave_cell_every=0,
                environment=environment,
                execution_timeout=cell_timeout,
                said=said,
                executed=notebooks.append,
                progress=progress,
                own_kernel=own_kernel,
                cwd=folder,
            )
        except (PapermillExecutionError, CellTimeoutError, DeadKernelError, KernelDidNotStart) as failure:
            error = failure
        finally:
            if threading.current_thread() is not threading.main_thread():
                _close_loop()
        said.seek(0)
        return Executed(notebooks[0], error, said.read().decode(errors="replace"))
