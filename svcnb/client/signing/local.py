"""Signer with a private key in this process."""

from __future__ import annotations

import json
import os
import stat
from typing import TYPE_CHECKING, Any, Final, NoReturn

from svcnb.client.errors import SigningError
from svcnb.client.secret import Secret
from svcnb.client.signing.eth import eth_account, is_local_account
from svcnb.client.signing.signer import Signer
from svcnb.client.signing.typed_data import typed_data_digest
from svcnb.errors import InvalidType
from svcnb.protocol.curve import SECRET_BYTES
from svcnb.protocol.errors import MalformedValue
from svcnb.protocol.hashes import checksum_address, parse_hex
from svcnb.protocol.signature import address_of_secret, personal_digest, sign_digest

if TYPE_CHECKING:
    from pathlib import Path

    from eth_account.signers.local import LocalAccount

_WRONG: Final = "MAC mismatch"  # the message of eth-keyfile for a wrong password, because its errors have no codes
_PICKLED: Final = "a signer contains a private key and cannot be pickled: save the signer to a key file"


class LocalSigner(Signer):
    """Signer with a private key in this process.

    Create a signer with `from_key`, `from_keyfile`, `from_account` or `random`. The key never appears in a display,
    log, pickle or error. Only `reveal` and `account` return the key.

    Example:
        >>> LocalSigner.from_key("0x" + "11" * 32)
        LocalSigner(0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A)
    """

    __slots__ = ("_address", "_key")

    def __init__(self, key: Secret) -> None:
        # In this module, no variable contains the key, because tracebacks can show variables.
        self._address = ""
        self._key = Secret("0x" + _secret_bytes(key).hex())
        try:
            self._address = checksum_address(address_of_secret(_secret_bytes(self._key)))
        except MalformedValue as error:
            raise SigningError(error.message, hint=error.hint) from error
        except ValueError as error:
            raise SigningError(str(error), hint="Copy the whole private key from your wallet.") from None

    @classmethod
    def from_key(cls, key: str | bytes | Secret) -> LocalSigner:
        """Returns a signer with a private key.

        Args:
            key: 32 bytes, or the same bytes as a hex string.

        Raises:
            SigningError: The value is not a private key. The message does not contain the value.
        """
        if isinstance(key, bytes):
            key = key.hex()
        if not isinstance(key, (str, Secret)):
            raise SigningError(
                f"a private key must be a hex string, bytes or a Secret, not {type(key).__name__}",
                hint="Pass 64 hex digits or 32 bytes: svcnb.LocalSigner.from_key(key).",
            )
        return cls(Secret(key))

    @classmethod
    def from_account(cls, account: LocalAccount) -> LocalSigner:
        """Returns a signer with the key of an eth-account account.

        Methods that need a signer also accept the eth-account account itself.

        Args:
            account: The result of ``eth_account.Account.from_key``, ``create`` or ``from_mnemonic``.

        Raises:
            SigningError: The value is not an account of eth-account.
        """
        if not is_local_account(account):
            raise SigningError(
                f"expected an eth-account LocalAccount, got {type(account).__name__}",
                hint="Pass an account: svcnb.LocalSigner.from_account(eth_account.Account.from_key(key)).",
            )
        return cls.from_key(bytes(account.key))

    @property
    def account(self) -> LocalAccount:
        """Account object of eth-account with this key, for libraries such as web3 that need such an object.

        Raises:
            SigningError: eth-account is not installed.
        """
        found: LocalAccount = eth_account("the property LocalSigner.account").Account.from_key(self._key.reveal())
        return found

    @classmethod
    def random(cls) -> LocalSigner:
        """Returns a signer with a new random key. Save the key before you use the wallet for anything of value."""
        while True:
            try:
                return cls.from_key(os.urandom(SECRET_BYTES))
            except SigningError:  # with a probability of about 2**-128, the number is not below the order of the curve
                continue

    @classmethod
    def from_keyfile(cls, path: str | os.PathLike[str], password: str | Secret | None = None) -> LocalSigner:
        """Reads a key from a file, and returns a signer.

        Args:
            path: An encrypted JSON key file (version 3, a common format of wallets), or a hex file that no other user
                can read.
            password: Password of an encrypted file. None for an unencrypted hex file.

        Raises:
            SigningError: The file contains no key, the password is missing or wrong, other users can read an
                unencrypted key, or eth-account is not installed.
            OSError: The file cannot be read, or is not a regular file.
        """
        from pathlib import Path

        from svcnb.files import MAX_TEXT_FILE_BYTES, read_text

        file = Path(path)
        try:
            text = read_text(file, MAX_TEXT_FILE_BYTES).strip()
        except UnicodeDecodeError:
            raise SigningError(
                f"the key file {file} is not UTF-8 text",
                hint="Pass a file that contains only a key, or a JSON key file.",
            ) from None
        if text.startswith("{"):
            return cls.from_json(text, password, name=str(file))
        if os.name == "posix" and file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SigningError(
                f"other users can read the private key in {file}",
                hint=f"Run: chmod 600 {file}. If someone may have read the key, transfer the wallet's assets to a new "
                "wallet.",
            )
        return cls.from_key(text)

    @classmethod
    def from_json(cls, text: str, password: str | Secret | None, *, name: str = "") -> LocalSigner:
        """Reads a key from the text of an encrypted JSON key file (version 3), and returns a signer.

        Args:
            text: Text of the file.
            password: Password of the file.
            name: Name of the file, for error messages. Empty if the text does not come from a file.

        Raises:
            SigningError: The text contains no key, the password is missing or wrong, or eth-account is not installed.
        """
        return cls.from_key(_decrypted(f"the key file {name}" if name else "the key file", text, password))

    def save(self, path: str | os.PathLike[str], password: str | Secret) -> Path:
        """Writes the key to a new, encrypted file that only its owner can read. The encryption takes about a second.

        Args:
            path: Path of the new file. The method does not replace an existing file.
            password: Password of at least one character. The key is not readable without the password.

        Returns:
            The path.

        Raises:
            SigningError: The password is empty, the file exists, or eth-account is not installed.
            OSError: The file cannot be written, for example because its folder does not exist.
        """
        if not password:
            raise SigningError("the password is empty", hint="Choose a password that you can remember or store.")
        from pathlib import Path

        file = Path(path)
        sealed = json.dumps(_account("the encryption of a key file").encrypt(self._key.reveal(), _plain(password)))
        try:
            descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            raise SigningError(
                f"the file {file} already exists",
                hint="Choose another path, or move the existing file to another folder.",
            ) from None
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            opened.write(sealed)
        return file

    @property
    def address(self) -> str:
        """Address of the wallet, with checksum."""
        return self._address

    def reveal(self) -> str:
        """Returns the private key, ``0x`` followed by 64 hex digits. Do not print or save the key."""
        return self._key.reveal()

    def sign_digest(self, digest: bytes) -> str:
        """Signs 32 bytes without hashing them.

        Sign only a digest that you computed yourself, because a digest does not show the data that you sign.

        Returns:
            The signature: 65 bytes in ``0x`` hex.

        Raises:
            InvalidArgument: The digest does not have 32 bytes.
        """
        return "0x" + sign_digest(digest, _secret_bytes(self._key)).hex()

    def sign_message(self, message: str | bytes) -> str:
        """Signs a personal message (EIP-191).

        Returns:
            The signature: 65 bytes in ``0x`` hex.
        """
        return self.sign_digest(personal_digest(message))

    def sign_typed_data(self, typed_data: dict[str, Any]) -> str:
        """Signs typed data (EIP-712) of any types; see `Signer.sign_typed_data`.

        Raises:
            SigningError: A value does not match its type. The signer never converts values silently.
        """
        return self.sign_digest(typed_data_digest(typed_data))

    def sign_transaction(self, transaction: dict[str, Any]) -> str:
        """Signs a transaction.

        Args:
            transaction: All fields of the transaction by their JSON-RPC names, including nonce, gas, fees and chainId.

        Returns:
            The raw transaction in ``0x`` hex, for ``eth_sendRawTransaction``.

        Raises:
            SigningError: A field is missing or has the wrong type, or eth-account is not installed.
        """
        try:
            signed = _account("the signature of a transaction").sign_transaction(transaction, self._key.reveal())
        except (TypeError, ValueError) as error:
            raise SigningError(
                f"the transaction cannot be signed: {error}",
                hint="Correct the fields of the transaction that this error names.",
            ) from None
        return "0x" + bytes(signed.raw_transaction).hex()

    def __eq__(self, other: object) -> bool:
        return self._address == other._address if isinstance(other, LocalSigner) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._address)

    def __reduce__(self) -> NoReturn:
        raise TypeError(_PICKLED)


