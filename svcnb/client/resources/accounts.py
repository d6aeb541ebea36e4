"""Accounts in API mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.accounts import Account
from svcnb.client.references import is_name
from svcnb.client.resources.base import Resource

if TYPE_CHECKING:
    from svcnb.client.chain_secured.account import ChainSecuredAccount
    from svcnb.client.signing.eth import AnySigner


def exists() -> Flow[bool]:
    """Returns whether the client's key belongs to an account in API mode."""
    return ask(Call("GET", "/account_exists", lambda body, _: _boolean(body), timeout_class="read"))


def _boolean(body: object) -> bool:
    if not isinstance(body, bool):
        raise TypeError(f"expected true or false, got {type(body).__name__}")
    return body


class Accounts(Resource):
    """Methods that create an account, check the client's key, and convert an account to ChainSecured."""

    def create(self, name: str, *, description: str = "", email: str | None = None) -> Account:
        """Creates an account in API mode, and returns the account with its key. The service never shows the key again.

        The call is free, needs no key, and waits for two chain transactions. The client does not retry a request that
        may have arrived.

        Args:
            name: Name of the account.
            description: Purpose of the account.
            email: E-mail address for the payment processor. None sends no address.

        Raises:
            InvalidArgument: The name is blank.
            ServiceError: The service rejected the request (docs/service/endpoints.md#account-and-keys,
                docs/service/http.md#errors).
        """
        if not is_name(name):
            raise InvalidArgument("the account name is empty", hint='Pass a name: svc.accounts.create("treasury").')
        body = {"account_name": name, "account_description": description} | ({"email": email} if email else {})

        def parse(answer: Any, _headers: Answer) -> Account:
            return Account.model_validate({"account_name": name, **answer})

        doubt = "Create another account. The service may have created an empty account, but its key did not arrive."
        return self._do(ask(Call("POST", "/new_account", parse, body, key=False, in_doubt=doubt)))

    def exists(self) -> bool:
        """Returns whether the client's key belongs to an account in API mode. This call is free.

        For an unknown key and for a key of a ChainSecured account, the method returns False.

        Raises:
            Unauthorized: No key is configured.
        """
        return self._do(exists())

    def convert(self, owner: AnySigner, *, confirm: bool = False) -> ChainSecuredAccount:
        """Converts the configured key's account from API mode to ChainSecured. This call is irreversible and free.

        The account keeps its groups, wallets, actions, usage keys and credit. The account key can no longer make
        changes.

        Args:
            owner: The wallet that will own the account. A wallet that owns or owned another account is not allowed.
            confirm: Must be True. Otherwise, the client does not convert the account, and the error lists the
                consequences.

        Returns:
            The account, opened with its new owner.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            ConfigError: The client has no key.
            ChainError: The wallet owns or owned another account, or the key does not belong to an account.
            BadRequest: The account is already ChainSecured.
            Forbidden: The key is not the account key.
        """
        from svcnb.client.chain_secured.namespace import ChainSecured

        return ChainSecured(self._session).convert(owner, confirm=confirm)
