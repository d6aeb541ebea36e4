"""Finds unused code in the package: `poe dead-code`.

Tests, scripts and documentation count as users. `USED` lists the names that only a library or a user of this project
uses. The script also reports names in this list that the project uses or that no longer exist.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from vulture import Vulture

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "svcnb"
USERS: Final = ("tests", ".ci", "docs", "conftest.py", "hatch_build.py")
# Substitutes have the names of other libraries. Recipes and their tests become separate projects.
LEFT_OUT: Final = ("*/lite/substitutes/*", "*/cookbook/recipes/*", "*/cookbook/project/*")
# Members of requests, responses and settings, which are data.
DATA: Final = (
    "client/models/",
    "protocol/wire/",
    "emulator/settings.py",
    "emulator_settings.py",
    "reports/parameters.py",
)
# Decorators of functions that a library calls.
DECORATORS: Final = (
    *("@command", "@*.command", "@field_serializer", "@field_validator", "@model_validator", "@pytest.fixture"),
)

_CALLERS: Final = {
    "Python, for names of a module": "__dir__ __getattr__",
    "IPython": (
        "_render_traceback_ load_ipython_extension unload_ipython_extension matcher_api_version matcher_priority"
    ),
    "click": "format_commands",
    "uvicorn and asyncio": "capture_signals disconnected eof_received keep_alive msg",
    "the standard library": "compress_type daemon_threads do_POST log_message memo request_queue_size row_factory",
    "nbconvert": "exclude_anchor_links exclude_input_prompt exclude_output_prompt preprocessors",
    "papermill": "execute_managed_notebook",
    "JupyterHub": "env_keep notebook_dir",
    "a web worker": "onerror onmessage",
    "the start of the page": "start_early",
    "the browser side of panels": "_css",
    "web3": "default_account",
    "pydantic": "model_config",
    "pytest": "pytest_addoption",
    "users, until the next release: an old name": "abandon",
    "users, notebooks and templates of reports": (
        "BAD REASONS erase expires log_index peak_memory_bytes read_permissions struct_hash"
    ),
}
USED: Final = {name: caller for caller, names in _CALLERS.items() for name in names.split()}
"""User of each name."""


def findings() -> list[str]:
    """Returns a line for each unused name, and for each unnecessary name in `USED`."""
    search = Vulture(ignore_decorators=list(DECORATORS))
    search.scavenge([str(PACKAGE), *(str(ROOT / user) for user in USERS)], exclude=list(LEFT_OUT))
    unused = [
        found
        for found in search.get_unused_code(min_confidence=60)
        if found.filename.is_relative_to(PACKAGE)
        and not (found.typ == "variable" and str(found.filename.relative_to(PACKAGE)).startswith(DATA))
    ]
    lines = [
        f"{found.filename.relative_to(ROOT)}:{found.first_lineno}: nothing uses the {found.typ} {found.name}"
        for found in unused
        if found.name not in USED
    ]
    return lines + [
        f"{name} is used or no longer exists: delete the name from USED"
        for name in USED.keys() - {each.name for each in unused}
    ]


if __name__ == "__main__":
    lines = findings()
    sys.stdout.writelines(f"{line}\n" for line in lines)
    sys.exit(1 if lines else 0)
