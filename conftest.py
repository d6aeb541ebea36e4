"""Configuration of tests and lessons: they use this working copy, no personal settings, and several processes."""

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

# Most worker processes of a run. Each holds an emulator, a chain and an engine of its own, 400 MB together.
MOST_WORKERS = 4

# Where external tools are cached depends on the machine; every other setting would change results.
KEPT = {"SVC_ANVIL", "SVC_CACHE", "SVC_DENO"}
# Most tests run one action at a time, and many run none.
SET = {"SVC_HISTORY": "off", "SVC_ACTION_SPARES": "1"}
# What the tests themselves read: how much of the parts that are run by name, and what they are given.
KEPT_PREFIXES = (
    "SVC_ADVISORIES", "SVC_BENCH_", "SVC_CANARY_", "SVC_CHART", "SVC_FAULT_", "SVC_FUZZ_", "SVC_GAS_", "SVC_HOSTILE_",
    "SVC_MALFORMED", "SVC_MAP_", "SVC_MODEL_", "SVC_SHOTS", "SVC_SITE", "SVC_SOAK_", "SVC_WALK_", "SVC_WHOLE",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--live``."""
    parser.addoption(
        "--live",
        action="store_true",
        help="Keep the environment, and run lessons on the service of SVC_BASE_URL. Costs real credit.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Clears the environment before anything is collected or started."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts its background work so, and every process of ours that a test interrupts would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Tests start hundreds of programs, each of which would compile the package again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if config.getoption("--live"):
        os.environ["SVC_LESSONS"] = "live"  # the option is the confirmation
        return
    for name in [name for name in os.environ if name.startswith("SVC_") and name not in KEPT]:
        if not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    os.environ.pop("PYTEST_ADDOPTS", None)  # meant for this run, not for those that tests and lessons start
    os.environ["SVCNB_CONFIG"] = os.devnull
    os.environ |= SET
    os.environ.setdefault("MALLOC_ARENA_MAX", "1")  # glibc would create a heap for each of the first threads
    # Records of mints under way are kept where they end with the run.
    os.environ["SVCNB_PENDING"] = str(Path(_SCRATCH.name) / "pending")
    # Kernels of lessons and commands under test run this working copy, wherever they are started.
    paths = [str(Path(__file__).resolve().parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Runs folders in one process for each core, and single files in this process, where they start at once."""
    if not any(Path(argument.partition("::")[0]).is_dir() for argument in config.args):
        return 0
    return min(os.cpu_count() or 1, MOST_WORKERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the cells of a notebook together and in their order, also where tests are shuffled."""
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
                cell.output_timeout = 600  # seconds; nbval gives up after five by itself
            ordered += cells
    items[:] = ordered


_warm_kernels = pytest.StashKey["WarmKernels"]()


def _kernels(config: pytest.Config) -> WarmKernels:
    """Starts the process that makes warm kernels: one for all worker processes."""
    if (kernels := config.stash.get(_warm_kernels, None)) is None:
        folder = Path(_SCRATCH.name) / "warm"
        folder.mkdir()
        kernels = config.stash[_warm_kernels] = WarmKernels(folder)
    return kernels


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tells a worker process where it gets kernels."""
    if sys.platform == "linux":
        node.workerinput["warm_kernels"] = str(_kernels(node.config).folder)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Lets notebooks start their kernels from a process that is warm; see `tests/warm_kernels.py`."""
    config = session.config
    chosen = config.option.nbval_kernel_name or config.option.nbval_current_env or config.option.collectonly
    if sys.platform == "linux" and not chosen and any(item.path.suffix == ".ipynb" for item in session.items):
        given = getattr(config, "workerinput", None)
        folder = Path(given["warm_kernels"]) if given else _kernels(config).folder
        os.environ["JUPYTER_PATH"] = os.pathsep.join(filter(None, [str(folder), os.environ.get("JUPYTER_PATH")]))
        config.option.nbval_kernel_name = warm_kernels.NAME
        _use_sockets_without_ports(folder)


def _use_sockets_without_ports(folder: Path) -> None:
    """Connects nbval to its kernels by Unix sockets.

    Jupyter chooses free TCP ports and closes them again, and the kernel opens them later. Between the two, another
    program that a test starts can take one. The kernel then ends.
    """
    from jupyter_client.manager import KernelManager
    from nbval import kernel

    numbers = itertools.count()

    def make(**options: Any) -> KernelManager:
        return KernelManager(transport="ipc", ip=str(folder / f"kernel{os.getpid()}-{next(numbers)}"), **options)

    kernel.KernelManager = make


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leaves nothing behind."""
    if (warm := config.stash.get(_warm_kernels, None)) is not None:
        warm.stop()
    _SCRATCH.cleanup()
