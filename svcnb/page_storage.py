"""Store for emulator states in a browser page, with folders in the browser's storage (IndexedDB).

Emscripten keeps the files in memory and copies them to IndexedDB. A state has the same format as the folder of ``svcnb
emulator --state --chain-engine ethereumjs``, so an installed svcnb can open the output of `export`. Only one tab can
use a state at a time.
"""

from __future__ import annotations

import asyncio
import html
import re
import shutil
import zipfile
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.errors import InvalidArgument
from svcnb.in_process import wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from ipywidgets import VBox

ROOT: Final = Path("/svcnb-states")
"""Folder that contains all states. The path is also the name of the database in the browser."""

NOTE: Final = (
    "This page is for practice. Everyone who uses this browser profile can read the keys that the page stores. "
    "Never use a key that controls anything of value."
)
"""Warning that the page shows wherever it stores states."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_LOCK: Final = "lock"
_LOCK_TIMEOUT_MS: Final = 3_000
_mounted: asyncio.Task[None] | None = None
_saving: asyncio.Lock | None = None


def folder(name: str) -> Path:
    """Returns the folder of a state.

    Args:
        name: Name of the state: a letter or a digit, then at most 59 letters, digits, dots, hyphens and underscores.

    Raises:
        InvalidArgument: The name is not allowed.
    """
    if not _NAME.fullmatch(name):
        raise InvalidArgument(
            f"invalid state name {name!r}: expected 1 to 60 letters, digits, dots, hyphens or underscores, "
            "starting with a letter or a digit"
        )
    return ROOT / name


async def load() -> None:
    """Loads all states from the browser's storage. Later calls have no effect.

    Raises:
        OSError: The browser could not load the states.
    """
    global _mounted  # noqa: PLW0603 - a page has one storage
    if _mounted is None:
        _mounted = asyncio.ensure_future(_mount())
    await asyncio.shield(_mounted)


async def save() -> None:
    """Copies all changes of the states into the browser's storage.

    Raises:
        OSError: The browser could not store the states, for example because its storage is full.
    """
    global _saving  # noqa: PLW0603 - as above
    _saving = _saving or asyncio.Lock()
    async with _saving:
        await _sync(populate=False)


async def claim(name: str) -> Callable[[], None] | None:
    """Locks a state, so that no other emulator in any tab can use the state.

    Returns:
        A function that unlocks the state, or None if an emulator in this tab or in another tab uses the state.
    """
    from js import AbortSignal, Object, navigator
    from pyodide.ffi import create_proxy, to_js

    loop = asyncio.get_running_loop()
    locked: asyncio.Future[bool] = loop.create_future()
    released: asyncio.Future[None] = loop.create_future()

    async def hold(_: object) -> None:
        locked.set_result(True)
        await released

    def give_up(_: object) -> None:
        if not locked.done():
            locked.set_result(False)

    # After a reload, the worker of the earlier page can keep the lock for a moment.
    signal = AbortSignal.timeout(_LOCK_TIMEOUT_MS)
    options = to_js({"signal": signal}, dict_converter=Object.fromEntries)
    navigator.locks.request(f"{ROOT}/{name}", options, create_proxy(hold)).catch(create_proxy(give_up))
    if not await locked:
        return None

    def release() -> None:
        if not released.done():
            released.set_result(None)

    return release


def names() -> list[str]:
    """Returns the names of all states."""
    wait(load())
    return sorted(each.name for each in ROOT.iterdir() if each.is_dir())


def export(name: str, target: str | Path) -> Path:
    """Writes a state to a ZIP file for an installed svcnb.

    To use the state, unpack the file and run ``svcnb emulator --state FOLDER --chain-engine ethereumjs``.

    Args:
        name: Name of the state.
        target: Path of the ZIP file.

    Returns:
        Path of the ZIP file.

    Raises:
        InvalidArgument: There is no state with this name.
    """
    if name not in names():
        raise InvalidArgument(f"unknown state {name!r}: pass one of the stored states ({', '.join(names()) or 'none'})")
    source, file = folder(name), Path(target)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for each in sorted(source.iterdir()):
            if each.is_file() and each.name != _LOCK:
                packed.write(each, each.name)
    return file


def erase(name: str | None = None) -> list[str]:
    """Deletes states from the browser's storage, except states that an emulator in any tab uses.

    Args:
        name: Name of the state, or None for all states.

    Returns:
        Names of the deleted states.

    Raises:
        InvalidArgument: The name is not allowed.
    """
    return [each for each in ([name] if name is not None else names()) if wait(_erase(each))]


def panel() -> VBox:
    """Returns a panel with a list of the states, a download link for each state, and a button to delete all states."""
    import ipywidgets as widgets

    listed = widgets.HTML()
    button = widgets.Button(description="Delete all states", button_style="danger")

    def show(note: str = "") -> None:
        rows = "".join(f"<li>{html.escape(each)} {_link(each)}</li>" for each in names())
        listed.value = f"<p>{NOTE}</p><ul>{rows or '<li>No states are stored.</li>'}</ul><p>{html.escape(note)}</p>"

    def delete(_button: object) -> None:
        asyncio.ensure_future(_delete_all(show))  # noqa: RUF006 - in a page, the event loop keeps references to its tasks

    button.on_click(delete)
    show()
    return widgets.VBox([listed, button])


async def _delete_all(show: Callable[[str], None]) -> None:
    found = [each.name for each in ROOT.iterdir() if each.is_dir()]
    gone = [each for each in found if await _erase(each)]
    kept = len(found) - len(gone)
    show(
        f"Deleted states: {len(gone)}."
        + (f" States in use: {kept}. Stop their emulators, then delete these states." if kept else "")
    )


def _link(name: str) -> str:
    draft = ROOT.with_name(f"{name}.zip")
    content = b64encode(export(name, draft).read_bytes()).decode()
    draft.unlink()
    return f'<a download="{name}.zip" href="data:application/zip;base64,{content}">Download</a>'


async def _erase(name: str) -> bool:
    await load()
    place = folder(name)
    if not place.exists() or (release := await claim(name)) is None:
        return False
    try:
        shutil.rmtree(place)
        await save()
    finally:
        release()
    return True


async def _mount() -> None:
    from js import Object
    from pyodide.ffi import to_js
    from pyodide_js import FS

    ROOT.mkdir(exist_ok=True)
    FS.mount(FS.filesystems.IDBFS, to_js({}, dict_converter=Object.fromEntries), str(ROOT))
    await _sync(populate=True)


async def _sync(*, populate: bool) -> None:
    from pyodide.ffi import create_once_callable
    from pyodide_js import FS

    done: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
    FS.syncfs(populate, create_once_callable(done.set_result))
    if error := await done:
        raise OSError(
            f"the browser could not {'load' if populate else 'store'} the states of the emulators: {error}. "
            "Delete other data of this site in the browser, or allow the site to store data, and try again."
        )
