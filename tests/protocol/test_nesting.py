"""Measurement of the nesting depth of a JSON text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, strategies

from svcnb.protocol.nesting import deeper_than, more_values_than

values = strategies.recursive(
    strategies.none() | strategies.integers() | strategies.text(),
    lambda inner: strategies.lists(inner) | strategies.dictionaries(strategies.text(), inner),
)


def depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


@pytest.mark.slow
@given(values)
def test_the_depth_of_any_json_is_measured_exactly(value: Any):
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    assert not deeper_than(text, depth(value))
    if depth(value):
        assert deeper_than(text, depth(value) - 1)


@pytest.mark.parametrize(("part", "times"), [(b"[", 1_000_000), (b'[{"a":', 300_000), (b"[" * 200 + b"]" * 200, 1)])
def test_a_text_of_openings_is_deep(part: bytes, times: int):
    assert deeper_than(part * times, 128)


def test_brackets_inside_of_texts_do_not_count():
    assert not deeper_than(json.dumps(["[" * 500, '"{\\' * 500]).encode(), 128)


@pytest.mark.parametrize(
    ("start", "part"),
    [(b"[" * 200 + b'"', b'\\"'), (b"[" * 200, b'"'), (b"[" * 200 + b'"', b"\\"), (b"", b"]")],
    ids=["escaped quotes that never close", "quotes", "backslashes", "closing brackets"],
)
@pytest.mark.usefixtures("little_processor_time")
def test_hostile_texts_are_measured_in_linear_time(start: bytes, part: bytes):
    text = start + part * (4_000_001 // len(part)) + (b"" if start else b"[" * 200)
    deeper_than(text, 128)
    more_values_than(text, 128)


@pytest.mark.slow
@given(values)
def test_values_are_counted_outside_of_texts(value: Any):
    text = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    assert not more_values_than(text, separators(value))
    if separators(value):
        assert more_values_than(text, separators(value) - 1)


def separators(value: Any) -> int:
    """Returns the number of commas and opening brackets in a value's JSON."""
    if not isinstance(value, (list, dict)):
        return 0
    members = list(value.values()) if isinstance(value, dict) else value
    return 1 + max(0, len(members) - 1) + sum(map(separators, members))


@pytest.mark.parametrize("width", [65_535, 65_536, 65_537, 131_072])
def test_an_escape_may_lie_across_two_blocks(width: int):
    text = b'["' + b"x" * (width - 3) + b'\\"[[[[", "' + b"\\\\" * width + b'"]'
    assert not deeper_than(text, 1)
    assert more_values_than(text, 1)
    assert not more_values_than(text, 2)
