"""The ledger compared with a model: a dictionary of balances, a set of used references, and the open holds."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest
from hypothesis import settings, strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule

from svcnb.emulator.billing.ledger import Hold, Ledger
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store
from tests.emulator.billing.charging import charge

pytestmark = pytest.mark.slow

wallets = st.sampled_from(["0x" + letter * 40 for letter in "abc"])
request_ids = st.integers(0, 15).map("r{}".format)
cents = st.integers(1, 12)


class LedgerAgainstModel(RuleBasedStateMachine):
    holds = Bundle("holds")

    @initialize()
    def open(self) -> None:
        self.runner = asyncio.Runner()
        self.store = Store()
        self.ledger = Ledger(self.store, Clock(0.0))
        self.balance: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self.used: set[str] = set()

    def teardown(self) -> None:
        self.store.close()
        self.runner.close()

    def book(self, wallet: str, amount: int, reference: str) -> None:
        if reference not in self.used:
            self.used.add(reference)
            self.balance[wallet] += amount

    @rule(wallet=wallets, amount=cents, reference=st.integers(0, 9).map(str))
    def credit(self, wallet, amount, reference):
        self.book(wallet, amount, f"grant:{reference}")
        given = self.ledger.add_credit(wallet, amount, reason="model", reference=reference)
        assert self.runner.run(given) == self.balance[wallet]

    @rule(charges=st.lists(st.tuples(wallets, cents, request_ids), max_size=6))
    def charge_at_once(self, charges):
        async def all_of_them() -> list[int]:
            return await asyncio.gather(
                *(charge(self.ledger, who, amount, reason="model", request_id=id_) for who, amount, id_ in charges)
            )

        answers = self.runner.run(all_of_them())
        for (who, amount, id_), answer in zip(charges, answers, strict=True):
            self.book(who, -amount, f"request:{id_}")
            assert answer == self.balance[who]

    @rule(target=holds, wallet=wallets, amount=st.integers(1, 3))
    def hold(self, wallet, amount):
        covered = self.balance[wallet] - self.held[wallet] >= amount
        if not covered:
            with pytest.raises(StructuredError, match="this call needs"):
                self.runner.run(self.ledger.hold(wallet, amount))
            return multiple()
        self.held[wallet] += amount
        return self.runner.run(self.ledger.hold(wallet, amount))

    @rule(hold=consumes(holds), amount=cents, request_id=request_ids)
    def settle(self, hold: Hold, amount, request_id):
        self.book(hold.account, -amount, f"request:{request_id}")
        self.held[hold.account] -= hold.cents
        settled = self.runner.run(hold.settle(amount, reason="model", request_id=request_id))
        assert settled == self.balance[hold.account]

    @rule(hold=consumes(holds))
    def release(self, hold: Hold):
        self.held[hold.account] -= hold.cents
        hold.release()
        hold.release()

    @invariant()
    def every_balance_is_the_models_and_the_books_balance(self):
        for wallet in ("0x" + letter * 40 for letter in "abc"):
            assert self.runner.run(self.ledger.credit_cents(wallet)) == self.balance[wallet]
        assert self.runner.run(self.ledger.verify()) == []


TestLedgerAgainstModel = LedgerAgainstModel.TestCase
TestLedgerAgainstModel.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
