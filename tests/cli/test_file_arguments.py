"""Files that a command cannot read: named pipes, devices, long files and other encodings."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from svcnb.client.signing import LocalSigner
from svcnb.errors import SvcnbError

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no named pipes in folders")


@pytest.fixture
def pipe(tmp_path: Path) -> Iterator[Path]:
    """Named pipe with a writer that writes nothing. The writer ends after some time, so that a defect does not hang."""
    path = tmp_path / "pipe.ipynb"
    os.mkfifo(path)
    writer = os.open(path, os.O_RDWR)
    end = threading.Timer(5, os.close, [writer])
    end.start()
    yield path
    if end.is_alive():
        end.cancel()
        os.close(writer)


@pytest.mark.parametrize(
    "command",
    [
        "run FILE",
        "run action.js --params @FILE",
        "run action.js --key-file FILE",
        "cid FILE",
        "lint FILE",
        "sign create-wallet --chain-id 1 --issued-at 1 --wallet-key-file FILE",
        "login --base-url http://localhost --key-file FILE",
        "keys list --key-file FILE",
        "plan FILE",
        "plan account.toml --state FILE",
        "triggers list --token-file FILE",
        "templates list FILE",
        "workshop start --from-file FILE",
        "report FILE",
        "history merge FILE",
    ],
)
def test_a_command_does_not_wait_for_a_named_pipe(
    svcnb, pipe: Path, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVC_BASE_URL", "http://localhost:9")
    monkeypatch.setenv("SVC_HISTORY", str(tmp_path / "history.sqlite"))
    Path("action.js").write_text("const main = () => 1")
    Path("account.toml").write_text("")
    done = svcnb(*(part.replace("FILE", str(pipe)) for part in command.split()))
    assert done.returncode in {1, 2}
    assert str(pipe) in done.stderr
    assert "not a regular file" in done.stderr or "does not exist" in done.stderr


@pytest.mark.parametrize(("variable", "command"), [("SVCNB_CONFIG", "groups"), ("SVC_HISTORY", "history")])
def test_a_setting_that_is_a_named_pipe_is_an_error(svcnb, pipe: Path, variable: str, command: str) -> None:
    done = svcnb(command, "list", **{variable: str(pipe), "SVC_BASE_URL": "http://localhost:9"})
    assert done.returncode == 2
    assert "not a regular file" in done.stderr


def test_a_long_key_file_and_a_long_standard_input_are_errors(svcnb, tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"a" * (2**20 + 1))
    done = svcnb(
        "sign", "create-wallet", "--chain-id", "1", "--issued-at", "1", "--wallet-key-file", f"{tmp_path}/long"
    )
    assert "the file has 1,048,577 bytes, but at most 1,048,576 are allowed" in done.stderr
    done = svcnb(
        "sign",
        "create-wallet",
        "--chain-id",
        "1",
        "--issued-at",
        "1",
        "--wallet-key-file",
        "-",
        stdin="a" * (2**20 + 1),
    )
    assert "standard input has more than 1,048,576 bytes" in done.stderr


def test_a_plan_in_another_encoding_is_not_called_invalid_toml(svcnb, tmp_path: Path) -> None:
    (tmp_path / "account.toml").write_bytes('[groups."caf\xe9"]\n'.encode("latin-1"))
    done = svcnb("plan", f"{tmp_path}/account.toml", SVC_BASE_URL="http://localhost:9")
    assert done.returncode == 2
    assert "account.toml is not UTF-8 text: invalid byte 0xe9 at position 12" in done.stderr
    assert "TOML" not in done.stderr


def test_a_wallet_file_in_another_encoding_is_an_error_of_svcnb(tmp_path: Path) -> None:
    (tmp_path / "key").write_bytes(b"\xff")
    with pytest.raises(SvcnbError, match="is not UTF-8 text"):
        LocalSigner.from_keyfile(tmp_path / "key")
