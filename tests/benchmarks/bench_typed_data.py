"""Signing and verification of an envelope, compared with libsecp256k1 on a computed digest, interleaved.

The benchmark prints the figures, but does not assert them. Verification takes at most 1.8 times as long as the recovery
alone with pycryptodome's keccak. Signing takes at most 1.3 times as long as the signature alone, and a third of the
time of eth-account. The first signature of a process takes at most 60 ms.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from svcnb.protocol.envelope_rules import check_envelope, signature_bytes
from svcnb.protocol.signature import recover_address, sign_digest
from svcnb.protocol.typed_data import Flow, envelope_digest

ROUNDS = 7
CALLS = 300
VECTOR: dict[str, Any] = json.loads((Path(__file__).parents[1] / "vectors" / "eip712.json").read_text())["vectors"][0]


def medians(ways: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the median microseconds of each function, in turn."""
    seen: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, run in ways.items():
            begun = time.perf_counter()
            for _ in range(CALLS):
                run()
            seen[name].append((time.perf_counter() - begun) / CALLS * 1e6)
    return {name: statistics.median(times) for name, times in seen.items()}


def test_sign_and_verify() -> None:
    from coincurve import PrivateKey, PublicKey
    from eth_account import Account
    from eth_account.messages import encode_typed_data

    typed_data, address = VECTOR["typed_data"], VECTOR["address"]
    chain_id, issued_at = int(typed_data["domain"]["chainId"]), int(typed_data["message"]["issuedAt"])
    secret, digest = bytes.fromhex(VECTOR["private_key"][2:]), bytes.fromhex(VECTOR["digest"][2:])
    signature = bytes.fromhex(VECTOR["signature"][2:])
    compact = signature[:-1] + bytes([signature[-1] - 27])

    def verify() -> None:
        checked = check_envelope(typed_data, flow=Flow.CREATE_WALLET, chain_id=chain_id, now_s=issued_at)
        assert recover_address(checked.digest, signature_bytes(VECTOR["signature"])) == checked.address

    def sign() -> None:
        assert sign_digest(envelope_digest(Flow.CREATE_WALLET, address, chain_id, issued_at), secret) == signature

    def eth_account_verify() -> None:
        assert Account.recover_message(encode_typed_data(full_message=typed_data), signature=signature) == address

    found = medians(
        {
            "bare recover": lambda: PublicKey.from_signature_and_message(compact, digest, hasher=None),
            "verify": verify,
            "eth-account verify": eth_account_verify,
            "bare sign": lambda: PrivateKey(secret).sign_recoverable(digest, hasher=None),
            "sign": sign,
            "eth-account sign": lambda: Account.sign_typed_data(secret, full_message=typed_data),
        }
    )
    for act in ("verify", "sign"):
        bare = found["bare recover" if act == "verify" else "bare sign"]
        theirs = found[f"eth-account {act}"]
        print(
            f"\n{act}: {found[act]:.1f} us = {found[act] / bare:.2f} times bare libsecp256k1 ({bare:.1f} us); "
            f"eth-account {theirs:.0f} us = {theirs / found[act]:.1f} times ours",
            end="",
        )
    print()


def test_the_first_signature_of_a_process() -> None:
    program = """
import time
begun = time.perf_counter()
from svcnb.protocol.signature import sign_digest
from svcnb.protocol.typed_data import Flow, envelope, envelope_digest
address = "0x" + "12" * 20
envelope(Flow.CREATE_WALLET, address, 1, 1)
sign_digest(envelope_digest(Flow.CREATE_WALLET, address, 1, 1), bytes(31) + b"1")
print((time.perf_counter() - begun) * 1000)
"""
    taken = []
    for _ in range(ROUNDS):
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
        taken.append(float(done.stdout))
    print(f"\nfirst signature of a process: {statistics.median(taken):.1f} ms (goal 60)")
