"""Sanitised text for XML and terminals."""

from __future__ import annotations

import json
import unicodedata
from xml.etree import ElementTree as ET

import pytest

from svcnb.protocol.text import escaped_json, terminal_text, whole, xml_text

EVERY = [chr(code) for code in range(0x11000)] + ["\U0001f600", "\U000e0001", "\U0010fffd"]


def test_xml_text_keeps_exactly_the_characters_that_an_xml_parser_accepts() -> None:
    kept = [each for each in EVERY if each not in "<>&\r" and xml_text(each) == each]
    assert ET.fromstring(f"<a>{''.join(kept)}</a>").text == "".join(kept)  # noqa: S314 - our own text
    assert xml_text("\r") == "\r"  # a parser converts it to a line feed
    for character in set(EVERY) - set(kept) - set("<>&\r"):
        assert xml_text(character) == "\ufffd", f"{ord(character):04x}"
        if character not in "\ufffe\uffff":  # XML forbids both, but this parser accepts them
            with pytest.raises((ET.ParseError, UnicodeEncodeError)):
                ET.fromstring(f"<a>{character}</a>".encode())  # noqa: S314 - our own text


def test_no_control_and_no_bidirectional_control_reaches_a_terminal() -> None:
    bidirectional = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for character in EVERY:
        control = unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"} and character not in "\t\n"
        if control or unicodedata.bidirectional(character) in bidirectional or character in "\u200e\u200f\u061c":
            assert terminal_text(character) == "\ufffd", f"{ord(character):04x}"
        elif unicodedata.category(character)[0] in "LMNPS":
            assert terminal_text(character) == character


@pytest.mark.parametrize("value", ["\x1b]0;title\x07", "a\u202eb", "\x9b31m", "\u2028", {"\x7f": ["\x85", 1.5, None]}])
def test_escaped_json_has_the_same_value_and_nothing_for_a_terminal(value) -> None:
    text = escaped_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(text) == value
    assert terminal_text(text) == text


def test_lone_halves_of_surrogate_pairs_are_replaced() -> None:
    assert whole("a\ud83d b") == xml_text("a\ud83d b") == terminal_text("a\ud83d b") == "a\ufffd b"
