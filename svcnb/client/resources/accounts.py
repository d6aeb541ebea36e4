"""Accounts in API mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from svcnb.client.models.accounts import Account
from svcnb.client.resources import account_flows
from svcnb.client.resources.base import Resource

if TYPE_CHECKING:
    from svcnb.client.chain_secured.account import ChainSecuredAccount
    from svcnb.client.signing.eth import AnySigner


class Accounts(Resource):
    """Accounts: create one, or ask whether the key belongs to one."""

    def create(self, name: str, *, description: str = "", email: str | None = None) -> Account:
        """Creates an account in API mode and returns its master key, which is shown this once.

        Free, and needs no key. Takes as long as two chain transactions. Never repeated when it is unknown whether it
        arrived.

        Args:
            name: The account's name.
            description: What it is for.
            email: Passed on to the payment processor.

        Raises:
            InvalidArgument: The name is blank.
            ServiceError: The service refused (specification 4.1, 7).
        """
        return self._do(account_flows.create(name, description, email))

    def exists(self) -> bool:
        """Tells whether the key belongs to an account in API mode. Free.

        Raises:
            Unauthorized: No key is configured.
        """
        return self._do(account_flows.exists())

    def convert(self, owner: AnySigner, *, confirm: bool = False) -> ChainSecuredAccount:
        """Hands the account of the configured key to a wallet, for good: from API mode to ChainSecured.

        Groups, wallets, actions, usage keys and credit stay. The account key can change nothing any more. Free.

        Args:
            owner: The wallet that will own the account; it must never have been admin of one.
            confirm: Without it nothing is done, and the error lists what will happen.

        Returns:
            The account, in its new owner's hands.

        Raises:
            NotConfirmed: ``confirm`` was not given.
            ChainError: The wallet has an account, or the key belongs to none.
            BadRequest: The account is ChainSecured already.
            Forbidden: The key is not the account's master key.
        """
        from svcnb.client.chain_secured.namespace import ChainSecured

        return ChainSecured(self._session).convert(owner, confirm=confirm)
