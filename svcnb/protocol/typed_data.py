"""The four typed-data envelopes that a wallet signs, and their digests.

The structure of an envelope is fixed: only the flow, address, chain and time vary. Therefore, the module computes the
type hash and the domain separator once, and a digest takes two hashes. The module `svcnb.protocol.eip712` computes the
same digest step by step, for any structure.

Source: docs/service/signatures.md#envelope; EIP-712.
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
    """Purpose of a signature: the ``primaryType`` of its envelope. Endpoints of other flows reject the signature."""

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
    """Builds the envelope of a flow in the canonical structure. All values are strings, lists or dicts, as in JSON.

    Args:
        flow: Purpose of the signature.
        address: Address of the wallet that will sign, ``0x`` and 40 hex digits.
        chain_id: The node's chain id, from ``get_node_chain_config``.
        issued_at: Time of the signature in Unix seconds. A server accepts a difference of at most 300 seconds from its
            own time.
        vocabulary: Names of the service. The default is the names of the specification.

    Returns:
        A new dictionary with the members types, primaryType, domain and message. Numbers are decimal strings.

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
    """Returns the flow that has the given name. The name of a flow is the ``primaryType`` of its envelope.

    Raises:
        MalformedValue: No flow has this name.
    """
    try:
        return Flow(name)
    except ValueError:
        raise MalformedValue(
            f"unknown flow {shown(name)}", hint=f"Choose one of {', '.join(flow.value for flow in Flow)}."
        ) from None


def canonical_types(flow: Flow) -> dict[str, list[dict[str, str]]]:
    """Returns the ``types`` member of a flow's envelope. The order of the fields is part of the type hash."""
    return {
        "EIP712Domain": [{"name": name, "type": kind} for name, kind in DOMAIN_FIELDS],
        flow.value: [{"name": name, "type": kind} for name, kind in MESSAGE_FIELDS],
    }


def _require_range(name: str, number: object, most: int) -> None:
    if type(number) is not int:
        raise MalformedValue(f"the argument {name} must be an integer, not {shown(number)}")
    if not 0 <= number <= most:
        raise MalformedValue(f"the argument {name} is {shown(number)}: expected 0 to {most}")


# --- digest -------------------------------------------------------------------------------------------------------


def envelope_digest(
    flow: Flow, address: str, chain_id: int, issued_at: int, *, vocabulary: Vocabulary | None = None
) -> bytes:
    """Returns the 32 bytes that a wallet signs for a flow.

    Args:
        flow: Purpose of the signature.
        address: Address of the wallet, ``0x`` and 40 hex digits.
        chain_id: The node's chain id.
        issued_at: Time of the signature in Unix seconds.
        vocabulary: Names of the service. The default is the names of the specification.

    Raises:
        MalformedAddress: The text is not an address.
    """
    domain = (vocabulary or _DEFAULT).domain_name
    return message_digest(
        flow, bytes.fromhex(normal_address(address)[2:]), domain_separator(domain, chain_id), issued_at
    )


@lru_cache(maxsize=64)
def domain_separator(domain_name: str, chain_id: int) -> bytes:
    """Returns the 32-byte hash of the domain: domain name of the service, version and chain id."""
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
    """Returns the same digest as `envelope_digest`, from a 20-byte address and a computed `domain_separator`."""
    message = keccak256(type_hash(flow) + _ADDRESS_PADDING + address + issued_at.to_bytes(32, "big"))
    return keccak256(_PREFIX + separator + message)
