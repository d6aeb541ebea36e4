"""The asynchronous twin of `svcnb.client.chain_secured.namespace`: the same flows, awaited."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from svcnb.client.calls import Flow
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured import account_flows, envelope_flows
from svcnb.client.chain_secured.async_account import AsyncChainSecuredAccount
from svcnb.client.chain_secured.models import Sent, Verdict
from svcnb.client.chain_secured.namespace import ChainSecured, Door, Shown
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.pending import PendingMint
from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.resources.base import mirrors
from svcnb.client.session import AsyncSession

if TYPE_CHECKING:
    from web3.contract import AsyncContract

    from svcnb.client.signing import SignedEnvelope
    from svcnb.client.signing.eth import AnySigner

T = TypeVar("T")


@mirrors(ChainSecured)
class AsyncChainSecured(Door):
    """The asynchronous twin of `ChainSecured`."""

    def __init__(self, session: AsyncSession) -> None:
        super().__init__(ChainAccess(session.config))
        self._session = session

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    async def create(
        self, owner: AnySigner, name: str, *, description: str = "", on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """See `ChainSecured.create`."""
        writer = self._writer(owner, on_preview)
        found = await self._do(account_flows.create(writer, name, description))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def open(
        self, owner: AnySigner, *, api_key_hash: str | None = None, on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """See `ChainSecured.open`."""
        writer = self._writer(owner, on_preview)
        found = await self._do(account_flows.open_account(writer, api_key_hash))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def convert(self, owner: AnySigner, *, confirm: bool = False) -> AsyncChainSecuredAccount:
        """See `ChainSecured.convert`."""
        writer = self._writer(owner, None)
        found = await self._do(account_flows.convert(writer, confirm=confirm))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def look(self, api_key_hash: str) -> AsyncChainSecuredAccount:
        """See `ChainSecured.look`."""
        found = await self._do(account_flows.look(self._chain, api_key_hash))
        return AsyncChainSecuredAccount(self._session, self._ownership(Writer(self._chain, None), found))

    async def resume(
        self, mint: PendingMint | str, owner: AnySigner, *, on_preview: Shown | None = None
    ) -> Wallet | UsageKey:
        """See `ChainSecured.resume`."""
        record = self._record(mint)
        writer = self._writer(owner, on_preview)
        account = Ownership(writer, int(record.api_key_hash, 16), self._records)
        return await self._do(account_flows.resume(account, record))

    async def sign(self, owner: AnySigner, flow: str) -> SignedEnvelope:
        """See `ChainSecured.sign`."""
        return await self._do(account_flows.sign(self._writer(owner, None), flow))

    async def verify(self, typed_data: dict[str, Any], signature: str, address: str) -> bool:
        """See `ChainSecured.verify`."""
        return await self._do(account_flows.verify(self._chain, typed_data, signature, address))

    async def check(self, typed_data: dict[str, Any], signature: str, *, flow: str | None = None) -> Listing[Verdict]:
        """See `ChainSecured.check`."""
        return await self._do(envelope_flows.check(self._chain, typed_data, signature, flow))

    async def send(self, envelope: SignedEnvelope, *, confirm: bool = False) -> Sent:
        """See `ChainSecured.send`."""
        return await self._do(envelope_flows.send(envelope, confirm=confirm))

    async def drift(self) -> tuple[str, ...]:
        """See `ChainSecured.drift`."""
        return await self._do(self._chain.missing())

    async def contract(self, owner: AnySigner | None = None) -> AsyncContract:
        """See `ChainSecured.contract`."""
        from svcnb.client.chain import web3_objects

        node = await self._do(self._chain.node())
        return web3_objects.async_contract(await self._do(self._chain.url()), node.contract_address, owner)
