"""Functions that open a ChainSecured account for a panel, connect the owner's wallet and simulate changes."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from svcnb.client import AsyncClient
from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.errors import SigningError
from svcnb.client.models.chain import Preview
from svcnb.client.signing import Signer
from svcnb.panels.wire import Channel
from svcnb.toolkit.permissions import Edit

OWNER_LINE: Final = 'import os\nowner = svcnb.LocalSigner.from_key(os.environ["SVC_WALLET_KEY"])'
"""Recorded Python that creates the signer for the owner's wallet."""


async def connected(owner: Signer, channel: Channel) -> Signer:
    """Returns a wallet that has an address. For a browser wallet, the function waits until the wallet is connected.

    Raises:
        SigningError: The user did not connect the wallet.
    """
    connect = getattr(owner, "connect", None)
    if connect is not None:
        channel.progress("Waiting for the wallet")
        await connect()
    return owner


async def do(resources: Any, edit: Edit) -> None:
    """Applies a change of permissions by calling a method of a client or of a ChainSecured account."""
    resource, _, verb = edit.verb.partition(".")
    await getattr(getattr(resources, resource), verb)(*edit.args, **edit.options)


class Owned:
    """ChainSecured account whose owner's wallet is available.

    Attributes:
        account: Handle of the account, which sends changes to the chain.
    """

    def __init__(self, account: AsyncChainSecuredAccount, rehearsal: AsyncChainSecuredAccount) -> None:
        self.account = account
        # The simulation uses a second handle. On the same handle, a simultaneous change would call the simulation's
        # `on_preview`, which stops the change.
        self._rehearsal = rehearsal
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, service: AsyncClient, owner: Signer) -> Owned:
        """Opens and returns the account that a wallet owns.

        Raises:
            ChainError: The wallet does not own an account.
        """
        account = await service.chain_secured.open(owner)
        return cls(account, await service.chain_secured.open(owner, api_key_hash=account.api_key_hash))

    async def rehearse(self, edit: Edit) -> Preview:
        """Simulates a call on the current state of the chain, and returns a preview.

        The method does not sign or send a transaction.

        Args:
            edit: The call. If the call needs several transactions, the method simulates only the first transaction.

        Raises:
            ChainError: The contract would reject the call, or the wallet cannot pay for it.
        """
        seen: list[Preview] = []

        def stop(preview: Preview) -> bool:
            seen.append(preview)
            return False

        async with self._turn:
            self._rehearsal.on_preview = stop
            try:
                await do(self._rehearsal, edit)
            except SigningError:
                if not seen:
                    raise
        return seen[0]
