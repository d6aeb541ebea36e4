from __future__ import annotations

import copy
import hashlib
import pickle
import traceback

import pytest
from eth_utils.crypto import keccak
from hypothesis import given, strategies as st

from svcnb.emulator.keys.custody import Custody, first_secret
from svcnb.emulator.platform.randomness import Randomness
from svcnb.protocol.curve import ORDER, is_secret
from svcnb.protocol.vocabulary import Vocabulary

ROOT = hashlib.sha256(b"a root for the tests").digest()
CID = "QmbFMke1KXqnYyBBWxB74N4c5SBnJMVAiMNRcGu6x1AwQH"
roots = st.binary(min_size=32, max_size=32)
paths = st.integers(1, 2**256 - 1)


def custody(root: bytes = ROOT, *, seed: str | None = "test", **names: str) -> Custody:
    return Custody(root, Vocabulary(**names), Randomness(seed))


def by_hand(root: bytes, path: str, purpose: str) -> bytes:
    """Implements the documented derivation with HMAC as in RFC 2104, and keccak from another library."""
    key = root.ljust(64, b"\0")
    inner = hashlib.sha256(bytes(byte ^ 0x36 for byte in key) + purpose.encode() + b"\0" + path.encode()).digest()
    return keccak(hashlib.sha256(bytes(byte ^ 0x5C for byte in key) + inner).digest())


@given(roots, paths)
def test_a_wallet_secret_is_the_documented_function_of_root_and_path(root, path):
    assert custody(root).wallet_secret(path) == by_hand(root, "v1/" + format(path, "064x"), "client")


@given(roots, st.text(st.characters(exclude_categories=["Cs"])))
def test_an_action_secret_is_the_documented_function_of_root_and_cid(root, cid):
    path = "v1/" + keccak(("svc_action_" + cid).encode()).hex()
    assert custody(root).action_secret(cid) == by_hand(root, path, "svc_action")


def test_payer_keys_follow_the_documented_paths():
    keys = custody()
    assert keys.payer_secret(0) == by_hand(ROOT, "v1/payer_0", "svc_payer")
    assert keys.payer_secret(12) == by_hand(ROOT, "v1/payer_12", "svc_payer")
    assert keys.admin_payer_secret() == by_hand(ROOT, "v1/admin_api_payer", "svc_payer")
    assert keys.owner_secret() == by_hand(ROOT, "v1/contract_owner", "svc_payer")


def test_the_service_name_affects_action_and_payer_keys_but_not_wallets():
    ours, theirs = custody(), custody(service="acme")
    path = "v1/" + keccak(f"acme_action_{CID}".encode()).hex()
    assert theirs.action_secret(CID) == by_hand(ROOT, path, "acme_action")
    assert theirs.payer_secret(1) == by_hand(ROOT, "v1/payer_1", "acme_payer")
    assert ours.wallet_secret(7) == theirs.wallet_secret(7)


@given(paths, st.integers(0, 63))
def test_every_secret_is_a_private_key_and_none_serves_two_uses(path, payer):
    keys = custody()
    made = [
        keys.wallet_secret(path),
        keys.action_secret(format(path, "064x")),
        keys.payer_secret(payer),
        keys.admin_payer_secret(),
        keys.owner_secret(),
        keys.label("anything"),
    ]
    assert all(is_secret(secret) for secret in made)
    assert len(set(made)) == len(made)


def test_an_action_key_depends_only_on_the_cid():
    first, second = custody(seed=None), custody(seed=None)
    assert first.action_secret(CID) == second.action_secret(CID) != first.action_secret(CID + "x")
    assert first.action_secret("") != first.action_secret("\ud800"), "any text gives a key"


def test_new_paths_are_uint256_and_unique():
    keys = custody(seed=None)
    made = {keys.new_path() for _ in range(200)}
    assert len(made) == 200
    assert all(0 < path < 2**256 for path in made)
    assert max(made).bit_length() > 240


def test_a_seed_repeats_the_paths():
    assert [custody(seed="lesson").new_path() for _ in range(2)] == [custody(seed="lesson").new_path()] * 2


@pytest.mark.parametrize("path", [0, -1, 2**256])
def test_a_path_that_is_not_a_uint256_is_refused(path):
    with pytest.raises(ValueError, match="register the wallet first"):
        custody().wallet_secret(path)


def test_invalid_private_keys_are_skipped():
    good = (5).to_bytes(32, "big")
    assert first_secret([bytes(32), ORDER.to_bytes(32, "big"), b"\xff" * 32, good, b"\1" * 32]) == good


def test_after_an_invalid_candidate_a_counter_is_appended_to_the_path():
    candidates = custody()._candidates("v1/p", "client")
    assert [next(candidates) for _ in range(3)] == [
        by_hand(ROOT, "v1/p", "client"),
        by_hand(ROOT, "v1/p\0\0\0\0\1", "client"),
        by_hand(ROOT, "v1/p\0\0\0\0\2", "client"),
    ]


def test_no_display_contains_the_root_secret():
    keys = custody()
    shown = repr(keys) + str(keys) + format(keys)
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="cannot be pickled or copied") as caught:
            attempt(keys)
        shown += "".join(traceback.format_exception(caught.value))
    for slot in Custody.__slots__:
        shown += repr(getattr(keys, slot))
    for spelling in (ROOT.hex(), repr(ROOT)[2:-1]):
        assert spelling not in shown


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_root_secret_of_another_length_is_refused(length):
    with pytest.raises(ValueError, match="expected 32"):
        custody(bytes(length))
