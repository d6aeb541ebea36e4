"""Root secret, created once and kept in one file that only its owner can read. A loss of the file is detected.

The file is one line, ``svcnb-root-1 <kind> <64 hex digits> <checksum>``. Kind ``random`` holds the secret itself.
Kind ``seeded`` holds only its fingerprint: the secret is computed from the seed at every start. So a seeded state
folder contains no key, and the fingerprint detects another seed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from svcnb.emulator.keys.secp import SECRET_BYTES

if TYPE_CHECKING:
    from svcnb.emulator.platform.database import Connection

FILE_NAME: Final = "root_secret"
_MAGIC: Final = "svcnb-root-1"
_LINE = re.compile(rf"{_MAGIC} (random|seeded) ([0-9a-f]{{64}}) ([0-9a-f]{{8}})\n")
_LONGEST = 256
_META = "root_fingerprint"


class RootSecretUnusable(Exception):
    """The root secret cannot be read, is readable by others, or does not belong to this state."""


class _Record(NamedTuple):
    kind: str
    value: bytes


def load_root_secret(state_dir: Path | None, seed: str | None) -> bytes:
    """Loads the root secret of an emulator. The first start creates it.

    Args:
        state_dir: Folder that keeps the state; created with mode 0700 when missing. None keeps nothing.
        seed: Text that fixes the secret, or None for a random one. The same seed gives the same secret with or
            without a folder.

    Returns:
        32 bytes.

    Raises:
        RootSecretUnusable: The file is damaged, readable by others, made with another seed, or cannot be written.
    """
    wanted = _Record("random", secrets.token_bytes(SECRET_BYTES)) if seed is None else None
    if wanted is None:
        secret = _from_seed(seed or "")
        wanted = _Record("seeded", _fingerprint(secret))
    else:
        secret = wanted.value
    if state_dir is None:
        return secret
    path = state_dir / FILE_NAME
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _read(path)
        if kept is None:
            _write(path, wanted)
            # Read back: when two emulators start at once, the first file stays and both use it.
            kept = _read(path)
    except OSError as error:
        raise RootSecretUnusable(
            f"the root secret cannot be kept at {path} ({error.strerror or error}): give a state folder that this "
            "user can write to"
        ) from error
    if kept is None:
        raise RootSecretUnusable(f"the root secret at {path} vanished while it was made: start again")
    if kept.kind != wanted.kind:
        raise RootSecretUnusable(
            f"the state in {state_dir} was made {'with' if kept.kind == 'seeded' else 'without'} a seed and this start "
            f"has {'one' if seed is not None else 'none'}: start it as the first time, or give another state folder"
        )
    if kept.kind == "random":
        return kept.value
    if not hmac.compare_digest(kept.value, wanted.value):
        raise RootSecretUnusable(
            f"the state in {state_dir} was made with another seed: start it with that seed, or give another folder"
        )
    return secret


def bind_root(connection: Connection, root_secret: bytes, *, is_known: bool = False) -> None:
    """Ties a database to its root secret, or refuses a database that belongs to another one.

    Without this a lost root file would be replaced by a new one without notice. Every wallet in the database would then
    have another key. Run it once at start, inside a transaction.

    Args:
        connection: The store's connection.
        root_secret: The result of `load_root_secret`.
        is_known: Whether the database belonged to this secret before, so that an empty one has lost its content.

    Raises:
        RootSecretUnusable: The database was made with another root secret, or has lost its content.
    """
    shown = _fingerprint(root_secret).hex()
    # Imported here, so that the secret is available before the database library is loaded.
    from svcnb.emulator.platform.schema import get_meta, set_meta

    kept = get_meta(connection, _META)
    if kept is None and is_known:
        raise RootSecretUnusable(
            f"the database is empty, and the root secret beside it has been in use: its accounts and wallets are "
            f"missing. Restore the database file, or to begin anew delete the file {FILE_NAME} as well"
        )
    if kept is None:
        set_meta(connection, _META, shown)
    elif not hmac.compare_digest(kept, shown):
        raise RootSecretUnusable(
            f"the database was made with another root secret, so its wallets would have other keys: bring back the "
            f"file {FILE_NAME} (or the seed) that belongs to it, or start with another state folder"
        )


def _from_seed(seed: str) -> bytes:
    return hashlib.sha256(b"svcnb root secret\0" + seed.encode("utf-8", "surrogateescape")).digest()


def _fingerprint(secret: bytes) -> bytes:
    return hashlib.sha256(b"svcnb root fingerprint\0" + secret).digest()


def _line(record: _Record) -> str:
    body = f"{_MAGIC} {record.kind} {record.value.hex()}"
    return f"{body} {hashlib.sha256(body.encode()).hexdigest()[:8]}\n"


def _read(path: Path) -> _Record | None:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise RootSecretUnusable(f"the root secret at {path} is not a file: move it away, or restore the file")
        if os.name == "posix" and found.st_mode & 0o077:
            raise RootSecretUnusable(
                f"the root secret at {path} can be reached by other users (mode {stat.S_IMODE(found.st_mode):04o}): "
                f"run chmod 600 {path}, and if others may have read it start with another state folder"
            )
        text = file.read(_LONGEST).decode("ascii", "replace")
    match = _LINE.fullmatch(text)
    record = _Record(match[1], bytes.fromhex(match[2])) if match else None
    if record is None or not hmac.compare_digest(text, _line(record)):
        raise RootSecretUnusable(
            f"the root secret at {path} is damaged, so keys derived from it would be wrong: restore the file from a "
            "copy, or start with another state folder"
        )
    return record


def _write(path: Path, record: _Record) -> None:
    # Written under another name and then linked, so the file either exists complete or not at all. A link, unlike a
    # rename, never replaces a file that another process has created.
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(_line(record).encode())
            file.flush()
            os.fsync(descriptor)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
