# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""The console (docs/service/runtime.md#console)."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("'text'", "text"),
        ("'a', 'b', 1, null, undefined, true", "a b 1 null undefined true"),
        ("[2, 0]", "[ 2, 0 ]"),
        ("{ a: 1, b: 'two' }", '{ a: 1, b: "two" }'),
        ("'100%', 5", "100% 5"),
        ("'%s is %d years and %i %j %%', 'Ann', 42.5, 1.9, { a: 1 }", 'Ann is 42 years and 1 {"a":1} %'),
        ("10n, Symbol('s'), () => 1", "10n Symbol(s) [Function (anonymous)]"),
        ("new Map([[1, 'x']]), new Set([1])", 'Map(1) { 1 => "x" } Set(1) { 1 }'),
        ("''", ""),
        ("", ""),
    ],
)
def test_arguments_are_formatted_in_the_inspectors_style_and_joined_by_a_space(arguments: str, line: str, room: Any):
    assert room.run(f"const main = () => {{ console.log({arguments}); }}").logs == line + "\n"


def test_nesting_is_shown_to_a_limited_depth(room: Any):
    logs = room.run("const main = () => { console.log({ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }); }").logs
    assert "[Object]" in logs
    assert "g" not in logs


def test_all_five_methods_append_one_line_each_to_the_same_log(room: Any):
    source = "const main = () => { for (const m of ['log', 'info', 'debug', 'warn', 'error']) console[m](m, [1]); }"
    assert room.run(source).logs == "log [ 1 ]\ninfo [ 1 ]\ndebug [ 1 ]\nwarn [ 1 ]\nerror [ 1 ]\n"


def test_lines_are_in_the_order_of_the_calls(room: Any):
    source = "const main = async () => { console.log(1); await null; console.warn(2); setTimeout(() => 0); console.error(3); }"
    assert room.run(source).logs == "1\n2\n3\n"


def test_the_line_that_exceeds_the_log_limit_throws_in_the_action(room: Any):
    source = (
        "const main = () => { console.log('é'.repeat(49)); try { console.log(); return 'fits'; }"
        " catch (e) { return [e.constructor === Error, e.message]; } }"
    )
    assert room.value(source, max_console_log_length=100) == "fits"
    outcome = room.run(source, max_console_log_length=99)
    assert outcome.response == [True, "Console log is too long, maximum 99 bytes"]
    assert outcome.logs == "é" * 49 + "\n"


def test_the_limit_is_102400_bytes(room: Any):
    source = "const main = ({ n }) => { console.log('x'.repeat(n)); }"
    assert len(room.run(source, {"n": 102_399}).logs) == 102_400
    assert "Console log is too long, maximum 102400 bytes" in room.error(source, {"n": 102_400})


@pytest.mark.slow
def test_the_log_of_a_failed_run_is_kept_for_inspection(room: Any):
    outcome = room.run("const main = () => { console.log('before'); throw new Error('x'); }")
    assert (outcome.ok, outcome.logs) == (False, "before\n")
    outcome = room.run("const main = () => { console.log('before'); for (;;); }", timeout_ms=3_000)
    assert (outcome.error_kind, outcome.logs) == ("timeout", "before\n")
