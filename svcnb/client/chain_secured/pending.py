"""Store of recovery records. It prevents data loss after an interruption, a node failure, or insufficient gas.

A *mint* is the creation of a wallet or a usage key in two steps. First, the service creates the object. Then the owner
registers the object on chain. Between these steps, only the record contains the data of the object. The store
therefore writes the record to disk before the first request, and again when the response has arrived. Each record is a
separate file that only its owner can read. The store encrypts the file with a key in another folder. A copied folder, a
search index or a shared screen therefore does not show the contents. A program of the same user that can read both
folders can decrypt the records. Only a password could prevent this, and the store does not use one.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final, Literal

from pydantic import Field

from svcnb.client.errors import ConfigError, ExtraMissing, InvalidArgument
from svcnb.client.models.base import Model
from svcnb.client.secret import Secret
from svcnb.files import MAX_TEXT_FILE_BYTES, create_file, read_file, replace_file
from svcnb.migrations import DocumentSchema, UnreadableVersion, copy_path
from svcnb.protocol.aes_gcm import NONCE_BYTES, seal, unseal
from svcnb.protocol.nesting import parse

SCHEMA: Final = DocumentSchema("recovery record of a new wallet or key", 1, {0: lambda document: document})
"""Schema of the record files. Records of version 0 do not contain a version number."""

Kind = Literal["wallet", "usage key"]
Stage = Literal["asked", "minted", "registering", "registered", "setting"]

_KEY_BYTES: Final = 32
_FOLDER: Final = "SVCNB_PENDING"
_KEEP: Final = "Delete the record only if you do not need the wallet or key in the record."


class PendingMint(Model):
    """Recovery record of a mint: a creation of a wallet or usage key that has started but is not complete."""

    id: str
    """Id of the mint, for `resume` and `delete_pending`."""

    kind: Kind
    """Kind of the new object: ``wallet`` or ``usage key``."""

    name: str = ""
    """Name under which the client registers the new wallet or key on chain."""

    stage: Stage = "asked"
    """Stage of the mint: ``asked``, ``minted``, ``registering``, ``registered`` or ``setting``, in this order.

    At the stage ``asked``, the service has not confirmed that it created an object. From the stage ``minted`` on, the
    object exists. At ``registering``, the client may have sent the transaction that registers the wallet. At
    ``registered``, the wallet is registered. At ``setting``, the client may have sent the transaction that registers
    the usage key. Until the mint is complete, only this record contains the secret of a new usage key.
    """

    owner: str
    """Address of the admin wallet that started the mint."""

    api_key_hash: str
    """Master hash of the account to which the new wallet or key will belong."""

    base_url: str
    """Address of the service, the part before ``/core/v1``."""

    chain_id: int
    """Id of the chain with the contract that stores the account (EIP-155)."""

    contract_address: str
    """Address of the AccountConfig contract, in lowercase."""

    begun: int
    """Time at which the mint started, in Unix seconds of the service's clock."""

    wallet_address: str = ""
    """Address of the new wallet, in lowercase. Empty at the stage ``asked``."""

    derivation_path: str = ""
    """Derivation path of the new wallet, as ``0x`` hex. Empty at the stage ``asked``."""

    transaction_hash: str = ""
    """Hash of the last transaction that the client sent for the mint, or an empty string.

    A block may already contain this transaction.
    """

    arguments: dict[str, Any] = Field(default_factory=dict)
    """Requested properties: the description, and for a usage key also permissions, expiration and form of the hash."""

    secret: Secret | None = None
    """The new usage key. None for a wallet and at the stage ``asked``. The client never displays the key."""

    unix_seconds: ClassVar[frozenset[str]] = frozenset({"begun"})
    quiet: ClassVar[frozenset[str]] = frozenset(
        {"arguments", "api_key_hash", "base_url", "begun", "chain_id", "contract_address", "derivation_path", "id"}
    )


