"""Records of mints in progress, so that no interruption, empty wallet or failed node loses data.

A mint has two steps: the service creates the wallet or the key, then the owner registers it on chain. Between the two,
the data exists nowhere else. So it is written to disk before any request, and again as soon as the response is known.
Each record is a separate file that only its owner can read, encrypted with a key in another folder. A copied folder, a
search index or a shared screen shows nothing. Anyone who can read both folders as the same user can decrypt it, as with
any program that must work without a password.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field

from svcnb.client.errors import ConfigError, ExtraMissing, InvalidArgument
from svcnb.client.models.base import Model
from svcnb.client.secret import Secret
from svcnb.migrations import DocumentSchema, UnreadableVersion, copy_path
from svcnb.protocol.aes_gcm import NONCE_BYTES, seal, unseal
from svcnb.protocol.nesting import parse

SCHEMA: Final = DocumentSchema("record of a mint", 1, {0: lambda document: document})
"""Version 0 did not contain its version."""

Kind = Literal["wallet", "usage key"]
Stage = Literal["asked", "minted", "registering", "registered", "setting"]

_KEY_BYTES: Final = 32
_FOLDER: Final = "SVCNB_PENDING"


class PendingMint(Model):
    """Mint that was started and not finished."""

    id: str
    """Its id for `resume` and `delete_pending`."""

    kind: Kind

    name: str = ""
    """The name of the new wallet or key."""

    stage: Stage = "asked"
    """Its stage. ``asked``: nothing is known to exist, so nothing can be lost. From ``minted`` on, the service has
    created it, and only this record contains it."""

    owner: str
    """The admin wallet that started it."""

    api_key_hash: str
    """Master hash of the account."""

    base_url: str
    chain_id: int
    contract_address: str
    begun: int
    """Unix seconds by the service's clock."""

    wallet_address: str = ""
    derivation_path: str = ""
    transaction_hash: str = ""
    """The last transaction that was sent for it; it may have been included."""

    arguments: dict[str, Any] = Field(default_factory=dict)
    """The requested properties: description, permissions, expiration."""

    secret: Secret | None = None
    """The usage key, once it is created; not shown."""

    quiet = frozenset(
        {"arguments", "api_key_hash", "base_url", "begun", "chain_id", "contract_address", "derivation_path", "id"}
    )


