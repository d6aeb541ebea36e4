"""Short version of `fuzz_api` for every test run, with a few requests for each operation."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.chain, pytest.mark.slow]


def test_no_request_causes_an_undocumented_response(fuzz_api, tmp_path):
    report = fuzz_api(tmp_path, examples=3, seed=1, phases="fuzzing,stateful", timeout_s=1_800)
    assert not report.problems, report.text
    assert report.operations == report.described
    assert report.cases >= 3 * report.operations
