"""Exercises of lesson 0: keys, signatures and chains."""

from __future__ import annotations

from typing import Any, Final

from svcnb.protocol.signature import personal_digest, recover_address
from svcnb.toolkit.exercises.exercise import Exercise

_ADDRESS: Final = "0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A"
_TEXT: Final = "I know what I sign"
_GRACE: Final = "0x1563915e194D8CfBA1943570603F7606A3115508"
_PEOPLE: Final = ("Ada", "Grace", "Alan")


def _checksum(answer: str) -> str | None:
    if answer == _ADDRESS:
        return None
    if answer.lower() != _ADDRESS.lower():
        return "the answer is a different address: use the address from the exercise."
    return "some letters have the wrong case: compute the checksum with Web3.to_checksum_address(...)."


def _signature(answer: Any) -> str | None:
    signed = getattr(answer, "signature", answer)
    if isinstance(signed, int):
        raise TypeError
    if isinstance(signed, str):
        signed = bytes.fromhex(signed.removeprefix("0x"))
    try:
        signer = recover_address(personal_digest(_TEXT), bytes(signed))
    except ValueError:
        return "the answer is not a signature: use grace.sign_message(message).signature, which has 65 bytes."
    if signer.lower() == _GRACE.lower():
        return None
    return f"Grace did not make this signature: for the text {_TEXT!r}, the recovered address is {signer}."


def _who(answer: Any) -> str | None:
    if answer not in _PEOPLE:
        return 'the answer must be one of the three names: "Ada", "Grace" or "Alan".'
    return (
        None
        if answer == "Alan"
        else (f"{answer} did not sign the message: recover the address and compare it with the three addresses.")
    )


EXERCISES = (
    Exercise(
        "primer.checksum",
        "an address as a string",
        "the case of the letters now reveals typing mistakes.",
        _checksum,
        str,
    ),
    Exercise(
        "primer.signature",
        "a signature, the result of grace.sign_message(message).signature",
        "anyone can now check that Grace signed this text.",
        _signature,
    ),
    Exercise("primer.who", "a name as a string", "recovery finds the signer without a request to a server.", _who),
)
