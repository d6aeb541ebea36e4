"""What a lesson's first cell calls: the service to learn on, the same on every machine."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svcnb.control import ControlRefused, EmulatorControl, EmulatorError
from svcnb.launch import Emulator

if TYPE_CHECKING:
    from svcnb.client import AsyncClient, Client

# 1 January 2026, 00:00:00 UTC: a moment that a reader recognises in the outputs.
LESSON_TIME_S = 1_767_225_600

# One emulator per lesson and interpreter: running the first cell again starts afresh and leaves nothing behind.
_running: dict[str, Emulator] = {}


class NotAnEmulator(EmulatorError):
    """The service that was asked for is a live one, which nobody can reset, freeze or break on purpose."""


class LiveService:
    """A live service in the place of a lesson's emulator; settings come from the environment.

    Args:
        base_url: Its address, without ``/core/v1``.
    """

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url.rstrip("/")

    def __repr__(self) -> str:
        """Its address: with a live service it matters where one is."""
        return f"LiveService({self.base_url!r})"

    def __getattr__(self, name: str) -> Any:
        """Explains why a control verb is not here."""
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotAnEmulator(
            f"a live service has no {name!r}: only an emulator can be controlled",
            hint="Unset SVC_BASE_URL and run the lesson from its first cell to use an emulator.",
        )

    def client(self, **options: Any) -> Client:
        """A client of this service; arguments as `svcnb.Client`."""
        from svcnb.client import Client

        return Client(**({"base_url": self.base_url} | options))

    def async_client(self, **options: Any) -> AsyncClient:
        """An asynchronous client of this service."""
        from svcnb.client import AsyncClient

        return AsyncClient(**({"base_url": self.base_url} | options))

    def stop(self) -> None:
        """Does nothing: others use it, too."""


def lesson(name: str, **settings: object) -> EmulatorControl | LiveService:
    """The service for a lesson.

    An emulator of its own, seeded with the lesson's name and standing still in time, so that every output is the same
    on every machine. If ``SVC_BASE_URL`` is set, that service instead: an emulator that others may share, or a live
    one. In a workshop (``SVC_WORKSHOP_URL``) what concerns all learners, such as time and faults, is refused.
    ``SVC_LESSONS=own`` (as `svcnb lab` sets it) prefers the lesson's own in any case.

    Args:
        name: The lesson, for example ``"quickstart"``.
        **settings: Further settings of the lesson's own emulator, as for `Emulator`.

    Returns:
        A handle with ``client()``. On a live service the control verbs raise `NotAnEmulator`.

    Raises:
        EmulatorError: It could not be started or reached; the text says what to do.
    """
    base_url = os.environ.get("SVC_BASE_URL")
    if base_url and os.environ.get("SVC_LESSONS") != "own":
        return _at_a_desk(base_url) or _shared(base_url)
    if (earlier := _running.pop(name, None)) is not None:
        earlier.stop()
    chosen: dict[str, Any] = {"seed": name, "clock": f"frozen@{LESSON_TIME_S}", "action_spares": 1, "port": 0}
    emulator = Emulator(**(chosen | settings))
    _running[name] = emulator
    return emulator


def practice_key(number: int) -> str:
    """A private key to practise with: everybody knows it, so it must never own anything.

    The same on every machine; in a workshop each learner has keys of their own, since a wallet owns one account only.

    Args:
        number: Which, from 1 to 9.

    Raises:
        ValueError: There are nine.

    Example:
        >>> practice_key(1)[:10]
        '0x11111111'
    """
    if not 1 <= number <= 9:  # noqa: PLR2004 - one digit
        raise ValueError(f"there are practice keys from 1 to 9, not {number!r}")
    token = os.environ.get("SVC_WORKSHOP_TOKEN")
    if token and os.environ.get("SVC_LESSONS") != "own":
        return "0x" + hashlib.sha256(f"{token} {number}".encode()).hexdigest()
    return "0x" + f"{number}{number}" * 32


def lessons_folder(wanted: Path | None) -> Path:
    """Where the lessons are.

    Args:
        wanted: The folder asked for, None for the usual one.

    Returns:
        The working copy's own folder, or one that now holds a copy; files that are there already are kept.
    """
    packaged = Path(__file__).resolve().parent / "notebooks"
    working_copy = Path(__file__).resolve().parents[1] / "notebooks"
    if wanted is None and not packaged.is_dir() and working_copy.is_dir():
        return working_copy
    source = packaged if packaged.is_dir() else working_copy
    target = (wanted or Path("svcnb-lessons")).resolve()
    for file in sorted(path for path in source.rglob("*") if path.is_file()):
        copy = target / file.relative_to(source)
        if not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
    return target


def _at_a_desk(base_url: str) -> EmulatorControl | None:
    """In a workshop: the desk passes on what harms no other learner (`svcnb.workshop`)."""
    desk, token = os.environ.get("SVC_WORKSHOP_URL"), os.environ.get("SVC_WORKSHOP_TOKEN")
    if not desk or not token:
        return None
    return EmulatorControl(base_url, control_token=token, names={"control_url": f"{desk.rstrip('/')}/control"})


def _shared(base_url: str) -> EmulatorControl | LiveService:
    try:
        return Emulator.connect(base_url, control_token=os.environ.get("SVC_CONTROL_TOKEN"))
    except ControlRefused:
        return LiveService(base_url)  # it answers, but has no control plane (for us)
