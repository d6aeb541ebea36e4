"""The libraries for browser pages return the same results as the usual libraries. Deno runs them in this test."""

from __future__ import annotations

import json
import subprocess
from typing import Any
from urllib.parse import quote

import pytest

from svcnb import tools
from svcnb.bundles import read_bundle
from svcnb.protocol.aes_gcm import seal
from svcnb.protocol.curve import library
from svcnb.protocol.in_page import bundle
from svcnb.protocol.keccak import keccak256

pytestmark = pytest.mark.engine

_PROGRAM = """
const [script, calls] = JSON.parse(await new Response(Deno.stdin.readable).text());
const primitives = (0, eval)(script);
console.log(JSON.stringify(calls.map(([name, ...args]) => primitives[name](...args))));
"""


def call(*calls: tuple[Any, ...]) -> list[Any]:
    program = "data:text/javascript," + quote(_PROGRAM)
    command = [str(tools.deno()), "run", "--quiet", "--no-config", "--no-lock", program]
    given = json.dumps([read_bundle(bundle()).decode(), calls])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True, timeout=300)
    found: list[Any] = json.loads(done.stdout)
    return found


def test_signatures_and_keys_are_those_of_the_vectors(eip712_vectors) -> None:
    vectors = eip712_vectors["vectors"]
    signed = call(*(("sign", vector["digest"][2:], vector["private_key"][2:]) for vector in vectors))
    keys = call(*(("publicKey", vector["private_key"][2:]) for vector in vectors))
    pairs = list(zip(vectors, signed, strict=True))
    recovered = call(*(("recover", vector["digest"][2:], made[:128], int(made[128:], 16)) for vector, made in pairs))
    for (vector, made), key, found in zip(pairs, keys, recovered, strict=True):
        assert "0x" + made[:128] + f"{int(made[128:], 16) + 27:02x}" == vector["signature"]
        assert key == found == library().public_key(bytes.fromhex(vector["private_key"][2:])).hex()


def test_a_signature_without_a_signer_has_no_key() -> None:
    assert call(("recover", "11" * 32, "ff" * 64, 0)) == [""]


def test_keccak_is_the_same_around_the_length_of_a_block() -> None:
    texts = [bytes(range(256))[:length] for length in (0, 1, 135, 136, 137, 255)]
    assert call(*(("keccak256", text.hex()) for text in texts)) == [keccak256(text).hex() for text in texts]


def test_encryption_is_the_same_and_notices_a_change() -> None:
    key, nonce = bytes(range(32)), bytes(range(12))
    for plain, about in ((b"", b""), (b"a secret", b""), (b"a secret" * 50, b"trigger 1")):
        sealed = seal(key, nonce, plain, about)
        changed = bytes([sealed[0] ^ 1, *sealed[1:]])
        here = ("encrypt", key.hex(), nonce.hex(), plain.hex(), about.hex())
        back = ("decrypt", key.hex(), nonce.hex(), sealed.hex(), about.hex())
        other = ("decrypt", key.hex(), nonce.hex(), changed.hex(), about.hex())
        assert call(here, back, other) == [sealed.hex(), plain.hex(), None]
