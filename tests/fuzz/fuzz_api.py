"""More than 10,000 requests over every operation: ``pytest tests/fuzz -o python_files=fuzz_*.py -s``.

`SVC_FUZZ_EXAMPLES` sets the number of requests for each operation, and `SVC_FUZZ_SEED` the random seed.
"""

from __future__ import annotations

import os

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


def test_ten_thousand_requests_cause_no_undocumented_response(fuzz_api, tmp_path):
    examples = int(os.environ.get("SVC_FUZZ_EXAMPLES", "320"))
    seed = int(os.environ.get("SVC_FUZZ_SEED", "1"))
    report = fuzz_api(
        tmp_path, examples=examples, seed=seed, phases="examples,coverage,fuzzing,stateful", timeout_s=3_600
    )
    print(report.text)  # noqa: T201 - the counts are the point
    assert not report.problems
    assert report.operations == report.described
    assert examples < 320 or report.cases >= 10_000
