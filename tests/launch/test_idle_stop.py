"""An emulator stops while it has no requests, and later continues with the same state."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcnb.launch import Emulator, SettingRefused, _Process

pytestmark = [pytest.mark.chain, pytest.mark.engine]

START_S = 1_767_225_600


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def test_it_stops_when_no_one_uses_it(listener: socket.socket, tmp_path: Path) -> None:
    emulator = Emulator(listener=listener, state=tmp_path, action_spares=1, idle_stop_s=0.1)
    emulator.wait()
    assert not emulator.running
    emulator.stop()


def test_the_next_start_continues_as_without_a_stop(listener: socket.socket, tmp_path: Path) -> None:
    """An emulator without interruption produces the same keys and ids with the same steps."""

    def start() -> Emulator:
        return Emulator(
            listener=listener,
            state=tmp_path / "state",
            seed="idle",
            clock=f"frozen@{START_S}",
            starter_credits=500,
            action_spares=1,
            idle_stop_s=600,
        )

    first = start()
    account = first.client().accounts.create("ada")
    first.clock.advance("10m")
    first.stop()
    # A connection that arrives while the emulator is stopped waits for the next start.
    with socket.create_connection(listener.getsockname()), start() as second:
        me = second.client(api_key=account.api_key)
        second.clock.advance("1m")
        key = me.usage_keys.create("runner")
        wallet = me.wallets.create().address
        assert second.base_url == first.base_url
        assert second.clock.now() == START_S + 660
        # A handle from before the stop is still valid.
        assert first.clock.now() == START_S + 660
        second.reset()
        assert second.clock.now() == START_S
        assert second.client().accounts.create("ada").wallet_address == account.wallet_address

    with Emulator(seed="idle", clock=f"frozen@{START_S}", starter_credits=500, action_spares=1) as steady:
        same = steady.client()
        uninterrupted = same.with_key(same.accounts.create("ada"))
        steady.clock.advance("11m")
        assert uninterrupted.usage_keys.create("runner").api_key_hash == key.api_key_hash
        assert uninterrupted.wallets.create().address == wallet


@pytest.mark.slow
def test_after_a_crash_the_time_continues_and_no_key_is_repeated(tmp_path: Path) -> None:
    def start() -> Emulator:
        return Emulator(state=tmp_path, seed="crash", clock=f"frozen@{START_S}", action_spares=1, idle_stop_s=600)

    first = start()
    address = first.client().accounts.create("ada").wallet_address
    first.clock.advance("10m")
    assert isinstance(first._process, _Process)
    first._process._kill_remaining()
    first.stop()
    with start() as second:
        assert second.clock.now() == START_S + 600
        assert second.client().accounts.create("grace").wallet_address != address


@pytest.mark.slow
def test_a_stored_time_is_ignored_after_a_change_of_the_setting(tmp_path: Path) -> None:
    with Emulator(state=tmp_path, clock=f"frozen@{START_S}", action_spares=1, idle_stop_s=600) as first:
        first.clock.advance("10m")
    later = START_S + 86_400
    with Emulator(state=tmp_path, clock=f"frozen@{later}", action_spares=1, idle_stop_s=600) as second:
        assert second.clock.now() == later


def test_idle_stop_without_a_state_folder_is_refused() -> None:
    with pytest.raises(SettingRefused, match="idle_stop_s is set, but state is not"):
        Emulator(idle_stop_s=60)
