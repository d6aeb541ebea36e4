"""Interpretations in `docs/service/open-points.md` that no other test checks."""

from __future__ import annotations

import time

from eth_account import Account
from eth_account.messages import encode_typed_data

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # order of secp256k1 (SEC 2)


def test_a_high_s_signature_is_accepted_on_the_http_flows(wire):
    """Returns the second form of a signature: (r, n - s, other v), which recovers to the same key."""
    chain_id = wire.get("get_node_chain_config").json()["chain_id"]
    signer = Account.create()
    fields = {
        "EIP712Domain": [("name", "string"), ("version", "string"), ("chainId", "uint256")],
        "CreateWallet": [("address", "address"), ("issuedAt", "uint256")],
    }
    envelope = {
        "types": {name: [{"name": field, "type": kind} for field, kind in members] for name, members in fields.items()},
        "primaryType": "CreateWallet",
        "domain": {"name": "Svc ChainSecured", "version": "1", "chainId": chain_id},
        "message": {"address": signer.address, "issuedAt": int(time.time())},
    }
    signed = signer.sign_message(encode_typed_data(full_message=envelope))
    assert signed.s < ORDER // 2
    twin = signed.r.to_bytes(32, "big") + (ORDER - signed.s).to_bytes(32, "big") + bytes([55 - signed.v])
    answer = wire.post("create_wallet_with_signature", body={"typed_data": envelope, "signature": "0x" + twin.hex()})
    assert answer.status_code == 200, answer.text
