"""Asynchronous versions of the classes of `svcnb.client.resources.node`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from typing import Any

from svcnb.client.models.node import ChainConfig, Health, Limits, Version
from svcnb.client.resources.base import AsyncResource
from svcnb.client.resources.node import admin_payer, chain_config, health, limits, openapi, payers, version


class AsyncNode(AsyncResource):
    """Information about the node that responds: chain, limits, payers, version and health.

    All calls are free and do not need a key.
    """

    async def chain_config(self) -> ChainConfig:
        """Returns the chain that contains the accounts, and the address of the contract."""
        return await self._do(chain_config())

    async def version(self) -> Version:
        """Returns the version of the service's software."""
        return await self._do(version())

    async def health(self) -> Health:
        """Returns the health of the node. An unhealthy node does not cause an error."""
        return await self._do(health())

    async def limits(self) -> Limits:
        """Returns the limits of one execution."""
        return await self._do(limits())

    async def payers(self) -> list[str]:
        """Returns the addresses that send the contract writes for accounts in API mode."""
        return await self._do(payers())

    async def admin_payer(self) -> str:
        """Returns the address that manages the payers."""
        return await self._do(admin_payer())

    async def openapi(self) -> dict[str, Any]:
        """Returns the OpenAPI description of the running server."""
        return await self._do(openapi())
