"""Entry point of a lesson's first cell: the service for the lesson, the same on every machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from svcnb import live_lessons
from svcnb.checked import checked
from svcnb.control import ControlRefused, EmulatorControl, EmulatorUnreachable
from svcnb.control.plane import ControlPlane
from svcnb.errors import InvalidArgument
from svcnb.launch import Emulator
from svcnb.live_lessons import LiveService, NotAnEmulator

__all__ = [
    "LiveService",
    "NotAnEmulator",
    "fetch_solutions",
    "lesson",
    "lesson_settings",
    "lessons_folder",
    "practice_key",
    "solution_notebooks",
]

# 1 January 2026, 00:00:00 UTC: a moment that a reader recognises in the outputs.
LESSON_TIME_S = 1_767_225_600

_SOLUTIONS = "solutions"
_NOTEBOOK = re.compile(r"[0-9]{2}-[a-z0-9-]{1,60}\.ipynb")

# One emulator per lesson and interpreter: running the first cell again starts a new one and stops the old one.
_running: dict[str, Emulator] = {}


def lesson(
    name: str, *, resume: bool = False, confirm: bool = False, **settings: object
) -> EmulatorControl | LiveService:
    """Returns the service for a lesson.

    This is a separate emulator, seeded with the lesson's name and with a frozen clock, so that every output is the same
    on every machine. Running the first cell again restarts it. In a workshop (``SVC_WORKSHOP_URL``) the instructor's
    machine runs it, if the workshop is configured so, and its state outlives the kernel.

    If ``SVC_BASE_URL`` is set outside a workshop, that service is used instead. It can be an emulator, possibly shared,
    or a live service. ``SVC_LESSONS=own`` (which `svcnb lab` sets) prefers the lesson's own emulator. On a live
    service, a lesson begins when it is confirmed, and skips cells that need an emulator. Lessons that need one
    throughout use one on this computer (`svcnb.live_lessons`).

    Args:
        name: The lesson, for example ``"quickstart"``.
        resume: In a workshop, continue with the state of this notebook's last run, for example after a kernel restart.
            Elsewhere a lesson's state ends with its kernel, and this has no effect.
        confirm: On a live service, agree to begin: calls cost money. ``SVC_LESSONS=live`` confirms all lessons.
        **settings: Further settings of the lesson's own emulator, as for `Emulator`.

    Returns:
        A handle with ``client()``. On a live service the control methods raise `NotAnEmulator`.

    Raises:
        EmulatorError: It could not be started or reached; the text says what to do.
        NotConfirmed: The service is a live one, and ``confirm`` is not True. Nothing was done.
    """
    live_lessons.end()
    base_url = os.environ.get("SVC_BASE_URL")
    if (hosted := _in_workshop(name, settings, resume=resume)) is not None:
        return hosted
    if base_url and os.environ.get("SVC_LESSONS") != "own" and not _workshop():
        shared = _shared(base_url)
        if shared is not None:
            return shared
        if name in live_lessons.LIVE:
            return live_lessons.begin(name, base_url, confirm=confirm)
    if (earlier := _running.pop(name, None)) is not None:
        earlier.stop()
    emulator = Emulator(**(lesson_settings(name) | settings))
    _running[name] = emulator
    return emulator


def lesson_settings(name: str) -> dict[str, Any]:
    """Returns the settings of a lesson's emulator: the same keys, ids and time on every machine.

    Args:
        name: The lesson.
    """
    return {"seed": name, "clock": f"frozen@{LESSON_TIME_S}", "action_spares": 1, "port": 0}


@checked
def practice_key(number: int) -> str:
    """Returns a practice private key, the same on every machine. It is public, so it must never own anything.

    Args:
        number: Number of the key, from 1 to 9.

    Raises:
        InvalidArgument: There are only nine.

    Example:
        >>> practice_key(1)[:10]
        '0x11111111'
    """
    if not 1 <= number <= 9:  # noqa: PLR2004 - one digit
        raise InvalidArgument(f"there are practice keys from 1 to 9, not {number!r}")
    return "0x" + f"{number}{number}" * 32


def lessons_folder(wanted: Path | None, *, solutions: bool = True) -> Path:
    """Returns the folder of the lessons.

    Args:
        wanted: The requested folder; None for the default one.
        solutions: Whether it contains the solutions. A learner of a workshop gets them when the instructor unlocks
            them.

    Returns:
        The working copy's own folder, or one that now contains a copy; existing files are kept.
    """
    source, is_working_copy = _shipped()
    if wanted is None and is_working_copy and solutions:
        return source
    target = (wanted or Path("svcnb-lessons")).resolve()
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        copy = target / file.relative_to(source)
        if not copy.exists() and (solutions or _SOLUTIONS not in file.relative_to(source).parts):
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return target


def solution_notebooks() -> list[Path]:
    """Returns the solutions of all lessons, in order."""
    return sorted((_shipped()[0] / _SOLUTIONS).glob("*.ipynb"))


def fetch_solutions(unlocked: Iterable[str]) -> None:
    """Saves solutions that the workshop's instructor unlocked, for the lessons in this folder.

    An existing solution is not changed.

    Args:
        unlocked: File names of the notebooks.

    Raises:
        EmulatorError: The server does not respond, or refuses.
        OSError: The folder cannot be written.
    """
    if (place := _workshop()) is None:
        return
    for name in unlocked:
        target = Path(_SOLUTIONS) / name
        if _NOTEBOOK.fullmatch(name) and Path(name).is_file() and not target.exists():
            text = ControlPlane(*place).request("GET", f"/solutions/{name}")["notebook"]
            target.parent.mkdir(exist_ok=True)
            target.write_text(text, encoding="utf-8")


def _shipped() -> tuple[Path, bool]:
    """Returns the folder of the lessons in this installation, and whether it belongs to a working copy."""
    packaged = Path(__file__).resolve().parent / "notebooks"
    return (packaged, False) if packaged.is_dir() else (Path(__file__).resolve().parents[1] / "notebooks", True)


class WorkshopEmulator(EmulatorControl):
    """A lesson's emulator that the workshop's machine runs for this learner."""

    def __init__(self, names: dict[str, Any], settings: dict[str, Any]) -> None:
        self._settings = settings
        super().__init__(names["base_url"], control_token=names.pop("control_token"), names=names)

    def __repr__(self) -> str:
        """Returns the same text as for a local emulator: its settings without the port."""
        return f"Emulator({', '.join(f'{name}={value!r}' for name, value in self._settings.items())})"

    def stop(self) -> None:
        """Closes its clients. The emulator stops when no one has used it for a while."""
        self.close()


def _workshop() -> tuple[str, str] | None:
    """Returns address and token of the workshop's server; None outside a workshop."""
    url, token = os.environ.get("SVC_WORKSHOP_URL"), os.environ.get("SVC_WORKSHOP_TOKEN")
    return (url.rstrip("/"), token) if url and token else None


