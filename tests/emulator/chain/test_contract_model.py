"""Ownership of accounts: random calls by all wallets, compared with a model of the specification's rules.

`SVC_MODEL_EXAMPLES` sets the number of sequences. The default is small.
"""

# ruff: noqa: FBT003 - contract functions take their flags by position

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from web3.exceptions import ContractCustomError, ContractLogicError

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import Actor, World

WALLETS = st.integers(0, 4)
HASHES = st.integers(0, 5)
KEYS = st.integers(0, 3)
ACTION, PKP = 0xACC, "0x" + "77" * 20


@dataclass
class Account:
    """Account with the rules of docs/service/signatures.md#transfer and #conversion."""

    master: int
    admin: str
    managed: bool
    billing: str
    aliases: set[int] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)
    groups: int = 0


class Ownership(RuleBasedStateMachine):
    """State machine of five wallets, a payer and the contract's owner, which send random calls."""

    world: World

    @initialize()
    def begin(self) -> None:
        world = self.world
        world.run(world.chain.import_snapshot(world.deployed))
        world._wallets = 0
        self.wallets = [world.wallet() for _ in range(5)]
        self.payer, self.owner = world.payer(), world.owner()
        self.accounts: dict[int, Account] = {}
        self.master_of: dict[int, int] = {}
        self.ever_admin: dict[str, int] = {}

    # --- calls -------------------------------------------------------------------------------------------------------

    def attempt(self, who: Actor, function: str, *arguments: Any, allowed: bool) -> None:
        """Sends a call, and checks whether it succeeds or reverts as the model predicts."""
        if allowed:
            receipt = who.send_raw(who.transaction(function, *arguments))
            assert receipt["status"] == 1, f"{function}{arguments} was refused and is allowed"
        else:
            with pytest.raises((ContractCustomError, ContractLogicError)):
                who.ask(function, *arguments)

    def alias(self, who: Actor) -> int:
        return self.world.hash_of(who)

    def some(self, place: int) -> Account | None:
        known = list(self.accounts.values())
        return known[place % len(known)] if known else None

    def any_hash(self, account: Account, place: int) -> int:
        """Returns one of the hashes that identify an account."""
        hashes = [account.master, *sorted(account.aliases), *sorted(account.keys)]
        return hashes[place % len(hashes)]

    def acts_for(self, who: Actor, account: Account) -> bool:
        return who.address == account.admin or (account.managed and who.address == self.payer.address)

    def appoint(self, account: Account, who: Actor) -> None:
        account.admin = who.address
        account.aliases.add(self.alias(who))
        self.master_of[self.alias(who)] = account.master
        self.ever_admin[who.address] = account.master

    # --- rules ------------------------------------------------------------------------------------------------------

    @rule(who=WALLETS)
    def open_own(self, who: int) -> None:
        wallet = self.wallets[who]
        own = self.alias(wallet)
        allowed = own not in self.master_of
        self.attempt(wallet, "newChainSecuredAccount", "n", "d", allowed=allowed)
        if allowed:
            self.accounts[own] = Account(own, wallet.address, managed=False, billing=wallet.address)
            self.master_of[own] = own
            self.ever_admin.setdefault(wallet.address, own)

    @rule(who=WALLETS, number=KEYS, by_payer=st.booleans())
    def open_managed(self, who: int, number: int, by_payer: bool) -> None:  # noqa: FBT001 - hypothesis calls it by name
        wallet, master = self.wallets[who], 0xA000 + number
        sender = self.payer if by_payer else wallet
        allowed = by_payer and master not in self.master_of
        self.attempt(sender, "newAccount", master, True, "n", "d", wallet.address, allowed=allowed)
        if allowed:
            self.accounts[master] = Account(master, wallet.address, managed=True, billing=wallet.address)
            self.master_of[master] = master
            self.ever_admin.setdefault(wallet.address, master)

    @precondition(lambda self: self.accounts)
    @rule(place=HASHES, who=WALLETS, sender=st.sampled_from(["payer", "owner", "wallet"]))
    def convert(self, place: int, who: int, sender: str) -> None:
        account = self.some(place)
        assert account is not None
        new = self.wallets[who]
        by: Actor = {"payer": self.payer, "owner": self.owner, "wallet": new}[sender]
        free = (
            self.alias(new) not in self.master_of and self.ever_admin.get(new.address, account.master) == account.master
        )
        allowed = sender != "wallet" and account.managed and free
        self.attempt(by, "convertToChainSecuredAccount", account.master, new.address, allowed=allowed)
        if allowed:
            account.managed = False
            self.appoint(account, new)

    @precondition(lambda self: self.accounts)
    @rule(place=HASHES, which=HASHES, sender=WALLETS, who=WALLETS)
    def transfer(self, place: int, which: int, sender: int, who: int) -> None:
        account = self.some(place)
        assert account is not None
        by, new = self.wallets[sender], self.wallets[who]
        allowed = (
            not account.managed
            and by.address == account.admin
            and new.address not in self.ever_admin
            and self.alias(new) not in self.master_of
        )
        through = self.any_hash(account, which)
        self.attempt(by, "transferChainSecuredAccountOwnership", through, new.address, allowed=allowed)
        if allowed:
            self.appoint(account, new)

    @precondition(lambda self: self.accounts)
    @rule(place=HASHES, number=KEYS, sender=WALLETS, by_payer=st.booleans())
    def set_key(self, place: int, number: int, sender: int, by_payer: bool) -> None:  # noqa: FBT001
        account = self.some(place)
        assert account is not None
        by, key = self.payer if by_payer else self.wallets[sender], 0xB000 + number
        allowed = self.acts_for(by, account) and self.master_of.get(key, account.master) == account.master
        lists: tuple[list[int], ...] = ([], [], [], [0])
        arguments = (account.master, key, 0, 0, "k", "", False, False, False, *lists)
        self.attempt(by, "setUsageApiKey", *arguments, allowed=allowed)
        if allowed:
            account.keys.add(key)
            self.master_of[key] = account.master

    @precondition(lambda self: self.accounts)
    @rule(place=HASHES, number=KEYS, sender=WALLETS, by_payer=st.booleans())
    def remove_key(self, place: int, number: int, sender: int, by_payer: bool) -> None:  # noqa: FBT001
        account = self.some(place)
        assert account is not None
        by, key = self.payer if by_payer else self.wallets[sender], 0xB000 + number
        allowed = self.acts_for(by, account) and key in account.keys
        self.attempt(by, "removeUsageApiKey", account.master, key, allowed=allowed)
        if allowed:
            account.keys.discard(key)
            del self.master_of[key]

    @precondition(lambda self: self.accounts)
    @rule(place=HASHES, sender=WALLETS, which=HASHES, by_payer=st.booleans())
    def add_group(self, place: int, sender: int, which: int, by_payer: bool) -> None:  # noqa: FBT001
        account = self.some(place)
        assert account is not None
        by, through = self.payer if by_payer else self.wallets[sender], self.any_hash(account, which)
        # these keys do not have the permission to create groups
        allowed = self.acts_for(by, account) and through not in account.keys
        self.attempt(by, "addGroup", through, "g", "", [ACTION], [PKP], allowed=allowed)
        account.groups += allowed

    @precondition(lambda self: any(not account.managed for account in self.accounts.values()))
    @rule(place=HASHES, which=HASHES, attacker=st.integers(0, 6))
    def attack_a_wallets_account(self, place: int, which: int, attacker: int) -> None:
        """No other wallet and no payer can change an account that a wallet owns, with any of its hashes."""
        secured = [account for account in self.accounts.values() if not account.managed]
        account = secured[place % len(secured)]
        by = [*self.wallets, self.payer, self.owner][attacker]
        if by.address == account.admin:
            return
        through, nobody = self.any_hash(account, which), "0x" + "99" * 20
        for function, arguments in (
            ("addGroup", (through, "g", "", [], [])),
            ("updateGroup", (through, 1, "g", "", [], [])),
            ("removeGroup", (through, 1)),
            ("addAction", (through, "a", "", ACTION)),
            ("removeAction", (through, ACTION)),
            ("addActionToGroup", (through, 1, ACTION)),
            ("removeActionFromGroup", (through, 1, ACTION)),
            ("addPkpToGroup", (through, 1, PKP)),
            ("removePkpFromGroup", (through, 1, PKP)),
            ("registerWalletDerivation", (through, PKP, 7, "w", "")),
            ("removeWalletDerivation", (through, PKP)),
            ("setUsageApiKey", (through, 0xBAD, 0, 0, "k", "", True, True, True, [0], [0], [0], [0])),
            ("removeUsageApiKey", (through, 0xB000)),
            ("convertToChainSecuredAccount", (account.master, nobody)),
            ("transferChainSecuredAccountOwnership", (through, nobody)),
            ("creditApiKey", (through, 1)),
            ("debitApiKey", (through, 1)),
        ):
            self.attempt(by, function, *arguments, allowed=False)

    # --- invariants --------------------------------------------------------------------------------------------------

    @invariant()
    def every_hash_leads_to_its_account_and_nothing_else(self) -> None:
        view = self.world.chain.view
        for account in getattr(self, "accounts", {}).values():
            for hashed in (account.master, *account.aliases, *account.keys):
                master, admin, billing, managed, is_master, is_alias, _ = self.world.run(
                    view("resolveApiKeyHash", hashed)
                )
                assert (master, admin.lower(), managed) == (account.master, account.admin.lower(), account.managed)
                assert billing.lower() == account.billing.lower(), "who pays never changes"
                assert is_master == (hashed == account.master)
                assert is_alias == (hashed in account.aliases - {account.master})
            assert len(self.world.run(view("listGroups", account.master, 0, 100))) == account.groups

    @invariant()
    def the_contract_counts_as_the_model_does(self) -> None:
        if hasattr(self, "accounts"):
            assert self.world.run(self.world.chain.view("accountCount")) == len(self.accounts)


def test_no_sequence_of_calls_breaks_ownership(world: World) -> None:
    class Machine(Ownership):
        pass

    Machine.world = world
    examples = int(os.environ.get("SVC_MODEL_EXAMPLES", "6"))
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=14,
            deadline=None,
            derandomize=examples <= 6,
            suppress_health_check=list(HealthCheck),
        ),
    )
