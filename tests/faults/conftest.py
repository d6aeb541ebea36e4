"""Test load: an emulator that executes triggers while the test kills it repeatedly."""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import sqlite3
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from svcnb.launch import Emulator

MARK = """
async function main({ event, url }) {
  const run = Svc.Headers.get("x-correlation-id");
  await fetch(url, { method: "POST", body: JSON.stringify({ run, n: event.n, trigger: event.trigger }) });
  // A stop in this moment cuts off an execution that has acted already.
  await new Promise((resolve) => setTimeout(resolve, 60));
  return event.n;
}
"""


class Outside:
    """Web server outside of the service, which counts the side effects of actions."""

    def __init__(self) -> None:
        self.marks: list[dict[str, Any]] = []
        outside = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                outside.marks.append(json.loads(body))
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@dataclass
class Report:
    """Results of a test load with kills.

    Attributes:
        accepted: Ids of accepted runs (status 202) by trigger, in order.
        marks: Side effects, in order.
        records: Rows of the runs at the end: id, trigger, status, finished, interruptions.
        repeated_after_end: Runs that had a side effect after the service had recorded their end.
        seconds: Duration in seconds.
    """

    accepted: dict[int, list[str]] = field(default_factory=lambda: defaultdict(list))
    marks: list[dict[str, Any]] = field(default_factory=list)
    records: list[tuple[str, str, str, float | None, int]] = field(default_factory=list)
    repeated_after_end: set[str] = field(default_factory=set)
    seconds: float = 0.0

    def check(self) -> str:
        """Checks the results. Returns a sentence with the counts."""
        accepted = [run for runs in self.accepted.values() for run in runs]
        by_id = {record[0]: record for record in self.records}
        assert len(by_id) == len(self.records)
        missing = [run for run in accepted if run not in by_id]
        assert not missing, "accepted runs are not on record"
        not_ended = [record for record in self.records if record[2] != "success" or record[3] is None]
        assert not not_ended, "runs did not end well"
        assert not self.repeated_after_end, "an execution that had finished was repeated"
        marks = Counter(mark["run"] for mark in self.marks)
        assert set(marks) == set(by_id), "side effects and records differ"
        again = {run: count for run, count in marks.items() if count > 1}
        for run, count in again.items():
            assert count <= 1 + by_id[run][4], "a run repeated that no stop had cut off"
        for trigger, runs in self.accepted.items():
            first = list(dict.fromkeys(mark["run"] for mark in self.marks if mark["trigger"] == trigger))
            assert [run for run in first if run in set(runs)] == runs, "a trigger's runs changed their order"
        cut_off = sum(1 for record in self.records if record[4])
        return (
            f"{len(accepted)} accepted, {len(self.records)} on record, all ended once; {cut_off} cut off, "
            f"{len(again)} of them had acted already and acted again; {self.seconds:.1f} s"
        )