def _in_workshop(name: str, settings: dict[str, Any], *, resume: bool) -> WorkshopEmulator | None:
    """Returns the lesson's emulator on the workshop's machine; None if this machine runs it."""
    place = _workshop()
    if place is None:
        return None
    # Jupyter sets the name of the kernel's notebook here, so that a lesson and its solution can run at the same time.
    order = {"settings": settings, "notebook": os.environ.get("JPY_SESSION_NAME", ""), "resume": resume}
    try:
        names = ControlPlane(*place).request("POST", f"/lessons/{quote(name, safe='')}", order)
    except EmulatorUnreachable as error:
        raise EmulatorUnreachable(
            f"the workshop's server at {place[0]} does not answer",
            hint="Ask your instructor. To work without the workshop, unset SVC_WORKSHOP_URL and restart the kernel.",
        ) from error.with_traceback(None)
    with suppress(OSError):  # a folder that cannot be written does not stop the lesson
        fetch_solutions(names.pop("solutions", ()))
    return WorkshopEmulator(names, lesson_settings(name) | settings) if "base_url" in names else None


def _shared(base_url: str) -> EmulatorControl | None:
    """Returns the emulator at an address; None if a live service responds there."""
    try:
        return Emulator.connect(base_url, control_token=os.environ.get("SVC_CONTROL_TOKEN"))
    except ControlRefused:
        return None  # it responds, but has no control plane for this user
