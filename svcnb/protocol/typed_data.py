"""The four typed-data envelopes that a wallet signs, and their digests.

The shape is fixed; only flow, address, chain and time vary. So type hash and domain separator are computed once, and a
digest takes two hashes. The module `svcnb.protocol.eip712` computes the same digest step by step, for any shape.

Source: specification 2 (typed-data envelope); EIP-712.
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from svcnb.protocol.errors import MalformedValue, shown
from svcnb.protocol.hashes import checksum_address, normal_address
from svcnb.protocol.keccak import keccak256
from svcnb.protocol.limits import MAX_ISSUED_AT
from svcnb.protocol.vocabulary import Vocabulary

DOMAIN_VERSION: Final = "1"
DOMAIN_FIELDS: Final = (("name", "string"), ("version", "string"), ("chainId", "uint256"))
MESSAGE_FIELDS: Final = (("address", "address"), ("issuedAt", "uint256"))
DOMAIN_TYPE: Final = "EIP712Domain(string name,string version,uint256 chainId)"

_DEFAULT: Final = Vocabulary()
_PREFIX: Final = b"\x19\x01"  # EIP-191 version byte of structured data
_ADDRESS_PADDING: Final = bytes(12)
_UINT256: Final = 1 << 256


class Flow(StrEnum):
    """Purpose of a signature: the ``primaryType`` of its envelope. Other flows reject the signature."""

    CREATE_WALLET = "CreateWallet"
    CONVERT_ACCOUNT = "ConvertAccount"
    ADD_USAGE_API_KEY = "AddUsageApiKey"
    BILLING_AUTH = "BillingAuth"

    @property
    def type_string(self) -> str:
        """The string whose hash is the EIP-712 type hash."""
        return f"{self.value}(address address,uint256 issuedAt)"


# --- building -----------------------------------------------------------------------------------------------------


def envelope(
    flow: Flow | str, address: str, chain_id: int, issued_at: int, *, vocabulary: Vocabulary | None = None
) -> dict[str, Any]:
    """Builds the envelope of a flow, in the canonical shape and ready to be sent as JSON.

    Args:
        flow: What the signature is for.
        address: The wallet that will sign.
        chain_id: The node's chain id, from ``get_node_chain_config``.
        issued_at: Unix seconds; a server accepts it for 300 seconds before and after.
        vocabulary: Names of the service; the specification's when left out.

    Returns:
        A new dictionary with the members types, primaryType, domain and message; numbers are decimal strings.

    Raises:
        MalformedValue: The flow is unknown, the address is invalid, or a number is out of range.
    """
    wanted = flow_of(flow)
    _require_range("chain_id", chain_id, _UINT256 - 1)
    _require_range("issued_at", issued_at, MAX_ISSUED_AT)
    return {
        "types": canonical_types(wanted),
        "primaryType": wanted.value,
        "domain": {
            "name": (vocabulary or _DEFAULT).domain_name,
            "version": DOMAIN_VERSION,
            "chainId": str(chain_id),
        },
        "message": {"address": checksum_address(address), "issuedAt": str(issued_at)},
    }


def flow_of(name: Flow | str) -> Flow:
    """Returns the flow with a primaryType.

    Raises:
        MalformedValue: There is no such flow.
    """
    try:
        return Flow(name)
    except ValueError:
        raise MalformedValue(
            f"there is no flow {shown(name)}", hint=f"choose one of {', '.join(flow.value for flow in Flow)}"
        ) from None


def canonical_types(flow: Flow) -> dict[str, list[dict[str, str]]]:
    """Returns the ``types`` member of a flow's envelope; the order of the fields is part of the type hash."""
    return {
        "EIP712Domain": [{"name": name, "type": kind} for name, kind in DOMAIN_FIELDS],
        flow.value: [{"name": name, "type": kind} for name, kind in MESSAGE_FIELDS],
    }


def _require_range(name: str, number: object, most: int) -> None:
    if type(number) is not int:
        raise MalformedValue(f"{name} is a whole number, not {shown(number)}")
    if not 0 <= number <= most:
        raise MalformedValue(f"{name} is {number}, and lies between 0 and {most}")


# --- digest -------------------------------------------------------------------------------------------------------


def envelope_digest(
    flow: Flow, address: str, chain_id: int, issued_at: int, *, vocabulary: Vocabulary | None = None
) -> bytes:
    """Returns the 32 bytes that a wallet signs for a flow.

    Args:
        flow: What the signature is for.
        address: The wallet, ``0x`` and 40 digits.
        chain_id: The node's chain id.
        issued_at: Unix seconds.
        vocabulary: Names of the service; the specification's when left out.

    Raises:
        MalformedAddress: Not an address.
    """
    domain = (vocabulary or _DEFAULT).domain_name
    return message_digest(
        flow, bytes.fromhex(normal_address(address)[2:]), domain_separator(domain, chain_id), issued_at
    )


@lru_cache(maxsize=64)
def domain_separator(domain_name: str, chain_id: int) -> bytes:
    """Returns the hash of the domain: service, version and chain, 32 bytes."""
    return keccak256(
        keccak256(DOMAIN_TYPE.encode())
        + keccak256(domain_name.encode())
        + keccak256(DOMAIN_VERSION.encode())
        + chain_id.to_bytes(32, "big")
    )


@lru_cache(maxsize=len(Flow))
def type_hash(flow: Flow) -> bytes:
    """Returns the hash of the flow's type string, 32 bytes."""
    return keccak256(flow.type_string.encode())


def message_digest(flow: Flow, address: bytes, separator: bytes, issued_at: int) -> bytes:
    """Returns the `envelope_digest` for an address of 20 bytes and a computed `domain_separator`."""
    message = keccak256(type_hash(flow) + _ADDRESS_PADDING + address + issued_at.to_bytes(32, "big"))
    return keccak256(_PREFIX + separator + message)
