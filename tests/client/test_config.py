from __future__ import annotations

import math
import os

import pytest

from svcnb.client.config import Timeouts, load
from svcnb.client.errors import ConfigError, InvalidArgument
from svcnb.protocol.vocabulary import Vocabulary

KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


def write(path, text: str, mode: int = 0o600):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def test_arguments_override_the_environment_and_the_environment_overrides_the_file(tmp_path) -> None:
    file = write(
        tmp_path / "c.toml", 'base_url = "http://file"\nrpc_url = "http://file-rpc"\ntriggers_url = "http://t"'
    )
    environment = {"SVC_BASE_URL": "http://environment", "SVC_RPC_URL": "http://environment-rpc"}
    found = load(base_url="http://argument", environment=environment, file=file)
    assert (found.base_url, found.rpc_url, found.triggers_url) == (
        "http://argument",
        "http://environment-rpc",
        "http://t",
    )


def test_the_address_can_include_the_api_path() -> None:
    assert load(base_url="http://host:1/core/v1/", environment={}).base_url == "http://host:1"


def test_the_error_for_a_missing_address_lists_every_way_to_set_it() -> None:
    with pytest.raises(ConfigError) as caught:
        load(environment={})
    for way in ("base_url=", "SVC_BASE_URL", "config.toml", "svcnb.Emulator()"):
        assert way in caught.value.hint


@pytest.mark.parametrize(
    "url",
    [
        *("localhost:8000", "ftp://host", "http://", "http://me:pw@host", "http://[::1", "http://host:99999"),
        *(
            "http://host:x",
            "http://a..b",
            "http://😀.example",
            "http://xn--a.b",
            f"http://{'a' * 64}",
            "http://a b",
            "http://a\nb",
            "http://h?a=1",
            "http://h#a",
        ),
    ],
)
def test_an_invalid_address_is_rejected(url: str) -> None:
    with pytest.raises(ConfigError):
        load(base_url=url, environment={})


@pytest.mark.parametrize(
    "url", ["wss://node.example/v3/s3cret", "http://node.example:x/?key=s3cret", "ftp://me:s3cret@node.example"]
)
def test_the_error_for_an_invalid_address_does_not_contain_a_secret(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(base_url="http://h", rpc_url=url, environment={})
    assert "s3cret" not in str(caught.value)


def test_an_address_of_a_chain_can_have_a_query() -> None:
    assert load(base_url="http://h", rpc_url="https://node/?key=1", environment={}).rpc_url == "https://node/?key=1"


def test_the_vocabulary_comes_from_the_environment() -> None:
    environment = {"SVC_BASE_URL": "http://h", "SVC_SERVICE_NAME": "acme", "SVC_PROCESSOR_NAME": "payco"}
    assert load(environment=environment).vocabulary == Vocabulary(service="acme", processor="payco")


def test_an_invalid_vocabulary_is_rejected() -> None:
    with pytest.raises(ConfigError, match="Acme Inc"):
        load(environment={"SVC_BASE_URL": "http://h", "SVC_SERVICE_NAME": "Acme Inc"})


@pytest.mark.skipif(os.name != "posix", reason="rights of files are POSIX")
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604])
def test_a_key_file_that_other_users_can_read_is_rejected(tmp_path, mode: int) -> None:
    file = write(tmp_path / "c.toml", f'base_url = "http://h"\napi_key = "{KEY}"', mode)
    with pytest.raises(ConfigError, match="other users can read") as caught:
        load(environment={}, file=file)
    assert "chmod 600" in caught.value.hint
    assert KEY not in str(caught.value)


def test_a_key_in_a_private_file_is_used(tmp_path) -> None:
    file = write(tmp_path / "c.toml", f'base_url = "http://h"\napi_key = "{KEY}"')
    found = load(environment={"SVCNB_CONFIG": str(file)})
    assert found.api_key == KEY
    assert KEY not in repr(found)


def test_the_default_file_is_in_the_config_folder(tmp_path) -> None:
    write(tmp_path / "svcnb" / "config.toml", 'base_url = "http://h"')
    assert load(environment={"XDG_CONFIG_HOME": str(tmp_path)}).base_url == "http://h"


@pytest.mark.parametrize(
    ("text", "said"),
    [("base_url = ", "not valid TOML"), ('bas_url = "http://h"', "bas_url"), ("base_url = 5", "expected a string")],
)
def test_the_error_for_an_invalid_file_contains_its_name(tmp_path, text: str, said: str) -> None:
    file = write(tmp_path / "c.toml", text)
    with pytest.raises(ConfigError, match=said) as caught:
        load(environment={}, file=file)
    assert str(file) in str(caught.value)
    assert caught.value.hint


def test_a_specified_file_must_exist(tmp_path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load(environment={"SVCNB_CONFIG": str(tmp_path / "none.toml")})


@pytest.mark.parametrize("key", ["two words", "quoted“", "0x" + "ab" * 32])
def test_the_error_for_an_invalid_key_does_not_contain_the_key(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(base_url="http://h", api_key=key, environment={})
    assert key not in str(caught.value)
    assert caught.value.hint


def test_white_space_around_a_key_is_ignored() -> None:
    assert load(base_url="http://h", api_key=f" {KEY}\n", environment={}).api_key == KEY


def test_the_hint_for_an_unreadable_file_fits_the_cause(tmp_path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="invalid byte 0xff at position 0") as caught:
        load(environment={}, file=tmp_path / "latin.toml")
    assert caught.value.hint == "Save the file as UTF-8."
    with pytest.raises(ConfigError, match="Is a directory") as caught:
        load(environment={}, file=tmp_path)
    assert "Check that the path is a regular file" in caught.value.hint


@pytest.mark.parametrize("value", [math.nan, 0.0, -1.0])
def test_a_timeout_must_be_above_zero(value: float) -> None:
    with pytest.raises(InvalidArgument, match=f"invalid timeout run={value}: expected a number of seconds above 0"):
        Timeouts(run=value)
