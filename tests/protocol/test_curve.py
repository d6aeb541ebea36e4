"""All secp256k1 libraries return the same results, and the module uses the best installed library."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from hypothesis import example, given, settings, strategies as st

from svcnb.extras import install_command
from svcnb.protocol.curve import LIBRARIES, ORDER, Library

_HIDE = """
import sys, warnings
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Hide())
"""


def installed() -> dict[str, Library]:
    found = {}
    for load in LIBRARIES:
        try:
            library = load()
        except ImportError:
            continue
        found[library.name] = library
    return found


INSTALLED = installed()
secrets_of_the_curve = st.integers(1, ORDER - 1).map(lambda number: number.to_bytes(32, "big"))


def _run(hidden: set[str], program: str) -> str:
    source = _HIDE.format(hidden=hidden) + program
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def test_at_least_two_libraries_are_compared() -> None:
    assert len(INSTALLED) >= 2, list(INSTALLED)


@pytest.mark.skipif("wallycore" not in INSTALLED, reason="wallycore is not installed")
def test_wallycore_does_not_crash_the_interpreter_at_exit() -> None:
    """SWIG's data is released while warnings are errors, as after a run of tests."""
    program = """
        import sys, warnings
        from svcnb.protocol.curve import LIBRARIES
        for load in LIBRARIES[:2]:
            try:
                load()
            except ImportError:
                pass
        modules = [sys.modules.pop(name) for name in list(sys.modules) if name.startswith("swig_runtime_data")]
        warnings.simplefilter("error")
        del modules
        print("released")
    """
    assert _run(set(), textwrap.dedent(program)) == "released\n"


@pytest.mark.parametrize("name", INSTALLED)
def test_each_library_makes_the_signatures_of_the_vectors(name: str, eip712_vectors) -> None:
    library = INSTALLED[name]
    for vector in eip712_vectors["vectors"]:
        digest, secret = bytes.fromhex(vector["digest"][2:]), bytes.fromhex(vector["private_key"][2:])
        signed = library.sign(digest, secret)
        assert "0x" + signed[:64].hex() + f"{signed[64] + 27:02x}" == vector["signature"]
        assert library.recover(digest, signed[:64], signed[64]) == library.public_key(secret)


@settings(max_examples=20, deadline=None)
@given(secrets_of_the_curve, st.binary(min_size=32, max_size=32))
@example((1).to_bytes(32, "big"), bytes(32))
@example((ORDER - 1).to_bytes(32, "big"), b"\xff" * 32)
def test_the_libraries_agree_also_about_signatures_with_s_in_the_upper_half(secret: bytes, digest: bytes) -> None:
    signatures = {library.sign(digest, secret) for library in INSTALLED.values()}
    keys = {library.public_key(secret) for library in INSTALLED.values()}
    assert len(signatures) == len(keys) == 1
    signature, key = signatures.pop(), keys.pop()
    s = int.from_bytes(signature[32:64], "big")
    assert s <= ORDER // 2
    twin = signature[:32] + (ORDER - s).to_bytes(32, "big")
    for library in INSTALLED.values():
        assert library.recover(digest, signature[:64], signature[64]) == key
        assert library.recover(digest, twin, 1 - signature[64]) == key


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize(
    "compact",
    [bytes(64), b"\xff" * 64, b"\1" * 32 + bytes(32), bytes(32) + b"\1" * 32, ORDER.to_bytes(32, "big") + b"\1" * 32],
    ids=["zeros", "beyond the order", "s is zero", "r is zero", "r is the order"],
)
def test_no_library_recovers_a_key_from_invalid_numbers(name: str, compact: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        INSTALLED[name].recover(b"\1" * 32, compact, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
def test_a_process_in_which_warnings_are_errors_exits_with_0(name: str) -> None:
    program = f"""
from svcnb.protocol.curve import LIBRARIES
for load in LIBRARIES:
    if load.__name__.strip("_") == {name.replace("-", "_")!r}:
        load().sign(bytes(32), bytes(31) + b"1")
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.slow
def test_eth_keys_is_used_last_and_says_so_once(eip712_vectors) -> None:
    vector = eip712_vectors["vectors"][0]
    program = f"""
from svcnb.protocol.curve import SlowSignatures, library
from svcnb.protocol.errors import MalformedSignature
from svcnb.protocol.signature import *
digest, secret = bytes.fromhex({vector["digest"][2:]!r}), bytes.fromhex({vector["private_key"][2:]!r})
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    signature = sign_digest(digest, secret)
    print("0x" + signature.hex(), recover_address(digest, signature), address_of_secret(secret), library().name)
    try:
        recover_address(digest, bytes(65))
    except MalformedSignature:
        print("refused")
print(*[warning.category.__name__ for warning in caught if warning.category is SlowSignatures])
"""
    lines = _run({"coincurve", "wallycore"}, program).splitlines()
    assert lines == [
        f"{vector['signature']} {vector['address'].lower()} {vector['address'].lower()} eth-keys",
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
    said = _run({"coincurve", "eth_keys", "wallycore"}, program)
    assert said.splitlines() == [
        "signatures require a secp256k1 library",
        f"Next step: Install the package: {install_command('chain')}",
    ]
