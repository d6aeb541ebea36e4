"""Reports of a year with a million runs: less than 20 s and 1 GiB on two cores, and pages of less than 5 MB."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import svcnb
from svcnb.client.recorder import connect

RUNS = 1_000_000
MOST_S = 20.0
MOST_KIB = 1024 * 1024
MOST_PAGE = 5_000_000
_YEAR_S = 365 * 86_400
_FILL = """
WITH RECURSIVE numbers(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count - 1)
INSERT INTO runs (source, run_id, started_at, base_url, key_hash, cid, action, status, params, response, logs,
  error_type, error, elapsed, cost_cents)
SELECT 'client', printf('%032x', n), :begin + :span * 1.0 * n / :count, :url, :key, printf('Qm%044d', n % 40),
  'action ' || (n % 40), CASE WHEN n % 97 THEN 'success' ELSE 'failed' END, '{"n":' || n || ',"to":"0x00000000dead"}',
  '{"signature":"********"}', 'started' || char(10) || 'done', CASE WHEN n % 97 THEN '' ELSE 'ActionError' END,
  CASE WHEN n % 97 THEN '' ELSE 'upstream answered 503' END, 0.2 + (n % 1000) / 500.0,
  CASE WHEN n % 97 THEN 1 ELSE 0 END
FROM numbers
"""


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of an account with a million recorded runs."""
    file = tmp_path_factory.mktemp("year") / "history.sqlite"
    with svcnb.Emulator() as emulator:
        account = emulator.client(history=False).accounts.create("year")
        given = {"count": RUNS, "begin": time.time() - _YEAR_S, "span": _YEAR_S, "url": emulator.base_url}
        with closing(connect(file)) as connection:
            connection.execute(_FILL, given | {"key": account.api_key_hash})
        yield {
            "SVC_BASE_URL": emulator.base_url,
            "SVC_API_KEY": account.api_key.reveal(),
            "SVC_HISTORY": str(file),
        }


@pytest.mark.parametrize("name", ["run-history", "spend"])
def test_a_report_of_a_million_runs(year: dict[str, str], name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "svcnb", "report", name, "-p", "since=366d", "--file", name, "--quiet"]
    watch = (
        "import resource, subprocess, sys; code = subprocess.run(sys.argv[1:]).returncode\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(code, used.ru_maxrss, round(1000 * (used.ru_utime + used.ru_stime)))"
    )
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", watch, *command], cwd=tmp_path, env={**os.environ, **year}, capture_output=True,
        text=True, check=True, timeout=600,
    )  # fmt: skip
    took = time.perf_counter() - begun
    code, peak, cpu_ms = map(int, done.stdout.split()[-3:])
    size = (tmp_path / f"{name}.html").stat().st_size
    print(
        f"{name}: {took:.1f} s, {cpu_ms / 1000:.1f} s of processor time, "
        f"{peak / 1024:.0f} MiB in the largest process, page {size / 1000:.0f} kB"
    )
    assert code == 0, done.stderr
    assert peak < MOST_KIB
    assert size < MOST_PAGE
    assert took < MOST_S
