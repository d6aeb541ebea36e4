"""Records of mints that several kernels, panels and programs of one user write and read simultaneously."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from svcnb.client.chain_secured.pending import PendingFolder, PendingMint
from svcnb.client.errors import ConfigError, InvalidArgument

FIELDS: dict[str, Any] = {
    "kind": "wallet",
    "owner": "0x" + "11" * 20,
    "api_key_hash": "0x" + "22" * 32,
    "base_url": "http://127.0.0.1:1",
    "chain_id": 31337,
    "contract_address": "0x" + "33" * 20,
    "begun": 1_750_000_000,
}


def at_once(count: int, work: Callable[[int], object]) -> None:
    """Runs a function in several threads simultaneously, and raises the first error."""
    together = threading.Barrier(count)

    def one(number: int) -> None:
        together.wait()
        work(number)

    with ThreadPoolExecutor(count) as threads:
        for done in [threads.submit(one, number) for number in range(count)]:
            done.result()


def test_the_first_mints_of_a_user_can_start_simultaneously(tmp_path: Path) -> None:
    for attempt in range(25):
        folder, key = tmp_path / f"{attempt}", tmp_path / f"{attempt}.key"

        def begin(number: int, folder: Path = folder, key: Path = key) -> None:
            records = PendingFolder(folder, key)
            assert records.get(records.begin(**FIELDS, name=str(number)).id).name == str(number)

        at_once(6, begin)
        assert sorted(record.name for record in PendingFolder(folder, key).all()) == [*"012345"]
        assert [file.suffix for file in folder.iterdir()] == [".pending"] * 6
    assert not list(tmp_path.glob("*.partial"))


def test_two_writers_of_the_same_record_do_not_interfere(tmp_path: Path) -> None:
    records = PendingFolder(tmp_path / "pending", tmp_path / "pending.key")
    record = records.begin(**FIELDS)

    def write(number: int) -> None:
        for _ in range(20):
            records.write(record.model_copy(update={"name": str(number)}))

    at_once(4, write)
    assert records.get(record.id).name in {*"0123"}
    assert len(list(records.folder.iterdir())) == 1


def test_a_mint_that_ends_during_a_listing_is_omitted_without_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = PendingFolder(tmp_path / "pending", tmp_path / "pending.key")
    ended, kept = (records.begin(**FIELDS, name=name) for name in ("ended", "kept"))
    read = PendingFolder._read

    def late(self: PendingFolder, path: Path) -> PendingMint | None:
        self.delete(ended)
        return read(self, path)

    monkeypatch.setattr(PendingFolder, "_read", late)
    assert [record.name for record in records.all()] == [kept.name]
    with pytest.raises(InvalidArgument, match="no interrupted creation"):
        records.get(ended.id)


def test_a_folder_that_cannot_be_read_is_not_an_empty_list(tmp_path: Path) -> None:
    assert PendingFolder(tmp_path / "missing", tmp_path / "key").all() == []
    (tmp_path / "pending").write_text("not a folder")
    with pytest.raises(ConfigError, match=r"cannot read the recovery records in .*pending: Not a directory"):
        PendingFolder(tmp_path / "pending", tmp_path / "key").all()
