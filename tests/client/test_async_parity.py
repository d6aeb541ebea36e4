"""The synchronous and the asynchronous client have the same methods. A script generates the asynchronous client."""

from __future__ import annotations

import inspect
from typing import Any

import httpx
import pytest

from svcnb.client import AsyncClient, Client
from svcnb.client.aio.accounts import AsyncAccounts
from svcnb.client.aio.actions import AsyncActions
from svcnb.client.aio.billing import AsyncBilling
from svcnb.client.aio.chain_secured import AsyncChainSecured
from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.aio.chain_secured_resources import (
    AsyncOnChainActions,
    AsyncOnChainGroups,
    AsyncOnChainUsageKeys,
    AsyncOnChainWallets,
)
from svcnb.client.aio.groups import AsyncGroups
from svcnb.client.aio.node import AsyncNode
from svcnb.client.aio.triggers import AsyncTriggersClient
from svcnb.client.aio.usage_keys import AsyncUsageKeys
from svcnb.client.aio.wallets import AsyncWallets
from svcnb.client.chain_secured.account import ChainSecuredAccount
from svcnb.client.chain_secured.namespace import ChainSecured
from svcnb.client.chain_secured.resources import OnChainActions, OnChainGroups, OnChainUsageKeys, OnChainWallets
from svcnb.client.resources.accounts import Accounts
from svcnb.client.resources.actions import Actions
from svcnb.client.resources.billing import Billing
from svcnb.client.resources.groups import Groups
from svcnb.client.resources.node import Node
from svcnb.client.resources.usage_keys import UsageKeys
from svcnb.client.resources.wallets import Wallets
from svcnb.client.triggers import TriggersClient, TriggersSettings

PAIRS = [
    (Client, AsyncClient),
    (ChainSecured, AsyncChainSecured),
    (ChainSecuredAccount, AsyncChainSecuredAccount),
    (TriggersClient, AsyncTriggersClient),
    (Accounts, AsyncAccounts),
    (Actions, AsyncActions),
    (Billing, AsyncBilling),
    (Groups, AsyncGroups),
    (Node, AsyncNode),
    (UsageKeys, AsyncUsageKeys),
    (Wallets, AsyncWallets),
    (OnChainActions, AsyncOnChainActions),
    (OnChainGroups, AsyncOnChainGroups),
    (OnChainUsageKeys, AsyncOnChainUsageKeys),
    (OnChainWallets, AsyncOnChainWallets),
]
WITHOUT_REQUESTS = 3
"""Number of pairs at the start of `PAIRS` whose classes contain resources, and methods that send no request."""

ONE_WAY = {"to_async"}
"""Methods that return the other client, so the other client does not have them."""

CALLS_BACK = {"with_raw_response"}
"""Methods that call a function of the user. For the asynchronous class, the function returns an awaitable."""


def public(kind: type) -> dict[str, Any]:
    return {name: value for name, value in inspect.getmembers(kind) if not name.startswith("_")}


@pytest.mark.parametrize(("sync_class", "async_class"), PAIRS, ids=lambda kind: kind.__name__)
def test_the_synchronous_and_asynchronous_client_have_the_same_methods_with_the_same_arguments(
    sync_class, async_class
) -> None:
    sync_methods, async_methods = public(sync_class), public(async_class)
    assert set(sync_methods) - ONE_WAY == set(async_methods)
    for name, method in sync_methods.items():
        if inspect.isfunction(method) and name not in ONE_WAY | CALLS_BACK:
            one, other = inspect.signature(method), inspect.signature(async_methods[name])
            expected = [str(parameter) for parameter in one.parameters.values()]
            assert [str(parameter).replace("Async", "") for parameter in other.parameters.values()] == expected, name


@pytest.mark.parametrize(("sync_class", "async_class"), PAIRS[WITHOUT_REQUESTS:], ids=lambda kind: kind.__name__)
def test_the_synchronous_and_asynchronous_client_return_the_same_types_and_have_the_same_docstrings(
    sync_class, async_class
) -> None:
    for name, method in public(sync_class).items():
        other = getattr(async_class, name)
        # In docstrings of asynchronous classes, references and examples are asynchronous too.
        assert str(inspect.getdoc(other)).replace("`Async", "`").replace("await ", "") == inspect.getdoc(method)
        if name == "iter" or hasattr(TriggersSettings, name):
            continue  # sends no request, or one for each page
        assert inspect.iscoroutinefunction(other), name
        expected, found = (inspect.signature(each).return_annotation for each in (method, other))
        assert found.removeprefix("Async") == expected, name


async def test_the_synchronous_and_asynchronous_client_send_the_same_bytes(scripted, async_scripted) -> None:
    seen: list[tuple[str, str, bytes]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.method, str(request.url), request.content))
        if "list_" in request.url.path:
            return httpx.Response(
                200, json=[{"id": "1", "name": "a", "description": "b"}] if "groups" in request.url.path else []
            )
        return httpx.Response(200, json={"group_id": "1", "response": None, "wallet_address": "0x" + "1" * 40})

    with scripted(answer) as svc:
        svc.groups.update(1, name="new")
        svc.run("const main = () => 1", n=1)
        svc.wallets.create()
    sync_requests, seen = seen, []
    svc = await async_scripted(answer)
    await svc.groups.update(1, name="new")
    await svc.run("const main = () => 1", n=1)
    await svc.wallets.create()
    assert seen == sync_requests
    assert len(sync_requests) == 6


async def test_a_cancelled_call_leaves_the_client_usable(async_scripted) -> None:
    import asyncio

    never = asyncio.Event()

    async def slow(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/list_wallets"):
            await never.wait()
        return httpx.Response(200, json=True)

    svc = await async_scripted(slow)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(svc.wallets.list(), 0.05)
    assert await svc.accounts.exists() is True
