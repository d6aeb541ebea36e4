"""Runs the TypeScript tests of the panels with the Deno of the wheel. The tests use a model without a kernel."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from svcnb import tools

ROOT = Path(__file__).parents[2]
# The test of typed data runs together with the signatures (tests/client/chain_secured).
FILES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "widgets/tests").glob("*_test.ts")
    if path.name != "typed_data_test.ts"
)

pytestmark = pytest.mark.engine


def deno(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [tools.deno(), *arguments],
        cwd=ROOT,
        env=os.environ | {"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.slow
def test_the_typescript_tests_of_the_panels_pass() -> None:
    allowed = (
        "--no-prompt",
        "--cached-only",
        "--allow-env",
        "--allow-read=tests/vectors,svcnb/emulator/sandbox/static",
    )
    done = deno("test", "--quiet", "--no-check", "--config=widgets/deno.json", *allowed, *FILES)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"(\d+) passed .*0 failed", done.stdout)
    written = sum((ROOT / file).read_text(encoding="utf-8").count("Deno.test(") for file in FILES)
    assert found is not None
    assert int(found[1]) >= written > 10
