"""Emulators of the learners. An emulator starts when a connection arrives, and stops when idle. Its state remains.

The workshop's process owns the listening sockets. A running emulator accepts the connections to its socket. If the
emulator does not run, a thread of the workshop waits for the next connection and starts the emulator. The emulator then
accepts the connection from the socket's queue. The socket stays open when the emulator stops, so the address does not
change.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import shutil
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, Field

from svcnb.control import EmulatorControl, EmulatorError
from svcnb.files import replace_file
from svcnb.launch import Emulator
from svcnb.migrations import DocumentSchema
from svcnb.protocol.limits import LEARNER_IDLE_STOP_S, MAX_LEARNER_EMULATORS, MAX_LEARNER_RUNNING
from svcnb.workshop.roster import read_document

HOST: Final = "127.0.0.1"
"""Address on which the emulators listen.

The seeds of lessons are publicly known, so emulators accept only local connections."""
SCHEMA: Final = DocumentSchema("emulator of a learner", 0)
_ABOUT: Final = "emulator.json"
_STATE: Final = "state"
_RECORDINGS: Final = "recordings"
_BACKLOG: Final = 128

_LOG = logging.getLogger(__name__)


class _About(BaseModel):
    """Port, settings and time of the last start of an emulator, stored in a file next to its state.

    The time is in Unix seconds, and is 0.0 before the first start.
    """

    port: int = Field(default=0, ge=0, le=65_535)
    settings: dict[str, Any] = Field(default_factory=dict)
    started_at: float = 0.0


class HostedEmulator:
    """Emulator of a learner, with its socket, its folder and, while it runs, its process.

    Args:
        folder: Folder of the emulator, which contains the state, the port and the settings.
        settings: Settings of the emulator. None means the stored settings.
        idle_stop_s: Number of seconds without requests until the emulator stops.

    Attributes:
        lock: Lock for starting and stopping the process, and for replacing the state.
        listener: Listening socket.
        process: Current or last process. None before the first start and after `stop`.
        closed: Whether the socket is closed.
        about: Stored port, settings and time of the last start.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any] | None, idle_stop_s: float) -> None:
        self.folder = folder
        self.lock = threading.RLock()
        self.process: Emulator | None = None
        self.closed = False
        self.about = _about(folder)
        if settings is not None:
            self.about.settings = dict(settings)
        self._idle_stop_s = idle_stop_s
        self.listener = _listen(self.about.port)
        self.about.port = self.listener.getsockname()[1]
        self._save()

    def __repr__(self) -> str:
        return f"<HostedEmulator {self.folder.name}>"

    @property
    def base_url(self) -> str:
        """URL of the emulator, which does not change while the workshop runs."""
        return f"http://{HOST}:{self.about.port}"

    @property
    def is_running(self) -> bool:
        """Whether the process runs. The property does not wait for a start or a stop in another thread."""
        process = self.process
        return process is not None and process.running

    def start(self) -> Emulator:
        """Starts the emulator's process unless it is already running, and returns the process.

        Raises:
            EmulatorError: The emulator did not start. The message contains the reason.
        """
        with self.lock:
            if self.process is None or not self.process.running:
                self.stop()
                self.about.started_at = time.time()
                self._save()
                self.process = Emulator(
                    listener=self.listener,
                    state=self.folder / _STATE,
                    idle_stop_s=self._idle_stop_s,
                    # A learner with access to the control plane must not write files with the permissions of the
                    # system user that runs the workshop's server.
                    recordings=self.folder / _STATE / _RECORDINGS,
                    **self.about.settings,
                )
            return self.process

    def stop(self) -> None:
        """Stops the process. The state remains."""
        with self.lock:
            if self.process is not None:
                self.process.stop()
                self.process = None

    def clear(self, settings: Mapping[str, Any] | None = None) -> None:
        """Stops the emulator and deletes its state.

        Args:
            settings: New settings of the emulator. None means that the settings stay the same.
        """
        with self.lock:
            self.stop()
            shutil.rmtree(self.folder / _STATE, ignore_errors=True)
            if settings is not None and settings != self.about.settings:
                self.about.settings = dict(settings)
                self._save()

    def close(self) -> None:
        """Stops the emulator and closes its socket. The state remains."""
        with self.lock:
            self.closed = True
            self.stop()
            self.listener.close()

    def delete(self) -> None:
        """Closes the emulator and deletes its folder."""
        self.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _save(self) -> None:
        replace_file(self.folder / _ABOUT, json.dumps(SCHEMA.stamped(self.about.model_dump(mode="json"))))


