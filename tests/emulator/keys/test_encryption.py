from __future__ import annotations

import re

import pytest
from hypothesis import given, strategies as st

from svcnb.emulator.keys.encryption import CipherError, decrypt, encrypt

KEY = bytes(range(32))
NONCE = bytes(range(12))
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
keys = st.binary(min_size=32, max_size=32)
nonces = st.binary(min_size=12, max_size=12)


@pytest.mark.parametrize(
    ("text", "sealed"),
    [
        ("", "530f8afbc74536b9a963b4f1c4cb738b"),
        ("\0" * 16, "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919"),
    ],
    ids=["test case 13", "test case 14"],
)
def test_the_results_match_the_published_vectors_of_aes_256_gcm(text, sealed):
    # McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B: key and nonce consist of zeros.
    assert encrypt(bytes(32), text, bytes(12)) == "00" * 12 + sealed
    assert decrypt(bytes(32), "00" * 12 + sealed) == text


@given(keys, nonces, texts)
def test_decryption_accepts_every_form_of_hex(key, nonce, text):
    made = encrypt(key, text, nonce)
    assert re.fullmatch("[0-9a-f]*", made)
    assert len(made) == 2 * (12 + len(text.encode()) + 16)
    assert decrypt(key, made) == decrypt(key, "0x" + made) == decrypt(key, made.upper()) == text


@given(texts, st.data())
def test_any_changed_bit_is_detected(text, data):
    raw = bytearray.fromhex(encrypt(KEY, text, NONCE))
    bit = data.draw(st.integers(0, 8 * len(raw) - 1))
    raw[bit // 8] ^= 1 << bit % 8
    with pytest.raises(CipherError, match="does not decrypt with this wallet"):
        decrypt(KEY, raw.hex())


@given(keys.filter(lambda key: key != KEY))
def test_another_wallet_cannot_decrypt(key):
    with pytest.raises(CipherError, match="another wallet"):
        decrypt(key, encrypt(KEY, "for one wallet", NONCE))


@pytest.mark.parametrize(
    ("ciphertext", "why"),
    [
        ("", "0 bytes"),
        ("0x", "0 bytes"),
        ("00" * 27, "27 bytes: expected at least 28 bytes for the nonce and the tag"),
        ("abc", "not hex"),
        ("zz" * 40, "not hex"),
        ("00 " * 40, "not hex"),
        ("0x0x" + "00" * 40, "not hex"),
        ("é" * 80, "not hex"),
    ],
)
def test_an_invalid_ciphertext_is_rejected_with_the_reason(ciphertext, why):
    with pytest.raises(CipherError, match=why):
        decrypt(KEY, ciphertext)


def test_a_sealed_text_that_is_not_utf8_is_refused():
    from Crypto.Cipher import AES

    sealed, tag = AES.new(KEY, AES.MODE_GCM, nonce=NONCE).encrypt_and_digest(b"\xff\xfe")
    with pytest.raises(CipherError, match="not UTF-8 text"):
        decrypt(KEY, (NONCE + sealed + tag).hex())


def test_half_a_surrogate_pair_is_refused_before_anything_is_encrypted():
    with pytest.raises(CipherError, match="character 1 is an unpaired surrogate"):
        encrypt(KEY, "a\ud800", NONCE)


@pytest.mark.parametrize(
    ("key", "nonce", "message"),
    [
        (KEY[:16], NONCE, "the key has 16 bytes: AES-256-GCM requires a key of 32 bytes"),
        (KEY, NONCE[:8], "the nonce has 8 bytes: this function requires a nonce of 12 bytes"),
        (KEY, NONCE + b"\0", "the nonce has 13 bytes"),
    ],
)
def test_a_shorter_key_or_another_nonce_length_is_refused(key, nonce, message):
    with pytest.raises(ValueError, match=message):
        encrypt(key, "text", nonce)
