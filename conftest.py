"""Configuration of pytest. Tests and lessons use this working copy, several processes, and no personal settings."""

from __future__ import annotations

import itertools
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tests import warm_kernels
from tests.warm_kernels import WarmKernels

_SCRATCH = tempfile.TemporaryDirectory(prefix="svcnb-tests-")

# Maximum number of worker processes. Each process starts an emulator, a chain and an engine, which need 400 MB.
MOST_WORKERS = 4

# The folders of external tools depend on the machine. All other settings can change the results of tests.
KEPT = {"SVC_ANVIL", "SVC_CACHE", "SVC_DENO"}
# Most tests run one action at a time, and many run none.
SET = {"SVC_HISTORY": "off", "SVC_ACTION_SPARES": "1"}
# Variables that tests read, for example the number of examples and the paths of additional data.
KEPT_PREFIXES = (
    "SVC_ADVISORIES", "SVC_BENCH_", "SVC_CANARY_", "SVC_CHART", "SVC_FAULT_", "SVC_FUZZ_", "SVC_GAS_", "SVC_HOSTILE_",
    "SVC_MALFORMED", "SVC_MAP_", "SVC_MODEL_", "SVC_SHOTS", "SVC_SITE", "SVC_SOAK_", "SVC_WALK_", "SVC_WHOLE",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--live``."""
    parser.addoption(
        "--live",
        action="store_true",
        help="Do not clear the environment, and run lessons on the service at SVC_BASE_URL. This costs real credit.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Clears the environment before pytest collects tests or starts processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts background processes with SIGINT ignored. Processes that the tests start inherit this setting.
        # The tests then cannot interrupt these processes.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Without bytecode, each of the hundreds of programs that the tests start compiles the package again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if config.getoption("--live"):
        os.environ["SVC_LESSONS"] = "live"  # the option is the confirmation
        return
    for name in [name for name in os.environ if name.startswith("SVC_") and name not in KEPT]:
        if not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    # These options are for this run, not for the runs of pytest that tests and lessons start.
    os.environ.pop("PYTEST_ADDOPTS", None)
    os.environ["SVCNB_CONFIG"] = os.devnull
    os.environ |= SET
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # by default, glibc creates a heap for each of the first threads
    # This folder exists only during the run, so no records of unfinished ChainSecured operations remain.
    os.environ["SVCNB_PENDING"] = str(Path(_SCRATCH.name) / "pending")
    # Kernels of lessons and tested commands use this working copy in every folder.
    paths = [str(Path(__file__).resolve().parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Returns the number of worker processes: one for each core for a folder, and none for single files.

    Without worker processes, the tests start immediately in this process.
    """
    if not any(Path(argument.partition("::")[0]).is_dir() for argument in config.args):
        return 0
    return min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Sorts the cells of each notebook, and puts them next to each other, even if pytest runs tests in random order."""
    notebooks: dict[Path, list[Any]] = {}
    for item in items:
        if item.path.suffix == ".ipynb":
            notebooks.setdefault(item.path, []).append(item)
    ordered: list[pytest.Item] = []
    for item in items:
        if item.path not in notebooks:
            ordered.append(item)
        elif item is notebooks[item.path][0]:
            cells = sorted(notebooks[item.path], key=lambda cell: cell.cell_num)
            for cell in cells:
                cell.output_timeout = 600  # seconds; the default of nbval is five
            ordered += cells
    items[:] = ordered


_warm_kernels = pytest.StashKey["WarmKernels"]()


def _kernels(config: pytest.Config) -> WarmKernels:
    """Returns the process that prepares kernels for all worker processes, and starts this process if necessary."""
    if (kernels := config.stash.get(_warm_kernels, None)) is None:
        folder = Path(_SCRATCH.name) / "warm"
        folder.mkdir()
        kernels = config.stash[_warm_kernels] = WarmKernels(folder)
    return kernels


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Passes the folder of the prepared kernels to a worker process."""
    if sys.platform == "linux":
        node.workerinput["warm_kernels"] = str(_kernels(node.config).folder)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Configures notebooks to use prepared kernels. See `tests/warm_kernels.py`."""
    config = session.config
    chosen = config.option.nbval_kernel_name or config.option.nbval_current_env or config.option.collectonly
    if sys.platform == "linux" and not chosen and any(item.path.suffix == ".ipynb" for item in session.items):
        given = getattr(config, "workerinput", None)
        folder = Path(given["warm_kernels"]) if given else _kernels(config).folder
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("JUPYTER_PATH")]))
        config.option.nbval_kernel_name = warm_kernels.NAME
        _use_sockets_without_ports(folder)


def _use_sockets_without_ports(folder: Path) -> None:
    """Connects nbval to its kernels with Unix sockets.

    Jupyter finds free TCP ports, and the kernel opens these ports later. In the time between these two steps, another
    program can open one of the ports. The kernel then ends.
    """
    from jupyter_client.manager import KernelManager
    from nbval import kernel

    numbers = itertools.count()

    def make(**options: Any) -> KernelManager:
        return KernelManager(transport="ipc", ip=str(folder / f"kernel{os.getpid()}-{next(numbers)}"), **options)

    kernel.KernelManager = make


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stops the process that prepares kernels, and deletes the temporary folder."""
    if (warm := config.stash.get(_warm_kernels, None)) is not None:
        warm.stop()
    _SCRATCH.cleanup()
