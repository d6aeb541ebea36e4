"""Functions for lessons: the service of a lesson, practice keys, and the folder of the lessons.

The first cell of each lesson calls `lesson`, whose result is in the same state on every machine.
"""

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
from svcnb.protocol.in_page import IN_PAGE

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

# 1 January 2026, 00:00:00 UTC, which readers recognise in the outputs.
LESSON_TIME_S = 1_767_225_600

_SOLUTIONS = "solutions"
_NOTEBOOK = re.compile(r"[0-9]{2}-[a-z0-9-]{1,60}\.ipynb")

# Each lesson has one emulator per interpreter. Running the first cell again stops this emulator and starts a new one.
_running: dict[str, Emulator] = {}


def lesson(
    name: str, *, resume: bool = False, confirm: bool = False, **settings: object
) -> EmulatorControl | LiveService:
    """Returns the service for a lesson.

    By default, each lesson has its own emulator. Its seed is the lesson's name, and its clock is frozen, so that
    outputs are the same on every machine. Running the first cell again restarts the emulator. In a workshop
    (``SVC_WORKSHOP_URL``), the instructor's machine can run the emulator. That machine then keeps the state when the
    kernel stops.

    If ``SVC_BASE_URL`` is set outside a workshop, the lesson uses the service at this address instead. This service
    can be live, or can be an emulator that several users share. With ``SVC_LESSONS=own``, which `svcnb lab` sets, the
    lesson always uses its own emulator. A lesson on a live service needs a confirmation first, and skips the cells that
    need an emulator. Lessons that cannot run without an emulator start one on this computer (`svcnb.live_lessons`).

    Args:
        name: Name of the lesson, for example ``"quickstart"``.
        resume: Whether to continue with a saved state. In a workshop, this is the state of this notebook's last run,
            for example before a kernel restart. In a browser page, the state is in the browser's storage. Elsewhere,
            the state is lost when the kernel stops, and this argument has no effect.
        confirm: Whether you agree to run the lesson on a live service, where calls cost money. ``SVC_LESSONS=live``
            confirms all lessons.
        **settings: Additional settings of the lesson's own emulator; see `Emulator`.

    Returns:
        A handle with the method ``client()``. On a live service, the control methods raise `NotAnEmulator`.

    Raises:
        EmulatorError: The emulator could not be started or reached. The hint contains the next step.
        NotConfirmed: The service is live and ``confirm`` is not True. The function sent no call that costs money.
    """
    live_lessons.end()
    if IN_PAGE:
        live_lessons.begin_in_page()
        settings = ({"state": name} if resume else {}) | settings
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
    chosen: dict[str, Any] = lesson_settings(name) | settings
    emulator = Emulator(**chosen)
    _running[name] = emulator
    return emulator


def lesson_settings(name: str) -> dict[str, Any]:
    """Returns the settings of a lesson's emulator. They produce the same keys, ids and time on every machine."""
    return {"seed": name, "clock": f"frozen@{LESSON_TIME_S}", "port": 0}


@checked
def practice_key(number: int) -> str:
    """Returns a practice private key (``0x`` and 64 hex digits). The key is the same on every machine.

    The key is public, so never use it for anything of value.

    Args:
        number: Number of the key, from 1 to 9.

    Raises:
        InvalidArgument: The number is not between 1 and 9.

    Example:
        >>> practice_key(1)[:10]
        '0x11111111'
    """
    if not 1 <= number <= 9:  # noqa: PLR2004 - one digit
        raise InvalidArgument(f"invalid practice key {number!r}: expected a number from 1 to 9")
    return "0x" + f"{number}{number}" * 32


def lessons_folder(wanted: Path | None, *, solutions: bool = True) -> Path:
    """Returns the folder of the lessons.

    Args:
        wanted: The requested folder, or None for the default folder.
        solutions: Whether a copy contains the solutions. In a workshop, learners receive the solutions when the
            instructor unlocks them.

    Returns:
        Path of a folder with the lessons. In a clone of the repository, the default is the original folder, which
        contains the solutions. In all other cases, the function copies the lessons to the requested folder or to
        ``./svcnb-lessons``. The function does not replace existing files.
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
    """Returns the paths of the notebooks with the solutions to all lessons, in the order of the lessons."""
    return sorted((_shipped()[0] / _SOLUTIONS).glob("*.ipynb"))


def fetch_solutions(unlocked: Iterable[str]) -> None:
    """Downloads the solutions that the workshop's instructor unlocked, for the lessons in the current folder.

    The function does not change existing solutions. Outside a workshop, the function does nothing.

    Args:
        unlocked: File names of the unlocked solutions. The solution of a lesson has the file name of the lesson.
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
    """Returns the installed folder of the lessons, and whether the folder belongs to a clone of the repository."""
    packaged = Path(__file__).resolve().parent / "notebooks"
    return (packaged, False) if packaged.is_dir() else (Path(__file__).resolve().parents[1] / "notebooks", True)


class WorkshopEmulator(EmulatorControl):
    """Handle of a lesson's emulator. The workshop's machine runs this emulator for the learner."""

    def __init__(self, names: dict[str, Any], settings: dict[str, Any]) -> None:
        self._settings = settings
        super().__init__(names["base_url"], control_token=names.pop("control_token"), names=names)

    def __repr__(self) -> str:
        """Returns the same representation as a local emulator: the settings, without the control token."""
        return f"Emulator({', '.join(f'{name}={value!r}' for name, value in self._settings.items())})"

    def stop(self) -> None:
        """Closes the clients, but does not stop the emulator. The workshop server stops an emulator that stays idle."""
        self.close()


def _workshop() -> tuple[str, str] | None:
    """Returns the address and the token of the workshop's server, or None outside a workshop."""
    url, token = os.environ.get("SVC_WORKSHOP_URL"), os.environ.get("SVC_WORKSHOP_TOKEN")
    return (url.rstrip("/"), token) if url and token else None


def _in_workshop(name: str, settings: dict[str, Any], *, resume: bool) -> WorkshopEmulator | None:
    """Returns the lesson's emulator on the workshop's machine, or None if this machine must run it."""
    place = _workshop()
    if place is None:
        return None
    # Jupyter stores the path of the kernel's notebook in this variable. A lesson and its solution can therefore run at
    # the same time.
    order = {"settings": settings, "notebook": os.environ.get("JPY_SESSION_NAME", ""), "resume": resume}
    try:
        names = ControlPlane(*place).request("POST", f"/lessons/{quote(name, safe='')}", order)
    except EmulatorUnreachable as error:
        raise EmulatorUnreachable(
            f"the workshop server at {place[0]} does not respond",
            hint="Ask your instructor for help. To work without the workshop, unset SVC_WORKSHOP_URL and "
            "restart the kernel.",
        ) from error.with_traceback(None)
    with suppress(OSError):  # the lesson also runs if the folder is not writable
        fetch_solutions(names.pop("solutions", ()))
    return WorkshopEmulator(names, lesson_settings(name) | settings) if "base_url" in names else None


def _shared(base_url: str) -> EmulatorControl | None:
    """Returns the emulator at an address, or None if the service there provides no control plane to this user."""
    try:
        return Emulator.connect(base_url, control_token=os.environ.get("SVC_CONTROL_TOKEN"))
    except ControlRefused:
        return None  # the service responds, but provides no control plane to this user
