"""Interrupted mints (creations of wallets and keys) keep their data, hide secrets, and can be completed or deleted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from svcnb import ChainError, ConfigError, LocalSigner, NotConfirmed, SigningError, everything
from svcnb.client.chain_secured.pending import PendingFolder
from svcnb.client.errors import InvalidArgument, SvcnbError

pytestmark = [pytest.mark.chain, pytest.mark.engine]


@pytest.fixture
def poor(svc):
    """Returns an account whose owner has no gas. The first step of a mint succeeds, and the second fails."""
    account = svc.accounts.create("poor")
    return svc.with_key(account.api_key).accounts.convert(LocalSigner.random(), confirm=True)


def stopped(work) -> SvcnbError:
    with pytest.raises(SvcnbError) as caught:
        work()
    return caught.value


def test_a_mint_of_a_wallet_without_gas_can_be_completed_later(emulator, svc, poor) -> None:
    error = stopped(lambda: poor.wallets.create("ops", description="for operations"))
    assert isinstance(error, ChainError)
    assert error.name == "InsufficientFunds"
    (record,) = svc.chain_secured.pending()
    assert (record.kind, record.name, record.stage, record.owner) == (
        "wallet",
        "ops",
        "registering",
        poor.owner.address,
    )
    assert record.id in "".join(error.__notes__)
    assert [item.name for item in poor.wallets.list()] == ["AMW"]
    emulator.faucet(poor.owner.address)
    wallet = svc.chain_secured.resume(record, poor.owner)
    assert wallet.address == record.wallet_address
    assert [(item.name, item.description) for item in poor.wallets.list()][1:] == [("ops", "for operations")]
    assert list(svc.chain_secured.pending()) == []


def test_a_mint_of_a_usage_key_without_gas_keeps_the_secret(emulator, svc, poor, action) -> None:
    stopped(lambda: poor.usage_keys.create("runner", execute_in_groups=everything, expires_in="30d"))
    (record,) = svc.chain_secured.pending()
    emulator.faucet(poor.owner.address)
    # The second attempt registers the wallet, and then the owner cancels.
    error = stopped(
        lambda: svc.chain_secured.resume(
            record.id, poor.owner, on_preview=lambda item: "set usage key" not in item.what
        )
    )
    assert isinstance(error, SigningError)
    assert svc.chain_secured.pending()[0].stage == "setting"
    key = svc.chain_secured.resume(record.id, poor.owner)
    emulator.credit(poor.describe().billing_wallet, 500)
    assert svc.with_key(key).run(action, n=41).response == 42
    assert [item.name for item in poor.wallets.list()] == ["AMW", "API Key Wallet"]
    assert key.expiration == record.arguments["expiration"]


def test_completed_steps_are_not_repeated(emulator, svc, poor, witness) -> None:
    stopped(lambda: poor.wallets.create("ops"))
    (record,) = svc.chain_secured.pending()
    emulator.faucet(poor.owner.address)
    write = poor._account.write(
        "registerWalletDerivation", record.wallet_address, int(record.derivation_path, 16), "ops", ""
    )
    poor._session.drive(write)
    sent = witness.nonce(poor.owner.address)
    assert svc.chain_secured.resume(record, poor.owner).address == record.wallet_address
    assert witness.nonce(poor.owner.address) == sent


@pytest.mark.slow
def test_a_chain_failure_between_the_steps_loses_nothing(start_emulator) -> None:
    emulator = start_emulator()
    svc, owner = emulator.client(retries=0), LocalSigner.random()
    emulator.faucet(owner.address)
    mine = svc.chain_secured.create(owner, "outage")
    mine.on_preview = lambda _: emulator.faults.until_cleared("chain")
    stopped(lambda: mine.usage_keys.create("runner"))
    emulator.faults.clear()
    (record,) = svc.chain_secured.pending()
    key = svc.chain_secured.resume(record, owner)
    assert mine.usage_keys.check(key).resolves


KILLED = """
import os, signal, sys, svcnb
svc = svcnb.Client(sys.argv[1], rpc_url=sys.argv[1] + "/rpc")
owner = svcnb.LocalSigner.from_key(sys.argv[2])
mine = svc.chain_secured.open(owner, on_preview=lambda shown: os.kill(os.getpid(), signal.SIGKILL))
mine.usage_keys.create("runner", description="killed")
"""


@pytest.mark.slow
def test_a_process_killed_between_the_steps_loses_nothing(emulator, svc, owner, mine) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, emulator.base_url, owner.reveal()],
        cwd=Path(__file__).parents[3],
        timeout=300,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == -9, done.stderr
    (record,) = svc.chain_secured.pending()
    assert (record.stage, record.arguments["description"]) == ("registering", "killed")
    key = svc.chain_secured.resume(record, owner)
    assert mine.usage_keys.check(key).resolves
    assert [item.description for item in mine.usage_keys.list()] == ["killed"]


def test_a_rejected_signature_leaves_no_record(svc, mine) -> None:
    class Refusing(LocalSigner):
        def sign_typed_data(self, typed_data: object) -> str:  # noqa: ARG002 - the signer's interface
            raise SigningError("the person said no")

    mine._account.writer.owner = Refusing.from_key(mine.owner.reveal())
    with pytest.raises(SigningError, match="said no"):
        mine.usage_keys.create("never")
    assert list(svc.chain_secured.pending()) == []


def test_deleting_a_record_needs_a_confirmation_and_deletes_the_secret(svc, poor) -> None:
    stopped(lambda: poor.usage_keys.create("runner"))
    (record,) = svc.chain_secured.pending()
    error = stopped(lambda: svc.chain_secured.delete_pending(record))
    assert isinstance(error, NotConfirmed)
    assert "only this record contains the key" in str(error)
    assert len(svc.chain_secured.pending()) == 1
    svc.chain_secured.delete_pending(record, confirm=True)
    assert list(svc.chain_secured.pending()) == []
    with pytest.raises(InvalidArgument, match="no interrupted creation"):
        svc.chain_secured.resume(record, poor.owner)


def test_a_record_is_private_encrypted_and_never_shows_its_secret(svc, poor) -> None:
    stopped(lambda: poor.usage_keys.create("runner"))
    (record,) = svc.chain_secured.pending()
    secret = record.secret.reveal()
    assert len(secret) == 44
    folder = PendingFolder()
    (file,) = folder.folder.glob("*.pending")
    for path, mode in ((file, 0o600), (folder.folder, 0o700), (folder.key_file, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert secret.encode() not in file.read_bytes()
    shown = (repr(record), str(record), record._repr_html_(), repr(svc.chain_secured.pending()))
    assert not any(secret in text for text in shown)
    assert secret not in svc.chain_secured.pending()._repr_html_()
    with pytest.raises(ValueError, match="be encoded as JSON"):
        record.model_dump_json()


def test_a_record_that_other_users_can_read_is_not_used(svc, poor) -> None:
    stopped(lambda: poor.wallets.create("ops"))
    (file,) = PendingFolder().folder.glob("*.pending")
    file.chmod(0o644)
    with pytest.raises(ConfigError, match="other users have access"):
        svc.chain_secured.pending()


def test_a_record_without_its_key_is_an_error(svc, poor) -> None:
    stopped(lambda: poor.wallets.create("ops"))
    key_file = PendingFolder().key_file
    kept = key_file.read_bytes()
    key_file.write_bytes(bytes(32))
    with pytest.raises(ConfigError, match="does not decrypt the recovery record") as caught:
        svc.chain_secured.pending()
    assert str(key_file) in caught.value.hint
    key_file.write_bytes(kept)
    assert len(svc.chain_secured.pending()) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root ignores file modes")
def test_no_request_is_sent_if_the_record_cannot_be_written(mine, own_folders) -> None:
    folder = own_folders / "pending"
    folder.mkdir(mode=0o500)
    with pytest.raises(ConfigError, match="cannot store the recovery record"):
        mine.wallets.create("ops")


def test_no_request_is_sent_without_a_folder_for_the_record(mine, own_folders) -> None:
    (own_folders / "pending").write_text("a file in the folder's place")
    with pytest.raises(ConfigError, match="cannot store the recovery record") as caught:
        mine.wallets.create("ops")
    assert "SVCNB_PENDING" in caught.value.hint


def test_only_the_owner_can_resume_a_mint_and_only_at_the_same_service(start_emulator, svc, poor, fund) -> None:
    stopped(lambda: poor.wallets.create("ops"))
    (record,) = svc.chain_secured.pending()
    with pytest.raises(ChainError) as refused:
        svc.chain_secured.resume(record, fund())
    assert refused.value.name == "NoAccountAccess"
    other = start_emulator().client()
    assert list(other.chain_secured.pending()) == []
    with pytest.raises(InvalidArgument, match="was started with the service"):
        other.chain_secured.resume(record, poor.owner)
    assert len(svc.chain_secured.pending()) == 1
