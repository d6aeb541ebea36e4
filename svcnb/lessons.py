"""What a lesson's first cell calls: the service to learn on, the same on every machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from svcnb.checked import checked
from svcnb.control import ControlRefused, EmulatorControl, EmulatorError, EmulatorUnreachable
from svcnb.control.plane import ControlPlane
from svcnb.errors import InvalidArgument
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


def lesson(name: str, *, resume: bool = False, **settings: object) -> EmulatorControl | LiveService:
    """The service for a lesson.

    An emulator of its own, seeded with the lesson's name and standing still in time, so that every output is the same
    on every machine. Running the first cell again starts it afresh. In a workshop (``SVC_WORKSHOP_URL``) the
    instructor's machine runs it, where the workshop is set up so, and its state outlives the kernel.

    If ``SVC_BASE_URL`` is set outside a workshop, that service is used instead: an emulator that others may share, or
    a live one. ``SVC_LESSONS=own`` (as `svcnb lab` sets it) prefers the lesson's own emulator.

    Args:
        name: The lesson, for example ``"quickstart"``.
        resume: In a workshop, go on with the state of this notebook's last run, for example after a kernel restart.
            Elsewhere a lesson's state ends with its kernel, and this changes nothing.
        **settings: Further settings of the lesson's own emulator, as for `Emulator`.

    Returns:
        A handle with ``client()``. On a live service the control verbs raise `NotAnEmulator`.

    Raises:
        EmulatorError: It could not be started or reached; the text says what to do.
    """
    base_url = os.environ.get("SVC_BASE_URL")
    if (hosted := _in_workshop(name, settings, resume=resume)) is not None:
        return hosted
    if base_url and os.environ.get("SVC_LESSONS") != "own" and not _workshop():
        return _shared(base_url)
    if (earlier := _running.pop(name, None)) is not None:
        earlier.stop()
    emulator = Emulator(**(lesson_settings(name) | settings))
    _running[name] = emulator
    return emulator


def lesson_settings(name: str) -> dict[str, Any]:
    """Settings of a lesson's emulator: the same keys, ids and time on every machine.

    Args:
        name: The lesson.
    """
    return {"seed": name, "clock": f"frozen@{LESSON_TIME_S}", "action_spares": 1, "port": 0}


@checked
def practice_key(number: int) -> str:
    """A private key to practise with: everyone knows it, so it must never own anything. The same on every machine.

    Args:
        number: Which, from 1 to 9.

    Raises:
        InvalidArgument: There are nine.

    Example:
        >>> practice_key(1)[:10]
        '0x11111111'
    """
    if not 1 <= number <= 9:  # noqa: PLR2004 - one digit
        raise InvalidArgument(f"there are practice keys from 1 to 9, not {number!r}")
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


class WorkshopEmulator(EmulatorControl):
    """A lesson's emulator that the workshop's machine runs for this learner."""

    def __init__(self, names: dict[str, Any], settings: dict[str, Any]) -> None:
        self._settings = settings
        super().__init__(names["base_url"], control_token=names.pop("control_token"), names=names)

    def __repr__(self) -> str:
        """As the lesson's emulator at home: its settings, and no port."""
        return f"Emulator({', '.join(f'{name}={value!r}' for name, value in self._settings.items())})"

    def stop(self) -> None:
        """Closes its clients. The emulator stops when no one has used it for a while."""
        self.close()


def _workshop() -> tuple[str, str] | None:
    """Address and token of the workshop's server; None outside a workshop."""
    url, token = os.environ.get("SVC_WORKSHOP_URL"), os.environ.get("SVC_WORKSHOP_TOKEN")
    return (url.rstrip("/"), token) if url and token else None


def _in_workshop(name: str, settings: dict[str, Any], *, resume: bool) -> WorkshopEmulator | None:
    """The lesson's emulator on the workshop's machine; None if this machine runs it."""
    place = _workshop()
    if place is None:
        return None
    # Jupyter names the notebook of a kernel here: the lesson and its solution run side by side.
    order = {"settings": settings, "notebook": os.environ.get("JPY_SESSION_NAME", ""), "resume": resume}
    try:
        names = ControlPlane(*place).request("POST", f"/lessons/{quote(name, safe='')}", order)
    except EmulatorUnreachable as error:
        raise EmulatorUnreachable(
            f"the workshop's server at {place[0]} does not answer",
            hint="Ask your instructor. To work without the workshop, unset SVC_WORKSHOP_URL and restart the kernel.",
        ) from error.with_traceback(None)
    return WorkshopEmulator(names, lesson_settings(name) | settings) if "base_url" in names else None


def _shared(base_url: str) -> EmulatorControl | LiveService:
    try:
        return Emulator.connect(base_url, control_token=os.environ.get("SVC_CONTROL_TOKEN"))
    except ControlRefused:
        return LiveService(base_url)  # it answers, but has no control plane (for us)
