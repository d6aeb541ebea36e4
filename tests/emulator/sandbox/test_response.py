# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Response of an action (docs/service/runtime.md#response)."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine


@pytest.mark.parametrize(
    ("returned", "response"),
    [
        ("({ a: [1, { b: null }] })", {"a": [1, {"b": None}]}),
        ("[]", []),
        ("5.5", 5.5),
        ("true", True),
        ("null", None),
        ("'text'", "text"),
        ("'123'", 123),
        ("'{\"a\":1}'", {"a": 1}),
        ("'null'", None),
        ("' [1] '", [1]),
        ("'{broken'", "{broken"),
        ("''", ""),
        ("'NaN'", "NaN"),
        ("'Infinity'", "Infinity"),
        ("'1e999'", "1e999"),
        ("NaN", None),
        ("new Date(0)", "1970-01-01T00:00:00.000Z"),
        ("new Map([[1, 2]])", {}),
        ("undefined", ""),
        ("Symbol('x')", None),
        ("() => 1", None),
        ("'\\ud800'", "\ufffd"),
        ("['\\ud800']", '["\\ud800"]'),
        ("'12345678901234567890'", 12345678901234567890),
    ],
)
def test_a_returned_value_is_answered_as_json_and_a_string_that_is_json_is_parsed(
    returned: str, response: Any, room: Any
):
    assert room.value(f"const main = () => {returned}") == response


@pytest.mark.parametrize(
    ("body", "response"),
    [
        ("Svc.Actions.setResponse({ response: 'kept' })", "kept"),
        ("Svc.Actions.setResponse({ response: '[1]' })", [1]),
        ("Svc.Actions.setResponse({ response: { a: 1 } })", {"a": 1}),
        ("Svc.Actions.setResponse({ response: undefined })", None),
        ("Svc.Actions.setResponse({})", None),
        ("SvcActions.setResponse({ response: 1 }); SvcActions.setResponse({ response: 2 })", 2),
        ("Svc.Actions.setResponse({ response: 'set' }); return 'returned'", "returned"),
        ("Svc.Actions.setResponse({ response: 'set' }); return null", None),
        ("Svc.Actions.setResponse({ response: 'set' }); return ''", ""),
    ],
)
def test_set_response_applies_unless_main_returns_a_value(body: str, response: Any, room: Any):
    assert room.value(f"async function main() {{ {body} }}") == response


def test_set_response_works_at_top_level(room: Any):
    assert room.value("SvcActions.setResponse({ response: 'early' }); function main() {}") == "early"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1n", "Do not know how to serialize a BigInt"),
        ("(() => { const a = []; a.push(a); return a; })()", "circular structure"),
    ],
)
def test_a_value_that_json_cannot_represent_is_a_type_error(value: str, text: str, room: Any):
    assert text in room.error(f"const main = () => {value}")
    caught = f"const main = () => {{ try {{ SvcActions.setResponse({{ response: {value} }}); }} catch (e) {{ return e.name; }} }}"
    assert room.value(caught) == "TypeError"


@pytest.mark.parametrize(("unit", "size"), [("x", 1), ("é", 2), ("€", 3)])
def test_a_response_may_fill_its_limit_to_the_byte(unit: str, size: int, room: Any):
    source = "const main = ({ unit, n }) => unit.repeat(n)"
    assert room.value(source, {"unit": unit, "n": 600 // size}, max_response_length=600) == unit * (600 // size)
    error = room.error(source, {"unit": unit, "n": 600 // size + 1}, max_response_length=600)
    assert "Response is too long, maximum 600 bytes" in error


def test_the_limit_is_one_mebibyte_and_an_action_may_catch_it(room: Any):
    assert len(room.value("const main = () => 'x'.repeat(1048576)")) == 1_048_576
    source = """const main = () => { try { SvcActions.setResponse({ response: 'x'.repeat(1048577) }); } catch (e) { return e.message; } }"""
    assert room.value(source) == "Response is too long, maximum 1048576 bytes"
