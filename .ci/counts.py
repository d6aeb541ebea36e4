"""Sums up the results of several runs: ``python .ci/counts.py RESULTS``.

RESULTS is a folder of JUnit files as pytest writes them. Prints a line for each run and a closing line of counts; ends
with 1 when a test failed.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from xml.etree.ElementTree import parse


def counts(path: Path) -> Counter[str]:
    """Numbers of passed, failed and skipped tests in one JUnit file."""
    found: Counter[str] = Counter()
    for suite in parse(path).iter("testsuite"):  # noqa: S314 - a file of this run
        failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        skipped = int(suite.get("skipped", 0))
        found += Counter(passed=int(suite.get("tests", 0)) - failed - skipped, failed=failed, skipped=skipped)
    return found


def main(results: str) -> int:
    """Prints the sums; returns the exit code."""
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
