# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Key operations, Encrypt and Decrypt.

Source: docs/service/keys.md#formats-of-keys, docs/service/keys.md#encryption, docs/service/limits.md#limits-of-a-run; docs/service/conformance.md#contract-and-typed-data, items 45 and 53.
"""

from __future__ import annotations

from typing import Any

import pytest
from eth_account import Account

pytestmark = pytest.mark.engine

FUNCTIONS = {
    "getPrivateKey": "getPrivateKey({ pkpId: WALLET })",
    "getSvcActionPrivateKey": "getSvcActionPrivateKey()",
    "getSvcActionPublicKey": "getSvcActionPublicKey({ ipfsId: 'QmOther' })",
    "getSvcActionWalletAddress": "getSvcActionWalletAddress({ ipfsId: 'QmOther' })",
}


def action(body: str, wallet: tuple[str, bytes]) -> str:
    return f"const WALLET = '{wallet[0]}'; const S = Svc.Actions; const main = async () => {{ {body} }}"


def test_formats_are_those_of_the_service(room: Any, wallet: tuple[str, bytes], running_cid: str):
    calls = ", ".join(f"await S.{call}" for call in FUNCTIONS.values())
    key, own, public, address = room.value(action(f"return [{calls}]", wallet))
    assert key == "0x" + wallet[1].hex()
    assert own == "0x" + room.custody.action_secret(running_cid).hex()
    other = Account.from_key(room.custody.action_secret("QmOther"))
    assert public == "0x" + other._key_obj.public_key.to_compressed_bytes().hex()
    assert address == other.address.lower()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_first_ten_key_operations_succeed_and_the_eleventh_names_the_limit(name: str, room: Any, wallet: Any):
    body = f"let n = 0; try {{ for (;;) {{ await S.{FUNCTIONS[name]}; n++; }} }} catch (e) {{ return [n, e.name, e.message]; }}"
    assert room.value(action(body, wallet)) == [
        10,
        "Error",
        "too many key operations: at most 10 are allowed per execution. Request each key only once, and store it in a variable.",
    ]


def test_one_counter_serves_all_four_functions_and_repeats_count(room: Any, wallet: Any):
    calls = list(FUNCTIONS.values())
    body = (
        "let n = 0; try { for (;;) { "
        + " ".join(f"await S.{call}; n++;" for call in calls)
        + " } } catch { return n; }"
    )
    assert room.value(action(body, wallet)) == 10


def test_encrypt_and_decrypt_are_not_counted(room: Any, wallet: Any):
    body = (
        "for (let i = 0; i < 12; i++) await S.Decrypt({ pkpId: WALLET, ciphertext: await S.Encrypt({ pkpId: WALLET, message: 'x' }) });"
        " for (let i = 0; i < 10; i++) await S.getSvcActionPrivateKey(); return 'all'"
    )
    assert room.value(action(body, wallet)) == "all"


def test_the_limit_is_a_setting(room: Any, wallet: Any):
    body = "let n = 0; try { for (;;) { await S.getSvcActionPrivateKey(); n++; } } catch (e) { return [n, e.message]; }"
    assert room.value(action(body, wallet), max_get_keys_count=3) == [
        3,
        "too many key operations: at most 3 are allowed per execution. Request each key only once, and store it in a variable.",
    ]


@pytest.mark.parametrize("message", ["x", "héllo €", "\U0001f600" * 10, "a\n\tb\x00", "y" * 100_000])
def test_one_action_decrypts_a_text_that_another_encrypted(message: str, room: Any, wallet: Any):
    encrypt = "const main = (p) => Svc.Actions.Encrypt(p)"
    decrypt = "async function main(p) { return { text: await Svc.Actions.Decrypt(p) }; }"
    ciphertext = room.value(encrypt, {"pkpId": wallet[0], "message": message}, host=room.host(cid="QmOne"))
    assert len(ciphertext) == 2 * (12 + len(message.encode()) + 16)
    assert set(ciphertext) <= set("0123456789abcdef")
    params = {"pkpId": wallet[0].upper().replace("0X", "0x"), "ciphertext": "0x" + ciphertext}
    assert room.value(decrypt, params, host=room.host(cid="QmTwo")) == {"text": message}


def test_encrypting_twice_gives_two_texts(room: Any, wallet: Any):
    body = "const p = { pkpId: WALLET, message: 'same' }; return (await S.Encrypt(p)) === (await S.Encrypt(p))"
    assert room.value(action(body, wallet)) is False


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("Encrypt({ pkpId: WALLET, message: '' })", "RangeError"),
        ("Encrypt({ pkpId: WALLET, message: ' \\n' })", "RangeError"),
        ("Encrypt({ pkpId: ' ', message: 'x' })", "RangeError"),
        ("Encrypt({ pkpId: WALLET })", "TypeError"),
        ("Encrypt()", "TypeError"),
        ("Encrypt({ pkpId: WALLET, message: 5 })", "TypeError"),
        ("Encrypt({ pkpId: '0xbb', message: 'x' })", "Error"),
        ("Decrypt({ pkpId: WALLET, ciphertext: 'zz' })", "Error"),
        ("Decrypt({ pkpId: WALLET, ciphertext: '00' })", "Error"),
        ("Decrypt({ pkpId: WALLET, ciphertext: '00'.repeat(40) })", "Error"),
        ("Decrypt({ pkpId: '', ciphertext: '00' })", "RangeError"),
        ("getPrivateKey({ pkpId: '' })", "RangeError"),
        ("getPrivateKey(null)", "TypeError"),
        ("getSvcActionPublicKey({ ipfsId: '' })", "RangeError"),
        ("getSvcActionWalletAddress({ ipfsId: 7 })", "TypeError"),
    ],
)
def test_bad_arguments_reject_with_an_error_the_action_may_catch(call: str, error: str, room: Any, wallet: Any):
    body = f"try {{ await S.{call}; return 'did'; }} catch (e) {{ return [e.name, e.message.length > 10]; }}"
    assert room.value(action(body, wallet)) == [error, True]


def test_the_error_for_a_rejected_key_has_a_reason_but_no_secret(room: Any, wallet: Any):
    error = room.error("const main = () => Svc.Actions.getPrivateKey({ pkpId: '0xbb' })")
    assert error.startswith("Uncaught (in promise) Error: this key may not use the wallet 0xbb")
    assert wallet[1].hex() not in error
