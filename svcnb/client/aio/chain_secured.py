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
from svcnb.client.chain_secured.namespace import Namespace, Shown, T
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


class AsyncChainSecured(Namespace):
    """ChainSecured accounts: create, open and read them, and finish interrupted operations."""

    def __init__(self, session: AsyncSession) -> None:
        super().__init__(ChainAccess(session.config))
        self._session = session

    async def _do(self, flow: Flow[T]) -> T:
        return await self._session.drive(flow)

    async def create(
        self, owner: AnySigner, name: str, *, description: str = "", on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """Creates an account that a wallet owns. The wallet signs one transaction.

        Args:
            owner: The wallet, a `Signer` or an eth-account account. It pays the gas for this and every later change.
            name: Name of the account.
            description: Purpose of the account.
            on_preview: Function that the client calls with a preview of every write before the wallet signs it. If it
                returns False, the client cancels the write.

        Raises:
            ChainError: The wallet owns or owned an account (``AccountAlreadyExists``), or cannot pay the gas.
        """
        writer = self._writer(owner, on_preview)
        found = await self._do(account_flows.create(writer, name, description))
        return AsyncChainSecuredAccount(self._session, self._ownership(writer, found))

    async def open(
        self, owner: AnySigner, *, api_key_hash: str | None = None, on_preview: Shown | None = None
    ) -> AsyncChainSecuredAccount:
        """Opens the account that a wallet owns. The client reads the master hash from on-chain events.

        Args:
            owner: The admin wallet of the account.
            api_key_hash: The master hash. It is required if the chain node does not have these events.
            on_preview: Function that the client calls with a preview of every write before the wallet signs it. If it
                returns False, the client cancels the write.

        Raises:
            ChainError: The wallet does not own an account.
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
        """Opens any account for reading, including accounts in API mode.

        This method needs no wallet and no key, because the chain is public.

        Args:
            api_key_hash: Hash of the account key, as in ``account.api_key_hash``.

        Raises:
            InvalidArgument: The string is not a hash of 32 bytes. The methods ``audit``, ``permissions`` and ``diff``
                of `ChainSecuredAccount` also raise this error for the hash of a usage key. The message then names the
                account.
            ChainError: There is no account with this hash.
        """
        found = await self._do(account_flows.look(self._chain, api_key_hash))
        return AsyncChainSecuredAccount(self._session, self._ownership(Writer(self._chain, None), found))

    async def resume(
        self, mint: PendingMint | str, owner: AnySigner, *, on_preview: Shown | None = None
    ) -> Wallet | UsageKey:
        """Completes the interrupted creation of a wallet or usage key, without repeating completed steps.

        Args:
            mint: The record, or its id.
            owner: The wallet that currently owns the account.
            on_preview: See `open`.

        Returns:
            The wallet, or the usage key with its secret.
        """
        record = self._record(mint)
        writer = self._writer(owner, on_preview)
        account = Ownership(writer, int(record.api_key_hash, 16), self._records)
        return await self._do(account_flows.resume(account, record))

    async def sign(self, owner: AnySigner, flow: str) -> SignedEnvelope:
        """Signs the envelope of a flow with a wallet, for this service's chain and its current time.

        The other methods sign automatically. Use this method to inspect the envelope, or to send it yourself.

        Args:
            owner: The wallet.
            flow: ``CreateWallet``, ``AddUsageApiKey``, ``ConvertAccount`` or ``BillingAuth``.

        Raises:
            InvalidArgument: The flow does not exist.
        """
        return await self._do(account_flows.sign(self._writer(owner, None), flow))

    async def verify(self, typed_data: dict[str, Any], signature: str, address: str) -> bool:
        """Returns whether a wallet signed an envelope. For a contract wallet, the client calls the contract (ERC-1271).

        Args:
            typed_data: The envelope.
            signature: Signature in ``0x`` hex.
            address: The expected signer.
        """
        return await self._do(account_flows.verify(self._chain, typed_data, signature, address))

    async def check(self, typed_data: dict[str, Any], signature: str, *, flow: str | None = None) -> Listing[Verdict]:
        """Checks a signed envelope against every rule, as the service would at the current time.

        Source: docs/service/signatures.md#rules-of-a-signature.

        Args:
            typed_data: The envelope.
            signature: Signature in ``0x`` hex.
            flow: Flow whose endpoint will receive the envelope. None means the envelope's own ``primaryType``.

        Raises:
            InvalidArgument: The flow does not exist.
        """
        return await self._do(envelope_flows.check(self._chain, typed_data, signature, flow))

    async def send(self, envelope: SignedEnvelope, *, confirm: bool = False) -> Sent:
        """Sends a signed envelope to the endpoint of its flow. The method does not register anything on chain.

        A minted wallet or key is not part of any account until it is registered on chain. ``mine.wallets.create`` and
        ``mine.usage_keys.create`` perform both steps.

        Args:
            envelope: The result of `sign`.
            confirm: Must be True for ``ConvertAccount``, which is irreversible.

        Raises:
            NotConfirmed: ``confirm`` is not True.
            BadRequest: The service rejected the envelope. `check` shows the rule that the envelope violates.
        """
        return await self._do(envelope_flows.send(envelope, confirm=confirm))

    async def drift(self) -> tuple[str, ...]:
        """Returns the functions that are missing from the deployed contract. Normally, the list is empty."""
        return await self._do(self._chain.missing())

    async def contract(self, owner: AnySigner | None = None) -> AsyncContract:
        """Returns the service's AccountConfig contract as a web3 object, connected to a node of its chain.

        Call views with ``contract.functions.NAME(...).call()``. With an owner, ``.transact()`` signs and sends.
        The node's address is ``rpc_url``, or the one that the service reports.

        Args:
            owner: Wallet that signs the transactions: a `LocalSigner` or an eth-account account. With None, the
                returned object can only read.

        Raises:
            ChainError: web3 is not installed.
            ConfigError: No node address is set, and the service does not report one.
            InvalidArgument: The private key of ``owner`` is not in this process.
        """
        from svcnb.client.chain import web3_objects

        node = await self._do(self._chain.node())
        return web3_objects.async_contract(await self._do(self._chain.url()), node.contract_address, owner)
