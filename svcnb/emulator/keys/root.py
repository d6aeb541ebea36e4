"""Root secret, created once and stored in a file that only its owner can read. The module detects a lost file.

The file contains one line: ``svcnb-root-1 <kind> <64 hex digits> <checksum>``. With the kind ``random``, the digits are
the secret itself. With the kind ``seeded``, the digits are only the fingerprint of the secret, and the module computes
the secret from the seed at every start. A seeded state folder therefore contains no key, and the fingerprint detects a
different seed.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from svcnb.emulator.errors import StateUnusable
from svcnb.files import create_file
from svcnb.protocol.curve import SECRET_BYTES

if TYPE_CHECKING:
    from svcnb.emulator.platform.database import Connection

FILE_NAME: Final = "root_secret"
_MAGIC: Final = "svcnb-root-1"
_LINE = re.compile(rf"{_MAGIC} (random|seeded) ([0-9a-f]{{64}}) ([0-9a-f]{{8}})\n")
_LONGEST = 256
_META = "root_fingerprint"


class RootSecretUnusable(StateUnusable):
    """Error for a root secret that cannot be read, that other users can read, or that belongs to a different state."""


class _Record(NamedTuple):
    kind: str
    value: bytes


def load_root_secret(state_dir: Path | None, seed: str | None) -> bytes:
    """Loads the root secret of an emulator, and creates it at the first start.

    Args:
        state_dir: Folder that stores the state. If it does not exist, the function creates it with mode 0700. With
            None, the function stores nothing.
        seed: String that determines the secret, or None for a random secret. The same seed results in the same secret,
            with or without a folder.

    Returns:
        The root secret, 32 bytes.

    Raises:
        RootSecretUnusable: The file cannot be read or written, is damaged, or is not a regular file. Other users can
            read the file. The file belongs to a different seed.
    """
    if seed is None:
        secret = secrets.token_bytes(SECRET_BYTES)
        wanted = _Record("random", secret)
    else:
        secret = _from_seed(seed)
        wanted = _Record("seeded", _fingerprint(secret))
    if state_dir is None:
        return secret
    path = state_dir / FILE_NAME
    try:
        state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = _read(path)
        if kept is None:
            create_file(path, _line(wanted).encode())
            # If two emulators start at the same time, both use the first file. Therefore, read the file again.
            kept = _read(path)
    except OSError as error:
        raise RootSecretUnusable(
            f"the root secret at {path} cannot be read or stored ({error.strerror or error}): use a writable state "
            "folder"
        ) from error
    if kept is None:
        raise RootSecretUnusable(
            f"another program deleted the root secret at {path} during the start: start the emulator again"
        )
    if kept.kind != wanted.kind:
        raise RootSecretUnusable(
            f"the state in {state_dir} was created {'with' if kept.kind == 'seeded' else 'without'} a seed, but this "
            f"start {'uses' if seed is not None else 'does not use'} a seed. Use the settings of the first start, or "
            "a different state folder."
        )
    if kept.kind == "random":
        return kept.value
    if not hmac.compare_digest(kept.value, wanted.value):
        raise RootSecretUnusable(
            f"the state in {state_dir} was created with a different seed: start the emulator with that seed, or use a "
            "different state folder"
        )
    return secret


def bind_root(connection: Connection, root_secret: bytes, *, is_known: bool = False) -> None:
    """Stores the fingerprint of the root secret in an empty database. Rejects a database with a different fingerprint.

    Without this check, the emulator would silently create a new root file after the loss of the file. Every wallet in
    the database would then have a different key. Call this function once at startup, inside a transaction.

    Args:
        connection: The store's connection.
        root_secret: The result of `load_root_secret`.
        is_known: Whether an earlier start used the database with this root secret. If so, an empty database has lost
            its content.

    Raises:
        RootSecretUnusable: The database belongs to a different root secret, or has lost its content.
    """
    shown = _fingerprint(root_secret).hex()
    # Import the module here, so that the secret is available before the modules of the database load.
    from svcnb.emulator.platform.schema import get_meta, set_meta

    kept = get_meta(connection, _META)
    if kept is None and is_known:
        raise RootSecretUnusable(
            "the database is empty, but an earlier start stored accounts and wallets with the same root secret. "
            f"Restore the database file. To start with an empty state, delete the file {FILE_NAME} in the state folder."
        )
    if kept is None:
        set_meta(connection, _META, shown)
    elif not hmac.compare_digest(kept, shown):
        raise RootSecretUnusable(
            "the database was created with a different root secret, so its wallets would have different keys. Restore "
            f"the file {FILE_NAME}, start with the original seed, or use a different state folder."
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
            raise RootSecretUnusable(
                f"{path} is not a regular file, but must be the file with the root secret: move {path} to another "
                "folder, or restore the file"
            )
        if os.name == "posix" and found.st_mode & 0o077:
            raise RootSecretUnusable(
                f"other users can access the root secret at {path} (mode {stat.S_IMODE(found.st_mode):04o}): "
                f"run chmod 600 {path}. If someone may have read the secret, use a different state folder."
            )
        text = file.read(_LONGEST).decode("ascii", "replace")
    match = _LINE.fullmatch(text)
    record = _Record(match[1], bytes.fromhex(match[2])) if match else None
    if record is None or not hmac.compare_digest(text, _line(record)):
        raise RootSecretUnusable(
            f"the root secret at {path} is damaged, so derived keys would be wrong: restore the file from a copy, "
            "or use a different state folder"
        )
    return record
