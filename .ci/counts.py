"""Adds up the results of several test runs: ``python .ci/counts.py RESULTS``.

RESULTS is a folder with JUnit files from pytest. Prints one line for each run, and a final line with the totals. Exits
with 1 if a test failed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import parse


def counts(path: Path) -> Counter[str]:
    """Returns the numbers of passed, failed and skipped tests in one JUnit file."""
    found: Counter[str] = Counter()
    for suite in parse(path).iter("testsuite"):  # noqa: S314 - a trusted file of this run
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        found += Counter(passed=int(suite.get("tests", 0)) - failed - skipped, failed=failed, skipped=skipped)
    return found


def main(results: str) -> int:
    """Prints the totals and returns the exit code."""
    runs = {path.stem: counts(path) for path in sorted(Path(results).glob("*.xml"))}
    total = sum(runs.values(), Counter())
    told = [f"{name}: {_line(found)}" for name, found in runs.items()]
    told.append(_line(total))
    sys.stdout.write("\n".join(told) + "\n")
    return 1 if total["failed"] or not total["passed"] else 0


def _line(found: Counter[str]) -> str:
    return f"{found['passed']} passed, {found['failed']} failed, {found['skipped']} skipped"


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
