# ruff: noqa: E501 - sources of actions stand on one line, as their authors would write them
"""Resource limits of one action. Exceeding a limit is an error of the action, never of the service."""

from __future__ import annotations

from typing import Any

import pytest

from svcnb.emulator.sandbox.run_result import response_value

pytestmark = pytest.mark.engine

ENGINES = ("v8", "auto")


@pytest.mark.usefixtures("little_processor_time")
def test_an_unclosed_string_of_escaped_quotes_is_parsed_in_linear_time():
    text = "[" * 200 + '"' + '\\"' * 500_000
    assert response_value(text.encode()) == text


def test_a_large_response_is_complete(room: Any):
    source = "const main = () => Array.from({ length: 20000 }, (_, n) => ({ n, text: 'é'.repeat(5) }))"
    assert room.value(source) == [{"n": n, "text": "é" * 5} for n in range(20_000)]


def test_large_parameters_arrive_whole(room: Any):
    numbers = list(range(100_000))
    assert room.value("const main = (params) => params.length", numbers) == 100_000


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("S.Encrypt({ pkpId: WALLET, message: 'x'.repeat(1048577) })", "Encrypt: the message has 1048577 bytes, but at most 1048576 are allowed. Encrypt the message in parts."),
        ("S.Encrypt({ pkpId: WALLET, message: 'x'.repeat(6e6) })", "Actions: the arguments are too long: at most 4194048 bytes are allowed"),
        ("S.Decrypt({ pkpId: WALLET, ciphertext: 'a'.repeat(3e6) })", "Decrypt: the ciphertext has 3000000 characters, but at most 2097210 are allowed. Pass the unchanged result of Encrypt."),
        ("S.getSvcActionPublicKey({ ipfsId: 'Q'.repeat(2000) })", "ipfsId has 2000 characters, but at most 1024 are allowed: pass the CID of an action"),
        ("fetch('http://127.0.0.1/' + 'a'.repeat(5e6))", "fetch: the arguments are too long: at most 4194048 bytes are allowed"),
        ("fetch('http://127.0.0.1/', { method: 'POST', body: 'a'.repeat(1048576 * 10 + 1) })", "fetch failed: the request body is too long: at most 10485760 bytes are allowed"),
    ],
)  # fmt: skip
def test_a_too_long_call_is_an_error_that_the_action_can_catch(call: str, error: str, room: Any, wallet: Any):
    source = f"const WALLET = '{wallet[0]}'; const S = Svc.Actions; const main = async () => {{ try {{ await {call}; return 'did'; }} catch (e) {{ return e.message; }} }}"
    assert room.value(source) == error


def test_the_longest_message_can_be_encrypted_and_decrypted(room: Any, wallet: Any):
    source = f"const pkpId = '{wallet[0]}'; const S = Svc.Actions; const main = async () => {{ const message = 'x'.repeat(1048576); return (await S.Decrypt({{ pkpId, ciphertext: await S.Encrypt({{ pkpId, message }}) }})) === message; }}"
    assert room.value(source) is True


def test_a_data_address_may_be_long(room: Any):
    source = "const main = async () => (await (await fetch('data:text/plain,' + 'a'.repeat(5e6))).text()).length"
    assert room.value(source) == 5_000_000


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ("'http://example.org/' + 'a'.repeat(65518)", "the URL has 65537 characters, but at most 65536 are allowed"),
        ("'http://example.org/', { headers: { a: 'b'.repeat(262144) } }", "at most 262144 are allowed"),
    ],
)
def test_the_head_of_a_request_is_bounded(request_: str, error: str, room: Any):
    source = f"const main = () => fetch({request_}).catch((e) => e.name + ': ' + e.message)"
    seen = room.value(source)
    assert seen.startswith("TypeError: fetch failed: the ")
    assert error in seen
