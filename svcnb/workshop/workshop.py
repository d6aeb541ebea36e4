"""Workshops: learners, their emulators, their progress, and the instructor's operations."""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from svcnb.checked import Checked
from svcnb.client.errors import InvalidArgument
from svcnb.lessons import lesson_settings, solution_notebooks
from svcnb.protocol.limits import LEARNER_IDLE_STOP_S
from svcnb.toolkit.exercises import EXERCISES
from svcnb.workshop.board import Board
from svcnb.workshop.emulators import Emulators
from svcnb.workshop.roster import Learner, Progress, Roster

if TYPE_CHECKING:
    from svcnb.control import EmulatorControl
    from svcnb.workshop.server import WorkshopServer

STARTER_CENTS: Final = 500
ROSTER_FILE: Final = "roster.json"
OWN: Final = "own"
"""Name of the emulator for a learner's own work. The names of other emulators start with the name of a lesson."""
LESSON: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
LESSON_SETTINGS: Final = frozenset(
    {
        "charge_convert",
        "charge_failed_runs",
        "clock",
        "enforce_expiration",
        "grant_delay_jitter_ms",
        "grant_delay_ms",
        "master_key_may_execute",
        "preset",
        "starter_credits",
    }
)
"""Emulator settings that a lesson can choose. None of them specifies a file, an address or a program."""


