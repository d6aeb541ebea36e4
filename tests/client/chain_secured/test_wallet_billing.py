"""The owner's signature replaces a key for billing calls. The client renews the signature after four minutes."""

from __future__ import annotations

import pytest

from svcnb import LocalSigner, PaymentFailed
from svcnb.client.calls import act
from svcnb.client.chain_secured import wallet_auth

pytestmark = pytest.mark.chain


class Counting(LocalSigner):
    """Signer that counts its signatures."""

    signed: list[str]

    def sign_typed_data(self, typed_data):
        type(self).signed.append(typed_data["primaryType"])
        return super().sign_typed_data(typed_data)


@pytest.fixture
def counted(svc, fund):
    Counting.signed = []
    owner = Counting.from_key(fund().reveal())
    return svc.chain_secured.create(owner, "billing")


def test_the_wallet_alone_can_buy_and_read_credit(counted) -> None:
    assert counted.billing.balance().available_cents == 0
    payment = counted.billing.top_up(700)
    assert payment.balance.available_cents == counted.billing.balance().available_cents == 700
    assert Counting.signed == ["BillingAuth"]


def test_after_four_minutes_the_wallet_signs_again(counted, monkeypatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(wallet_auth, "monotonic", lambda: now[0])
    counted.billing.balance()
    now[0] += wallet_auth.KEPT_S
    counted.billing.balance()
    assert len(Counting.signed) == 1
    now[0] += 1
    counted.billing.balance()
    assert len(Counting.signed) == 2


def test_a_payment_that_takes_longer_than_a_signature_is_valid_continues(start_emulator, monkeypatch) -> None:
    """A crypto payment can take longer than the five minutes for which a signature is valid."""
    emulator = start_emulator(clock="frozen@1767225600", crypto_delay_ms=0)
    Counting.signed = []
    svc, owner = emulator.client(), Counting.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "slow payer")
    now = [1000.0]
    monkeypatch.setattr(wallet_auth, "monotonic", lambda: now[0])
    payment = mine.billing.create_payment_intent(500, method="crypto")
    emulator.clock.advance(400)
    now[0] += 400
    emulator.processor(payment.payment_intent_id, "succeeded")
    # During a wait, no method calls `refresh`, so `headers` renews the signature.
    monkeypatch.setattr(mine.billing._auth, "refresh", lambda: act(dict))
    assert mine.billing.wait(payment).balance.available_cents == 500
    assert Counting.signed == ["BillingAuth"] * 2


@pytest.mark.parametrize("seconds", [2_592_000, -3_600])
def test_after_a_change_of_the_emulators_clock_the_wallet_signs_again(start_emulator, seconds: int) -> None:
    emulator = start_emulator()
    Counting.signed = []
    svc, owner = emulator.client(), Counting.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "time traveller")
    mine.billing.balance()
    emulator.clock.freeze(emulator.clock.now() + seconds)
    assert mine.billing.balance().available_cents == 0
    assert Counting.signed == ["BillingAuth"] * 2


def test_a_declined_payment_is_an_error(counted, emulator) -> None:
    payment = counted.billing.create_payment_intent(500)
    emulator.processor(payment.payment_intent_id, "failed")
    with pytest.raises(PaymentFailed):
        counted.billing.wait(payment, timeout=300)
    assert counted.billing.balance().available_cents == 0


def test_the_configured_key_is_never_sent_with_the_wallets_header(svc, counted) -> None:
    """The client sends only the wallet's header, which takes precedence (docs/service/signatures.md#x-wallet-auth)."""
    with_key = svc.with_key(svc.accounts.create("other").api_key)
    same = with_key.chain_secured.open(counted.owner)
    assert same.billing.balance().available_cents == 0
    assert same.billing._session.config.api_key is None
