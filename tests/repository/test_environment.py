"""The tests receive the environment variables that they read. `conftest.py` deletes all other settings."""

from __future__ import annotations

import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
READ = re.compile(r"""os\.environ(?:\.get\(|\[)["'](SVC_\w+)["'](?!\]? = )|["'](SVC_\w+)["'] (?:not )?in os\.environ""")


def test_every_variable_that_a_test_reads_reaches_the_test(request) -> None:
    rules = request.config.pluginmanager.get_plugin(str(TESTS.parent / "conftest.py"))
    read: dict[str, Path] = {}
    for path in TESTS.rglob("*.py"):
        text = path.read_text("utf-8")
        names = {first or second for first, second in READ.findall(text)}
        # A test that gives a program a variable sets it after `conftest.py` has run.
        read |= dict.fromkeys((name for name in names if not re.search(rf'"{name}":|setenv\("{name}"', text)), path)
    assert {"SVC_SITE", "SVC_CHART"} <= read.keys()
    lost = {name: path for name, path in read.items() if name not in rules.KEPT | rules.SET.keys()}
    assert {name: path for name, path in lost.items() if not name.startswith(rules.KEPT_PREFIXES)} == {}
