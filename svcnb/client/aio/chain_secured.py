"""Asynchronous versions of the classes of `svcnb.client.chain_secured.namespace`. Generated."""
# Written by .ci/asynchronous.py: change the synchronous class and run `poe asynchronous`.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.calls import Flow
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured import account_flows, envelope_flows
from svcnb.client.chain_secured.models import Sent, Verdict
from svcnb.client.chain_secured.namespace import Door, Shown, T
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.pending import PendingMint
from svcnb.client.listing import Listing
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet

if TYPE_CHECKING:
    from web3.contract import AsyncContract

    from svcnb.client.session import AsyncSession
    from svcnb.client.signing import SignedEnvelope
    from svcnb.client.signing.eth import AnySigner


class AsyncChainSecured(Door):
    """ChainSecured accounts: create, open, read, resume."""

    def __init__(self, session: AsyncSession) -> None:
        super().__init__(ChainAccess(session.config))
        self._session = session

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    async def create(
        self, owner: AnySigner, name: str, *, description: str = "", on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """Creates an account that a wallet owns, by a transaction of that wallet.

        Args:
            owner: The wallet, a `Signer` or an eth-account account; it pays the gas now and for every later change.
            name: The account's name.
            description: What it is for.
            on_preview: Called with every write before it is signed; False stops the write.

        Raises:
            ChainError: The wallet has or had an account (``AccountAlreadyExists``), or it cannot pay the gas.
        """
        writer = self._writer(owner, on_preview)
        found = await self._do(account_flows.create(writer, name, description))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def open(
        self, owner: AnySigner, *, api_key_hash: str | None = None, on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """Opens the account that a wallet owns. The master hash is found in the chain's events.

        Args:
            owner: Its admin wallet.
            api_key_hash: The master hash, if the chain's node does not have the events with it.
            on_preview: Called with every write before it is signed; False stops the write.

        Raises:
            ChainError: The wallet owns no account.
        """
        writer = self._writer(owner, on_preview)
        found = await self._do(account_flows.open_account(writer, api_key_hash))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def convert(self, owner: AnySigner, *, confirm: bool = False) -> AsyncChainSecuredAccount:
        """Alias of ``svc.accounts.convert``."""
        writer = self._writer(owner, None)
        found = await self._do(account_flows.convert(writer, confirm=confirm))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def look(self, api_key_hash: str) -> AsyncChainSecuredAccount:
        """Opens any account to read it, also one in API mode. Needs no wallet and no key: the chain is public.

        Args:
            api_key_hash: The hash of the account key, as ``account.api_key_hash``.

        Raises:
            InvalidArgument: The string is not a hash of 32 bytes. The methods ``audit``, ``permissions`` and ``diff``
                of `ChainSecuredAccount` also raise it for the hash of a usage key, and name the account.
            ChainError: There is no such account.
        """
        found = await self._do(account_flows.look(self._chain, api_key_hash))
        return AsyncChainSecuredAccount(self._session, self._ownership(Writer(self._chain, None), found))

    async def resume(
        self, mint: PendingMint | str, owner: AnySigner, *, on_preview: Shown | None = None
    ) -> Wallet | UsageKey:
        """Finishes an interrupted mint. Checks first which steps are done, so nothing is repeated.

        Args:
            mint: The record, or its id.
            owner: The wallet that owns the account now.
            on_preview: As in `open`.

        Returns:
            The wallet, or the usage key with its secret.
        """
        record = self._record(mint)
        writer = self._writer(owner, on_preview)
        account = Ownership(writer, int(record.api_key_hash, 16), self._records)
        return await self._do(account_flows.resume(account, record))

    async def sign(self, owner: AnySigner, flow: str) -> SignedEnvelope:
        """Has a wallet sign the envelope of a flow, with this service's chain and its present time.

        The other methods do this automatically. Use this one to inspect the envelope, or to send it elsewhere.

        Args:
            owner: The wallet.
            flow: ``CreateWallet``, ``AddUsageApiKey``, ``ConvertAccount`` or ``BillingAuth``.

        Raises:
            InvalidArgument: There is no such flow.
        """
        return await self._do(account_flows.sign(self._writer(owner, None), flow))

    async def verify(self, typed_data: dict[str, Any], signature: str, address: str) -> bool:
        """Returns whether a wallet signed. For a contract wallet, the chain is queried (ERC-1271).

        Args:
            typed_data: The envelope.
            signature: ``0x`` hex.
            address: The expected signer.
        """
        return await self._do(account_flows.verify(self._chain, typed_data, signature, address))

    async def check(self, typed_data: dict[str, Any], signature: str, *, flow: str | None = None) -> Listing[Verdict]:
        """Checks a signed envelope against every rule of specification 5.6, as the service would now.

        Args:
            typed_data: The envelope.
            signature: ``0x`` hex.
            flow: The flow whose endpoint it is meant for; its own ``primaryType`` when None.

        Raises:
            InvalidArgument: There is no such flow.
        """
        return await self._do(envelope_flows.check(self._chain, typed_data, signature, flow))

    async def send(self, envelope: SignedEnvelope, *, confirm: bool = False) -> Sent:
        """Sends a signed envelope to the endpoint of its flow, without registering anything on chain.

        A minted wallet or key belongs to no account until it is registered on chain. ``mine.wallets.create`` and
        ``mine.usage_keys.create`` perform both steps.

        Args:
            envelope: The result of `sign`.
            confirm: Needed for ``ConvertAccount``, which is irreversible.

        Raises:
            NotConfirmed: It is required and not given.
            BadRequest: The service rejected the envelope; `check` shows the broken rule.
        """
        return await self._do(envelope_flows.send(envelope, confirm=confirm))

    async def drift(self) -> tuple[str, ...]:
        """Returns the functions of this version's interface that the deployed contract lacks; normally empty."""
        return await self._do(self._chain.missing())

    async def contract(self, owner: AnySigner | None = None) -> AsyncContract:
        """Returns the service's AccountConfig contract as a web3 object, connected to a node of its chain.

        Views are called with ``contract.functions.NAME(...).call()``. With an owner, ``.transact()`` signs and sends.
        The node's address is ``rpc_url``, or the one that the service reports.

        Args:
            owner: Wallet that signs: a `LocalSigner` or an eth-account account. None to read only.

        Raises:
            ChainError: web3 is not installed.
            ConfigError: Neither is an address set nor does the service report one.
            InvalidArgument: The owner's key is not in this process.
        """
        from svcnb.client.chain import web3_objects

        node = await self._do(self._chain.node())
        return web3_objects.async_contract(await self._do(self._chain.url()), node.contract_address, owner)
