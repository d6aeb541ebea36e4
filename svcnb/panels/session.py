"""Session of a client, with the account, keys, credit and recorded steps that all its panels share."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from typing import Any, Final

from svcnb.client import AsyncClient, Client
from svcnb.client.aio.chain_secured_account import AsyncChainSecuredAccount
from svcnb.client.errors import ConfigError, SvcnbError
from svcnb.client.models.billing import Balance
from svcnb.client.models.usage_keys import UsageKey
from svcnb.client.secret import Secret
from svcnb.client.signing import LocalSigner, Signer
from svcnb.panels.loop import BACKGROUND

CLOSED: Final = {"mode": "", "address": "", "hash": "", "balance": ""}
"""Displayed values while no account is open."""

BALANCE_DELAY_S: Final = 0.2
"""Delay before a refresh of the credit, in seconds. Several billed calls in a row thus cause only one refresh."""

SETTLING_S: Final = 60.0
"""Time after a change of permissions during which the panel repeats a rejected run, in seconds.

A new permission takes effect after a short delay.
"""

RETRY_S: Final = 15.0
"""Time limit for repeating a rejected run, in seconds."""

Watcher = Callable[[frozenset[str]], None]


class Session:
    """State that all panels of one client share. The session announces each change to all panels.

    Each change has a name:

    - ``account``: change of the open account
    - ``resources``: change of wallets, groups, actions or usage keys
    - ``key``: change of the key that runs actions
    - ``runs``: new run
    - ``balance``: change of the credit
    - ``code``: change of the recorded Python

    Args:
        client: The client. When a panel opens an account in API mode, the client uses the key of this account. The
            notebook and the panels therefore use the same account.

    Attributes:
        account: The open ChainSecured account, with asynchronous methods. None if no ChainSecured account is open.
        owner: The wallet that signs for ChainSecured accounts. None if the user has not chosen a wallet.
        host: Panel that sends requests to a browser wallet, and requests a confirmation before the wallet signs a
            transaction.
        state: ``mode`` (``api``, ``chain`` or empty), ``address``, ``hash`` and ``balance`` of the open account.
        lines: Python code of the user's steps.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.given_key = client.config.api_key is not None
        self.account: AsyncChainSecuredAccount | None = None
        self.owner: Signer | None = None
        self.host: Any = None
        self.state: dict[str, str] = dict(CLOSED)
        self.lines: list[str] = []
        self._keys: dict[str, Secret] = {}
        self._run_key = ""
        self._names: dict[tuple[str, object], str] = {}
        self._service: AsyncClient | None = None
        self._watchers: list[Watcher] = []
        self._reading = False
        self._granted_at = -SETTLING_S
        self._lock = threading.Lock()

    @classmethod
    def of(cls, client: Client) -> Session:
        """Returns the session that all panels of a client share. The first call creates the session."""
        found: Session = vars(client).setdefault("_panel_session", cls(client))
        return found

    # --- the service --------------------------------------------------------------------------------------------

    @property
    def service(self) -> AsyncClient:
        """Async client for the panels' event loop, with its own connections."""
        with self._lock:
            if self._service is None:
                self._service = self.client.to_async()
            return self._service

    @property
    def resources(self) -> Any:
        """Object with ``wallets``, ``groups``, ``actions`` and ``usage_keys``: the on-chain account, or the service."""
        return self.service if self.account is None else self.account

    @property
    def mode(self) -> str:
        """Mode of the open account: ``api`` or ``chain``.

        Without an open account, the mode is ``api`` if the client has a key, and empty otherwise.
        """
        return self.state["mode"] or ("api" if self.client.config.api_key is not None else "")

    @property
    def subject(self) -> str:
        """Variable for `resources` in the recorded Python: ``svc``, or ``mine`` for a ChainSecured account."""
        return "svc" if self.account is None else "mine"

    def close_connections(self) -> None:
        """Closes the connections of `service`. The next use of `service` opens new connections."""
        with self._lock:
            service, self._service = self._service, None
        if service is not None:
            BACKGROUND.submit(service.close())

    # --- the account --------------------------------------------------------------------------------------------

    def opened(self, key: Any, **state: str) -> None:
        """Makes an account in API mode the open account of all panels.

        Args:
            key: Key of the account. None keeps the key of the client.
            **state: Values of the account that are already available, as in `state`.
        """
        if key is not None:
            self.client.use_key(key)
        self.close_connections()
        self._switch(None, {**CLOSED, "mode": "api", **state})

    def opened_on_chain(self, account: AsyncChainSecuredAccount, **state: str) -> None:
        """Makes a ChainSecured account the open account of all panels."""
        self._switch(account, {**CLOSED, "mode": "chain", **state})

    def closed(self) -> None:
        """Clears the open account and the client's key, so that the user can create or open another account."""
        self.client.use_key(None)
        self.close_connections()
        self._switch(None, dict(CLOSED))

    def _switch(self, account: AsyncChainSecuredAccount | None, state: dict[str, str]) -> None:
        if not _same(self.state, state):
            self._keys, self._run_key = {}, ""
            self._names.clear()
        self.account, self.state = account, state
        self.changed("account", "resources", "key", "runs", "balance")

    # --- keys that run actions ----------------------------------------------------------------------------------

    @property
    def run_key(self) -> str:
        """Hash of the usage key that runs actions. Empty if the client's own key runs actions."""
        return self._run_key

    @property
    def usable_keys(self) -> frozenset[str]:
        """Hashes of the usage keys whose secrets this session has in memory."""
        return frozenset(self._keys)

    def add_key(self, key: UsageKey) -> None:
        """Stores the secret of a new usage key in memory. Afterwards, actions run with this key."""
        if key.usage_api_key is not None:
            self._keys[key.api_key_hash] = key.usage_api_key
            self._run_key = key.api_key_hash
            self.changed("key")

    def choose_key(self, which: str) -> None:
        """Chooses the key that runs actions, by its hash. An empty string chooses the client's key.

        Raises:
            ConfigError: The session does not have the secret of the usage key.
        """
        if which and which not in self._keys:
            raise ConfigError(
                f"the panel does not have the secret of the usage key {which}",
                hint="Create a new usage key, or open the account with the key that you saved. The panel shows a "
                "secret only once.",
            )
        self._run_key = which
        self.changed("key")

    def runner(self) -> AsyncClient:
        """Returns the client that runs actions.

        Raises:
            ConfigError: The open account is ChainSecured, and no usage key is chosen.
        """
        if self._run_key:
            return self.service.with_key(self._keys[self._run_key])
        if self.account is not None:
            raise ConfigError(
                "no usage key is chosen, but a ChainSecured account can run actions only with a usage key",
                hint="Create a usage key and choose this key next to Run.",
            )
        return self.service

    def granted(self) -> None:
        """Stores the time of a change of permissions, for `until_effective`."""
        self._granted_at = time.monotonic()

    @property
    def until_effective(self) -> float | None:
        """Time for which the panel repeats a rejected run, in seconds.

        None if the permissions have not changed recently.
        """
        return RETRY_S if time.monotonic() - self._granted_at < SETTLING_S else None

    # --- credit -------------------------------------------------------------------------------------------------

    @property
    def billing(self) -> Any:
        """Credit and payments of the open account."""
        return self.resources.billing

    def show_balance(self, balance: Balance) -> None:
        """Shows a balance in all panels."""
        if balance.balance_display != self.state["balance"]:
            self.state = {**self.state, "balance": balance.balance_display}
            self._announce("balance")

    @property
    def _billing_without_signature(self) -> Any:
        """Object that reads the credit without asking the user for a signature. None if the user must sign."""
        if self.account is None or isinstance(self.owner, LocalSigner):
            return self.billing
        key = self._keys.get(self._run_key) or next(iter(self._keys.values()), None)
        return None if key is None else self.service.with_key(key).billing

    def _refresh_balance(self) -> None:
        if self._reading or not self.state["mode"] or self._billing_without_signature is None:
            return
        self._reading = True
        BACKGROUND.submit(self._read_balance())

    async def _read_balance(self) -> None:
        await asyncio.sleep(BALANCE_DELAY_S)
        self._reading = False
        # In the meantime, the user may have closed the panels or opened another account.
        if not self._watchers or (billing := self._billing_without_signature) is None:
            return
        with contextlib.suppress(SvcnbError):  # the call that caused the problem has already reported it
            self.show_balance(await billing.balance())

    # --- announcements ------------------------------------------------------------------------------------------

    def watch(self, watcher: Watcher) -> None:
        """Registers a callback. The session calls the callback with the names of changes, on any thread."""
        with self._lock:
            if not self._watchers:
                self.client.on_run.append(self)
            self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        """Removes a callback. If no other callback is registered, the session closes its connections."""
        with self._lock:
            if watcher in self._watchers:
                self._watchers.remove(watcher)
            last = not self._watchers
        if last:
            self.client.on_run[:] = [each for each in self.client.on_run if each is not self]
            self.close_connections()

    def changed(self, *what: str) -> None:
        """Announces a change, and refreshes the credit if the change may have a cost."""
        self._announce(*what)
        if {"account", "balance", "resources", "runs"} & set(what):
            self._refresh_balance()

    def _announce(self, *what: str) -> None:
        with self._lock:
            watchers = [*self._watchers]
        for watcher in watchers:
            watcher(frozenset(what))

    def __call__(self, _record: object) -> None:
        """Announces a run of the client, including runs of notebook cells."""
        self.changed("runs", "balance")

    def note(self, noted: Any, **_options: object) -> None:
        """Announces the changes after a management call that has a cost, or after a payment."""
        if noted.kind == "fee":
            self.changed("resources", "balance")
        elif noted.kind == "payment":
            self.changed("balance")

    def view(self) -> dict[str, Any]:
        """Returns the values of the session that panels show, without secrets."""
        return {**self.state, "run_key": self._run_key, "has_key": self.client.config.api_key is not None}

    # --- recorded Python ----------------------------------------------------------------------------------------

    def record(self, line: str) -> None:
        """Adds a line to the recorded Python. The line must not contain a secret."""
        self.lines.append(line)
        self._announce("code")

    def name(self, kind: str, which: object) -> str:
        """Returns a new variable for a resource that a panel created, for the recorded Python."""
        taken = set(self._names.values())
        name = next(
            found for n in range(1, len(taken) + 2) if (found := kind if n == 1 else f"{kind}_{n}") not in taken
        )
        self._names[kind, which] = name
        return name

    def named(self, kind: str, which: object) -> str:
        """Returns the variable of a resource that a panel created, or else ``which`` as a Python literal."""
        return self._names.get((kind, which), repr(which))

    def with_names(self, code: str) -> str:
        """Returns recorded Python in which variables replace the addresses of wallets that a panel created."""
        for (kind, which), name in self._names.items():
            if kind == "wallet":
                code = code.replace(repr(which), f"{name}.address")
        return code


def _same(before: dict[str, str], after: dict[str, str]) -> bool:
    """Returns whether two states belong to the same account, even after a conversion of the account."""
    which = "hash" if before["hash"] and after["hash"] else "address"
    return bool(before[which]) and before[which] == after[which]