class Siege:
    """Test load: webhook requests to triggers while the test kills and restarts the emulator.

    Args:
        state: State folder of the emulator.
    """

    def __init__(self, state: Path) -> None:
        self.state = state
        # Keep the port while the emulator is stopped, so that no other program gets it. Two sockets can bind a port if
        # only one listens.
        self._port_holder = socket.socket()
        self._port_holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._port_holder.bind(("127.0.0.1", 0))
        self.port = self._port_holder.getsockname()[1]
        self.outside = Outside()
        self.report = Report()
        self.emulator: Emulator | None = None
        # For each kill: the number of earlier side effects, and the runs whose end was recorded.
        self._kills: list[tuple[int, set[str]]] = []

    def start(self) -> Emulator:
        many = 10**6
        self.emulator = Emulator(
            state=str(self.state),
            port=self.port,
            starter_credits=many,
            webhook_posts_per_address=many,
            webhook_posts_per_user=many,
            auto_approve_agents=True,
            allow_address=["127.0.0.1"],
        )
        return self.emulator

    def run(self, *, runs: int, triggers: int, kills: int, seed: int) -> str:
        """Runs the complete test. Returns the sentence of the report."""
        begun = time.monotonic()
        chance = random.Random(seed)
        hooks = self._prepare(triggers)
        posting = threading.Thread(target=self._post, args=(hooks, runs), daemon=True)
        posting.start()
        for _ in range(kills):
            time.sleep(chance.uniform(0.05, 0.9))
            self._kill()
            self.start()
        posting.join(600)
        assert not posting.is_alive()
        self._wait_for_the_end()
        self.close()
        self.report.marks = list(self.outside.marks)
        self.report.records = self._records()
        self.report.seconds = time.monotonic() - begun
        return self.report.check()

    def _prepare(self, count: int) -> list[str]:
        emulator = self.start()
        account = emulator.client().accounts.create("siege")
        with emulator.triggers() as client:
            return [
                client.webhook(
                    f"t{number}",
                    MARK,
                    account.api_key,
                    default_params={"url": self.outside.url},
                    max_runs_per_minute=10**6,
                    max_queued_runs=10**6,
                ).id
                for number in range(count)
            ]

    def _post(self, hooks: list[str], runs: int) -> None:
        for n in range(runs):
            place = n % len(hooks)
            body = {"n": n, "trigger": place}
            while True:
                # Use a new connection for each request, because a kill closes the earlier ones.
                with suppress(httpx.HTTPError):
                    answer = httpx.post(
                        f"http://127.0.0.1:{self.port}/webhook/{hooks[place]}", json=body, timeout=60, trust_env=False
                    )
                    if answer.status_code == 202:
                        self.report.accepted[place].append(answer.json()["run_id"])
                        break
                time.sleep(0.02)

    def _kill(self) -> None:
        assert self.emulator is not None
        os.kill(self.emulator.pid, signal.SIGKILL)
        self.emulator.stop()
        ended = {run for run, _, _, finished, _ in self._records() if finished is not None}
        known = len(self.outside.marks)
        self._kills.append((known, ended))

    def _records(self) -> list[tuple[str, str, str, float | None, int]]:
        (file,) = [found for found in self.state.iterdir() if found.suffix in {".sqlite", ".db"}]
        with closing(sqlite3.connect(file)) as database:
            rows = database.execute(
                "SELECT id, trigger_id, status, finished_at, interruptions FROM trigger_runs ORDER BY seq"
            ).fetchall()
        return [tuple(row) for row in rows]

    def _wait_for_the_end(self) -> None:
        deadline = time.monotonic() + 600
        while any(finished is None for _, _, _, finished, _ in self._records()):
            assert time.monotonic() < deadline, "runs do not end"
            time.sleep(0.1)
        for known, ended in self._kills:
            self.report.repeated_after_end |= {mark["run"] for mark in self.outside.marks[known:]} & ended

    def close(self) -> None:
        """Stops everything."""
        if self.emulator is not None:
            self.emulator.stop()
            self.emulator = None
        self._port_holder.close()
        self.outside.close()


@pytest.fixture
def siege(tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Runs a test load with the given counts, and returns its results."""
    made: list[Siege] = []

    def run(**counts: int) -> str:
        made.append(Siege(tmp_path / "state"))
        return made[-1].run(**counts)

    yield run
    for each in made:
        each.close()


@pytest.fixture
def outside() -> Iterator[Outside]:
    """Web server outside of the service."""
    world = Outside()
    yield world
    world.close()


@pytest.fixture
def mark() -> str:
    """Action whose side effects the outside server counts."""
    return MARK


# --- processes of an emulator ----------------------------------------------------------------------------------------


def descendants(root: int) -> dict[int, str]:
    """Returns the command lines of all descendants of a process, by process id."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_bytes().rpartition(b")")[2].split()[1])
    found: dict[int, str] = {}
    level = [root]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        for pid in level:
            with suppress(OSError):
                found[pid] = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return found


def named(emulator: Emulator, victim: str) -> list[int]:
    """Returns the ids of the processes to kill. The list is empty if none exists at the moment."""
    below = descendants(emulator.pid)
    marks = {"chain node": "--ipc", "chain keeper": "svcnb-chain", "spawner": "spawner.py", "an isolate": "deno"}
    if victim == "server":
        return [emulator.pid]
    if victim == "everything":
        return [emulator.pid, *below]
    keeper = [pid for pid, line in below.items() if "svcnb-chain" in line and line.startswith("/bin/sh")]
    if victim == "chain keeper":
        return keeper
    found = [pid for pid, line in below.items() if marks[victim] in line and pid not in keeper]
    return found[:1]


@pytest.fixture
def find_processes() -> Callable[[Emulator, str], list[int]]:
    """Finds processes of an emulator: server, chain node, chain keeper, spawner, an isolate, or all of them."""
    return named