class PendingFolder:
    """Store of the records of interrupted creations of wallets and usage keys.

    Args:
        folder: Folder of the records. None means ``$SVCNB_PENDING``. If this variable is not set, None means
            ``$XDG_STATE_HOME/svcnb/pending``, or without ``$XDG_STATE_HOME``, ``~/.local/state/svcnb/pending``.
        key_file: File with the key that encrypts the records. None means ``pending.key`` in the default folder of the
            client's configuration file. If ``folder`` or ``$SVCNB_PENDING`` is set, the file is next to this folder,
            with the name of the folder and the suffix ``.key``.
    """

    def __init__(self, folder: Path | None = None, key_file: Path | None = None) -> None:
        state, config, named = (os.environ.get(name) for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", _FOLDER))
        chosen = folder or (Path(named) if named else None)
        self.folder: Path = chosen or (Path(state) if state else Path.home() / ".local" / "state") / "svcnb" / "pending"
        settings = (Path(config) if config else Path.home() / ".config") / "svcnb"
        self.key_file: Path = key_file or (chosen.with_suffix(".key") if chosen else settings / "pending.key")

    def begin(self, **fields: Any) -> PendingMint:
        """Writes and returns the first recovery record of a new wallet or usage key.

        Raises:
            ConfigError: The record cannot be written. The client has not requested the wallet or the key yet.
        """
        record = PendingMint(id=secrets.token_hex(8), **fields)
        self.write(record)
        return record

    def write(self, record: PendingMint) -> None:
        """Writes a record atomically, so that after a crash, either the old or the new record exists.

        Raises:
            ConfigError: Other users can read the folder or the key file, or one of the two cannot be written.
            ExtraMissing: pycryptodome is not installed.
        """
        fields = {name: getattr(record, name) for name in type(record).model_fields}
        fields["secret"] = record.secret.reveal() if record.secret else None
        with _file_errors(
            f"cannot store the recovery record of the new wallet or key in {self.folder}",
            f"Make the folder writable, or set {_FOLDER} to the path of another folder. Without a record, a crash "
            "before the registration on chain loses the wallet or key.",
        ):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _require_private(self.folder)
            content = json.dumps(SCHEMA.stamped(fields), separators=(",", ":")).encode()
            nonce = secrets.token_bytes(NONCE_BYTES)
            with _cipher():
                sealed = nonce + seal(self._key(), nonce, content)
            replace_file(self._path(record.id), sealed)

    def all(self) -> list[PendingMint]:
        """Returns all records, oldest first.

        Raises:
            ConfigError: The folder or a record cannot be read, or a record cannot be decrypted. The store never skips
                records silently.
        """
        with _file_errors(
            f"cannot read the recovery records in {self.folder}", "Make the folder readable for your user."
        ):
            paths = list(self.folder.iterdir()) if self.folder.exists() else []
        found = (self._read(path) for path in paths if path.suffix == ".pending")
        return sorted((record for record in found if record), key=lambda record: (record.begun, record.id))

    def get(self, identity: str) -> PendingMint:
        """Returns the record with the given id.

        Raises:
            InvalidArgument: There is no record with this id.
            ConfigError: The record cannot be read or decrypted.
        """
        record = self._read(self._path(identity))
        if record is None:
            raise InvalidArgument(
                f"there is no interrupted creation of a wallet or key with the id {identity!r}",
                hint="To list the wallets and keys that are not complete, call svc.chain_secured.pending().",
            )
        return record

    def delete(self, record: PendingMint) -> None:
        """Deletes a record, and the copies of its earlier versions."""
        path = self._path(record.id)
        # Copies of earlier versions of the record contain the same secret, so they are deleted as well.
        for file in (path, *(copy_path(path, number) for number in range(SCHEMA.current))):
            file.unlink(missing_ok=True)

    def _path(self, identity: str) -> Path:
        if not identity.isalnum():
            raise InvalidArgument(
                f"invalid id {identity!r} of a recovery record: expected letters and digits",
                hint="To list the wallets and keys that are not complete, call svc.chain_secured.pending().",
            )
        return self.folder / f"{identity}.pending"

    def _read(self, path: Path) -> PendingMint | None:
        """Returns the record in a file, or None if another process has deleted the file."""
        with _file_errors(f"cannot read the recovery record {path}", "Make the file readable for your user."):
            try:
                _require_private(path)
                sealed = read_file(path)
            except FileNotFoundError:
                return None
        content = self._decrypted(path, sealed)
        try:
            with _file_errors(
                f"cannot copy the recovery record {path} before its migration",
                f"Make the folder {path.parent} writable for your user.",
            ):
                document = SCHEMA.read(parse(content), path)
            known = {name: value for name, value in document.items() if name in PendingMint.model_fields}
            return PendingMint.model_validate(known)
        except UnreadableVersion as error:
            raise ConfigError(
                error.message,
                hint="To finish the creation of the wallet or key, use the version of svcnb that this error names.",
            ) from None
        except ValueError as error:
            raise ConfigError(
                f"the recovery record {path} has invalid content ({type(error).__name__})",
                hint=f"Restore the record from a copy. {_KEEP}",
            ) from None

    def _decrypted(self, path: Path, sealed: bytes) -> bytes:
        restore = f"Restore the key file {self.key_file} from a copy. {_KEEP}"
        with _file_errors(f"cannot read the key file {self.key_file} of the recovery record {path}", restore):
            key = read_file(self.key_file, MAX_TEXT_FILE_BYTES)
            _require_private(self.key_file)
        try:
            with _cipher():
                return unseal(key, sealed[:NONCE_BYTES], sealed[NONCE_BYTES:])
        except ValueError:
            raise ConfigError(
                f"the key in {self.key_file} does not decrypt the recovery record {path}", hint=restore
            ) from None

    def _key(self) -> bytes:
        what = f"the key file {self.key_file}, which encrypts the recovery records of new wallets and keys"
        with _file_errors(f"cannot create {what}", f"Make the folder {self.key_file.parent} writable for your user."):
            if not self.key_file.exists():
                self.key_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                # If two processes create the key simultaneously, both use the key of the first process.
                create_file(self.key_file, secrets.token_bytes(_KEY_BYTES))
        with _file_errors(f"cannot read {what}", "Make the file readable for your user."):
            _require_private(self.key_file)
            key = read_file(self.key_file, MAX_TEXT_FILE_BYTES)
        if len(key) != _KEY_BYTES:
            raise ConfigError(
                f"the key file {self.key_file} has {len(key)} bytes: expected {_KEY_BYTES}",
                hint="Restore the file from a copy. If you do not need the recovery records of new wallets and keys, "
                "move the file to another folder.",
            )
        return key


def _require_private(path: Path) -> None:
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & 0o077:
        raise ConfigError(
            f"{path} contains secrets, but other users have access to it",
            hint=f"Run: chmod {'700' if path.is_dir() else '600'} {path}",
        )


@contextmanager
def _file_errors(problem: str, hint: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ConfigError(f"{problem}: {error.strerror or error}", hint=hint) from error


@contextmanager
def _cipher() -> Iterator[None]:
    try:
        yield
    except ImportError as error:
        what = "encrypting the recovery records of new wallets and keys requires pycryptodome"
        raise ExtraMissing(what, "chain") from error
