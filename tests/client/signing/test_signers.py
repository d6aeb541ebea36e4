"""Signers have the same addresses, signatures and key files as eth-account."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from svcnb import InvalidType
from svcnb.client.errors import SigningError
from svcnb.client.secret import Secret
from svcnb.client.signing import ContractWallet, LocalSigner, Signer

KEY = "0x" + "1f" * 32
OWNER = Account.from_key(KEY)
CONTRACT = "0x" + "c0" * 20
TYPED_DATA: dict[str, Any] = {
    "types": {"EIP712Domain": [{"name": "name", "type": "string"}], "Mail": [{"name": "to", "type": "address"}]},
    "primaryType": "Mail",
    "domain": {"name": "post"},
    "message": {"to": CONTRACT},
}


@pytest.mark.parametrize(
    "key", [KEY, KEY[2:], KEY.upper().replace("0X", "0x"), f" {KEY}\n", bytes.fromhex(KEY[2:]), Secret(KEY)]
)
def test_a_key_is_accepted_in_every_usual_form(key: Any) -> None:
    signer = LocalSigner.from_key(key)
    assert signer.address == OWNER.address
    assert signer.reveal() == KEY


@pytest.mark.parametrize("digest", [[1] * 32, "00" * 16, None])
def test_a_digest_that_is_not_bytes_is_rejected(digest: Any) -> None:
    with pytest.raises(InvalidType, match="a digest must be 32 bytes, not"):
        LocalSigner.from_key(KEY).sign_digest(digest)


def test_signatures_equal_those_of_eth_account() -> None:
    signer = LocalSigner.from_key(KEY)
    theirs = OWNER.sign_message(encode_typed_data(full_message=TYPED_DATA))
    assert signer.sign_typed_data(TYPED_DATA) == "0x" + bytes(theirs.signature).hex()
    assert signer.sign_digest(bytes(theirs.message_hash)) == "0x" + bytes(theirs.signature).hex()
    for message in ("hello", "é", b"\x00\xff"):
        text = {"text": message} if isinstance(message, str) else {"primitive": message}
        assert signer.sign_message(message) == "0x" + bytes(OWNER.sign_message(encode_defunct(**text)).signature).hex()


async def test_signing_without_blocking_gives_the_same() -> None:
    signer = LocalSigner.from_key(KEY)
    assert await signer.sign_typed_data_async(TYPED_DATA) == signer.sign_typed_data(TYPED_DATA)


def test_transactions_equal_those_of_eth_account() -> None:
    transaction = {
        "type": 2,
        "chainId": 31_337,
        "nonce": 0,
        "gas": 21_000,
        "maxFeePerGas": 10**9,
        "maxPriorityFeePerGas": 1,
        "to": OWNER.address,
        "value": 5,
        "data": b"",
    }
    raw = LocalSigner.from_key(KEY).sign_transaction(dict(transaction))
    assert raw == "0x" + bytes(OWNER.sign_transaction(transaction).raw_transaction).hex()
    assert Account.recover_transaction(raw) == OWNER.address
    with pytest.raises(SigningError, match="cannot be signed"):
        LocalSigner.from_key(KEY).sign_transaction({"to": OWNER.address})


def test_random_signers_differ_and_work() -> None:
    one, other = LocalSigner.random(), LocalSigner.random()
    assert one.address != other.address
    assert Account.from_key(one.reveal()).address == one.address


@pytest.mark.parametrize(
    "key", ["", "0x12", "ab" * 31, "zz" * 32, "0x" + "00" * 32, "0x" + "ff" * 32, bytes(31), None, 7]
)
def test_an_invalid_key_is_rejected_and_not_repeated(key: Any) -> None:
    with pytest.raises(SigningError) as refused:
        LocalSigner.from_key(key)
    told = f"{refused.value} {refused.value.__cause__} {refused.value.__context__}"
    if isinstance(key, (str, bytes)) and len(key) > 4:
        assert (key.hex() if isinstance(key, bytes) else key) not in told


def test_no_display_contains_the_key() -> None:
    signer = LocalSigner.from_key(KEY)
    wallet = ContractWallet(CONTRACT, signer)
    for shown in (repr(signer), str(signer), f"{signer}", repr(wallet), repr(vars(signer)), repr(vars(wallet))):
        assert "1f1f1f" not in shown.lower()
    assert repr(signer) == f"LocalSigner({OWNER.address})"
    for leak in (lambda: pickle.dumps(signer), lambda: pickle.dumps(wallet), lambda: copy.deepcopy(signer)):
        with pytest.raises(TypeError, match="be pickled"):
            leak()


def test_signers_of_one_key_are_equal() -> None:
    assert LocalSigner.from_key(KEY) == LocalSigner.from_key(KEY[2:])
    assert len({LocalSigner.from_key(KEY), LocalSigner.from_key(KEY), LocalSigner.random()}) == 2
    assert LocalSigner.from_key(KEY) != KEY


@pytest.mark.slow
def test_a_saved_key_opens_here_and_in_other_wallets(tmp_path: Path) -> None:
    path = LocalSigner.from_key(KEY).save(tmp_path / "wallet.json", Secret("correct horse"))
    assert path.stat().st_mode & 0o777 == 0o600
    assert "1f1f" not in path.read_text(encoding="utf-8")
    assert bytes(Account.decrypt(path.read_text(encoding="utf-8"), "correct horse")).hex() == KEY[2:]
    assert LocalSigner.from_keyfile(path, "correct horse").address == OWNER.address
    with pytest.raises(SigningError, match="cannot be decrypted with this password") as refused:
        LocalSigner.from_keyfile(path, "wrong")
    assert "wrong" not in str(refused.value)
    with pytest.raises(SigningError, match="is encrypted"):
        LocalSigner.from_keyfile(path)
    with pytest.raises(SigningError, match="exists"):
        LocalSigner.from_key(KEY).save(path, "another")
    with pytest.raises(SigningError, match="password is empty"):
        LocalSigner.from_key(KEY).save(tmp_path / "other.json", "")


def test_a_file_that_only_looks_like_a_key_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "wallet.json"
    for content in ("{", "{}", json.dumps({"version": 3}), json.dumps({"version": 3, "crypto": {"kdf": "none"}})):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(SigningError, match="is not a JSON key file of version 3"):
            LocalSigner.from_keyfile(path, "password")


@pytest.mark.skipif(os.name != "posix", reason="modes are a Unix matter")
def test_an_unencrypted_key_that_others_can_read_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "wallet.key"
    path.write_text(KEY + "\n", encoding="utf-8")
    path.chmod(0o644)
    with pytest.raises(SigningError, match="chmod 600"):
        LocalSigner.from_keyfile(path)
    path.chmod(0o600)
    assert LocalSigner.from_keyfile(str(path)).address == OWNER.address


def test_a_contract_wallet_has_the_contracts_address_and_the_owners_signature() -> None:
    owner = LocalSigner.from_key(KEY)
    wallet = ContractWallet(CONTRACT.upper().replace("0X", "0x"), owner)
    assert wallet.address.lower() == CONTRACT
    assert wallet.signer is owner
    assert wallet.sign_typed_data(TYPED_DATA) == owner.sign_typed_data(TYPED_DATA)
    assert repr(wallet) == f"ContractWallet({wallet.address}, LocalSigner({OWNER.address}))"


def test_a_contract_wallet_needs_an_address_of_its_own() -> None:
    owner = LocalSigner.from_key(KEY)
    with pytest.raises(SigningError, match="a contract has its own"):
        ContractWallet(owner.address.lower(), owner)
    for wrong in ("0x12", None):
        with pytest.raises(SigningError, match="address"):
            ContractWallet(wrong, owner)  # type: ignore[arg-type]


async def test_a_contract_wallet_waits_for_the_approval_of_its_owner() -> None:
    class Elsewhere(Signer):
        address = OWNER.address

        def sign_typed_data(self, typed_data: dict[str, Any]) -> str:  # noqa: ARG002 - the signature is given
            raise SigningError("this wallet is asked in the browser", hint="await sign_typed_data_async(...)")

        async def sign_typed_data_async(self, typed_data: dict[str, Any]) -> str:  # noqa: ARG002 - the signature is given
            return "0xasked"

    assert await ContractWallet(CONTRACT, Elsewhere()).sign_typed_data_async(TYPED_DATA) == "0xasked"
    with pytest.raises(SigningError, match="in the browser"):
        ContractWallet(CONTRACT, Elsewhere()).sign_typed_data(TYPED_DATA)


def test_typed_data_that_cannot_be_hashed_is_refused() -> None:
    with pytest.raises(SigningError, match="has no member 'types'"):
        LocalSigner.from_key(KEY).sign_typed_data({})


def test_signing_loads_neither_eth_account_nor_pycryptodome() -> None:
    program = f"""
import sys
from svcnb.client.signing import LocalSigner, sign_flow
sign_flow(LocalSigner.from_key({KEY!r}), "CreateWallet", 1, 1)
heavy = {{"eth_account", "Crypto", "web3", "httpx"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=300)


@pytest.mark.slow
def test_loading_the_library_for_transactions_leaves_the_recursion_limit_alone():
    """A dependency sets the limit to 100 000. Deeply nested JSON then crashes a process instead of failing."""
    program = (
        "import sys; before = sys.getrecursionlimit()\n"
        "from svcnb.client.signing import local; local._account('test')\n"
        "assert sys.getrecursionlimit() == before, sys.getrecursionlimit()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


@pytest.mark.slow
def test_two_threads_that_load_that_library_leave_the_recursion_limit_alone():
    program = (
        "import sys, threading; before = sys.getrecursionlimit()\n"
        "from svcnb.client.signing import local\n"
        "first = threading.Thread(target=local._account, args=['test']); first.start()\n"
        "while sys.getrecursionlimit() == before and first.is_alive(): pass\n"
        "local._account('test'); first.join()\n"
        "assert sys.getrecursionlimit() == before, sys.getrecursionlimit()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
