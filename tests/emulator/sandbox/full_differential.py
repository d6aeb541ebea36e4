"""The complete differential suite on `fast` and on `auto`, and many random programs. Run this command:

pytest tests/emulator/sandbox/full_differential.py -o python_files=full_differential.py
"""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

pytestmark = pytest.mark.engine

brief = importlib.import_module("tests.emulator.sandbox.test_differential")


@pytest.mark.parametrize("engine", ["fast", "auto"])
def test_an_action_has_the_same_result_on_every_engine(program: Any, engine: str, on_both: Any):
    pair = on_both(program.source, brief.PARAMS, engine)
    trapped = engine == "fast" and program.title in brief.TRAPPED
    assert pair.trapped if trapped else pair.same, (pair.v8, pair.other)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(brief.expressions(), min_size=20, max_size=30))
def test_random_programs_have_the_same_results_on_both_engines(on_both: Any, parts: list[str]):
    brief.check(on_both, parts)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(brief.SORTS)
def test_any_comparator_sees_the_same_pairs_in_the_same_order_on_both_engines(
    on_both: Any, sorts: list[tuple[list[int], str]]
):
    brief.check_sorts(on_both, sorts)
