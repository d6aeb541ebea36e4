"""Errors of the emulator: messages as sentences."""

from __future__ import annotations

import pytest

from svcnb.emulator.errors import as_sentence


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("the clock is frozen", "The clock is frozen."),
        ("The clock is frozen.", "The clock is frozen."),
        ("the file is damaged: restore it. Then start again", "The file is damaged: restore it. Then start again."),
        ("'allow' is unknown: use ALLOW", "'allow' is unknown: use ALLOW."),
        ("eth_call is not allowed here", "eth_call is not allowed here."),
    ],
)
def test_a_message_becomes_a_sentence_and_keeps_its_other_letters(message: str, sentence: str) -> None:
    assert as_sentence(message) == sentence
    assert as_sentence(sentence) == sentence
