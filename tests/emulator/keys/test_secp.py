from __future__ import annotations

import pytest
from eth_account import Account
from eth_keys.datatypes import PrivateKey
from hypothesis import example, given, strategies as st

from svcnb.emulator.keys.secp import compressed_public_key
from svcnb.protocol.curve import ORDER, is_secret
from svcnb.protocol.signature import address_of_secret

secrets_of_the_curve = st.integers(1, ORDER - 1).map(lambda number: number.to_bytes(32, "big"))


@given(secrets_of_the_curve)
@example((1).to_bytes(32, "big"))
@example((ORDER - 1).to_bytes(32, "big"))
def test_addresses_and_public_keys_agree_with_another_library(secret):
    assert address_of_secret(secret) == Account.from_key(secret).address.lower()
    assert compressed_public_key(secret) == "0x" + PrivateKey(secret).public_key.to_compressed_bytes().hex()


def test_the_address_of_private_key_1_is_correct():
    # Private key 1, whose public key is the generator point.
    assert address_of_secret((1).to_bytes(32, "big")) == "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf"
    assert compressed_public_key((1).to_bytes(32, "big")) == (
        "0x0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    )


@pytest.mark.parametrize(
    "no_secret",
    [b"", b"\1" * 31, b"\1" * 33, bytes(32), ORDER.to_bytes(32, "big"), b"\xff" * 32],
    ids=["empty", "31 bytes", "33 bytes", "zero", "the order", "beyond the order"],
)
def test_an_invalid_private_key_is_rejected_and_not_shown(no_secret):
    assert not is_secret(no_secret)
    for function in (address_of_secret, compressed_public_key):
        with pytest.raises(ValueError, match="invalid secp256k1 private key") as caught:
            function(no_secret)
        assert not no_secret or no_secret.hex() not in str(caught.value)
