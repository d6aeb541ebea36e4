"""Case, normal forms and whitespace of all characters of two planes. `fast` returns V8's results, or causes a trap."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = [pytest.mark.engine, pytest.mark.slow]

# QuickJS supports Unicode 17, but V8 does not: letters with a case, and marks with a combining class.
NEWER = [
    *range(0x1ACF, 0x1ADD),
    *range(0x1AE0, 0x1AEC),
    *(0xA7CE, 0xA7CF, 0xA7D2, 0xA7D3, 0xA7D4, 0xA7D5, 0xA7F1),
    *range(0x16EA0, 0x16ED4),
    *range(0x1E6E3, 0x1E6F6),
]
SHOWN = """(c) => [c.toLowerCase(), c.toUpperCase(), c.trim().length, /\\s/.test(c), /^\\w$/iu.test(c),
  ...["NFC", "NFD", "NFKC", "NFKD"].flatMap((form) => [c.normalize(form), ("a" + c + "\\u0323").normalize(form)])]"""
ALL = f"""const shown = {SHOWN};
const main = ({{ from, to, newer }}) => {{
  const found = [];
  for (let code = from; code < to; code++) if (!newer.includes(code)) found.push(shown(String.fromCodePoint(code)));
  return found;
}};"""
SIZE = 0x400


def test_every_character_has_the_same_properties_as_in_v8(on_both: Any):
    for first in range(0, 0x20000, SIZE):
        newer = [code for code in NEWER if first <= code < first + SIZE]
        pair = on_both(ALL, {"from": first, "to": first + SIZE, "newer": newer})
        assert pair.same, (hex(first), pair.other.error)


@pytest.mark.parametrize("code", NEWER[::5])
def test_characters_of_a_newer_unicode_are_traps(code: int, on_both: Any):
    source = "const main = ({ code }) => String.fromCodePoint(code).toUpperCase();"
    assert on_both(source, {"code": code}).trapped
    assert on_both(f"const main = () => /{chr(code)}/i.test('{chr(code)}');").trapped
