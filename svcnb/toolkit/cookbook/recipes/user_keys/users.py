"""Lookup of a user's action and of the address of the action's key: ``python users.py NAME``.

The user does not have to sign in. The template, the settings and the name determine the CID, and the CID determines
the public key.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from eth_account.messages import encode_typed_data
from eth_utils.crypto import keccak

import svcnb

HERE: Final = Path(__file__).parent
NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,31}")
KINDS: Final = {
    "Payment": {
        "account": "address", "to": "address", "value": "uint256", "nonce": "uint256", "deadline": "uint256",
    },
    "Migration": {"account": "address", "next": "address", "nonce": "uint256", "deadline": "uint256"},
}  # fmt: skip
FIND: Final = """async function main({ cid }) {
  return {
    publicKey: await Svc.Actions.getSvcActionPublicKey({ ipfsId: cid }),
    address: ethers.utils.getAddress(await Svc.Actions.getSvcActionWalletAddress({ ipfsId: cid })),
  };
}"""


class Key(NamedTuple):
    """Public parts of an action's key.

    Attributes:
        public_key: Compressed point of secp256k1, ``0x`` followed by 66 hex digits.
        address: Address with its EIP-55 checksum.
    """

    public_key: str
    address: str


def action_of(name: str, settings: dict[str, Any], template: svcnb.Action, version: int = 1) -> svcnb.Action:
    """Returns a user's action, which consists of the template and a constant with the settings and the user's name.

    Args:
        name: Name of the user at the identity provider.
        settings: Fields of the constant ``USER``. The argument `name` replaces a field ``name``.
        template: Template of the action. A different template gives each user a different key.
        version: Version of the template, which is a part of the constant.

    Raises:
        ValueError: The name is not a letter a-z, followed by at most 31 characters of a-z, 0-9 and -.
    """
    if not NAME.fullmatch(name):
        raise ValueError(
            f"invalid user name {name!a}: expected a letter a-z, then at most 31 characters of a-z, 0-9 and -"
        )
    return template.derive(settings | {"name": name}, name="USER", protocol_version=version)


def key_of(svc: svcnb.Client, action: svcnb.Action) -> Key:
    """Returns the public key and the address of an action's own key. Runs the action `FIND`, which costs credit."""
    found = svc.run(FIND, cid=action.cid).response
    return Key(found["publicKey"], found["address"])


def digest_of(kind: str, order: dict[str, str], settings: dict[str, Any]) -> str:
    """Returns the digest of an order (EIP-712), which the identity provider stores in the claim ``nonce`` of the token.

    Args:
        kind: ``Payment`` or ``Migration``.
        order: Fields of the order. Numbers are strings of digits.
        settings: Settings with the chain (``chainId``) and the address of the contract (``contract``).
    """
    domain = {"name": "UserAccounts", "version": "1"}
    domain |= {"chainId": settings["chainId"], "verifyingContract": settings["contract"]}
    types = {kind: [{"name": name, "type": type_} for name, type_ in KINDS[kind].items()]}
    values = {name: int(order[name]) if type_ == "uint256" else order[name] for name, type_ in KINDS[kind].items()}
    encoded = encode_typed_data(domain, types, values)
    return "0x" + keccak(b"\x19" + encoded.version + encoded.header + encoded.body).hex()


def settings_of(file: Path) -> dict[str, Any]:
    """Returns the constant of the only action in a file like ``account.toml``.

    The constant also contains the name of one user.
    """
    (described,) = tomllib.loads(file.read_text("utf-8"))["actions"].values()
    constant: dict[str, Any] = described["constant"]
    return constant


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Prints the CID of a user's action and the address of its key.")
    parser.add_argument("name", metavar="NAME", help="name of the user at the identity provider")
    user, settings = parser.parse_args().name, settings_of(HERE / "account.toml")
    try:
        mine = action_of(user, settings, svcnb.Action.from_file(HERE / "action.js"))
    except ValueError as error:
        parser.error(str(error))
    print(mine.cid, key_of(svcnb.Client(), mine).address)
