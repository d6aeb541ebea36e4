"""Host operations that the service executes for actions: keys, encryption, outbound requests and packages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.encryption import CipherError, decrypt, encrypt
from svcnb.emulator.keys.secp import compressed_public_key
from svcnb.emulator.platform.offload import LARGE_BYTES, offload, once_in_thread
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse, Meter, Module, OperationRefused
from svcnb.protocol.aes_gcm import NONCE_BYTES, TAG_BYTES, load
from svcnb.protocol.limits import MAX_CID_CHARS, MAX_MESSAGE_BYTES, MAX_OUTBOUND_PER_RUN, ActionLimits
from svcnb.protocol.signature import address_of_secret

if TYPE_CHECKING:
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.sandbox.network import Network
    from svcnb.emulator.sandbox.packages import Packages


# Two hex digits per byte, after an optional 0x.
_MAX_CIPHERTEXT_CHARS: Final = 2 + 2 * (NONCE_BYTES + MAX_MESSAGE_BYTES + TAG_BYTES)


@dataclass(kw_only=True, eq=False, repr=False)
class ActionHost:
    """Host that executes the operations of one run.

    Attributes:
        custody: Custody that derives action keys.
        cid: CID of the running action.
        wallet_secret: Function that returns a wallet's 32-byte private key for the ``pkpId`` that the action passed.
            The function raises `OperationRefused` if the API key of the run does not permit this action to use the
            wallet.
        headers: Headers that the action can read: ``x-request-id``, and ``x-correlation-id`` if the caller sent it.
        network: HTTP client for outbound requests.
        packages: Package folder for imports, or None if the settings contain no folder.
        randomness: Source of nonces, or None for the operating system's source.
        meter: Credit check of the paying account, or None if no account pays.
        account: Billing wallet of the paying account. The HTTP client permits each account only a part of its
            connections and its memory for responses.
    """

    custody: Custody
    cid: str
    wallet_secret: Callable[[str], Awaitable[bytes]]
    headers: dict[str, str]
    network: Network
    packages: Packages | None = None
    randomness: Randomness | None = None
    meter: Meter | None = None
    account: str = ""

    def __post_init__(self) -> None:
        self._turns = asyncio.Semaphore(MAX_OUTBOUND_PER_RUN)

    async def key_operation(self, kind: str, *arguments: str) -> str:
        """Executes an operation that uses a private key. See `Host`. Only operations on a wallet need a permission."""
        match kind, arguments:
            case "wallet_key", (pkp_id,):
                return "0x" + (await self.wallet_secret(pkp_id)).hex()
            case "action_key", ():
                return "0x" + self.custody.action_secret(self.cid).hex()
            case "action_public_key", (ipfs_id,):
                return compressed_public_key(self.custody.action_secret(_bounded(ipfs_id)))
            case "action_address", (ipfs_id,):
                return address_of_secret(self.custody.action_secret(_bounded(ipfs_id)))
            case "encrypt", (pkp_id, message):
                return await self._encrypt(pkp_id, message)
            case "decrypt", (pkp_id, ciphertext):
                return await self._decrypt(pkp_id, ciphertext)
        raise ValueError(f"unknown key operation {kind!r} with {len(arguments)} arguments")

    async def _encrypt(self, pkp_id: str, message: str) -> str:
        if (size := len(message.encode(errors="replace"))) > MAX_MESSAGE_BYTES:
            raise OperationRefused(
                f"Encrypt: the message has {size} bytes, but at most {MAX_MESSAGE_BYTES} are allowed. "
                "Encrypt the message in parts."
            )
        secret = await self.wallet_secret(pkp_id)
        if self.randomness is None:
            nonce = os.urandom(NONCE_BYTES)
        else:
            nonce = self.randomness.bytes(NONCE_BYTES, "action nonce")
        await once_in_thread(load)
        try:
            if len(message) > LARGE_BYTES:
                return await offload(encrypt, secret, message, nonce)
            return encrypt(secret, message, nonce)
        except CipherError as error:
            raise OperationRefused(f"Encrypt: {error}") from None

    async def _decrypt(self, pkp_id: str, ciphertext: str) -> str:
        if len(ciphertext) > _MAX_CIPHERTEXT_CHARS:
            raise OperationRefused(
                f"Decrypt: the ciphertext has {len(ciphertext)} characters, but at most {_MAX_CIPHERTEXT_CHARS} are "
                "allowed. Pass the unchanged result of Encrypt."
            )
        secret = await self.wallet_secret(pkp_id)
        await once_in_thread(load)
        try:
            if len(ciphertext) > LARGE_BYTES:
                return await offload(decrypt, secret, ciphertext)
            return decrypt(secret, ciphertext)
        except CipherError as error:
            raise OperationRefused(f"Decrypt: {error}") from None

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """Makes one outbound request under the network policy. See `Host`."""
        async with self._turns:
            return await self.network.fetch(request, limits, self.account)

    async def package(self, specifier: str, importer: str | None) -> Module:
        """Returns the source of an imported module. See `Host`."""
        if self.packages is None:
            raise OperationRefused(
                f"cannot import {specifier!r}, because this emulator has no package folder: start the emulator with "
                "--action-packages FOLDER (SVC_ACTION_PACKAGES)"
            )
        return await offload(self.packages.load, specifier, importer)


def _bounded(ipfs_id: str) -> str:
    if len(ipfs_id) > MAX_CID_CHARS:
        raise OperationRefused(
            f"ipfsId has {len(ipfs_id)} characters, but at most {MAX_CID_CHARS} are allowed: pass the CID of an action"
        )
    return ipfs_id
