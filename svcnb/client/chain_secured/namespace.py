"""Methods of ``svc.chain_secured``, for accounts that wallets own, signed envelopes and interrupted operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from svcnb.checked import Checked
from svcnb.client.calls import Flow
from svcnb.client.chain.access import ChainAccess
from svcnb.client.chain.identity import Identity
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured import account_flows, envelope_flows
from svcnb.client.chain_secured.account import ChainSecuredAccount
from svcnb.client.chain_secured.models import Sent, Verdict
from svcnb.client.chain_secured.ownership import Ownership
from svcnb.client.chain_secured.pending import PendingFolder, PendingMint
from svcnb.client.listing import Listing
from svcnb.client.models.chain import Preview
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.session import SyncSession
from svcnb.renamed import renamed

if TYPE_CHECKING:
    from web3.contract import Contract

    from svcnb.client.signing import SignedEnvelope
    from svcnb.client.signing.eth import AnySigner

T = TypeVar("T")
Shown = Callable[[Preview], object]


class Namespace(Checked):
    """Base class of `ChainSecured` and `AsyncChainSecured`, with the methods that do not send a request."""

    def __init__(self, chain: ChainAccess) -> None:
        self._chain = chain
        self._records = PendingFolder()

    def pending(self) -> Listing[PendingMint]:
        """Returns the records of interrupted creations of wallets and usage keys at this service.

        The display of a record never shows the secret of a new usage key.

        Raises:
            ConfigError: A record cannot be read or decrypted, or other users can read a record or its key file.
        """
        base_url = self._chain.config.base_url
        return Listing(
            [item for item in self._records.all() if item.base_url == base_url],
            of="interrupted creations of wallets and keys",
            kind=PendingMint,
        )

    def delete_pending(self, mint: PendingMint | str, *, confirm: bool = False) -> None:
        """Deletes the record of the interrupted creation of a wallet or a usage key.

        A wallet or key that the service has already created is then lost, because only the record contains its data.

        Args:
            mint: The record, or its id.
            confirm: Must be True if the service has already created the wallet or the key.

        Raises:
            NotConfirmed: The service has already created the wallet or the key, and ``confirm`` is not True.
            InvalidArgument: There is no record with this id.
        """
        record = self._record(mint)
        account_flows.require_confirmed(record, confirm=confirm)
        self._records.delete(record)

    def abandon(self, mint: PendingMint | str, *, confirm: bool = False) -> None:
        """Deprecated name of `delete_pending`."""
        renamed("chain_secured.abandon", "chain_secured.delete_pending")
        self.delete_pending(mint, confirm=confirm)

    def _record(self, mint: PendingMint | str) -> PendingMint:
        return self._records.get(mint.id if isinstance(mint, PendingMint) else mint)

    def _writer(self, owner: AnySigner, shown: Shown | None) -> Writer:
        from svcnb.client.signing import as_signer

        return Writer(self._chain, as_signer(owner), on_preview=shown)


class ChainSecured(Namespace):
    """Methods that create or open ChainSecured accounts, sign and check envelopes, and finish interrupted creations."""

    def __init__(self, session: SyncSession) -> None:
        super().__init__(ChainAccess(session.config))
        self._session = session

    def _do(self, flow: Flow[T]) -> T:
        return self._session.drive(flow)

    def _opened(self, writer: Writer, flow: Flow[Identity]) -> ChainSecuredAccount:
        return ChainSecuredAccount(self._session, Ownership(writer, self._do(flow).master_hash, self._records))

    def create(
        self, owner: AnySigner, name: str, *, description: str = "", on_preview: Shown | None = None
    ) -> ChainSecuredAccount:
        """Creates and returns an account that a wallet owns. The wallet signs one transaction.

        Args:
            owner: The wallet, a `Signer` or an eth-account account. The wallet pays the gas for the creation and every
                later change.
            name: Name of the account.
            description: Purpose of the account.
            on_preview: Function that the client calls with a preview of every write before the wallet signs the
                transaction. If the function returns False, the client cancels the write. With None, the
                wallet signs without a preview.

        Raises:
            ChainError: The wallet owns or owned an account (``AccountAlreadyExists``), or cannot pay the gas.
            InvalidArgument: The name is empty, or ``owner`` is not a wallet.
        """
        writer = self._writer(owner, on_preview)
        return self._opened(writer, account_flows.create(writer, name, description))

    def open(
        self, owner: AnySigner, *, api_key_hash: str | None = None, on_preview: Shown | None = None
    ) -> ChainSecuredAccount:
        """Opens and returns the account that a wallet owns. The client reads the master hash from on-chain events.

        Args:
            owner: The admin wallet of the account.
            api_key_hash: The master hash. This argument is required if the chain node does not store these events.
            on_preview: Function that the client calls with a preview of every write before the wallet signs the
                transaction. If the function returns False, the client cancels the write. With None, the
                wallet signs without a preview.

        Raises:
            ChainError: The wallet does not own an account, or does not own the account with the given hash.
            InvalidArgument: ``api_key_hash`` is not a hash of 32 bytes, or ``owner`` is not a wallet.
        """
        writer = self._writer(owner, on_preview)
        return self._opened(writer, account_flows.open_account(writer, api_key_hash))

    def convert(self, owner: AnySigner, *, confirm: bool = False) -> ChainSecuredAccount:
        """Converts the account of the client's key to a ChainSecured account, and returns the account.

        This method is an alias of ``svc.accounts.convert``.

        Args:
            owner: The wallet that will own the account.
            confirm: Must be True, because the conversion is irreversible.

        Raises:
            NotConfirmed: ``confirm`` is not True. ``svc.accounts.convert`` lists the other errors.
        """
        writer = self._writer(owner, None)
        return self._opened(writer, account_flows.convert(writer, confirm=confirm))

    def look(self, api_key_hash: str) -> ChainSecuredAccount:
        """Opens any account for reading, including accounts in API mode, and returns the account.

        This method needs no wallet and no key, because the chain is public.

        Args:
            api_key_hash: Hash that identifies the account: the attribute ``api_key_hash`` of an account in API mode or
                of a ChainSecured account.

        Raises:
            InvalidArgument: The string is not a hash of 32 bytes. The methods ``audit``, ``permissions`` and ``diff``
                of the returned account also raise this error for the hash of a usage key. The hint then contains the
                hash of the account.
            ChainError: There is no account with this hash.
        """
        return self._opened(Writer(self._chain, None), account_flows.look(self._chain, api_key_hash))

    def resume(
        self, mint: PendingMint | str, owner: AnySigner, *, on_preview: Shown | None = None
    ) -> Wallet | UsageKey:
        """Completes the interrupted creation of a wallet or usage key, without repeating completed steps.

        Args:
            mint: The record, or its id.
            owner: The wallet that currently owns the account.
            on_preview: See `open`.

        Returns:
            The wallet, or the usage key with its secret.

        Raises:
            InvalidArgument: There is no record with this id, or the record belongs to another service.
            ChainError: The wallet does not own the account, the contract rejected the registration, or the wallet
                cannot pay the gas.
        """
        record = self._record(mint)
        writer = self._writer(owner, on_preview)
        account = Ownership(writer, int(record.api_key_hash, 16), self._records)
        return self._do(account_flows.resume(account, record))

    def sign(self, owner: AnySigner, flow: str) -> SignedEnvelope:
        """Returns a signed envelope: typed data (EIP-712) with the chain id and the current time of this service.

        Methods that need an envelope sign automatically. Use this method to inspect or send the envelope yourself.

        Args:
            owner: The wallet that signs.
            flow: Operation that the envelope authorises: ``CreateWallet``, ``AddUsageApiKey``, ``ConvertAccount`` or
                ``BillingAuth``.

        Raises:
            InvalidArgument: The flow does not exist.
            SigningError: The wallet did not sign.
        """
        return self._do(account_flows.sign(self._writer(owner, None), flow))

    def verify(self, typed_data: dict[str, Any], signature: str, address: str) -> bool:
        """Returns whether a wallet signed an envelope. For a contract wallet, the client calls the contract (ERC-1271).

        Args:
            typed_data: Envelope: typed data with the members types, primaryType, domain and message.
            signature: Signature in ``0x`` hex.
            address: Address of the expected signer, ``0x`` followed by 40 hex digits.

        Raises:
            InvalidArgument: The address is malformed.
            SigningError: The typed data cannot be hashed, or the signature is not hex.
        """
        return self._do(account_flows.verify(self._chain, typed_data, signature, address))

    def check(self, typed_data: dict[str, Any], signature: str, *, flow: str | None = None) -> Listing[Verdict]:
        """Checks a signed envelope against the service's eight rules, and returns one result for each rule.

        The check uses the service's current time.

        Source: docs/service/signatures.md#rules-of-a-signature.

        Args:
            typed_data: Envelope: typed data with the members types, primaryType, domain and message.
            signature: Signature in ``0x`` hex.
            flow: Flow whose endpoint will receive the envelope. None means the envelope's own ``primaryType``.

        Raises:
            InvalidArgument: The flow does not exist.
        """
        return self._do(envelope_flows.check(self._chain, typed_data, signature, flow))

    def send(self, envelope: SignedEnvelope, *, confirm: bool = False) -> Sent:
        """Sends a signed envelope to the endpoint of its flow, and returns the service's response.

        The method does not register anything on chain. A new wallet or key is not part of any account until a
        transaction registers the object on chain. ``mine.wallets.create`` and ``mine.usage_keys.create`` also register
        the object. ``ConvertAccount`` converts the account of this client's key.

        Args:
            envelope: The result of `sign`.
            confirm: Must be True for ``ConvertAccount``, which is irreversible.

        Raises:
            NotConfirmed: The flow is ``ConvertAccount``, and ``confirm`` is not True.
            BadRequest: The service rejected the envelope. `check` shows the rule that the envelope violates.
            Unauthorized: The service rejected a ``BillingAuth`` envelope, or the wallet does not own an account.
        """
        return self._do(envelope_flows.send(envelope, confirm=confirm))

    def drift(self) -> tuple[str, ...]:
        """Returns the names of the functions that this client uses but the deployed contract does not have.

        The result is empty if the contract has all functions.
        """
        return self._do(self._chain.missing())

    def contract(self, owner: AnySigner | None = None) -> Contract:
        """Returns the service's AccountConfig contract as a web3 object, connected to a node of the service's chain.

        Call views with ``contract.functions.NAME(...).call()``. With an owner, ``.transact()`` signs and sends a
        transaction. The node's address is ``rpc_url``, or the address that the service reports.

        Args:
            owner: Wallet that signs the transactions: a `LocalSigner` or an eth-account account. With None, the
                returned object can only read.

        Raises:
            ChainError: web3 is not installed.
            ConfigError: ``rpc_url`` is not set, and the service does not report the address of a node.
            InvalidArgument: The private key of ``owner`` is not in this process.
        """
        from svcnb.client.chain import web3_objects

        node = self._do(self._chain.node())
        return web3_objects.contract(self._do(self._chain.url()), node.contract_address, owner)
