"""Durability of the journal: acknowledged blocks still exist after a kill of every process, with the same hashes."""

# ruff: noqa: FBT003 - contract functions take their flags by position
# ruff: noqa: ASYNC220, ASYNC221, ASYNC240, ASYNC110 - processes and files are what is looked at here, and nothing else runs

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from eth_account import Account

from svcnb.emulator.chain import connection, local as local_module, replica
from svcnb.emulator.chain.errors import ChainUnavailable, ChainUnusable, ContractRevert
from svcnb.emulator.chain.genesis import Genesis
from svcnb.emulator.chain.journal import TRANSACTION, SnapshotUnusable, follow
from svcnb.emulator.chain.local import LocalChain
from svcnb.emulator.chain.node import KEPT_STATES, AnvilNode
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.database import inserting
from svcnb.emulator.platform.store import StoreUnavailable
from svcnb.protocol import contract

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from svcnb.emulator.chain.chain import Chain
    from tests.emulator.chain.conftest import StartChain

T0 = 1_750_000_000
KEY = 0xA11CE
ADMIN = "0x" + "11" * 20


async def block(chain: Chain, number: int | str = "latest") -> dict[str, Any]:
    where = number if isinstance(number, str) else hex(number)
    answer = await chain.rpc({"id": 1, "method": "eth_getBlockByNumber", "params": [where, True]})
    found: dict[str, Any] = answer["result"]
    return found


async def hashes(chain: Chain) -> list[str]:
    height = int((await block(chain))["number"], 16)
    return [(await block(chain, number))["hash"] for number in range(height + 1)]


async def fill(chain: Chain, count: int = 5) -> None:
    await chain.write("newAccount", KEY, True, "n", "d", ADMIN)
    for number in range(count):
        await chain.write("addAction", KEY, f"action {number}", "", 1000 + number)


async def actions(chain: Chain) -> int:
    return len(await chain.view("listActions", KEY, 0, 10_000))


@contextmanager
def database(folder: Path) -> Iterator[sqlite3.Connection]:
    """Opens the stored state in parallel with the emulator, and commits the changes at the end."""
    with closing(sqlite3.connect(folder / "state.db")) as connection, connection:
        yield connection


# --- the chain stops -------------------------------------------------------------------------------------------------


async def test_a_request_after_the_stop_of_the_chain_is_rejected(
    start_chain: StartChain,
) -> None:
    chain = await start_chain()
    local = chain._chain
    assert isinstance(local, LocalChain)
    stopping = asyncio.create_task(local.stop())  # waits for its last dump
    behind = asyncio.create_task(local.exclusively(asyncio.Event().wait))
    with pytest.raises(ChainUnavailable, match="was stopped"):
        async with asyncio.timeout(60):
            await behind
    await stopping
    with pytest.raises(ChainUnavailable, match="was stopped"):
        await chain.view("listActions", KEY, 0, 1)


async def test_requests_waiting_for_a_node_fail_when_the_chain_stops(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_module, "_READY_S", 600.0)
    chain = await start_chain()
    local = chain._chain
    assert isinstance(local, LocalChain)
    holding = asyncio.create_task(local.exclusively(asyncio.Event().wait))  # the node cannot start again before this
    await asyncio.sleep(0)
    node = local._replica.node
    assert node is not None
    local._node_is_lost(node)
    waiting = asyncio.create_task(chain.view("listActions", KEY, 0, 1))
    await asyncio.sleep(0)
    local._broken = ChainUnavailable(
        "the chain was stopped"
    )  # no last dump, because the dump does not match the journal
    await local.stop()
    for task in (waiting, holding):
        with pytest.raises(ChainUnavailable, match="was stopped"):
            async with asyncio.timeout(60):
                await task


# --- the node is killed ----------------------------------------------------------------------------------------------