def _secret_bytes(key: Secret) -> bytes:
    if not isinstance(key, Secret):  # do not show the value, because it can be a key
        raise InvalidType(
            f"LocalSigner requires a Secret, not {type(key).__name__}", hint="Use LocalSigner.from_key(text)."
        )
    try:
        return parse_hex(key.reveal(), SECRET_BYTES, "private key")
    except MalformedValue as error:
        raise SigningError(error.message, hint="Copy the whole private key from your wallet.") from None


def _account(purpose: str) -> Any:
    return eth_account(purpose).Account


def _decrypted(file: str, text: str, password: str | Secret | None) -> Secret:
    if password is None:
        raise SigningError(
            f"{file} is encrypted, but no password was passed",
            hint="Pass the password of the file: svcnb.LocalSigner.from_keyfile(path, password).",
        )
    try:
        return Secret(bytes(_account("the decryption of a key file").decrypt(text, _plain(password))).hex())
    except (ValueError, TypeError, KeyError, NotImplementedError) as error:
        # Omit the library's own message, because it can quote the file.
        if str(error) == _WRONG:
            raise SigningError(
                f"{file} cannot be decrypted with this password", hint="Check the password, and enter it again."
            ) from None
        raise SigningError(
            f"{file} is not a JSON key file of version 3",
            hint="Pass the JSON key file that your wallet exports, or the file that LocalSigner.save wrote.",
        ) from None


def _plain(password: str | Secret) -> str:
    return password.reveal() if isinstance(password, Secret) else password
