"""What happens where libsecp256k1 is not installed: eth-keys takes over, or the error says what to install."""

from __future__ import annotations

import subprocess
import sys

_HIDE = """
import sys, warnings
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hide())
"""


def _run(hidden: set[str], program: str) -> str:
    source = _HIDE.format(hidden=hidden) + program
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def test_eth_keys_answers_the_same_with_one_warning(eip712_vectors) -> None:
    vector = eip712_vectors["vectors"][0]
    program = f"""
from svcnb.protocol.signature import *
from svcnb.protocol.errors import MalformedSignature
digest, secret = bytes.fromhex({vector["digest"][2:]!r}), bytes.fromhex({vector["private_key"][2:]!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    signature = sign_digest(digest, secret)
    print("0x" + signature.hex(), recover_address(digest, signature), address_of_secret(secret))
    try:
        recover_address(digest, bytes(65))
    except MalformedSignature:
        print("refused")
print(*[warning.category.__name__ for warning in caught if warning.category is SlowSignatures])
"""
    lines = _run({"coincurve"}, program).splitlines()
    assert lines == [
        f"{vector['signature']} {vector['address'].lower()} {vector['address'].lower()}",
        "refused",
        "SlowSignatures",
    ]


def test_without_any_library_the_error_says_what_to_install() -> None:
    program = """
from svcnb.protocol.signature import sign_digest
try:
    sign_digest(bytes(32), bytes(31) + b"1")
except ImportError as error:
    print(error)
"""
    assert _run({"coincurve", "eth_keys"}, program) == "signatures need: pip install 'svcnb[chain]'\n"
