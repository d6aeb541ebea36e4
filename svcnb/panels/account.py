"""Account set-up: create or open an account in either mode, see its key once, add credit, convert."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.errors import InvalidArgument, SigningError
from svcnb.client.models.billing import Balance, Payment
from svcnb.client.signing import LocalSigner, Signer, as_signer
from svcnb.panels.base import Panel, command
from svcnb.panels.owned import OWNER_LINE, connected
from svcnb.protocol.limits import PAYMENT_PACKAGES_CENTS

if TYPE_CHECKING:
    from svcnb.client.signing.eth import AnySigner

_CLOSED: Final = {"mode": "", "address": "", "hash": "", "balance": ""}


class AccountPanel(Panel, bundle="account"):
    """Creates or opens an account; afterwards `client` is a client of it, and `account` the account on chain.

    A key is shown once and never part of the widget's state, so no saved notebook holds it.

    Args:
        client: The service. If it has a key, its account can be opened at once.
        owner: The wallet for ChainSecured accounts: a `svcnb.LocalSigner`, a `svcnb.BrowserSigner`, a
            `svcnb.ContractWallet`. Without one, a private key can be typed in.

    Attributes:
        state: What the panel shows: ``mode`` (``api``, ``chain`` or empty), ``address``, ``hash`` and ``balance``.
        owner_address: Address of the owner, empty while there is none.
        account: The ChainSecured account, to await; None in API mode.
    """

    title = "Account"
    state = traitlets.Dict(dict(_CLOSED)).tag(sync=True)
    owner_address = traitlets.Unicode("").tag(sync=True)

    def __init__(self, client: Client, *, owner: AnySigner | None = None) -> None:
        self.account: AsyncChainSecuredAccount | None = None
        self._owner = None if owner is None else as_signer(owner)
        self._payment: Payment | None = None
        super().__init__(client)
        if isinstance(self._owner, LocalSigner):
            self.owner_address = self._owner.address
        elif owner is not None:
            self.owner_address = "a wallet elsewhere"

    @property
    def owner(self) -> Signer | None:
        """The wallet for ChainSecured accounts, given or typed in."""
        return self._owner

    def about(self) -> dict[str, object]:
        """The mode of the open account."""
        return {"mode": self.state["mode"] or "none open"}

    @command
    def setting(self) -> dict[str, Any]:
        """What can be chosen."""
        return {"packages": list(PAYMENT_PACKAGES_CENTS), "has_key": self.client.config.api_key is not None}

    # --- API mode -----------------------------------------------------------------------------------------------

    @command
    async def create(self, name: str) -> dict[str, str]:
        """Creates an account in API mode and answers its key, this once."""
        account = await self.service.accounts.create(name)
        self.client = self.client.with_key(account)
        self.record(f"account = svc.accounts.create({name!r})\nsvc = svc.with_key(account)  # store account.api_key")
        # The key must reach its owner even if the credit cannot be read.
        self.state = {**_CLOSED, "mode": "api", "address": account.wallet_address, "hash": account.api_key_hash}
        return {"api_key": account.api_key.reveal()}

    @command
    async def open_with_key(self, api_key: str = "") -> None:
        """Opens the account that a key belongs to: a typed one, or the client's own."""
        if api_key.strip():
            client = self.client.with_key(api_key)
            async with client.to_async() as service:
                balance = await service.billing.balance()  # refuses a key that opens nothing
            self.client = client
            self.record('import os\nsvc = svc.with_key(os.environ["SVC_API_KEY"])')
        else:
            balance = await self.service.billing.balance()
        wallets = await self.service.wallets.list()
        address = wallets[0].wallet_address if wallets else ""
        self.account = None
        self.state = {**_CLOSED, "mode": "api", "address": address, "balance": balance.balance_display}

    # --- ChainSecured mode --------------------------------------------------------------------------------------

    @command
    def use_owner(self, key: str) -> None:
        """Takes a private key as the owner's, for as long as the panel lives."""
        self._owner = LocalSigner.from_key(key)
        self.owner_address = self._owner.address

    @command
    async def create_on_chain(self, name: str) -> None:
        """Opens an account that the owner's wallet owns, by a transaction."""
        owner = await self._signer()
        self.channel.progress("Waiting for the transaction")
        self.account = await self.service.chain_secured.create(owner, name)
        self.record(f"{OWNER_LINE}\nmine = svc.chain_secured.create(owner, {name!r})")
        await self._read_chain()

    @command
    async def open_on_chain(self) -> None:
        """Opens the account that the owner's wallet owns."""
        self.account = await self.service.chain_secured.open(await self._signer())
        self.record(f"{OWNER_LINE}\nmine = svc.chain_secured.open(owner)")
        await self._read_chain()

    @command
    async def convert(self, *, confirm: bool = False) -> None:
        """Hands the account to the owner's wallet, for good. Without ``confirm`` it only says what would happen."""
        self.account = await self.service.accounts.convert(await self._signer(), confirm=confirm)
        self.record(f"{OWNER_LINE}\nmine = svc.accounts.convert(owner, confirm=True)")
        await self._read_chain()

    async def _signer(self) -> Signer:
        if self._owner is None:
            raise SigningError(
                "a wallet is needed that owns the account",
                hint="Type its private key, or make the panel with one: AccountPanel(svc, owner=...).",
            )
        await connected(self._owner, self.channel)
        self.owner_address = self._owner.address
        return self._owner

    async def _read_chain(self) -> None:
        assert self.account is not None  # noqa: S101 - every caller has just opened it
        described = await self.account.describe()
        self.state = {**_CLOSED, "mode": "chain", "address": described.admin, "hash": described.api_key_hash}

    # --- credit -------------------------------------------------------------------------------------------------

    @command
    async def refresh(self) -> None:
        """Reads the credit again. In ChainSecured mode the owner's wallet signs for it."""
        self._show(await self._billing().balance())

    @command
    async def pay(self, cents: int, method: str) -> dict[str, str]:
        """Begins a payment and answers the address of the processor's page; that holds a secret."""
        if method not in ("card", "crypto"):
            raise InvalidArgument(f"{method!r} is no way to pay", hint="Use 'card' or 'crypto'.")
        billing = self._billing()
        payment = await billing.create_payment_intent(cents, method=method)
        self._payment = payment
        noun = "mine" if self.account is not None else "svc"
        self.record(f"{noun}.billing.top_up({cents}, method={method!r})")
        return {"page": await billing.pay_page(payment) or "", "payment": payment.payment_intent_id}

    @command
    async def wait_for_payment(self) -> None:
        """Waits until the payment that was begun is credited."""
        if self._payment is None:
            raise InvalidArgument("no payment was begun", hint="Choose an amount and begin one.")
        paid = await self._billing().wait(self._payment)
        self._payment = None
        if paid.balance is not None:
            self._show(paid.balance)

    def _billing(self) -> Any:
        return self.service.billing if self.account is None else self.account.billing

    def _show(self, balance: Balance) -> None:
        self.state = {**self.state, "balance": balance.balance_display}
