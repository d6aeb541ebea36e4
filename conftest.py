"""What holds for tests and lessons alike: they see this working copy, and no setting of whoever runs them."""

from __future__ import annotations

import os
import signal
import tempfile
from pathlib import Path

import pytest

_SCRATCH = tempfile.TemporaryDirectory(prefix="svcnb-tests-")

# Where parts are fetched to is the machine's business; everything else would change what is seen.
KEPT = {"SVC_ANVIL", "SVC_CACHE", "SVC_DENO"}
# What the tests themselves read: how much of the parts that are run by name, and what they are given.
KEPT_PREFIXES = (
    "SVC_ADVISORIES", "SVC_BENCH_", "SVC_CANARY_", "SVC_FAULT_", "SVC_FUZZ_", "SVC_GAS_", "SVC_HOSTILE_",
    "SVC_MALFORMED", "SVC_MAP_", "SVC_MODEL_", "SVC_SOAK_",
)  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds ``--live``."""
    parser.addoption(
        "--live",
        action="store_true",
        help="Keep the environment, so that lessons use the service of SVC_BASE_URL. Costs real credit.",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Clears the environment before anything is collected or started."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts its background work so, and every process of ours that a test interrupts would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--live"):
        return
    for name in [name for name in os.environ if name.startswith("SVC_") and name not in KEPT]:
        if not name.startswith(KEPT_PREFIXES):
            del os.environ[name]
    os.environ["SVCNB_CONFIG"] = os.devnull
    os.environ["SVC_HISTORY"] = "off"
    # Records of mints under way are kept where they end with the run.
    os.environ["SVCNB_PENDING"] = str(Path(_SCRATCH.name) / "pending")
    # Kernels of lessons and commands under test run this working copy, wherever they are started.
    paths = [str(Path(__file__).resolve().parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Lets a busy machine take its time over what a lesson's cell printed; nbval itself gives up after five seconds."""
    for item in items:
        if hasattr(item, "output_timeout"):
            item.output_timeout = 600


def pytest_unconfigure() -> None:
    """Leaves nothing behind."""
    _SCRATCH.cleanup()
