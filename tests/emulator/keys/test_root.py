from __future__ import annotations

import os
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from svcnb.emulator.keys.root import FILE_NAME, RootSecretUnusable, bind_root, load_root_secret
from svcnb.emulator.platform.store import Store

posix = pytest.mark.skipif(os.name != "posix", reason="file modes are a POSIX matter")


def test_without_a_folder_every_start_has_its_own_secret():
    assert load_root_secret(None, None) != load_root_secret(None, None)
    assert len(load_root_secret(None, None)) == 32


def test_a_restart_in_the_same_folder_finds_the_same_secret(tmp_path):
    first = load_root_secret(tmp_path / "state", None)
    assert load_root_secret(tmp_path / "state", None) == first
    assert load_root_secret(tmp_path / "other", None) != first


def test_a_seed_gives_one_secret_with_or_without_a_folder(tmp_path):
    first = load_root_secret(tmp_path, "lesson")
    assert first == load_root_secret(tmp_path, "lesson") == load_root_secret(None, "lesson")
    assert first != load_root_secret(None, "lesson 2")


def test_a_seeded_folder_contains_neither_secret_nor_seed(tmp_path):
    secret = load_root_secret(tmp_path, "a lesson in the open")
    kept = (tmp_path / FILE_NAME).read_text()
    assert secret.hex() not in kept
    assert "lesson" not in kept


def test_the_empty_seed_is_a_seed():
    assert load_root_secret(None, "") == load_root_secret(None, "")


@posix
def test_folder_and_file_are_private_with_any_umask(tmp_path):
    before = os.umask(0)
    try:
        load_root_secret(tmp_path / "state", None)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "state").stat().st_mode) == 0o700
    assert stat.S_IMODE((tmp_path / "state" / FILE_NAME).stat().st_mode) == 0o600
    assert [file.name for file in (tmp_path / "state").iterdir()] == [FILE_NAME], "no draft is left behind"


@posix
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o644, 0o666])
def test_a_file_that_other_users_can_read_is_rejected_with_the_fix(tmp_path, mode):
    load_root_secret(tmp_path, None)
    (tmp_path / FILE_NAME).chmod(mode)
    with pytest.raises(RootSecretUnusable, match=rf"mode {mode:04o}\): run chmod 600 "):
        load_root_secret(tmp_path, None)
    (tmp_path / FILE_NAME).chmod(0o600)
    load_root_secret(tmp_path, None)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:0],
        lambda text: text[:-1],
        lambda text: text[: len(text) // 2],
        lambda text: text + "\n",
        lambda text: text + "x" * 1000,
        lambda text: text.replace("svcnb-root-1", "svcnb-root-2"),
        lambda text: text.replace("random", "seeded"),
        lambda text: text[:25] + ("0" if text[25] != "0" else "1") + text[26:],
        lambda text: text.upper(),
        lambda text: "\u00e9" * len(text),
    ],
    ids=["empty", "cut", "half", "longer", "much longer", "version", "kind", "one digit", "case", "not ascii"],
)
def test_a_damaged_file_is_refused_and_left_as_it_is(tmp_path, damage):
    secret = load_root_secret(tmp_path, None)
    file = tmp_path / FILE_NAME
    file.write_text(damage(file.read_text()), encoding="utf-8")
    left = file.read_bytes()
    with pytest.raises(RootSecretUnusable, match="is damaged") as caught:
        load_root_secret(tmp_path, None)
    assert secret.hex() not in str(caught.value)
    assert file.read_bytes() == left


def test_a_folder_instead_of_the_file_is_rejected(tmp_path):
    (tmp_path / FILE_NAME).mkdir(mode=0o700)
    with pytest.raises(RootSecretUnusable):
        load_root_secret(tmp_path, None)


def test_a_different_or_missing_seed_is_rejected(tmp_path):
    load_root_secret(tmp_path / "seeded", "one")
    load_root_secret(tmp_path / "random", None)
    with pytest.raises(RootSecretUnusable, match="a different seed"):
        load_root_secret(tmp_path / "seeded", "two")
    with pytest.raises(RootSecretUnusable, match="created with a seed, but this start does not use a seed"):
        load_root_secret(tmp_path / "seeded", None)
    with pytest.raises(RootSecretUnusable, match="created without a seed, but this start uses a seed"):
        load_root_secret(tmp_path / "random", "one")


def test_the_error_for_a_folder_that_cannot_be_created_contains_its_path(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(RootSecretUnusable, match="use a writable state folder"):
        load_root_secret(tmp_path / "file" / "state", None)


def test_concurrent_starts_use_the_same_secret(tmp_path):
    with ThreadPoolExecutor(8) as pool:
        made = set(pool.map(lambda _: load_root_secret(tmp_path, None), range(32)))
    assert len(made) == 1
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_two_concurrent_processes_use_the_same_secret(tmp_path):
    code = (
        "import sys, pathlib; from svcnb.emulator.keys.root import load_root_secret as load;"
        "print('ready', flush=True); sys.stdin.readline(); print(load(pathlib.Path(sys.argv[1]), None).hex())"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    made = {process.communicate("\n", timeout=300)[0] for process in processes}
    assert len(made) == 1
    assert len(made.pop().strip()) == 64


def test_a_database_accepts_only_the_root_it_began_with(tmp_path):
    url = f"sqlite:///{tmp_path / 'state.db'}"
    first = load_root_secret(tmp_path, None)
    for _ in range(2):
        store = Store(url)
        store.run_now(lambda connection: bind_root(connection, first))
        store.close()
    (tmp_path / FILE_NAME).unlink()
    second = load_root_secret(tmp_path, None)
    store = Store(url)
    with pytest.raises(RootSecretUnusable, match=f"Restore the file {FILE_NAME}") as caught:
        store.run_now(lambda connection: bind_root(connection, second))
    store.close()
    assert first.hex() not in str(caught.value)
    assert second.hex() not in str(caught.value)
