"""Frames of an isolate: the parser returns complete frames, and rejects other data."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given, strategies

from svcnb.emulator.sandbox.frames import BadFrame, FrameReader, pack

SECRET = bytes(range(16))


def frame(body: object, blob: bytes = b"", secret: bytes = SECRET) -> bytes:
    text = json.dumps(body).encode()
    return secret + struct.pack("<II", len(text), len(blob)) + text + blob


def feed(reader: FrameReader, data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    reader.add(data)
    return [(frame.body(), frame.blob) for frame in reader.frames()]


@pytest.mark.slow
@given(
    strategies.lists(
        strategies.tuples(strategies.dictionaries(strategies.text(), strategies.integers()), strategies.binary())
    ),
    strategies.lists(strategies.integers(min_value=1, max_value=64)),
)
def test_frames_are_complete_for_any_division_of_the_bytes(
    messages: list[tuple[dict[str, int], bytes]], cuts: list[int]
):
    data = b"".join(frame(body, blob) for body, blob in messages)
    reader = FrameReader(SECRET, 10_000)
    seen = []
    for cut in cuts:
        seen += feed(reader, data[:cut])
        data = data[cut:]
    seen += feed(reader, data)
    assert seen == messages


@pytest.mark.parametrize(
    "data",
    [
        frame({}, secret=b"x" * 16),
        b"\n" * 100,
        b'{"kind":"end","ok":true}' * 4,
        SECRET + struct.pack("<II", 2**32 - 1, 0),
        SECRET + struct.pack("<II", 2, 2**32 - 1) + b"{}",
        SECRET + struct.pack("<II", 3, 0) + b"{x}",
        SECRET + struct.pack("<II", 2, 0) + b"\xff\xfe",
        frame([1, 2]),
        frame("text"),
        SECRET + struct.pack("<II", 200_000, 0) + b"[" * 200_000,
    ],
)
def test_bytes_that_are_not_a_frame_are_rejected(data: bytes):
    with pytest.raises(BadFrame):
        feed(FrameReader(SECRET, 1_000), data)


@given(strategies.binary(min_size=24))
def test_random_bytes_never_pass(data: bytes):
    with pytest.raises(BadFrame):
        feed(FrameReader(SECRET, 1_000), data)


def test_a_packed_frame_states_its_lengths():
    assert pack({"a": "é"}, b"xyz") == struct.pack("<II", 14, 3) + b'{"a":"\\u00e9"}' + b"xyz"


def test_a_frame_of_many_values_is_refused_before_it_is_parsed():
    with pytest.raises(BadFrame, match="the frame has more than 10000 values"):
        feed(FrameReader(SECRET, 1_000), frame({"kind": "log", "text": [1] * 20_000}))
