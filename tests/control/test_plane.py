"""Requests to the control plane of an emulator."""

from __future__ import annotations

import pytest

from svcnb import InvalidArgument
from svcnb.control import EmulatorControl


@pytest.mark.parametrize("value", [float("nan"), {"at": [float("inf")]}, {1, 2}, {"name": b"bytes"}])
def test_a_body_that_json_cannot_represent_is_rejected_before_sending(value, unused_tcp_port) -> None:
    emulator = EmulatorControl(f"http://127.0.0.1:{unused_tcp_port}")
    with pytest.raises(InvalidArgument, match="cannot be encoded as JSON") as caught:
        emulator.request("POST", "/clock", value)
    assert caught.value.hint