async def test_the_chain_is_rebuilt_after_a_kill_of_the_node(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain)
    await chain.faucet("0x" + "99" * 20, 5)
    await fill_more(chain)
    before, root = await hashes(chain), (await block(chain))["stateRoot"]
    pid = chain.node_pid
    os.kill(pid, signal.SIGKILL)
    assert await hashes(chain) == before
    assert (await block(chain))["stateRoot"] == root
    assert chain.node_pid != pid
    assert await chain.write("addGroup", KEY, "after", "", [], []) == 1


async def fill_more(chain: Chain) -> None:
    await chain.write("addAction", KEY, "after the faucet", "", 1)


async def test_writes_in_progress_at_a_kill_of_the_node_happen_once(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain, 0)
    writes = [asyncio.create_task(chain.write("addGroup", KEY, str(n), "", [], [])) for n in range(30)]
    await asyncio.wait(writes, return_when=asyncio.FIRST_COMPLETED)
    os.kill(chain.node_pid, signal.SIGKILL)
    results = await asyncio.gather(*writes, return_exceptions=True)
    numbers = [result for result in results if isinstance(result, int)]
    # The chain repeats a call that failed with the node. A transaction is in the journal, so the chain applies it only
    # once.
    assert not [result for result in results if not isinstance(result, (int, ChainUnavailable))]
    listed = [(group[0], group[1]) for group in await chain.view("listGroups", KEY, 0, 100)]
    assert len(set(numbers)) == len(numbers)
    for name, number in zip(map(str, range(30)), results, strict=True):
        if isinstance(number, int):
            assert (number, name) in listed
    assert len({name for _, name in listed}) == len(listed)


async def raw_transfer(chain: Chain, key: str = "0x" + "42" * 32, **fields: Any) -> bytes:
    account = Account.from_key(key)
    await chain.faucet(account.address.lower(), 10**18)
    usual = {"chainId": 31337, "nonce": 0, "to": account.address, "gas": 21_000, "maxFeePerGas": 10**10}
    return bytes(account.sign_transaction(usual | {"maxPriorityFeePerGas": 0} | fields).raw_transaction)


async def test_a_transaction_sent_twice_happens_once(start_chain: StartChain) -> None:
    chain = await start_chain()
    local = chain._chain
    raw, height = await raw_transfer(chain), len(await hashes(chain))
    receipt, again = await asyncio.gather(local.submit(raw), local.submit(raw), return_exceptions=True)
    assert isinstance(receipt, dict)
    assert "already known" in str(again)
    assert len(await hashes(chain)) == height + 1