class Workshop(Checked):
    """Workshop in which each learner has their own emulators. All methods are thread-safe.

    Methods other than `add` raise `UnknownLearner` for a `name` that belongs to no learner or to several learners.

    Args:
        learners: Display names or e-mail addresses of the learners. Call `add` for more learners.
        credit_cents: Credit of each new account in a learner's own emulator, in cents.
        folder: Folder for the roster and the states of the emulators, so that a later process can continue with the
            same learners. None means a temporary folder. Only the user who runs the workshop can read the files.
        idle_stop_s: Number of seconds without requests until an emulator stops. The next request restarts the emulator.
        hosts_emulators: Whether the emulators run on this machine. Otherwise, each learner's machine runs its own
            emulators, and methods that need an emulator raise `InvalidArgument`.

    Raises:
        InvalidArgument: A name is too long or contains a control character, or the folder's roster cannot be read.
    """

    def __init__(
        self,
        learners: Iterable[str] = (),
        *,
        credit_cents: int = STARTER_CENTS,
        folder: str | Path | None = None,
        idle_stop_s: float = LEARNER_IDLE_STOP_S,
        hosts_emulators: bool = True,
    ) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="svcnb-workshop-") if folder is None else None
        self.folder: Path = Path(self._temporary.name if self._temporary else folder or "")
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # the folder contains all learners' tokens and keys
        self.credit_cents = credit_cents
        self.roster: Roster = Roster(self.folder / ROSTER_FILE)
        self.server: WorkshopServer | None = None
        self.emulators: Emulators | None = (
            Emulators(self.folder / "learners", idle_stop_s=idle_stop_s) if hosts_emulators else None
        )
        try:
            for name in learners:
                self.add(name)
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"Workshop({len(list(self.roster))} learners)"

    def __enter__(self) -> Self:
        """Returns the workshop. The end of the ``with`` block closes the workshop."""
        return self

    def __exit__(self, *_: object) -> None:
        """Closes the workshop, as `close` does."""
        self.close()

    # --- learners -----------------------------------------------------------------------------------------------

    def add(self, name: str = "", email: str = "") -> Learner:
        """Adds a learner. An existing learner stays unchanged.

        Args:
            name: Display name, in any script. If empty, the e-mail address or a number determines the name.
            email: E-mail address, or an empty string.

        Returns:
            The learner. ``learner.name`` is the identifier, which the names of the learner's files contain.

        Raises:
            InvalidArgument: The name or the e-mail address is too long or contains a control character.
        """
        with self.roster.lock:
            learner = self.roster.add(name, email)
            self.roster.keep()
        return learner

    def learner(self, name: str) -> Learner:
        """Returns the learner who has the given name.

        Args:
            name: Identifier, display name or e-mail address, as in all other methods.

        Raises:
            UnknownLearner: No learner or more than one learner has this name.
        """
        return self.roster.of_name(name)

    def emulator(self, name: str) -> EmulatorControl:
        """Returns a handle of the emulator for a learner's own work. Starts the emulator if it is not running.

        In notebooks, `svcnb.Client()` connects to this emulator.

        Args:
            name: Identifier, display name or e-mail address of the learner.

        Raises:
            InvalidArgument: The emulators do not run on this machine.
            EmulatorError: The emulator did not start.
        """
        return self._hosted().start(self.learner(name).name, OWN, self._own_settings(), afresh=False)

    def start_lesson(
        self, name: str, lesson: str, settings: dict[str, Any], *, notebook: str = "", resume: bool = False
    ) -> EmulatorControl:
        """Starts the emulator of a lesson, by default with a new state, and returns a handle of the emulator.

        Args:
            name: Identifier, display name or e-mail address of the learner.
            lesson: Name of the lesson, for example ``"quickstart"``.
            settings: Additional settings of the emulator. See `LESSON_SETTINGS`.
            notebook: Text that identifies the notebook, for example its path. Each notebook has its own emulator.
            resume: Whether to continue with the state that this emulator stored earlier.

        Raises:
            InvalidArgument: The name of the lesson is invalid, or a setting is not in `LESSON_SETTINGS`.
            EmulatorError: The emulator did not start.
        """
        _check_lesson(lesson)
        if unknown := sorted(settings.keys() - LESSON_SETTINGS):
            raise InvalidArgument(
                f"a workshop lesson cannot set {unknown[0]!r}",
                hint=f"Omit this setting. Lessons can set {', '.join(sorted(LESSON_SETTINGS))}.",
            )
        place = f"{lesson}-{hashlib.sha256(notebook.encode()).hexdigest()[:8]}"
        chosen = lesson_settings(lesson) | settings
        del chosen["port"]
        return self._hosted().start(self.learner(name).name, place, chosen, afresh=not resume)

    def hand_out(self) -> dict[str, dict[str, str]]:
        """Returns the environment variables of each learner's notebooks, with the identifiers of the learners as keys.

        The variables contain secrets. Give each learner only their own variables.
        """
        return {each.name: self.environment(each.name) for each in self.roster}

    def environment(self, name: str) -> dict[str, str]:
        """Returns the environment variables of one learner's notebooks.

        The variables contain the address of the learner's own emulator, if the emulators run on this machine. After
        `serve`, they also contain the address of the workshop's server and a secret token.

        Args:
            name: Identifier, display name or e-mail address of the learner.
        """
        learner = self.learner(name)
        found: dict[str, str] = {}
        if self.emulators is not None:
            url = self.emulators.open(learner.name, OWN, self._own_settings()).base_url
            found |= {"SVC_BASE_URL": url, "SVC_TRIGGERS_URL": url, "SVC_RPC_URL": f"{url}/rpc"}
        if self.server is not None:
            found |= {"SVC_WORKSHOP_URL": self.server.url, "SVC_WORKSHOP_TOKEN": learner.token}
        return found

    # --- progress -----------------------------------------------------------------------------------------------

    def record(self, name: str, exercise: str, *, right: bool) -> None:
        """Records the result of checking an answer. A solved exercise stays solved.

        Args:
            name: Identifier, display name or e-mail address of the learner.
            exercise: Name of the exercise, ``<lesson>.<exercise>``.
            right: Whether the answer is correct.

        Raises:
            InvalidArgument: The exercise does not exist.
        """
        if exercise not in EXERCISES:
            raise InvalidArgument(f"exercise {exercise[:80]!r} not found", hint="Use a name in exercises.EXERCISES.")
        with self.roster.lock:
            learner = self.learner(name)
            before = learner.progress.get(exercise, Progress())
            learner.progress[exercise] = Progress(right=before.right or right, tries=before.tries + 1)
            learner.exercise, learner.last_at = exercise, time.time()
            self.roster.keep()

    def arrive(self, name: str, lesson: str) -> None:
        """Records that a learner started a lesson.

        Args:
            name: Identifier, display name or e-mail address of the learner.
            lesson: Name of the lesson, for example ``"quickstart"``.

        Raises:
            InvalidArgument: The name of the lesson is invalid.
        """
        _check_lesson(lesson)
        with self.roster.lock:
            learner = self.learner(name)
            learner.lesson, learner.exercise, learner.last_at = lesson, "", time.time()
            self.roster.keep()

    def board(self) -> Board:
        """Returns a snapshot of the progress of all learners."""
        with self.roster.lock:
            return Board(list(self.roster), list(EXERCISES))

    # --- solutions ----------------------------------------------------------------------------------------------

    def unlock(self, *lessons: int) -> list[str]:
        """Unlocks the solutions of lessons for all learners. The learners' copies of the lessons contain no solutions.

        A learner's notebook fetches the solutions when the learner next starts a lesson or answers an exercise.

        Args:
            *lessons: Numbers of the lessons. Without numbers, the method unlocks all lessons.

        Returns:
            File names of all unlocked notebooks.

        Raises:
            InvalidArgument: A lesson does not exist.
        """
        files = {int(path.name[:2]): path.name for path in solution_notebooks()}
        if unknown := [number for number in lessons if number not in files]:
            hint = f"Choose a number from {min(files)} to {max(files)}."
            raise InvalidArgument(f"unknown lesson {unknown[0]}", hint=hint)
        with self.roster.lock:
            self.roster.unlocked[:] = sorted({*self.roster.unlocked, *(files[number] for number in lessons or files)})
            self.roster.keep()
            return list(self.roster.unlocked)

    def solution(self, notebook: str) -> str:
        """Returns the JSON text of the notebook with an unlocked solution.

        Args:
            notebook: File name, for example ``"01-quickstart.ipynb"``.

        Raises:
            InvalidArgument: The solution is not unlocked, or does not exist.
        """
        found = [path for path in solution_notebooks() if path.name == notebook and notebook in self.roster.unlocked]
        if not found:
            hint = "Check the name, for example '01-quickstart.ipynb', or ask your instructor to unlock the solution."
            raise InvalidArgument(f"the solution {notebook[:80]!r} is not unlocked or does not exist", hint=hint)
        return found[0].read_text(encoding="utf-8")

    # --- for one learner, without effect on others --------------------------------------------------------------

    def reset(self, name: str) -> Learner:
        """Deletes a learner's states, saved states and progress. Returns the learner.

        The addresses of the learner's emulators, the token and the environment variables do not change.

        Args:
            name: Identifier, display name or e-mail address of the learner.
        """
        learner = self.learner(name)
        if self.emulators is not None:
            self.emulators.clear(learner.name)
        with self.roster.lock:
            learner.progress.clear()
            learner.saved.clear()
            learner.lesson, learner.exercise, learner.last_at = "", "", 0.0
            shutil.rmtree(self.folder / "saved" / learner.name, ignore_errors=True)
            self.roster.keep()
        return learner

    def save(self, name: str, label: str) -> None:
        """Saves the states of a learner's emulators: accounts, keys, credit, chain and time.

        The emulators do not run during the copy.

        Args:
            name: Identifier, display name or e-mail address of the learner.
            label: Name of the saved state. The call replaces an older state with the same label.
        """
        learner = self.learner(name)
        self._hosted().copy(learner.name, self._saved(learner, label))
        with self.roster.lock:
            if label not in learner.saved:
                learner.saved.append(label)
            self.roster.keep()

    def restore(self, name: str, label: str) -> None:
        """Restores a saved state of a learner's emulators. Their addresses and the learner's progress stay unchanged.

        Args:
            name: Identifier, display name or e-mail address of the learner.
            label: Name of the saved state, as for `save`.

        Raises:
            InvalidArgument: No saved state has this label.
        """
        learner = self.learner(name)
        if label not in learner.saved:
            known = ", ".join(map(repr, sorted(learner.saved)))
            hint = f"Use one of the saved states: {known}." if known else "Save one: workshop.save(name, label)."
            raise InvalidArgument(f"the learner {learner.name} has no saved state {label[:80]!r}", hint=hint)
        self._hosted().replace(learner.name, self._saved(learner, label))

    # --- injected failures --------------------------------------------------------------------------------------

    def running(self, name: str | None = None) -> list[EmulatorControl]:
        """Returns handles of the running emulators, for example to inject a fault: ``emulator.faults.next("chain")``.

        Args:
            name: Identifier, display name or e-mail address of the learner. None means all learners.
        """
        return self._hosted().running(None if name is None else self.learner(name).name)

    # --- the server ---------------------------------------------------------------------------------------------

    def serve(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        url: str | None = None,
        instructor_token: str | None = None,
    ) -> WorkshopServer:
        """Starts and returns the server for the learners' notebooks and the instructor's commands.

        Args:
            host: Address to listen on.
            port: Port to listen on. 0 chooses a free port.
            url: Address that learners use for the server. None means ``http://``, the host and the port.
            instructor_token: Token for the instructor's requests and the board. None creates a new token.
        """
        from svcnb.workshop.server import WorkshopServer

        self.server = WorkshopServer(self, host=host, port=port, url=url, instructor_token=instructor_token)
        return self.server

    def close(self) -> None:
        """Stops the server and all emulators, and deletes a temporary folder. Repeated calls have no effect."""
        if self.server is not None:
            self.server.close()
            self.server = None
        if self.emulators is not None:
            self.emulators.close()
        if self._temporary is not None:
            self._temporary.cleanup()

    def _hosted(self) -> Emulators:
        if self.emulators is None:
            raise InvalidArgument(
                "this operation needs emulators on this machine, but this workshop runs them on the learners' machines",
                hint="Create the workshop with hosts_emulators=True, or ask the learner to run the lesson again.",
            )
        return self.emulators

    def _own_settings(self) -> dict[str, Any]:
        return {"starter_credits": self.credit_cents}

    def _saved(self, learner: Learner, label: str) -> Path:
        # The folder name is a hash, because a label can be any text.
        return self.folder / "saved" / learner.name / hashlib.sha256(label.encode()).hexdigest()[:32]


def _check_lesson(lesson: str) -> None:
    if LESSON.fullmatch(lesson) is None:
        raise InvalidArgument(
            f"invalid lesson {lesson[:80]!r}",
            hint="Use 1 to 64 lowercase letters, digits and hyphens. Do not begin with a hyphen.",
        )
