"""Interpretations in `docs/service/open-points.md` that no other test checks."""

from __future__ import annotations

import time

from eth_account import Account
from eth_account.messages import encode_typed_data

from tests.envelopes import envelope

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # order of secp256k1 (SEC 2)


def test_a_high_s_signature_is_accepted_on_the_http_flows(wire):
    """Checks that the service accepts the second valid signature (r, n - s, other v) of the same key."""
    chain_id = wire.get("get_node_chain_config").json()["chain_id"]
    signer = Account.create()
    typed_data = envelope("CreateWallet", signer.address, time.time(), chain_id, int)
    signed = signer.sign_message(encode_typed_data(full_message=typed_data))
    assert signed.s < ORDER // 2
    twin = signed.r.to_bytes(32, "big") + (ORDER - signed.s).to_bytes(32, "big") + bytes([55 - signed.v])
    answer = wire.post("create_wallet_with_signature", body={"typed_data": typed_data, "signature": "0x" + twin.hex()})
    assert answer.status_code == 200, answer.text
