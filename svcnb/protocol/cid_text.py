"""CIDs as text: parsing, and conversion between versions 0 and 1.

The service uses version 0 (``Qm…``). IPFS tools often show version 1 (``bafy…``) of the same content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from svcnb.errors import InvalidType
from svcnb.protocol import base58
from svcnb.protocol.errors import MalformedCid, shown

if TYPE_CHECKING:
    from multiformats import CID

_V0: Final = re.compile(r"Qm[1-9A-HJ-NP-Za-km-z]{44}\Z")
_V0_PREFIX: Final = b"\x12\x20"  # sha2-256, 32 bytes
_V0_BYTES: Final = 34
_HINT: Final = "compute it from the source: svcnb.cid(source)"


@dataclass(frozen=True)
class ParsedCid:
    """Parts of a CID.

    Attributes:
        text: The CID as it was given, without white space around it.
        version: 0 or 1.
        codec: How the root block is encoded, for example ``dag-pb``.
        hash_name: How it was hashed, for example ``sha2-256``.
        digest: The hash.
        base: How the text is encoded, for example ``base58btc``.
    """

    text: str
    version: int
    codec: str
    hash_name: str
    digest: bytes
    base: str

    def __str__(self) -> str:
        return self.text


def is_cid_v0(text: object) -> bool:
    """Returns whether a string is a CID of version 0, the form that the service uses.

    Fast, and imports nothing. Checks the form, the alphabet and the 34 bytes that the string encodes.
    """
    if not isinstance(text, str) or not _V0.match(text):
        return False
    raw = base58.decode(text)
    return len(raw) == _V0_BYTES and raw.startswith(_V0_PREFIX)


def is_cid(text: object) -> bool:
    """Returns whether a string is a CID of any version and encoding."""
    if not isinstance(text, str) or is_cid_v0(text):
        return isinstance(text, str)
    try:
        _read(text)
    except MalformedCid:
        return False
    return True


def parse_cid(text: str) -> ParsedCid:
    """Reads a CID of any version.

    Args:
        text: The CID; white space around it is ignored.

    Raises:
        InvalidType: Not a string.
        MalformedCid: Not a CID.
    """
    found = _read(text)
    return ParsedCid(
        text=text.strip(),
        version=int(found.version),
        codec=found.codec.name,
        hash_name=found.hashfun.name,
        digest=bytes(found.raw_digest),
        base=found.base.name,
    )


def to_v1(text: str, base: str = "base32") -> str:
    """Writes a CID in version 1.

    Args:
        text: A CID of any version.
        base: Multibase name of the encoding, for example ``base32`` or ``base58btc``.

    Raises:
        InvalidType: Not a string.
        MalformedCid: Not a CID, or no such encoding.

    Example:
        >>> to_v1("QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX")
        'bafybeid3weurg3gvyoi7nisadzolomlvoxoppe2sesktnpvdve3256n5tq'
    """
    found = _read(text)
    try:
        return str(found.set(version=1, base=base))
    except (KeyError, ValueError):
        raise MalformedCid(
            f"{shown(base)} is no encoding of CIDs", hint="write base32, base58btc, base16 or base64url"
        ) from None


def to_v0(text: str) -> str:
    """Writes a CID in version 0.

    Args:
        text: A CID of any version.

    Raises:
        InvalidType: Not a string.
        MalformedCid: Not a CID, or one that version 0 cannot express, such as the CID of a raw leaf.
    """
    found = _read(text)
    if found.codec.name != "dag-pb" or found.hashfun.name != "sha2-256":
        raise MalformedCid(
            f"{shown(text)} is {found.codec.name} hashed by {found.hashfun.name}; version 0 means dag-pb and sha2-256",
            hint="add the file without raw leaves (ipfs add --cid-version=0), or compute its CID here",
        )
    return base58.encode(_V0_PREFIX + bytes(found.raw_digest))


def _read(text: str) -> CID:
    if not isinstance(text, str):
        raise InvalidType(f"a CID is a text, not {type(text).__name__}")
    given = text.strip()
    # Imported here: it takes a tenth of a second, and only CIDs from elsewhere need it.
    from multiformats import CID

    try:
        found = CID.decode(given)
    except Exception as error:
        raise MalformedCid(f"{shown(given)} is no CID", hint=_HINT) from error
    if found.version == 0 and not is_cid_v0(given):
        raise MalformedCid(f"{shown(given)} is no CID: version 0 is 46 characters that start with Qm", hint=_HINT)
    return found