class Emulators:
    """Thread-safe registry of all emulators of a workshop, by learner and name.

    Args:
        folder: Folder with the states, which contains one folder for each learner.
        idle_stop_s: Number of seconds without requests until an emulator stops.
    """

    def __init__(self, folder: Path, *, idle_stop_s: float = LEARNER_IDLE_STOP_S) -> None:
        self._folder = folder
        self._idle_stop_s = idle_stop_s
        self._lock = threading.RLock()
        self._all: dict[str, dict[str, HostedEmulator]] = {}
        self._arriving: list[HostedEmulator] = []
        self._leaving: list[HostedEmulator] = []
        self._closed = False
        # More concurrent starts than processor cores only delay each other.
        self._starts = threading.BoundedSemaphore(os.cpu_count() or 1)
        self._woken, self._waker = socket.socketpair()
        self._thread = threading.Thread(target=self._watch, daemon=True, name="svcnb-workshop-sockets")
        self._thread.start()

    def __repr__(self) -> str:
        return f"<Emulators of {len(self._all)} learners>"

    def open(self, learner: str, name: str, settings: Mapping[str, Any] | None = None) -> HostedEmulator:
        """Returns an emulator of a learner. Creates the emulator if it is missing, but does not start it.

        If the learner already has `MAX_LEARNER_EMULATORS` emulators, the method first deletes the emulator that started
        least recently, with its state.

        Args:
            learner: Identifier of the learner who owns the emulator.
            name: Name of the emulator, which must be a valid folder name.
            settings: Settings of a new emulator. None means the stored settings.
        """
        with self._lock:
            mine = self._of(learner)
            if name not in mine:
                while len(mine) >= MAX_LEARNER_EMULATORS:
                    self._leaving.append(mine.pop(min(mine, key=lambda each: mine[each].about.started_at)))
                mine[name] = self._make(self._folder / learner / "emulators" / name, settings)
            return mine[name]

    def start(self, learner: str, name: str, settings: Mapping[str, Any] | None, *, afresh: bool) -> EmulatorControl:
        """Starts an emulator unless it is already running, and returns a handle of the emulator.

        Args:
            learner: Identifier of the learner who owns the emulator.
            name: Name of the emulator, as for `open`.
            settings: Settings for a new emulator, or for an emulator whose state the call discards. None means the
                stored settings.
            afresh: Whether to discard the stored state.

        Raises:
            EmulatorError: The emulator did not start.
        """
        hosted = self.open(learner, name, settings)
        self._stop_oldest(hosted)
        with self._starts, hosted.lock:
            if afresh:
                hosted.clear(settings)
            return hosted.start().handle()

    def running(self, learner: str | None = None) -> list[EmulatorControl]:
        """Returns handles of the running emulators of one or all learners. Waits for emulators that are starting."""
        found = []
        for each in self._hosted(learner):
            with each.lock:
                if each.process is not None and each.process.running:
                    found.append(each.process.handle())
        return found

    def pids(self) -> list[int]:
        """Returns the process ids of all running emulators."""
        return [process.pid for each in self._hosted() if (process := each.process) is not None and process.running]

    def clear(self, learner: str) -> None:
        """Stops a learner's emulators and deletes their states. The addresses of the emulators do not change."""
        with self._stopped(learner) as mine:
            for each in mine.values():
                each.clear()

    def copy(self, learner: str, target: Path) -> None:
        """Stops a learner's emulators, and replaces the content of a folder with their states."""
        with self._stopped(learner) as mine:
            shutil.rmtree(target, ignore_errors=True)
            target.mkdir(mode=0o700, parents=True)
            for name, each in mine.items():
                shutil.copytree(each.folder, target / name)

    def replace(self, learner: str, source: Path) -> None:
        """Stops a learner's emulators, and restores the states that `copy` stored.

        The addresses of the emulators do not change.
        """
        for copied in sorted(source.iterdir()):
            self.open(learner, copied.name, _about(copied).settings)
        with self._stopped(learner) as mine:
            for name, each in mine.items():
                kept = source / name
                each.clear(_about(kept).settings if kept.is_dir() else None)
                if (kept / _STATE).is_dir():
                    shutil.copytree(kept / _STATE, each.folder / _STATE)

    def close(self) -> None:
        """Stops all emulators and closes their sockets. The states remain. Repeated calls have no effect."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            hosted = [*self._leaving, *self._hosted()]
        self._wake()
        self._thread.join()
        with ThreadPoolExecutor() as pool:
            list(pool.map(HostedEmulator.close, hosted))
        self._woken.close()
        self._waker.close()

    # --- one learner --------------------------------------------------------------------------------------------

    def _of(self, learner: str) -> dict[str, HostedEmulator]:
        """Returns a learner's emulators by name. Reopens the sockets of emulators from an earlier workshop process."""
        if learner not in self._all:
            kept = sorted(each.parent for each in self._folder.glob(f"{learner}/emulators/*/{_ABOUT}"))
            self._all[learner] = {each.name: self._make(each, None) for each in kept}
        return self._all[learner]

    def _hosted(self, learner: str | None = None) -> list[HostedEmulator]:
        with self._lock:
            names = list(self._all) if learner is None else [learner]
            return [each for name in names for each in self._of(name).values()]

    def _stop_oldest(self, hosted: HostedEmulator) -> None:
        """Stops the learner's other emulators that started earliest, so that `hosted` can start.

        Including `hosted`, at most `MAX_LEARNER_RUNNING` emulators then run.
        """
        learner = hosted.folder.parent.parent.name
        running = [each for each in self._hosted(learner) if each is not hosted and each.is_running]
        running.sort(key=lambda each: each.about.started_at)
        for each in running[: max(0, len(running) + 1 - MAX_LEARNER_RUNNING)]:
            each.stop()

    def _make(self, folder: Path, settings: Mapping[str, Any] | None) -> HostedEmulator:
        hosted = HostedEmulator(folder, settings, self._idle_stop_s)
        self._wait_for_connection(hosted)
        return hosted

    @contextmanager
    def _stopped(self, learner: str) -> Iterator[dict[str, HostedEmulator]]:
        """Stops and locks a learner's emulators. A locked emulator does not start, and its connections wait."""
        with self._lock:
            mine = dict(self._of(learner))
        with ExitStack() as held:
            for each in mine.values():
                held.enter_context(each.lock)
                each.stop()
            yield mine

    # --- connections --------------------------------------------------------------------------------------------

    def _wait_for_connection(self, hosted: HostedEmulator) -> None:
        with self._lock:
            self._arriving.append(hosted)
            self._wake()

    def _wake(self) -> None:
        with suppress(OSError):  # the socket is closed, so no thread waits for its connections
            self._waker.send(b"\0")

    def _watch(self) -> None:
        """Waits for connections, and starts the emulator of each socket that receives one."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._woken, selectors.EVENT_READ)
            while True:
                for key, _ in selector.select():
                    if key.data is None:
                        self._woken.recv(_BACKLOG)
                        continue
                    selector.unregister(key.fileobj)
                    name = "svcnb-workshop-emulator"
                    threading.Thread(target=self._serve, args=(key.data,), daemon=True, name=name).start()
                with self._lock:
                    if self._closed:
                        return
                    arriving, self._arriving = self._arriving, []
                    leaving, self._leaving = self._leaving, []
                for each in arriving:
                    if not each.closed:
                        selector.register(each.listener, selectors.EVENT_READ, each)
                for each in leaving:
                    with suppress(KeyError):
                        selector.unregister(each.listener)
                    threading.Thread(target=each.delete, daemon=True).start()

    def _serve(self, hosted: HostedEmulator) -> None:
        """Runs an emulator until it ends, then waits for the next connection."""
        try:
            self._stop_oldest(hosted)
            with self._starts, hosted.lock:
                process = None if hosted.closed else hosted.start()
        except EmulatorError as error:
            _LOG.error("the emulator in %s did not start: %s", hosted.folder, error)
            with suppress(OSError):  # the client of the oldest connection must not wait for this emulator
                hosted.listener.accept()[0].close()
        else:
            if process is None:
                return
            process.wait()
        self._wait_for_connection(hosted)


def _about(folder: Path) -> _About:
    file = folder / _ABOUT
    return read_document(file, SCHEMA, _About) if file.exists() else _About()


def _listen(port: int) -> socket.socket:
    """Returns a socket that listens on a port, or on a free port if that port is in use."""
    if port:
        with suppress(OSError):
            return socket.create_server((HOST, port), backlog=_BACKLOG)
    return socket.create_server((HOST, 0), backlog=_BACKLOG)
