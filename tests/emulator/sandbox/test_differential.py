"""Actions have the same response, logs and errors on `fast` and `v8`: a part of the suite, and random programs.

`full_differential.py` runs the complete suite.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

pytestmark = [pytest.mark.engine, pytest.mark.slow]

EVERY = 5
PARAMS = {"n": 3, "list": [1, "a", None], "text": "grüße"}

# QuickJS cannot reproduce V8's behaviour or messages here, so these are traps.
TRAPPED = {
    "an object with its own conversion is a key",
    "an amount that is a key",
    "concat spreadable and is array",
    "concat spreads only what is spreadable",
    "a conversion of a key throws at its position",
    "an object is a key beside a value that changes it",
    "another prototype while the arguments of super are evaluated",
    "a variable named arguments",
    "a key whose conversion throws",
    "a default that assigns to a parameter that is declared again",
    "a function that is missing",
    "a variable that is missing",
    "a cause is not part of the text",
    "an error below a call in brackets",
    "an error below an optional call",
    "an error in a timer",
    "an unknown name in a statement",
    "atob of invalid base64",
    "btoa beyond Latin-1",
    "proxies do their work",
    "a getter of an iterator is read once",
    "the members of a built-in",
    "the text of a class of the web",
    "an error in a comparator",
    "an error in a listener",
    "a name that the engine reserves",
    "formats with objects with their own conversions",
    "provider without a network",
    # These expressions need another behaviour than that of QuickJS, or an older Unicode version.
    "async iteration over many sources",
    "async stacks of iterators: yield star and delegates",
    "camel, snake and title case",
    "functions: call, apply, bind and arguments",
    "json: the source text that a reviver receives",
    "regex: case folding and classes",
    "regex: sticky, unicode and sets",
    "sets of classes",
    "unicode properties",
    "with statements and sloppy this",
}


def test_at_least_three_hundred_actions_are_compared(programs: Any):
    assert len(programs) >= 300
    assert len({(program.area, program.title) for program in programs}) == len(programs)
    assert {program.title for program in programs} >= TRAPPED


def test_an_action_has_the_same_result_on_both_engines(program: Any, on_both: Any):
    pair = on_both(program.source, PARAMS)
    assert pair.trapped if program.title in TRAPPED else pair.same, (pair.v8, pair.other)


# --- random programs --------------------------------------------------------------------------------------------------

NUMBERS = st.one_of(
    st.integers(-(2**40), 2**40).map(str),
    st.floats(allow_nan=False, allow_infinity=False, width=64).map(repr),
    st.sampled_from(["NaN", "Infinity", "-0", "1e21", "0.1", "2**53", "0xff", "1e-7", "5e-324"]),
)
TEXT = st.text(st.characters(codec="utf-8"), max_size=12).map(json.dumps)
LEAVES = st.one_of(NUMBERS, TEXT, st.sampled_from(["true", "false", "null", "undefined", "[]", "({})"]))
BINARY = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "<",
    "<=",
    "==",
    "===",
    "!=",
    "&",
    "|",
    "^",
    "<<",
    ">>",
    ">>>",
    "&&",
    "||",
    "??",
]
UNARY = ["-", "+", "!", "~", "typeof ", "void "]
CALLS = [
    "String(%s)",
    "Number(%s)",
    "Math.round(%s)",
    "Math.sqrt(%s)",
    "Math.exp(%s / 1e9)",
    "Math.atan(%s)",
    "JSON.stringify(%s)",
    "JSON.stringify({ a: %s, b: [%s] })",
    "[%s, %s].sort()",
    "[%s, %s, 3, 1].sort((a, b) => a > b)",
    "[%s, %s].join(';')",
    "[...String(%s)].length",
    "String(%s).toUpperCase()",
    "String(%s).normalize('NFD').length",
    "String(%s).split('')",
    "String(%s).slice(1, -1)",
    "String(%s).replace(/[a-f0-9]+/gi, (m) => `<${m}>`)",
    "encodeURIComponent(String(%s).toWellFormed())",
    "parseFloat(%s)",
    "parseInt(%s)",
    "Number(%s).toFixed(3)",
    "Number(%s).toString(7)",
    "Number(%s).toString(16)",
    "Number(%s).toPrecision(5)",
    "Number(%s).toExponential(2)",
    "new Date(Number(%s)).getTime()",
    "String(new Date(Number(%s)))",
    "Object.is(%s, %s)",
    "[%s].flat().includes(%s)",
    "new Uint8Array([%s, %s]).join()",
    "Math.max(%s, %s)",
    "BigInt.asUintN(64, BigInt(Math.trunc(Number(%s)) || 0)).toString()",
    "ethers.utils.id(String(%s).toWellFormed())",
]


@st.composite
def expressions(draw: Any, depth: int = 3) -> str:
    """Returns a JavaScript expression without side effects."""
    kind = draw(st.integers(0, 4)) if depth else 0
    inner = expressions(depth - 1) if depth else LEAVES
    if kind == 0:
        return f"({draw(LEAVES)})"
    if kind == 1:
        # An operand of ** must not begin with a sign, so the expression is in parentheses.
        return f"(({draw(inner)}) {draw(st.sampled_from(BINARY))} ({draw(inner)}))"
    if kind == 2:
        return f"({draw(st.sampled_from(UNARY))}({draw(inner)}))"
    if kind == 3:
        return f"(({draw(inner)}) ? ({draw(inner)}) : ({draw(inner)}))"
    pattern: str = draw(st.sampled_from(CALLS))
    return pattern % tuple(draw(inner) for _ in range(pattern.count("%s")))


def script(parts: list[str]) -> str:
    """Returns an action that evaluates each expression, logs the value, and returns its text."""
    lines = "".join(
        f"  try {{ const v = {part}; console.log(v); out.push([typeof v, String(v), Object.is(v, -0)]); }}"
        " catch (e) { out.push(e.name); }\n"
        for part in parts
    )
    return f"function main() {{\n  const out = [];\n{lines}  return out;\n}}\n"


def check(on_both: Any, parts: list[str]) -> None:
    pair = on_both(script(parts))
    assert pair.trapped or pair.same, (script(parts), pair.v8, pair.other)


@settings(max_examples=15, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.lists(expressions(), min_size=20, max_size=30))
def test_random_programs_have_the_same_results_on_both_engines(on_both: Any, parts: list[str]):
    check(on_both, parts)


# --- random sorts -----------------------------------------------------------------------------------------------------

# Comparators with the arguments a, b and the number of earlier calls: consistent, coarse, and contradictory ones.
COMPARATORS = [
    "a - b",
    "b - a",
    "a > b",
    "Math.floor(a / 10) - Math.floor(b / 10)",
    "a % 2 - b % 2",
    "0",
    "-1",
    "NaN",
    "(a * 7919 + b * 104729) % 5 - 2",
    "calls % 3 - 1",
    "calls % 20 < 15 ? -1 : 1",
]
LISTS = st.one_of(
    st.lists(st.integers(0, 999), max_size=200),
    # Ascending sequences, which TimSort detects and merges with galloping.
    st.lists(st.tuples(st.integers(0, 999), st.integers(0, 90), st.sampled_from([-1, 0, 1])), max_size=8).map(
        lambda runs: [start + step * i for start, length, step in runs for i in range(length)]
    ),
)
SORTS = st.lists(st.tuples(LISTS, st.sampled_from(COMPARATORS)), min_size=5, max_size=10)


def sorting(sorts: list[tuple[list[int], str]]) -> str:
    """Returns an action that sorts the lists with all comparators, and returns results and compared pairs."""
    cases = ", ".join(f"[{items}, (a, b, calls) => {comparator}]" for items, comparator in sorts)
    return f"""function main() {{
  return [{cases}].map(([items, compare]) =>
    [[...items], Float64Array.from(items)].flatMap((list) => ["toSorted", "sort"].map((name) => {{
      let calls = 0, seen = 0;
      const sorted = list[name]((a, b) => {{
        seen = (Math.imul(seen, 31) + a * 1009 + b) | 0;
        return compare(a, b, calls++);
      }});
      return [sorted.join(), calls, seen];
    }})));
}}"""


def check_sorts(on_both: Any, sorts: list[tuple[list[int], str]]) -> None:
    pair = on_both(sorting(sorts))
    assert pair.same, (sorting(sorts), pair.v8, pair.other)


@settings(max_examples=10, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(SORTS)
def test_any_comparator_sees_the_same_pairs_in_the_same_order_on_both_engines(
    on_both: Any, sorts: list[tuple[list[int], str]]
):
    check_sorts(on_both, sorts)


def test_a_long_list_of_runs_is_merged_the_same_on_both_engines(on_both: Any):
    items = [n * 7 % 100 + n // 3 for n in range(300)]
    runs = [*range(80), *range(200, 20, -2), *range(50, 130)]
    check_sorts(on_both, [(list_, comparator) for list_ in (items, runs) for comparator in COMPARATORS[::2]])