@pytest.mark.skipif(sys.platform != "linux", reason="whether a process stands still is seen in /proc")
async def test_a_node_that_stops_after_the_journal_write_is_replaced(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = await start_chain()
    await fill(chain)
    local = chain._chain
    assert isinstance(local, LocalChain)
    append, patience = local._replica.append, ((replica, "_SEND_S", 1.0), (connection, "RPC_TIMEOUT_S", 3.0))

    async def append_and_stop(new: Any) -> None:
        await append(new)
        if new:
            monkeypatch.setattr(local._replica, "append", append)
            os.kill(chain.node_pid, signal.SIGSTOP)
            threads = Path(f"/proc/{chain.node_pid}/task").iterdir
            while not all((thread / "stat").read_text().rpartition(")")[2].split()[0] == "T" for thread in threads()):
                await asyncio.sleep(0)
            # The timeout is short only for the next step, which happens in this iteration of the event loop.
            for module, name, seconds in patience:
                asyncio.get_running_loop().call_soon(setattr, module, name, getattr(module, name))
                setattr(module, name, seconds)

    monkeypatch.setattr(local._replica, "append", append_and_stop)
    stuck = chain.node_pid
    with pytest.raises(ChainUnavailable):
        await chain.write("addGroup", KEY, "to nobody", "", [], [])
    assert await chain.write("addGroup", KEY, "next", "", [], []) == 1
    assert chain.node_pid != stuck
    await as_after_a_death(chain)


async def test_an_unrecorded_rejection_does_not_affect_later_writes(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = await start_chain()
    await fill(chain)
    local = chain._chain
    assert isinstance(local, LocalChain)
    told: list[str] = []
    chain.on_event(lambda event: told.append(event.name))
    withdraw = local._replica.withdraw
    refused, behind = await raw_transfer(chain, gas=20_000), await raw_transfer(chain, "0x" + "43" * 32)

    async def on_a_full_disk(_entry: object) -> None:
        monkeypatch.setattr(local._replica, "withdraw", withdraw)
        raise StoreUnavailable("database or disk is full")

    monkeypatch.setattr(local._replica, "withdraw", on_a_full_disk)
    # One commit writes both to the journal.
    answers = await asyncio.gather(local.submit(refused), local.submit(behind), return_exceptions=True)
    assert all(isinstance(answer, StoreUnavailable) for answer in answers)
    assert await chain.write("addAction", KEY, "later", "", 7) is None
    assert "reset" in told, "what was known of accounts may be out of date"
    await as_after_a_death(chain)


async def as_after_a_death(chain: Chain) -> None:
    """Returns the state that a replay of the journal produces."""
    before = await hashes(chain)
    os.kill(chain.node_pid, signal.SIGKILL)
    assert await hashes(chain) == before


async def test_a_node_above_its_memory_limit_is_killed_and_restarted(start_chain: StartChain) -> None:
    chain = await start_chain(chain_memory_mb=256)
    await fill(chain)
    before = await hashes(chain)
    limits = Path(f"/proc/{chain.node_pid}/limits")
    if limits.exists():
        line = next(line for line in limits.read_text().splitlines() if line.startswith("Max data size"))
        assert line.split()[3] == str(256 * 1024 * 1024)
    os.kill(chain.node_pid, signal.SIGSEGV)
    assert await hashes(chain) == before


# --- the emulator ends ----------------------------------------------------------------------------------------------


async def test_a_restart_finds_the_same_chain_address_and_payers(start_chain: StartChain) -> None:
    first = await start_chain()
    await fill(first)
    before, place, payers = await hashes(first), first.contract_address, first.payers
    await first.stop()
    second = await start_chain()
    assert (await hashes(second), second.contract_address, second.payers) == (before, place, payers)
    assert await actions(second) == 5
    await second.write("addAction", KEY, "", "", 7)
    assert await second.view("accountCount") == 1


async def test_restarts_with_dumps_and_replays_lead_to_the_same_blocks(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "_DUMP_AFTER", 4)
    first = await start_chain()
    await fill(first, 10)
    before = await hashes(first)
    logs = await first.rpc({"id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "0x0"}]})
    os.kill(first.node_pid, signal.SIGKILL)
    assert await hashes(first) == before
    await first.stop()
    second = await start_chain()
    assert await hashes(second) == before
    assert await second.rpc({"id": 1, "method": "eth_getLogs", "params": [{"fromBlock": "0x0"}]}) == logs
    await second.write("addAction", KEY, "", "", 7)
    assert await actions(second) == 11


async def test_a_state_with_slow_blocks_is_dumped_more_often(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replica, "_REPLAY_S", 0.0)  # simulates that each of these blocks took longer
    monkeypatch.setattr(replica, "_DUMPS_COST", 0)
    chain = await start_chain()
    await fill(chain, 3)
    replayed = []
    replay = replica.Replica._replay

    async def counted(self: replica.Replica, entry: Any) -> None:
        replayed.append(entry)
        await replay(self, entry)

    monkeypatch.setattr(replica.Replica, "_replay", counted)
    before = await hashes(chain)
    followed = chain._chain._replica  # type: ignore[union-attr]
    async with asyncio.timeout(300):
        while followed._dumped_at < followed._position:  # the caller receives the response before the dump
            await asyncio.sleep(0.001)
    os.kill(chain.node_pid, signal.SIGKILL)
    assert await hashes(chain) == before
    assert replayed == []


async def test_a_call_of_a_block_without_state_uses_the_latest_block(
    start_chain: StartChain,
) -> None:
    chain = await start_chain()
    await fill(chain, KEPT_STATES + 2)
    head = int((await block(chain))["number"], 16)

    async def seen(back: int) -> int:
        return len(await chain.view("listActions", KEY, 0, 10_000, block=head - back))

    assert await seen(KEPT_STATES - 1) == 3
    assert await seen(KEPT_STATES + 1) == KEPT_STATES + 2


@pytest.mark.parametrize("nodes", [2, 7])
async def test_a_write_during_several_kills_happens_once_and_is_acknowledged(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch, nodes: int
) -> None:
    chain = await start_chain()
    await fill(chain)
    followed = chain._chain._replica  # type: ignore[union-attr]
    apply, rebuild, deaths = followed.apply, followed.rebuild, []

    async def die() -> None:
        node = followed.node
        assert node is not None
        deaths.append(node.pid)
        os.kill(node.pid, signal.SIGKILL)
        await node.exited

    async def struck(entry: Any) -> Any:
        monkeypatch.setattr(followed, "apply", apply)
        await die()
        return await apply(entry)

    async def mortal(*arguments: Any) -> None:
        await rebuild(*arguments)
        if len(deaths) < nodes:
            await die()

    monkeypatch.setattr(followed, "apply", struck)
    monkeypatch.setattr(followed, "rebuild", mortal)
    number = await chain.write("addGroup", KEY, "kept", "", [], [])
    assert len(set(deaths)) == nodes
    assert [group[0] for group in await chain.view("listGroups", KEY, 0, 100) if group[1] == "kept"] == [number]


async def test_the_same_seed_and_clock_make_the_same_chain_and_another_seed_another(
    start_chain: StartChain, tmp_path: Path
) -> None:
    seen = []
    for seed in ("lesson", "lesson", "other"):
        chain = await start_chain(seed=seed)
        await fill(chain)
        seen.append((chain.contract_address, await hashes(chain)))
        await chain.stop()
        for file in tmp_path.glob("state.db*"):
            file.unlink()
    assert seen[0] == seen[1]
    assert seen[0][0] != seen[2][0]


async def test_an_acknowledged_write_survives_a_kill_of_all_processes(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import asyncio, sys
        from svcnb.emulator.chain.chain import Chain
        from svcnb.emulator.platform.clock import Clock
        from svcnb.emulator.keys.custody import Custody
        from svcnb.emulator.platform.randomness import Randomness
        from svcnb.emulator.settings import Settings
        from svcnb.emulator.platform.store import Store

        async def main():
            settings = Settings.load({}, seed="own")
            custody = Custody(b"own".ljust(32), settings.vocabulary, Randomness("own"))
            chain = Chain(settings, Store(sys.argv[1]), custody, Clock(1_750_000_000))
            await chain.start()
            print(chain.node_pid, flush=True)
            await chain.write("newAccount", 0xA11CE, True, "n", "d", "0x" + "11" * 20)
            for number in range(100_000):
                await chain.write("addAction", 0xA11CE, "", "", number + 1)
                print(number + 1, flush=True)

        asyncio.run(main())
    """)
    url = f"sqlite:///{tmp_path / 'state.db'}"
    with subprocess.Popen([sys.executable, "-c", program, url], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        node = int(child.stdout.readline())
        for _ in range(20):
            child.stdout.readline()
        child.kill()
        acknowledged = int((child.stdout.read().split() or ["20"])[-1])
    await gone(node)
    async with running(url) as chain:
        assert await actions(chain) >= max(acknowledged, 20)


@pytest.mark.parametrize("sent_before_death", [0, 1])
async def test_related_writes_all_exist_after_a_crash_between_them(tmp_path: Path, sent_before_death: int) -> None:
    program = textwrap.dedent("""
        import asyncio, os, sys
        from svcnb.emulator.chain import connection, local as local_module, replica
        from svcnb.emulator.chain.chain import Chain
        from svcnb.emulator.platform.clock import Clock
        from svcnb.emulator.keys.custody import Custody
        from svcnb.emulator.platform.randomness import Randomness
        from svcnb.emulator.settings import Settings
        from svcnb.emulator.platform.store import Store

        async def main(url, last):
            settings = Settings.load({}, seed="own")
            custody = Custody(b"own".ljust(32), settings.vocabulary, Randomness("own"))
            chain = Chain(settings, Store(url), custody, Clock(1_750_000_000))
            await chain.start()
            await chain.write("newAccount", 0xA11CE, True, "n", "d", "0x" + "11" * 20)
            apply, left = replica.Replica.apply, int(last)

            async def mortal(self, entry):
                nonlocal left
                if not left:
                    os._exit(9)
                left -= 1
                return await apply(self, entry)

            replica.Replica.apply = mortal
            await chain.write_together(
                ("addAction", (0xA11CE, "", "", 1)), ("addGroup", (0xA11CE, "g", "", [], []))
            )

        asyncio.run(main(*sys.argv[1:]))
    """)
    url = f"sqlite:///{tmp_path / 'state.db'}"
    ended = subprocess.run([sys.executable, "-c", program, url, str(sent_before_death)], check=False, timeout=300)
    assert ended.returncode == 9
    async with running(url) as chain:
        assert await actions(chain) == 1
        assert len(await chain.view("listGroups", KEY, 0, 10)) == 1


async def test_related_writes_are_all_rejected_if_one_is_rejected(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain, 0)
    before = await hashes(chain)
    with pytest.raises(ContractRevert, match="GroupDoesNotExist"):
        await chain.write_together(("addAction", (KEY, "", "", 1)), ("addPkpToGroup", (KEY, 77, "0x" + "22" * 20)))
    assert await hashes(chain) == before


class running:  # noqa: N801 - reads as a word in the test
    """Chain on a database, for the duration of a with-block."""

    def __init__(self, url: str) -> None:
        self.url = url

    async def __aenter__(self) -> Chain:
        from svcnb.emulator.chain.chain import Chain
        from svcnb.emulator.keys.custody import Custody
        from svcnb.emulator.platform.randomness import Randomness
        from svcnb.emulator.platform.store import Store
        from svcnb.emulator.settings import Settings

        settings = Settings.load({}, seed="own")
        self.store = Store(self.url)
        custody = Custody(b"own".ljust(32), settings.vocabulary, Randomness("own"))
        self.chain = Chain(settings, self.store, custody, Clock(T0))
        await self.chain.start()
        return self.chain

    async def __aexit__(self, *_: object) -> None:
        await self.chain.stop()
        self.store.close()


async def gone(pid: int) -> None:
    """Waits until a process has ended, even if no parent reaps it."""
    async with asyncio.timeout(300):
        while _alive(pid) and not _ended(pid):
            await asyncio.sleep(0.01)


def _ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return False  # on another operating system


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_the_node_and_its_folder_are_gone_after_a_stop(start_chain: StartChain) -> None:
    chain = await start_chain()
    pid = chain.node_pid
    folder = Path(chain._chain._replica.node._folder.name)  # type: ignore[union-attr]
    assert folder.stat().st_mode & 0o077 == 0, "nobody else may speak to the node"
    await chain.stop()
    assert not _alive(pid)
    assert not folder.exists()


async def test_after_a_signal_to_all_processes_of_the_node_none_remains(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain)
    before, pid = await hashes(chain), chain.node_pid
    folder = Path(chain._chain._replica.node._folder.name)  # type: ignore[union-attr]
    os.killpg(os.getpgid(pid), signal.SIGTERM)
    assert await hashes(chain) == before
    assert chain.node_pid != pid
    assert not folder.exists()


async def test_the_node_ends_with_its_shell(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain)
    before, pid = await hashes(chain), chain.node_pid
    for keeper in keepers(pid):
        os.kill(keeper, signal.SIGKILL)
    await gone(pid)
    assert await hashes(chain) == before
    assert chain.node_pid != pid


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux's kernel ends a process with its parent")
async def test_the_node_ends_even_if_all_its_monitors_are_killed() -> None:
    program = textwrap.dedent("""
        import asyncio
        from svcnb.emulator.chain.genesis import Genesis
        from svcnb.emulator.chain.node import AnvilNode

        async def main():
            print((await AnvilNode.start(Genesis(31337, 1_750_000_000, {}), memory_mb=512)).pid, flush=True)
            await asyncio.Event().wait()

        asyncio.run(main())
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        node = int(child.stdout.readline())
        shells = keepers(node)
        os.kill(child.pid, signal.SIGSTOP)  # otherwise, the node has time to detect the exit
        for pid in (*shells, child.pid):
            os.kill(pid, signal.SIGKILL)
    await gone(node)


def keepers(node: int) -> list[int]:
    """Returns the shell of a node and the shell that watches its input: the node's process group without the node."""
    listed = subprocess.run(["ps", "-A", "-o", "pid=,pgid="], capture_output=True, text=True, check=True).stdout
    rows = (map(int, line.split()) for line in listed.splitlines())
    found = [pid for pid, group in rows if group == os.getpgid(node) and pid != node]
    assert len(found) == 2
    return found


# --- damage ---------------------------------------------------------------------------------------------------------


async def test_damaged_entries_at_the_end_are_moved_and_reported(
    start_chain: StartChain, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = await start_chain()
    await fill(first)
    before = await hashes(first)
    await first.stop()
    with database(tmp_path) as connection:
        connection.execute("DELETE FROM chain_dumps")
        # One bit of the second-to-last entry.
        [(at, payload)] = connection.execute(
            "SELECT position, payload FROM chain_journal ORDER BY position DESC LIMIT 1 OFFSET 1"
        )
        changed = bytes([payload[0] ^ 1]) + payload[1:]
        connection.execute("UPDATE chain_journal SET payload = ? WHERE position = ?", (changed, at))
    with caplog.at_level("WARNING"):
        second = await start_chain()
    assert "2 damaged entries" in caplog.text
    assert await hashes(second) == before[:-2]
    assert await actions(second) == 3
    await second.write("addAction", KEY, "", "", 5)
    await second.stop()
    with database(tmp_path) as connection:
        assert connection.execute("SELECT count(*) FROM chain_journal_cut").fetchall() == [(2,)]
    assert await actions(await start_chain()) == 4


async def test_a_damaged_dump_is_not_used_and_the_journal_replayed_instead(
    start_chain: StartChain, tmp_path: Path
) -> None:
    first = await start_chain()
    await fill(first)
    before = await hashes(first)
    await first.stop()
    with database(tmp_path) as connection:
        connection.execute("UPDATE chain_dumps SET content = x'00'")
    assert await hashes(await start_chain()) == before


async def test_entries_without_their_dump_are_an_error(start_chain: StartChain, tmp_path: Path) -> None:
    first = await start_chain()
    await fill(first)
    await first.stop()
    with database(tmp_path) as connection:
        connection.execute("DELETE FROM chain_dumps")
        connection.execute("DELETE FROM chain_journal WHERE position < 5")
    with pytest.raises(ChainUnusable, match="Restore the state folder or the database from a copy"):
        await start_chain()


async def test_a_state_of_another_chain_id_is_refused(start_chain: StartChain) -> None:
    await (await start_chain()).stop()
    with pytest.raises(ChainUnusable, match="--chain-id 31337"):
        await start_chain(chain_id=5)


async def test_a_contract_of_another_version_is_refused(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    await (await start_chain()).stop()
    newer = contract.functions() | {"fly": contract.function("owner")._replace(name="fly", selector=b"fly!")}
    monkeypatch.setattr(contract, "functions", lambda: newer)
    with pytest.raises(ChainUnusable, match="lacks these functions: fly"):
        await start_chain()


async def test_a_refused_transaction_is_withdrawn_and_stays_so(start_chain: StartChain, tmp_path: Path) -> None:
    chain = await start_chain()
    account = Account.from_key("0x" + "42" * 32)
    await chain.faucet(account.address.lower(), 10**18)
    fields = {"chainId": 31337, "nonce": 0, "to": account.address, "maxFeePerGas": 10**10, "maxPriorityFeePerGas": 0}
    for gas, member in ((20_000, "error"), (21_000, "result")):
        raw = account.sign_transaction(fields | {"gas": gas}).raw_transaction.to_0x_hex()
        answer = await chain.rpc({"id": 1, "method": "eth_sendRawTransaction", "params": [raw]})
        assert member in answer
    before = await hashes(chain)
    os.kill(chain.node_pid, signal.SIGKILL)
    assert await hashes(chain) == before
    await chain.stop()
    with database(tmp_path) as connection:
        assert connection.execute("SELECT count(*) FROM chain_journal WHERE withdrawn").fetchall() == [(1,)]


async def test_an_unsent_entry_that_the_node_rejects_is_withdrawn_at_the_next_start(
    start_chain: StartChain, tmp_path: Path
) -> None:
    first = await start_chain()
    await fill(first)
    before = await hashes(first)
    await first.stop()
    # The emulator was killed between the write and the send. The nonce of the transaction follows that of a rejected
    # one.
    account = Account.from_key("0x" + "42" * 32)
    fields = {"chainId": 31337, "nonce": 7, "to": account.address, "gas": 21_000, "maxFeePerGas": 10**10}
    raw = bytes(account.sign_transaction(fields | {"maxPriorityFeePerGas": 0}).raw_transaction)
    with database(tmp_path) as connection:
        [(last, digest)] = connection.execute(
            "SELECT position, digest FROM chain_journal ORDER BY position DESC LIMIT 1"
        )
        entry = follow(digest, last + 1, TRANSACTION, T0, raw)._asdict()
        connection.execute(inserting("chain_journal", entry), entry)
    second = await start_chain()
    assert await hashes(second) == before
    await second.write("addAction", KEY, "", "", 7)
    await second.stop()
    assert await actions(await start_chain()) == 6


async def test_a_node_that_cannot_restart_is_reported_without_a_wait(
    start_chain: StartChain, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = await start_chain()
    monkeypatch.setenv("SVC_ANVIL", "/bin/false")
    os.kill(chain.node_pid, signal.SIGKILL)
    with pytest.raises(ChainUnavailable, match="the chain node stopped immediately") as seen:
        await chain.view("owner")
    assert seen.value.status == 503
    with pytest.raises(ChainUnavailable):
        await chain.write("newAccount", KEY, True, "n", "d", ADMIN)


# --- snapshots ------------------------------------------------------------------------------------------------------


async def test_a_snapshot_is_restored_in_the_same_and_in_a_new_node(start_chain: StartChain) -> None:
    chain = await start_chain()
    heard: list[str] = []
    await fill(chain, 2)
    chain.on_event(lambda event: heard.append(event.name))
    two = await chain.export_snapshot()
    saved = await hashes(chain)
    await fill_more(chain)
    await chain.import_snapshot(two)
    assert (await hashes(chain), await actions(chain), heard[-1]) == (saved, 2, "reset")
    await fill_more(chain)
    again = await hashes(chain)
    os.kill(chain.node_pid, signal.SIGKILL)
    assert await hashes(chain) == again
    await chain.import_snapshot(two)
    assert (await hashes(chain), await actions(chain)) == (saved, 2)
    await fill_more(chain)
    assert await hashes(chain) == again


async def test_a_restart_continues_with_the_restored_snapshot(start_chain: StartChain) -> None:
    first = await start_chain()
    await fill(first, 2)
    two = await first.export_snapshot()
    await fill_more(first)
    await first.import_snapshot(two)
    await first.write("addGroup", KEY, "after the restore", "", [], [])
    before = await hashes(first)
    await first.stop()
    second = await start_chain()
    assert await hashes(second) == before
    await second.import_snapshot(two)
    assert await actions(second) == 2


async def test_a_later_snapshot_can_be_restored_after_an_earlier_one(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain, 1)
    one = await chain.export_snapshot()
    await fill_more(chain)
    two = await chain.export_snapshot()
    later = await hashes(chain)
    await chain.import_snapshot(one)
    assert await actions(chain) == 1
    await chain.import_snapshot(two)
    assert (await hashes(chain), await actions(chain)) == (later, 2)
    os.kill(chain.node_pid, signal.SIGKILL)
    assert (await hashes(chain), await actions(chain)) == (later, 2)


async def test_a_node_keeps_a_limited_number_of_states(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain, 1)
    for number in range(70):
        await chain.faucet(ADMIN, number + 1)
        always = await chain.export_snapshot()
    await fill_more(chain)
    await chain.import_snapshot(always)
    assert await actions(chain) == 1
    # The node numbers the states that it keeps, and continues the numbering after the restore of a state.
    assert int(await chain._chain._replica.ask("evm_snapshot"), 16) <= 66  # type: ignore[union-attr]


async def test_a_snapshot_can_set_the_time_back(start_chain: StartChain) -> None:
    clock = Clock(T0)
    chain = await start_chain(clock=clock)
    await fill(chain, 0)
    early = await chain.export_snapshot()
    clock.advance(1000)
    await fill_more(chain)
    clock.freeze(T0 + 1)
    await chain.import_snapshot(early)
    await fill_more(chain)
    assert int((await block(chain))["timestamp"], 16) == T0 + 1


async def test_an_invalid_snapshot_has_no_effect(start_chain: StartChain) -> None:
    chain = await start_chain()
    await fill(chain, 1)
    data = await chain.export_snapshot()
    for wrong in (b"", b"{}\n", data[:-1] + bytes([data[-1] ^ 1]), data.replace(b"31337", b"31338")):
        with pytest.raises(SnapshotUnusable):
            await chain.import_snapshot(wrong)
    assert await actions(chain) == 1
    await chain.import_snapshot(data)
    assert await actions(chain) == 1


# --- access to the node ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="descriptors of a running process are limited by prlimit")
async def test_other_programs_cannot_connect_to_the_nodes_port(start_chain: StartChain) -> None:
    """The node accepts WebSocket connections from every page, because its port does not check the origin."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    chain = await start_chain()
    await fill(chain, 1)
    inodes = {str(file.readlink()) for file in Path(f"/proc/{chain.node_pid}/fd").iterdir()}
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = [int(row[1].split(":")[1], 16) for row in listening if row[3] == "0A" and f"socket:[{row[9]}]" in inodes]
    assert len(ports) == 1, "the node's port was not found"
    with pytest.raises((TimeoutError, OSError, WebSocketException)):
        await connect(f"ws://127.0.0.1:{ports[0]}", origin="https://evil.example", open_timeout=1)  # type: ignore[arg-type]
    assert await actions(chain) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
async def test_a_node_without_free_descriptors_becomes_idle() -> None:
    """Without a free descriptor, accept(2) fails before it checks for connections. The node must not loop."""
    # Start many nodes at once, because the failure is rare if only one node starts.
    nodes = await asyncio.gather(
        *(AnvilNode.start(Genesis(31337, 1_750_000_000, {}), memory_mb=512) for _ in range(40))
    )
    try:
        for node in nodes:
            before = -1
            async with asyncio.timeout(120):
                while (used := processor_ticks(node.pid)) != before:
                    before = used
                    await asyncio.sleep(0.2)
            assert await node.connection.request("net_version") == "31337"
    finally:
        await asyncio.gather(*(node.stop() for node in nodes))


def processor_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