class PendingFolder:
    """Store of records.

    Args:
        folder: The folder; ``$SVCNB_PENDING``, else ``$XDG_STATE_HOME/svcnb/pending``, else the same below
            ``~/.local/state``.
        key_file: The key that encrypts them; ``pending.key`` next to the client's settings file, or next to the folder
            in ``$SVCNB_PENDING``.
        environment: Read instead of the process's environment.
    """

    def __init__(
        self,
        folder: Path | None = None,
        key_file: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        environment = os.environ if environment is None else environment
        state = environment.get("XDG_STATE_HOME")
        config = environment.get("XDG_CONFIG_HOME")
        chosen = folder or (Path(environment[_FOLDER]) if environment.get(_FOLDER) else None)
        self.folder = chosen or (Path(state) if state else Path.home() / ".local" / "state") / "svcnb" / "pending"
        settings = (Path(config) if config else Path.home() / ".config") / "svcnb"
        self.key_file = key_file or (chosen.with_suffix(".key") if chosen else settings / "pending.key")

    def begin(self, **fields: Any) -> PendingMint:
        """Writes the first record of a mint.

        Raises:
            ConfigError: It cannot be written; no request was sent to the service.
        """
        record = PendingMint(id=secrets.token_hex(8), **fields)
        self.write(record)
        return record

    def write(self, record: PendingMint) -> None:
        """Writes a record atomically: a crash leaves either the old one or the new one.

        Raises:
            ConfigError: The folder belongs to another user, or cannot be written.
        """
        fields = {name: getattr(record, name) for name in type(record).model_fields}
        fields["secret"] = record.secret.reveal() if record.secret else None
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_private(self.folder)
            sealed = _seal(self._key(), json.dumps(SCHEMA.stamped(fields), separators=(",", ":")).encode())
            _replace(self._path(record.id), sealed)
        except OSError as error:
            raise ConfigError(
                f"the record of this mint cannot be kept in {self.folder}: {error.strerror or error}",
                hint=f"Make the folder writable, or choose another one: {_FOLDER}. Without a record a crash between "
                "the two halves would lose the key.",
            ) from error

    def all(self) -> list[PendingMint]:
        """Returns all records, oldest first.

        Raises:
            ConfigError: A record cannot be decrypted; none is skipped silently.
        """
        try:
            paths = sorted(self.folder.glob("*.pending"))
        except OSError:
            return []
        found = (self._read(path) for path in paths)
        return sorted((record for record in found if record), key=lambda record: (record.begun, record.id))

    def get(self, identity: str) -> PendingMint:
        """Returns one record.

        Raises:
            InvalidArgument: There is no such record.
        """
        record = self._read(self._path(identity))
        if record is None:
            raise InvalidArgument(
                f"no mint {identity!r} is pending", hint="svc.chain_secured.pending() shows those that are."
            )
        return record

    def delete(self, record: PendingMint) -> None:
        """Deletes a record."""
        path = self._path(record.id)
        # Its copies of earlier versions contain the same secret, so they are deleted, too.
        for file in (path, *(copy_path(path, number) for number in range(SCHEMA.current))):
            file.unlink(missing_ok=True)

    def _path(self, identity: str) -> Path:
        if not identity.isalnum():
            raise InvalidArgument(f"{identity!r} is no id of a pending mint", hint="svc.chain_secured.pending()")
        return self.folder / f"{identity}.pending"

    def _read(self, path: Path) -> PendingMint | None:
        """Returns a record; None if there is none. Its owner may just have finished it."""
        try:
            _require_private(path)
            sealed = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unreadable(path, error) from None
        try:
            key = self.key_file.read_bytes()
            _require_private(self.key_file)
            document = SCHEMA.read(parse(_open(key, sealed)), path)
            known = {name: value for name, value in document.items() if name in PendingMint.model_fields}
            return PendingMint.model_validate(known)
        except UnreadableVersion as error:
            raise ConfigError(str(error), hint="Finish this mint with that version.") from None
        except (OSError, ValueError) as error:
            raise self._unreadable(path, error) from None

    def _unreadable(self, path: Path, error: Exception) -> ConfigError:
        return ConfigError(
            f"the record {path} cannot be opened: {type(error).__name__}",
            hint=f"It was sealed with {self.key_file}: bring that file back if it was moved. Delete the record "
            "only if you can do without the wallet or key in it.",
        )

    def _key(self) -> bytes:
        try:
            _require_private(self.key_file)
        except FileNotFoundError:
            self.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Two processes may do this at the same time: both read the key of the first.
            with _written(self.key_file, secrets.token_bytes(_KEY_BYTES)) as draft, suppress(FileExistsError):
                os.link(draft, self.key_file)
        key = self.key_file.read_bytes()
        if len(key) != _KEY_BYTES:
            raise ConfigError(f"{self.key_file} is no sealing key", hint="Move it away if no record needs it any more.")
        return key


def _require_private(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigError(f"others may read {path}", hint=f"Run: chmod {'700' if path.is_dir() else '600'} {path}")


def _replace(path: Path, content: bytes) -> None:
    with _written(path, content) as draft:
        draft.replace(path)
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)  # otherwise a power cut can lose the new name
        finally:
            os.close(folder)


@contextmanager
def _written(path: Path, content: bytes) -> Iterator[Path]:
    """Yields a temporary file next to another, which can replace it; deletes what is left of it."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _seal(key: bytes, content: bytes) -> bytes:
    nonce = secrets.token_bytes(NONCE_BYTES)
    try:
        return nonce + seal(key, nonce, content)
    except ImportError as error:
        raise _no_cipher() from error


def _open(key: bytes, content: bytes) -> bytes:
    try:
        return unseal(key, content[:NONCE_BYTES], content[NONCE_BYTES:])
    except ImportError as error:
        raise _no_cipher() from error


def _no_cipher() -> ExtraMissing:
    return ExtraMissing("records of unfinished mints are encrypted, which needs pycryptodome", "chain")
