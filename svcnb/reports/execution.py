"""Execution of a notebook from top to bottom, in a kernel with its own environment."""

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
"""Time limit for the start of the kernel, in seconds."""

OUTPUT_TIMEOUT_S: Final = 60
"""Time limit for outputs that arrive after the end of a cell, in seconds. nbclient's default of four seconds loses
outputs on a busy machine."""


_KERNEL: Final = "svcnb.reports.kernel"
Progress: TypeAlias = Callable[[int, int], object]


class KernelDidNotStart(SvcnbError, RuntimeError):
    """Error for a kernel that ended before its first cell, or did not respond within `START_TIMEOUT_S`."""


class Executed(NamedTuple):
    """Result of an execution: the notebook with its executed cells.

    Attributes:
        notebook: The notebook with the outputs of its executed cells.
        error: Error that stopped the execution. None if all cells ran.
        said: Output of the kernel process on its standard output and standard error. A kernel that crashes can print
            the reason in this output. `svcnb report` does not display the output, because it also contains messages
            about a normal end, such as an interrupt. Schedulers such as cron send all displayed output by e-mail.
    """

    notebook: NotebookNode
    error: BaseException | None
    said: str


class _Client(PapermillNotebookClient):  # type: ignore[misc]  # papermill has no types
    """papermill's client, with support for the kernel of reports and an error for kernels that do not start."""

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
    """papermill's engine with an environment for each kernel, so that several reports can run in one process."""

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
            # Kernels warn about their loopback connection and report the interrupt that ends them as an error. Neither
            # message explains why a kernel crashed.
            extra_arguments=[f"--IPKernelApp.log_level={logging.CRITICAL}"],
        )
        client.own_kernel = own_kernel
        executed(nb_man.nb)  # papermill provides an incomplete notebook only as a file
        client.execute(env=dict(environment), stdout=said, stderr=said)


def _follow(nb_man: Any, progress: Progress) -> None:
    """Changes papermill's notebook manager so that it calls `progress` at the start of each cell."""
    begin = nb_man.cell_start

    def begun(cell: NotebookNode, cell_index: int | None = None, **more: Any) -> Any:
        progress(cell_index or 0, len(nb_man.nb.cells))
        return begin(cell, cell_index, **more)

    nb_man.cell_start = begun


def _close_loop() -> None:
    """Closes the event loop that nbclient leaves open in this thread. If needed, Jupyter creates a new one."""
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
        template: Notebook to execute.
        parameters: Values of the notebook's parameters, as JSON values.
        environment: Environment variables of the kernel.
        cell_timeout: Time limit of one cell in seconds.
        folder: Working directory of the kernel. None means the working directory of this process.
        progress: Function to call before each cell with the number of completed cells and the number of all cells.
        own_kernel: Whether the kernel is `svcnb.reports.kernel`, which starts faster.

    Returns:
        The notebook with its executed cells, the error that stopped the execution, and the output of the kernel.
    """
    logging.getLogger("papermill").setLevel(logging.WARNING)
    notebooks: list[NotebookNode] = []
    with tempfile.TemporaryFile() as said:
        error: BaseException | None = None
        try:
            execute_notebook(
                template,
                None,  # write no file before the secrets are masked
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
