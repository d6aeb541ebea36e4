"""Wallets of the account. The service calls wallets PKPs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from svcnb.client.calls import Call, Flow, ask
from svcnb.client.listing import Listing
from svcnb.client.models.wallets import Wallet
from svcnb.client.references import GroupRef, WalletRef, group_id, one_wallet_address
from svcnb.client.resources.base import Resource
from svcnb.client.resources.reading import PAGE_SIZE, absent, every, find, model, page_of

_IN_DOUBT: Final = (
    "Check the last entry of svc.wallets.list(), because the service may have created a wallet and charged for it."
)


def page(number: int, size: int = PAGE_SIZE, group: GroupRef | None = None) -> Call[list[Wallet]]:
    """Returns the call for one page of the account's wallets, or of a group's wallets."""
    if group is None:
        return page_of("/list_wallets", Wallet, number, size)
    return page_of("/list_wallets_in_group", Wallet, number, size, group_id=group_id(group))


def listing(group: GroupRef | None) -> Flow[Listing[Wallet]]:
    """Reads and returns all wallets of the account, or the wallets that a group permits."""
    return every(lambda number: page(number, group=group), "wallets", Wallet)


def get(wallet: WalletRef) -> Flow[Wallet]:
    """Reads and returns one wallet of the account."""
    address = one_wallet_address(wallet)
    missing = absent(f"wallet {address}", "To list the wallets, call svc.wallets.list().")
    return find(page, lambda item: item.wallet_address.lower() == address, missing)


class Wallets(Resource):
    """Wallets of the account. Only actions with permission to use a wallet receive the wallet's private key."""

    def create(self) -> Wallet:
        """Creates a wallet, registers the wallet in the account, and returns the wallet. This call costs one cent.

        The client does not retry a request that may have arrived.

        Raises:
            OutOfCredit: The account does not have enough credit.
            Forbidden: The key is a usage key without ``can_create_pkps``.
        """
        return self._do(ask(Call("POST", "/create_wallet", model(Wallet), in_doubt=_IN_DOUBT)))

    def list(self, group: GroupRef | None = None) -> Listing[Wallet]:
        """Returns all wallets of the account, or the wallets that a group permits. This call is free.

        Args:
            group: Group whose wallets the method returns. None means all wallets of the account. In a group, a wallet
                with the zero address means every wallet.
        """
        return self._do(listing(group))

    def get(self, wallet: WalletRef) -> Wallet:
        """Returns one wallet of the account. This call is free.

        Args:
            wallet: The wallet or its address.

        Raises:
            InvalidArgument: The value is not an address, or is 0, the wildcard.
            NotFound: The account does not contain the wallet.
        """
        return self._do(get(wallet))

    def iter(self, group: GroupRef | None = None) -> Iterator[Wallet]:
        """Iterates over the wallets of the account, or over the wallets of a group.

        Each request reads one page. The requests are free.
        """
        return self._iterate(lambda number: page(number, group=group))
