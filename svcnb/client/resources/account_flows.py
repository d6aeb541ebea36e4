"""Flows of `svc.accounts`. They create an account, and check whether the key belongs to an account in API mode."""

from __future__ import annotations

from typing import Any

from svcnb.client.calls import Answer, Call, Flow, ask
from svcnb.client.errors import InvalidArgument
from svcnb.client.models.accounts import Account
from svcnb.client.references import is_name


def create(name: str, description: str, email: str | None) -> Flow[Account]:
    """Creates an account in API mode, and returns the account with its key."""
    if not is_name(name):
        raise InvalidArgument("the account name is empty", hint='Pass a name: svc.accounts.create("treasury").')
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
            in_doubt="Create another account. The service may have created an empty account, but its key did not "
            "arrive.",
        )
    )


def exists() -> Flow[bool]:
    """Returns whether the key belongs to an account in API mode."""
    return ask(Call("GET", "/account_exists", lambda body, _: _boolean(body), timeout_class="read"))


def _boolean(body: object) -> bool:
    if not isinstance(body, bool):
        raise TypeError(f"expected true or false, got {type(body).__name__}")
    return body
