# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""An action cannot change the request headers that it receives.

Source: docs/service/runtime.md#functions.
"""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.engine

ENGINES = ("v8", "fast")
REQUEST_ID = "b8bd8b8e-5d4f-4d2a-8f3e-3f0f2f1c9a11"


@pytest.mark.parametrize(
    "change",
    [
        "SvcHeaders.set('x-request-id', 'forged')",
        "Headers.prototype.set.call(SvcHeaders, 'x-request-id', 'forged')",
        "Headers.prototype.append.call(SvcHeaders, 'x-request-id', 'forged')",
        "Headers.prototype.delete.call(SvcHeaders, 'x-request-id')",
        "for (const s of Object.getOwnPropertySymbols(SvcHeaders)) { try { SvcHeaders[s] = [['x-request-id', 'forged']]; } catch {} }",
        "for (const s of Object.getOwnPropertySymbols(SvcHeaders)) { try { SvcHeaders[s][0][1] = 'forged'; } catch {} try { SvcHeaders[s].push(['x-a', 'forged']); } catch {} }",
        "for (const s of Object.getOwnPropertySymbols(SvcHeaders)) { try { SvcHeaders[s] = 'none'; } catch {} } Headers.prototype.set.call(SvcHeaders, 'x-request-id', 'forged')",
    ],
)  # fmt: skip
def test_headers_stay_unchanged(change: str, room: Any):
    source = f"const main = () => {{ [...SvcHeaders]; try {{ {change} }} catch {{}} return [SvcHeaders.get('x-request-id'), [...SvcHeaders], [...SvcHeaders.entries()]]; }}"
    pairs = [["x-request-id", REQUEST_ID]]
    assert room.value(source) == [REQUEST_ID, pairs, pairs]


@pytest.mark.parametrize("method", ["set", "append", "delete"])
def test_a_change_through_the_prototype_is_a_type_error(method: str, room: Any):
    source = f"const main = () => {{ try {{ Headers.prototype.{method}.call(SvcHeaders, 'x-request-id', 'forged'); }} catch (e) {{ return e.name; }} }}"
    assert room.value(source) == "TypeError"


def test_other_headers_can_be_changed(room: Any):
    source = (
        "const main = () => { const h = new Headers({ a: '1' }); h.set('a', '2'); h.append('b', '3'); return [...h]; }"
    )
    assert room.value(source) == [["a", "2"], ["b", "3"]]
