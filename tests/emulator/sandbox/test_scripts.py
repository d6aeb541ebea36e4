# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""An action cannot detect how the engine runs its script."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

ENGINES = ("v8",)

# Data that an action can read about its realm. With the text of `MARK`, the engine runs the same source in `node:vm`.
LOOK = """
const main = () => ({
  globals: Object.getOwnPropertyNames(globalThis).sort(),
  kinds: Object.getOwnPropertyNames(globalThis).sort().map((name) => {
    try { return typeof globalThis[name]; } catch (error) { return error.name; }
  }),
  console: Reflect.ownKeys(console).map(String),
  deno: Object.keys(Deno).sort(),
  channel: MessageChannel.toString(),
});
"""
MARK = "// a comment that says prototype and import\n"


def test_a_change_of_array_iteration_affects_only_its_own_run(room: Any):
    source = (
        "let used = 0; const { values } = Array.prototype;"
        " Array.prototype[Symbol.iterator] = function () { used++; return values.call(this); };"
        " const main = () => { const before = used; [...[1]]; return [before, used]; }"
    )
    assert room.value(source) == [0, 1]


@pytest.mark.parametrize(
    "broken",
    [
        "Array.prototype[Symbol.iterator] = null",
        "Object.getPrototypeOf([].values()).next = () => { throw new Error('another') }",
        "Reflect.deleteProperty(Array.prototype, Symbol.iterator)",
    ],
)
def test_actions_run_without_a_working_array_iterator(broken: str, room: Any):
    assert room.value(f"{broken}; const main = () => 'ran'") == "ran"
    assert room.error(f"{broken}; throw new RangeError('mine')").startswith("Uncaught RangeError: mine")


@pytest.mark.parametrize(
    "end",
    [
        "/* for ever",
        "`for ever",
        "'for ever",
        "'for ever\\",
        "/for ever",
        "(1",
        "{",
        "[...",
        "if (true)",
        "x =",
        "label:",
        "@",
    ],
)
def test_an_incomplete_source_is_a_syntax_error(end: str, room: Any):
    outcome = room.run(f"console.log('ran'); const main = () => 1;\n{end}")
    assert (outcome.ok, outcome.error_kind, outcome.logs) == (False, "syntax", ""), outcome.error
    assert outcome.error.startswith("Uncaught SyntaxError: ")


@pytest.mark.parametrize("end", ["// last words", "/* last words */", "<!-- last words", "\u2028", ";", "'\u2029'"])
def test_a_source_can_end_with_any_complete_text(end: str, room: Any):
    assert room.value(f"const main = () => 1\n{end}") == 1


def test_stack_frames_always_name_the_users_script(room: Any):
    source = (
        "Error.prepareStackTrace = (_, frames) => [frames[0].getFileName(), frames[0].getScriptNameOrSourceURL(), String(frames[0])];"
        "\nfunction main() { return new Error().stack; }"
    )
    name = "<user_provided_script>"
    assert room.value(source) == [name, name, f"main ({name}:2:26)"]
    assert (
        room.value("function main() { return new Error('x').stack; }").splitlines()[1] == f"    at main ({name}:1:26)"
    )


def test_both_ways_to_run_a_script_leave_the_same_realm(room: Any):
    seen = room.value(LOOK)
    assert seen == room.value(MARK + LOOK)
    assert "ethers" in seen["globals"]
