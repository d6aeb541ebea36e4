"""Accounts in API mode."""

from __future__ import annotations

from typing import Any

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.accounts import Account
from svcnb.client.resources.base import AsyncResource, Resource, mirrors


def create(name: str, description: str, email: str | None) -> Flow[Account]:
    """Asks for a new account."""
    if not name.strip():
        raise InvalidArgument("an account needs a name", hint='svc.accounts.create("treasury")')
    body: dict[str, Any] = {"account_name": name, "account_description": description}
    if email:
        body["email"] = email

    def parse(answer: Any, _headers: Answer) -> Account:
        return Account.model_validate({"account_name": name, **answer})

    return ask(
        Call(
            "POST",
            "/new_account",
            parse,
            body,
            key=False,
            in_doubt="an account may exist whose key nobody saw. It is empty and harmless: create another.",
        )
    )


def exists() -> Flow[bool]:
    """Asks whether the key belongs to an account."""
    return ask(Call("GET", "/account_exists", lambda body, _: _boolean(body), patience="read"))


def _boolean(body: object) -> bool:
    if not isinstance(body, bool):
        raise TypeError("true or false was expected")
    return body


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
        return self._do(create(name, description, email))

    def exists(self) -> bool:
        """Tells whether the key belongs to an account in API mode. Free.

        Raises:
            Unauthorized: No key is configured.
        """
        return self._do(exists())


@mirrors(Accounts)
class AsyncAccounts(AsyncResource):
    """The asynchronous twin of `Accounts`."""

    async def create(self, name: str, *, description: str = "", email: str | None = None) -> Account:
        """See `Accounts.create`."""
        return await self._do(create(name, description, email))

    async def exists(self) -> bool:
        """See `Accounts.exists`."""
        return await self._do(exists())
