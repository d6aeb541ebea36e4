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
    """Methods that create an account, check the client's key, and convert an account to ChainSecured."""

    def create(self, name: str, *, description: str = "", email: str | None = None) -> Account:
        """Creates an account in API mode, and returns the account with its key. The service never shows the key again.

        The call is free, needs no key, and takes as long as two chain transactions. The client does not retry a request
        that may have arrived.

        Args:
            name: Name of the account.
            description: Purpose of the account.
            email: E-mail address for the payment processor. None sends no address.

        Raises:
            InvalidArgument: The name is blank.
            ServiceError: The service rejected the request (docs/service/endpoints.md#account-and-keys,
                docs/service/http.md#errors).
        """
        return self._do(account_flows.create(name, description, email))

    def exists(self) -> bool:
        """Returns whether the key belongs to an account in API mode. This call is free.

        Raises:
            Unauthorized: No key is configured.
        """
        return self._do(account_flows.exists())

    def convert(self, owner: AnySigner, *, confirm: bool = False) -> ChainSecuredAccount:
        """Converts the configured key's account from API mode to ChainSecured. This call is irreversible and free.

        The account keeps its groups, wallets, actions, usage keys and credit. The account key can no longer make
        changes.

        Args:
            owner: The wallet that will own the account. A wallet that is or was the admin of an account is not allowed.
            confirm: Must be True. Otherwise, the client does not send anything, and the error lists the consequences.

        Returns:
            The account, opened with its new owner.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            ChainError: The wallet owns or owned an account, or the key does not belong to an account.
            BadRequest: The account is already ChainSecured.
            Forbidden: The key is not the account key.
        """
        from svcnb.client.chain_secured.namespace import ChainSecured

        return ChainSecured(self._session).convert(owner, confirm=confirm)
