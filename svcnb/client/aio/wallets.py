"""Asynchronous versions of the classes of `svcnb.client.resources.wallets`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.client.listing import Listing
from svcnb.client.models.wallets import Wallet
from svcnb.client.references import GroupRef, WalletRef
from svcnb.client.resources.base import AsyncResource
from svcnb.client.resources.wallets import create, get, listing, page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class AsyncWallets(AsyncResource):
    """Wallets of the account. Only actions with permission to use a wallet receive its key."""

    async def create(self) -> Wallet:
        """Creates a wallet, and registers it in the account. This call costs one cent.

        The client does not retry a request that may have arrived.

        Raises:
            OutOfCredit: The account does not have enough credit.
            Forbidden: The key is a usage key without ``can_create_pkps``.
        """
        return await self._do(create())

    async def list(self, group: GroupRef | None = None) -> Listing[Wallet]:
        """Returns all wallets of the account, or those that a group permits. This call is free.

        Args:
            group: Group whose wallets the method returns. A wallet with the zero address means every wallet.
        """
        return await self._do(listing(group))

    async def get(self, wallet: WalletRef) -> Wallet:
        """Returns one wallet of the account. This call is free.

        Args:
            wallet: The wallet or its address.

        Raises:
            InvalidArgument: The value is not an address, or is 0, the wildcard.
            NotFound: The account does not contain the wallet.
        """
        return await self._do(get(wallet))

    def iter(self, group: GroupRef | None = None) -> AsyncIterator[Wallet]:
        """Iterates over the wallets page by page, for accounts with very many wallets. The calls are free."""
        return self._iterate(lambda number: page(number, group=group))
