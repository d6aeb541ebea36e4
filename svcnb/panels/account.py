"""Account panel, which creates, opens, converts and transfers accounts, shows new keys, and adds credit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.errors import ConfigError, InvalidArgument, ServiceError, SigningError, Unauthorized
from svcnb.client.models.billing import Payment
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.models.wallets import Wallet
from svcnb.client.signing import ContractWallet, LocalSigner, Signer, as_signer
from svcnb.panels.base import command
from svcnb.panels.browser_signer import BrowserSigner
from svcnb.panels.owned import OWNER_LINE, connected
from svcnb.panels.session import CLOSED
from svcnb.panels.wallet_panel import WalletPanel
from svcnb.panels.wire import field
from svcnb.protocol.limits import PAYMENT_PACKAGES_CENTS

if TYPE_CHECKING:
    from svcnb.client.models.chain import Preview
    from svcnb.client.signing.eth import AnySigner

MAX_KEY_FILE: Final = 65_536
"""Maximum size of a key file, in characters. Typical files have about 500."""


class AccountPanel(WalletPanel, bundle="account"):
    """Panel in which the user creates, opens, converts or transfers an account, and adds credit.

    When the user opens an account in API mode with a key, `client` then uses this key. After the user opens a
    ChainSecured account, `account` is this account.

    The panel shows a new key only once. Keys are never part of the widget's state, so saved notebooks do not contain
    keys.

    Args:
        client: Client of the service. If the client has a key, the user can immediately open the account of the key.
        owner: Wallet for ChainSecured accounts: a `svcnb.LocalSigner`, a `svcnb.BrowserSigner` or a
            `svcnb.ContractWallet`. None means that the user chooses a wallet in the panel.

    Attributes:
        state: Displayed values of the open account: ``mode`` (``api``, ``chain`` or empty), ``address``, ``hash`` and
            ``balance``. An unknown value is empty.
        owner_address: Address of the owner, or a note that the browser wallet is not connected. Empty without an owner.
    """

    title = "Account"
    state = traitlets.Dict(dict(CLOSED)).tag(sync=True)
    owner_address = traitlets.Unicode("").tag(sync=True)

    def __init__(self, client: Client, *, owner: AnySigner | None = None) -> None:
        self._payment: Payment | None = None
        super().__init__(client)
        if owner is not None:
            self.session.owner = as_signer(owner)
        if self.session.host is None:
            self.session.host = self
        self._show()

    @property
    def account(self) -> AsyncChainSecuredAccount | None:
        """The open ChainSecured account, with asynchronous methods. None if no ChainSecured account is open."""
        return self.session.account

    @property
    def owner(self) -> Signer | None:
        """Wallet for ChainSecured accounts, from the constructor or the user's choice. None if no wallet is chosen."""
        return self.session.owner

    def about(self) -> dict[str, object]:
        """Returns the mode of the open account, or a note that no account is open."""
        return {"mode": self.state["mode"] or "no open account"}

    def session_changed(self, what: frozenset[str]) -> None:  # noqa: ARG002 - the panel shows every change
        """Updates the panel after a change of the session."""
        self._show()

    def _show(self) -> None:
        self.state = dict(self.session.state)
        try:
            self.owner_address = self.owner.address if self.owner is not None else ""
        except SigningError:
            self.owner_address = "a browser wallet, not connected yet"

    def close(self) -> None:
        """Closes the panel. The client, the open account and the owner's wallet stay available to the other panels.

        There is one exception: if a browser wallet is connected through this panel, the method removes this wallet,
        because it cannot sign without the panel. To close the account too, first call `leave`. To remove any other
        wallet from the kernel's memory, first call `forget_owner`.
        """
        super().close()
        if self._session is None:  # the constructor failed
            return
        owner = _innermost(self._session.owner)
        if isinstance(owner, BrowserSigner) and owner.uses(self):
            self._session.owner = None
            self._session.changed("account")

    @command
    def setting(self) -> dict[str, Any]:
        """Returns the available amounts of a payment in cents, and whether the client has a key."""
        return {"packages": list(PAYMENT_PACKAGES_CENTS), "has_key": self.client.config.api_key is not None}

    # --- API mode -----------------------------------------------------------------------------------------------

    @command
    async def create(self, name: str) -> dict[str, str]:
        """Creates an account in API mode, and returns its key. The service never shows the key again."""
        with field("name"):
            account = await self.service.accounts.create(name)
        self.record(f"account = svc.accounts.create({name!r})\nsvc = svc.with_key(account)  # store account.api_key")
        self.session.opened(account, address=account.wallet_address, hash=account.api_key_hash)
        return {"api_key": account.api_key.reveal()}

    @command
    async def open_with_key(self, api_key: str = "") -> None:
        """Opens the account of a key that the user entered, or of the client's key."""
        key = api_key.strip() or None
        with field("key", *((ConfigError, Unauthorized) if key else ())):
            service = self.service.with_key(key) if key else self.service
            wallets = await service.wallets.list()  # the call raises an error for a key without an account
        try:
            balance = (await service.billing.balance()).balance_display
        except ServiceError:
            balance = ""
        if key:
            self.record('import os\nsvc = svc.with_key(os.environ["SVC_API_KEY"])')
        address = wallets[0].wallet_address if wallets else ""
        self.session.opened(key, address=address, balance=balance)

    @command
    def leave(self) -> None:
        """Closes the open account in all panels, so that the user can create or open another account.

        The method also removes the key from the client. The account on the service does not change.
        """
        self.record("svc = svc.with_key(None)")
        self.session.closed()

    # --- ChainSecured mode --------------------------------------------------------------------------------------

    @command
    def use_owner(self, key: str) -> None:
        """Uses a private key as the owner's wallet. Only the kernel's memory contains the key."""
        with field("owner_key", SigningError):
            self._own(LocalSigner.from_key(key))

    @command
    def use_key_file(self, text: str, password: str, name: str) -> None:
        """Uses the wallet in an encrypted key file as the owner. Only the kernel's memory contains its private key."""
        with field("file"):
            if len(text) > MAX_KEY_FILE:
                raise InvalidArgument(
                    f"{name} is too large for a key file: it has {len(text):,} characters, but at most "
                    f"{MAX_KEY_FILE:,} are allowed",
                    hint="Choose an encrypted JSON key file (version 3), which is the format that wallets export.",
                )
        with field("password", SigningError):
            self._own(LocalSigner.from_json(text, password, name=name))

    @command
    async def use_browser_wallet(self) -> None:
        """Asks the user to connect a browser wallet, and uses this wallet as the owner."""
        signer = BrowserSigner(self.session.host or self)
        self.channel.progress("Waiting for the wallet")
        await signer.connect()
        self._own(signer)

    @command
    def use_contract_wallet(self, address: str) -> None:
        """Uses a contract wallet as the owner. The previously chosen wallet signs for the contract wallet."""
        if self.owner is None:
            raise SigningError(
                "no wallet is chosen to sign for the contract wallet",
                hint="First choose a browser wallet, a key file or a private key.",
            )
        with field("contract", SigningError):
            self._own(ContractWallet(address, self.owner))

    @command
    def forget_owner(self) -> None:
        """Removes the owner's wallet from all panels of the client and from the kernel's memory."""
        self._own(None)

    def _own(self, owner: Signer | None) -> None:
        self.session.owner = owner
        self._show()

    @command
    async def create_on_chain(self, name: str) -> None:
        """Creates and opens a ChainSecured account for the owner's wallet, with one transaction."""
        owner = await self._signer()
        with field("chain_name"):
            account = await self.service.chain_secured.create(owner, name, on_preview=self._confirmed)
        self._record_owner(f"mine = svc.chain_secured.create(owner, {name!r})")
        await self._opened_on_chain(account)

    @command
    async def open_on_chain(self) -> None:
        """Opens the ChainSecured account that the owner's wallet owns."""
        account = await self.service.chain_secured.open(await self._signer(), on_preview=self._confirmed)
        self._record_owner("mine = svc.chain_secured.open(owner)")
        await self._opened_on_chain(account)

    @command
    async def convert(self, *, confirm: bool = False) -> None:
        """Converts the account of the client's key to a ChainSecured account, permanently.

        Without ``confirm``, the method raises an error that describes the effect.
        """
        account = await self.service.accounts.convert(await self._signer(), confirm=confirm)
        account.on_preview = self._confirmed
        self._record_owner("mine = svc.accounts.convert(owner, confirm=True)")
        await self._opened_on_chain(account)

    @command
    async def transfer(self, to: str, *, confirm: bool = False) -> None:
        """Transfers the open ChainSecured account to the wallet with the address ``to``, and closes the account.

        Without ``confirm``, the method raises an error that describes the effect.
        """
        if self.account is None:
            raise InvalidArgument(
                "no ChainSecured account is open", hint="First create or open a ChainSecured account."
            )
        with field("to"):
            await self.account.transfer_ownership(to, confirm=confirm)
        self.record(f"mine.transfer_ownership({to!r}, confirm=True)")
        self.session.owner = None
        self.session.closed()

    @command
    def pending(self) -> list[dict[str, Any]]:
        """Returns the wallets and usage keys of this service whose creation is incomplete."""
        records = self.service.chain_secured.pending()
        return [{"id": each.id, "kind": each.kind, "name": each.name, "stage": each.stage} for each in records]

    @command
    async def resume(self, mint: str) -> dict[str, str]:
        """Completes the creation of the wallet or usage key with the id ``mint`` in `pending`.

        The result contains the secret of a usage key, or the address of a wallet. The other value is empty.
        """
        made = await self.service.chain_secured.resume(mint, await self._signer(), on_preview=self._confirmed)
        self.record("for mint in svc.chain_secured.pending():\n    svc.chain_secured.resume(mint, owner)")
        self.session.changed("resources")
        if isinstance(made, UsageKey):
            self.session.add_key(made)
            return {"secret": made.usage_api_key.reveal() if made.usage_api_key else "", "address": ""}
        assert isinstance(made, Wallet)  # noqa: S101 - resume returns a usage key or a wallet
        return {"secret": "", "address": made.wallet_address}

    @command
    def abandon(self, mint: str, *, confirm: bool = False) -> None:
        """Deletes the record of the wallet or usage key with the id ``mint`` in `pending`.

        Without ``confirm``, the method raises an error that describes what the user loses.
        """
        self.service.chain_secured.delete_pending(mint, confirm=confirm)
        # The recorded code deletes only this record, so that other machines can run the code without a loss.
        self.record(
            "for mint in svc.chain_secured.pending():\n"
            f"    if mint.id == {mint!r}:\n        svc.chain_secured.delete_pending(mint, confirm=True)"
        )

    async def _signer(self) -> Signer:
        if self.owner is None:
            raise SigningError(
                "no wallet is chosen as the owner of the ChainSecured account",
                hint="Choose a browser wallet, a key file or a private key under ChainSecured mode.",
            )
        await connected(self.owner, self.channel)
        self._show()
        return self.owner

    async def _confirmed(self, preview: Preview) -> bool:
        """Requests the user's confirmation of a transaction, and returns True if the user confirms.

        For a browser wallet, the method returns True without a request, because the panel shows the transaction when
        it sends the request to the wallet.
        """
        if isinstance(_innermost(self.owner), BrowserSigner):
            return True
        self.channel.progress("Waiting for your confirmation")
        return bool(await (self.session.host or self).ask_confirmation(preview))

    def _record_owner(self, line: str) -> None:
        if OWNER_LINE not in "\n".join(self.lines):
            if isinstance(self.owner, ContractWallet):
                line = f"owner = svcnb.ContractWallet({self.owner.address!r}, owner)\n{line}"
            line = f"{OWNER_LINE}\n{line}"
        self.record(line)

    async def _opened_on_chain(self, account: AsyncChainSecuredAccount) -> None:
        described = await account.describe()
        self.session.opened_on_chain(account, address=described.admin, hash=described.api_key_hash)

    # --- credit -------------------------------------------------------------------------------------------------

    @command
    async def refresh(self) -> None:
        """Refreshes the displayed credit. In ChainSecured mode, the owner's wallet signs the request."""
        self.session.show_balance(await self.session.billing.balance())
        self.record(f"print({self.session.subject}.billing.balance())")

    @command
    async def pay(self, cents: int, method: str) -> dict[str, str]:
        """Starts a payment, and returns its id and the address of the page on which the user pays.

        The address contains the payment's secret. With a real service, the address is empty.

        Args:
            cents: Amount in US cents.
            method: ``card`` or ``crypto``.
        """
        if method not in ("card", "crypto"):
            raise InvalidArgument(f"invalid payment method {method!r}", hint="Choose card or crypto.")
        billing = self.session.billing
        payment = await billing.create_payment_intent(cents, method=method)
        self._payment = payment
        self.record(f"{self.session.subject}.billing.top_up({cents}, method={method!r})")
        return {"page": await billing.pay_page(payment) or "", "payment": payment.payment_intent_id}

    @command
    async def wait_for_payment(self) -> None:
        """Waits until the service has credited the payment that the user started."""
        if self._payment is None:
            raise InvalidArgument("no payment was created", hint="Choose an amount and create a payment.")
        paid = await self.session.billing.wait(self._payment)
        self._payment = None
        if paid.balance is not None:
            self.session.show_balance(paid.balance)


def _innermost(owner: Signer | None) -> Signer | None:
    """Returns the wallet that signs for a contract wallet. The function returns any other wallet unchanged."""
    while (inner := getattr(owner, "signer", None)) is not None:
        owner = inner
    return owner
