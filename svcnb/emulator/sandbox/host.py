"""Host operations of an action, answered by the service: keys, encryption, outbound requests, packages."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.keys.encryption import CipherError, decrypt, encrypt
from svcnb.emulator.keys.secp import address_of, compressed_public_key
from svcnb.emulator.platform.offload import LARGE_BYTES, offload
from svcnb.emulator.sandbox.protocol import FetchRequest, FetchResponse, Meter, Module, OperationRefused
from svcnb.protocol.aes_gcm import NONCE_BYTES, TAG_BYTES
from svcnb.protocol.limits import MAX_CID_CHARS, MAX_MESSAGE_BYTES, MAX_OUTBOUND_PER_RUN, ActionLimits

if TYPE_CHECKING:
    from svcnb.emulator.platform.randomness import Randomness
    from svcnb.emulator.sandbox.network import Network
    from svcnb.emulator.sandbox.packages import Packages


# Two digits per byte, after an optional 0x.
_MAX_CIPHERTEXT_CHARS: Final = 2 + 2 * (NONCE_BYTES + MAX_MESSAGE_BYTES + TAG_BYTES)


class KeyRefused(Exception):
    """A wallet may not be used in this execution. The text reaches the action."""


class ActionHost:
    """Answers the operations of one execution.

    Args:
        custody: Derives action keys.
        cid: CID of the running action.
        wallet_secret: Returns the 32 secret bytes of a wallet for a ``pkpId`` as the action wrote it. Raises
            `KeyRefused` when this key and action may not use the wallet.
        headers: The headers that the action can read: ``x-request-id``, and ``x-correlation-id`` if the caller sent it.
        network: Makes outbound requests.
        packages: Answers imports; None when no package folder is set.
        randomness: Source of nonces; None is the operating system.
        meter: Checks the credit of the paying account.
        account: The account of the run.
    """

    def __init__(
        self,
        *,
        custody: Custody,
        cid: str,
        wallet_secret: Callable[[str], Awaitable[bytes]],
        headers: Mapping[str, str],
        network: Network,
        packages: Packages | None = None,
        randomness: Randomness | None = None,
        meter: Meter | None = None,
        account: str = "",
    ) -> None:
        self._custody = custody
        self._cid = cid
        self._wallet_secret = wallet_secret
        self._headers = dict(headers)
        self._network = network
        self._packages = packages
        self._randomness = randomness
        self._meter = meter
        self._account = account
        self._turns = asyncio.Semaphore(MAX_OUTBOUND_PER_RUN)

    @property
    def headers(self) -> dict[str, str]:
        """Request id and correlation id."""
        return self._headers

    @property
    def account(self) -> str:
        """The account of the run."""
        return self._account

    @property
    def meter(self) -> Meter | None:
        """Checks the credit of the paying account."""
        return self._meter

    async def get_private_key(self, pkp_id: str) -> str:
        """A wallet's private key, if this execution may use it."""
        return "0x" + (await self._secret(pkp_id)).hex()

    async def get_action_private_key(self) -> str:
        """The running action's own private key."""
        return "0x" + self._custody.action_secret(self._cid).hex()

    async def get_action_public_key(self, ipfs_id: str) -> str:
        """The compressed public key of any action. It needs no permission (specification 1.9)."""
        return compressed_public_key(self._custody.action_secret(_bounded(ipfs_id)))

    async def get_action_wallet_address(self, ipfs_id: str) -> str:
        """The address of any action. It needs no permission (specification 1.9)."""
        return address_of(self._custody.action_secret(_bounded(ipfs_id)))

    async def encrypt(self, pkp_id: str, message: str) -> str:
        """Encrypts under a wallet's secret, with a fresh nonce."""
        if len(message) > MAX_MESSAGE_BYTES or len(message.encode(errors="replace")) > MAX_MESSAGE_BYTES:
            raise OperationRefused(f"Encrypt: the message is too long, maximum {MAX_MESSAGE_BYTES} bytes")
        secret = await self._secret(pkp_id)
        if self._randomness is None:
            nonce = os.urandom(NONCE_BYTES)
        else:
            nonce = self._randomness.bytes(NONCE_BYTES, "action nonce")
        try:
            if len(message) > LARGE_BYTES:
                return await offload(encrypt, secret, message, nonce)
            return encrypt(secret, message, nonce)
        except CipherError as error:
            raise OperationRefused(f"Encrypt: {error}") from None

    async def decrypt(self, pkp_id: str, ciphertext: str) -> str:
        """Decrypts a result of `encrypt`."""
        if len(ciphertext) > _MAX_CIPHERTEXT_CHARS:
            raise OperationRefused(f"Decrypt: the ciphertext is too long, maximum {_MAX_CIPHERTEXT_CHARS} characters")
        secret = await self._secret(pkp_id)
        try:
            if len(ciphertext) > LARGE_BYTES:
                return await offload(decrypt, secret, ciphertext)
            return decrypt(secret, ciphertext)
        except CipherError as error:
            raise OperationRefused(f"Decrypt: {error}") from None

    async def fetch(self, request: FetchRequest, limits: ActionLimits) -> FetchResponse:
        """Makes one outbound request under the network policy."""
        async with self._turns:
            return await self._network.fetch(request, limits, self._account)

    async def package(self, specifier: str, importer: str | None) -> Module:
        """The source of an imported module."""
        if self._packages is None:
            raise OperationRefused(
                f"Cannot import {specifier!r}: this emulator has no package folder. Start it with "
                "--action-packages FOLDER (SVC_ACTION_PACKAGES)"
            )
        return await offload(self._packages.load, specifier, importer)

    async def _secret(self, pkp_id: str) -> bytes:
        try:
            return await self._wallet_secret(pkp_id)
        except KeyRefused as refused:
            raise OperationRefused(str(refused)) from None


def _bounded(ipfs_id: str) -> str:
    if len(ipfs_id) > MAX_CID_CHARS:
        raise OperationRefused(f"the ipfsId has {len(ipfs_id)} characters, at most {MAX_CID_CHARS} are accepted")
    return ipfs_id
