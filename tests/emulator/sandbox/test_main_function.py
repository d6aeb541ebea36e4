# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Definition and call of main.

Source: docs/service/runtime.md#calling-main; docs/service/conformance.md#runtime, items 41 and 43.
"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    "source",
    [
        "function main(p) { return [p]; }",
        "async function main(p) { return [p]; }",
        "const main = (p) => [p]",
        "const main = async (p) => { await null; return [p]; }",
        "let main; main = (p) => [p];",
        "var main = function (p) { return [p]; }",
        "globalThis.main = (p) => [p];",
        "const main = ((p) => [p]).bind(null)",
        "const main = new Proxy((p) => [p], {})",
        "'use strict'; function main(p) { return [p]; }",
    ],
)
def test_anything_callable_under_the_name_main_is_called(source: str, room: Any):
    assert room.value(source, {"a": 1}) == [{"a": 1}]


def test_main_receives_the_whole_params_value_as_its_one_argument(room: Any):
    source = "function main() { return [arguments.length, arguments[0]]; }"
    assert room.value(source, [1, "two", None]) == [1, [1, "two", None]]
    assert room.value(source) == [1, None]


def test_params_are_not_globals(room: Any):
    source = "function main({ secretWord }) { return [typeof globalThis.secretWord, typeof this.secretWord, typeof params, secretWord]; }"
    assert room.value(source, {"secretWord": "x"}) == ["undefined", "undefined", "undefined", "x"]


def test_the_name_params_is_free_for_the_action(room: Any):
    assert room.value("const params = 5; const main = (p) => [params, p]", 1) == [5, 1]


def test_successive_runs_see_their_own_params_and_no_state_of_each_other(room: Any):
    source = (
        "globalThis.count = (globalThis.count ?? 0) + 1; Array.prototype.left = (Array.prototype.left ?? 0) + 1;"
        " ethers.left = (ethers.left ?? 0) + 1; const main = (p) => [p, count, [].left, ethers.left]"
    )
    assert [room.value(source, n) for n in range(4)] == [[n, 1, 1, 1] for n in range(4)]


def test_destructuring_params_that_are_null_throws_a_type_error(room: Any):
    assert room.error("async function main({ pkpId }) { return pkpId; }").startswith(
        "Uncaught (in promise) TypeError: "
    )


def test_code_that_calls_main_itself_runs_it_twice(room: Any):
    outcome = room.run("function main() { console.log('ran'); } main();")
    assert (outcome.response, outcome.logs) == ("", "ran\nran\n")


def test_top_level_statements_run_before_main(room: Any):
    outcome = room.run("console.log('top'); const main = () => { console.log('main'); }; console.log('end');")
    assert outcome.logs == "top\nend\nmain\n"


def test_a_missing_main_is_a_reference_error(room: Any):
    outcome = room.run("Svc.Actions.setResponse({ response: 'old style' })")
    assert (outcome.ok, outcome.error_kind, outcome.response) == (False, "throw", None)
    assert outcome.error.startswith("Uncaught (in promise) ReferenceError: main is not defined")


def test_a_main_that_is_not_a_function_is_a_type_error(room: Any):
    assert "TypeError: main is not a function" in room.error("const main = 5")


def test_top_level_await_is_a_syntax_error(room: Any):
    outcome = room.run("const x = 1;\n  await x;\nfunction main() {}")
    assert outcome.error_kind == "syntax"
    assert outcome.error.startswith("Uncaught SyntaxError: await is only valid in async functions")


@pytest.mark.parametrize("blank", [" ", "\n\n", " \t\r\n\f\v "])
def test_code_of_white_space_alone_is_a_successful_no_op(blank: str, room: Any):
    outcome = room.run(blank)
    assert (outcome.ok, outcome.response, outcome.logs) == (True, "", "")


def test_a_main_without_a_result_returns_an_empty_string(room: Any):
    outcome = room.run("function main() { console.log('hello'); }")
    assert (outcome.ok, outcome.response, outcome.logs) == (True, "", "hello\n")


def test_the_script_selects_strict_or_sloppy_mode(room: Any):
    assert room.value("function main() { undeclared = 1; return [typeof this, 010]; }") == ["object", 8]


def test_a_thenable_is_awaited(room: Any):
    assert room.value("const main = () => ({ then(resolve) { resolve('late'); } })") == "late"


def test_a_source_of_many_lines_and_characters_arrives_whole(room: Any):
    text = "héllo \u2028 \U0001f600 \\ \" '"
    source = "// " + "x" * 500_000 + "\nconst main = (p) => p + '\\u00e9\U0001f600'"
    assert room.value(source, text) == text + "é\U0001f600"
