# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Error messages (docs/service/runtime.md#errors-of-a-run; docs/service/conformance.md#runtime, items 47 and 48)."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine


def test_a_thrown_error_names_the_actions_own_lines(room: Any):
    source = (
        "// first line\nfunction helper() {\n  throw new Error('boom');\n}\nasync function main() {\n  helper();\n}\n"
    )
    assert room.error(source) == (
        "Uncaught (in promise) Error: boom\n"
        "    at helper (<user_provided_script>:3:9)\n"
        "    at main (<user_provided_script>:6:3)"
    )


@pytest.mark.parametrize(
    ("body", "headline"),
    [
        ("missing()", "Uncaught (in promise) ReferenceError: missing is not defined"),
        ("null.x", "Uncaught (in promise) TypeError: Cannot read properties of null (reading 'x')"),
        ("await Promise.reject(new RangeError('late'))", "Uncaught (in promise) RangeError: late"),
        ("class Mine extends Error { name = 'Mine' }; throw new Mine('own')", "Uncaught (in promise) Mine: own"),
        ("throw new Error('')", "Uncaught (in promise) Error"),
        ("throw new Error('two\\nlines')", "Uncaught (in promise) Error: two\nlines"),
    ],
)
def test_an_uncaught_error_contains_name_message_and_at_least_one_line_of_the_action(
    body: str, headline: str, room: Any
):
    error = room.error(f"async function main() {{ {body} }}")
    assert error.startswith(headline + "\n    at "), error
    assert "<user_provided_script>:1:" in error
    for ours in ("engine.js", "ext:", "node:", "file:"):
        assert ours not in error


@pytest.mark.parametrize(
    ("thrown", "text"),
    [("'just text'", "just text"), ("5", "5"), ("undefined", "undefined"), ("({ code: 7 })", "{ code: 7 }")],
)
def test_a_thrown_value_that_is_not_an_error_is_shown(thrown: str, text: str, room: Any):
    assert room.error(f"async function main() {{ throw {thrown}; }}") == f"Uncaught (in promise) {text}"


def test_an_error_at_top_level_is_uncaught_without_a_promise(room: Any):
    error = room.error("const a = 1;\n\nthrow new Error('top');\nfunction main() {}")
    assert error == "Uncaught Error: top\n    at <user_provided_script>:3:7"


@pytest.mark.parametrize(
    ("source", "line", "column"),
    [("function main( {", 1, 17), ("const a = 1;\nconst a = 2;\n", 2, 7), ("let x = ;", 1, 9), ("await 1", 1, 7)],
)
def test_a_syntax_error_names_its_position(source: str, line: int, column: int, room: Any):
    outcome = room.run(source)
    assert outcome.error_kind == "syntax"
    assert outcome.error.startswith("Uncaught SyntaxError: ")
    assert outcome.error.endswith(f"\n    at <user_provided_script>:{line}:{column}"), outcome.error


def test_a_busy_loop_ends_with_the_timeout_error(room: Any):
    outcome = room.run("const main = () => { for (;;); }", timeout_ms=150)
    assert outcome.error == "Your function exceeded the maximum runtime of 150 ms and was terminated."
    assert outcome.error_kind == "timeout"
    assert 0.15 <= outcome.elapsed_s < 60  # the margin is for busy machines


def test_the_time_limit_is_wall_clock_awaits_included(room: Any):
    source = "const main = () => new Promise((done) => setTimeout(done, 5000))"
    assert "maximum runtime of 150 ms" in room.error(source, timeout_ms=150)


def test_growing_arrays_end_with_the_memory_error(room: Any):
    outcome = room.run("const main = () => { const a = []; for (;;) a.push(new Array(1e5).fill(0.1)); }")
    assert outcome.error == "Your function exceeded the maximum memory of 128 MB and was terminated."
    assert outcome.error_kind == "memory"


def test_an_action_within_its_memory_limit_is_not_stopped(room: Any):
    source = "const main = () => { const a = []; for (let i = 0; i < 60; i++) a.push(new Array(131072).fill(0.1)); return a.length; }"
    assert room.value(source) == 60


def test_an_operation_that_fails_is_an_ordinary_error_the_action_may_catch(room: Any):
    source = (
        "const main = async () => { try { await Svc.Actions.getPrivateKey({ pkpId: '0xbb' }); }"
        " catch (e) { return [e instanceof Error, e.name, e.message]; } }"
    )
    assert room.value(source) == [True, "Error", "this key may not use the wallet 0xbb"]
