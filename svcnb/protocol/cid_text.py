"""CIDs as text: parsing, conversion between versions 0 and 1, and comparison with content.

The service uses version 0 (``Qm…``). IPFS tools often show version 1 (``bafy…``) of the same content.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from itertools import product
from typing import Final

from svcnb.errors import InvalidType
from svcnb.protocol import source_digest
from svcnb.protocol.errors import MalformedCid, shown
from svcnb.protocol.limits import CID_CHUNK_BYTES, CID_MAX_LINKS, MAX_CID_CHARS
from svcnb.protocol.unixfs import Node, parent

_V0: Final = re.compile(r"Qm[1-9A-HJ-NP-Za-km-z]{44}\Z")
# Base58 digits are in ASCII order, so strings of equal length sort like the numbers that they encode. These two strings
# encode 0x1220 (sha2-256, 32 bytes) with the smallest and the largest digest.
_FIRST_V0: Final = "QmNLei78zWmzUdbeRB3CiUfAizWUrbeeZh5K1rhAQKCh51"
_LAST_V0: Final = "QmfZy5bvk7a3DQAjCbGNtmrPXWkyVvPrdnZMyBZ5q5ieKG"
_V0_DIGEST_BYTES: Final = 32
_DAG_PB: Final = 0x70
_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"  # base58btc
_PAIRS: Final = tuple(a + b for a, b in product(_ALPHABET, repeat=2))
_PAIR: Final = 58**2
_FOUR: Final = 58**4  # four digits per division, because division by a number of less than 30 bits is fast
# Field and length of a link, then the start of a CIDv1: version, codec, sha2-256, 32 bytes.
_LINK_TO_RAW: Final = b"\x0a\x24\x01\x55\x12\x20"
_LINK_TO_NODE: Final = b"\x0a\x24\x01\x70\x12\x20"
_HINT: Final = "Compute the CID from the source: svcnb.cid(source)."


@dataclass(frozen=True)
class ParsedCid:
    """Parts of a CID.

    Attributes:
        text: The original CID, without surrounding whitespace.
        version: 0 or 1.
        codec: Encoding of the root block, for example ``dag-pb``.
        hash_name: Name of the hash function, for example ``sha2-256``.
        digest: Result of the hash function, as bytes.
        base: Encoding of the text, for example ``base58btc``.
    """

    text: str
    version: int
    codec: str
    hash_name: str
    digest: bytes
    base: str

    def __str__(self) -> str:
        return self.text

    def identifies(self, content: bytes | bytearray | memoryview) -> bool:
        """Returns whether this CID matches the content.

        The content is either a single block or a complete file. For a file, the method assumes the default options of
        ``ipfs add``: chunks of 256 KiB, and at most 174 links in a node. The leaves can be raw.

        Raises:
            InvalidType: The content is not bytes.
            MalformedCid: The hash function of the CID is not available.
        """
        if not isinstance(content, (bytes, bytearray, memoryview)):
            raise InvalidType(
                f"invalid content: expected bytes, got {type(content).__name__}: encode strings first, for example "
                "with text.encode()"
            )
        return _is_block(self, bytes(content)) or _is_file(self, bytes(content))


def base58(data: bytes) -> str:
    """Returns bytes as base58 text. Each leading zero byte becomes a leading digit ``1``.

    The function is optimised for the 34 bytes of a CID.
    """
    number = int.from_bytes(data, "big")
    pairs: list[str] = []
    while number:
        number, four = divmod(number, _FOUR)
        # Start at the end, because the division returns the lowest digits first.
        pairs += _PAIRS[four % _PAIR], _PAIRS[four // _PAIR]
    pairs.reverse()
    digits = "".join(pairs).lstrip("1")
    return "1" * (len(data) - len(data.lstrip(b"\0"))) + digits


def is_cid_v0(text: object) -> bool:
    """Returns whether a string is a CID of version 0. The service uses this version.

    The function checks the alphabet, and that the string encodes 34 bytes that start with 0x1220.
    """
    if not isinstance(text, str) or not _V0.match(text):
        return False
    return _FIRST_V0 <= text <= _LAST_V0


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
    """Returns the parts of a CID of any version, encoding, codec and hash function.

    Args:
        text: The CID. The function ignores surrounding whitespace.

    Raises:
        InvalidType: ``text`` is not a string.
        MalformedCid: ``text`` is not a CID.
    """
    return _read(text)


def to_v1(text: str, base: str = "base32") -> str:
    """Converts a CID to version 1.

    Args:
        text: A CID of any version.
        base: Multibase name of the encoding, for example ``base32`` or ``base58btc``.

    Raises:
        InvalidType: ``text`` is not a string.
        MalformedCid: ``text`` is not a CID, or ``base`` is not a known encoding.

    Example:
        >>> to_v1("QmWfVY9y3xjsixTgbd9AorQxH7VtMpzfx2HaWtsoUYecaX")
        'bafybeid3weurg3gvyoi7nisadzolomlvoxoppe2sesktnpvdve3256n5tq'
    """
    from multiformats import multibase, multicodec

    found = _read(text)
    raw = b"\x01" + multicodec.wrap(found.codec, _multihash(found))
    try:
        return multibase.encode(raw, base)
    except (KeyError, ValueError):
        raise MalformedCid(
            f"unsupported CID encoding {shown(base)}",
            hint='Pass "base32", "base58btc", "base16" or "base64url".',
        ) from None


def to_v0(text: str) -> str:
    """Converts a CID to version 0.

    Args:
        text: A CID of any version.

    Raises:
        InvalidType: ``text`` is not a string.
        MalformedCid: ``text`` is not a CID, or version 0 cannot express the CID. An example is the CID of a raw leaf.
    """
    from multiformats import multibase

    found = _read(text)
    if len(found.digest) != _V0_DIGEST_BYTES:
        raise MalformedCid(
            f"the CID {shown(text)} has no version 0, because its hash has {len(found.digest)} bytes: expected "
            f"{_V0_DIGEST_BYTES}",
            hint=_HINT,
        )
    if (found.codec, found.hash_name) != ("dag-pb", "sha2-256"):
        raise MalformedCid(
            f"the CID {shown(text)} has no version 0, because it uses {found.codec} and {found.hash_name}: expected "
            "dag-pb and sha2-256",
            hint=(
                "Add the file without raw leaves (ipfs add --cid-version=0), or compute its CID with svcnb.cid(source)."
            ),
        )
    return multibase.encode(_multihash(found), "base58btc")[1:]


def _read(text: str) -> ParsedCid:
    if not isinstance(text, str):
        raise InvalidType(f"a CID must be a string, not {type(text).__name__}")
    given = text.strip()
    if len(given) > MAX_CID_CHARS:
        raise MalformedCid(
            f"invalid CID {shown(given)}: it has {len(given)} characters; at most {MAX_CID_CHARS} are allowed",
            hint=_HINT,
        )
    # Import the library here, because the import takes about 0.1 s and only CIDs of other systems need it. Do not use
    # the class `CID` of multiformats, because it rejects hash functions that it cannot compute. Parsing a CID does not
    # compute a hash.
    from multiformats import multibase, multicodec, varint

    try:
        if is_cid_v0(given):
            base, version, codec, hashed = "base58btc", 0, _DAG_PB, multibase.decode(f"z{given}")
        else:
            encoding, raw = multibase.decode_raw(given)
            base, (version, _, rest) = encoding.name, varint.decode_raw(raw)
            codec, _, rest = varint.decode_raw(rest)
            hashed = bytes(rest)
        hash_code, _, rest = varint.decode_raw(hashed)
        size, _, digest = varint.decode_raw(rest)
        codec_name, hash_name = multicodec.get(code=codec).name, multicodec.get(code=hash_code).name
    except Exception as error:
        raise MalformedCid(
            f"invalid CID {shown(given)}: expected version 0 (Qm...) or version 1, such as bafy...", hint=_HINT
        ) from error
    if version > 1:
        raise MalformedCid(f"invalid CID {shown(given)}: unknown version {version}", hint=_HINT)
    if version == 0 and not is_cid_v0(given):
        raise MalformedCid(f"invalid CID {shown(given)}: version 0 has 46 characters and starts with Qm", hint=_HINT)
    if size != len(digest):
        raise MalformedCid(f"invalid CID {shown(given)}: the hash has {len(digest)} bytes, expected {size}", hint=_HINT)
    return ParsedCid(given, version, codec_name, hash_name, bytes(digest), base)


def _multihash(cid: ParsedCid) -> bytes:
    from multiformats import multicodec, varint

    return bytes(multicodec.wrap(cid.hash_name, varint.encode(len(cid.digest)) + cid.digest))


def _is_block(cid: ParsedCid, content: bytes) -> bool:
    """Returns whether a CID contains the hash of these bytes.

    Raises:
        MalformedCid: The hash function of the CID is not available.
    """
    from multiformats import multihash

    try:
        compute, _ = multihash.get(cid.hash_name).implementation
        found = compute(content)
    except Exception as error:
        raise MalformedCid(
            f"cannot check the CID {cid.text}: its hash function {cid.hash_name} is not available",
            hint="Use a CID with sha2-256.",
        ) from error
    return bool(cid.digest) and found[: len(cid.digest)] == cid.digest


def _is_file(cid: ParsedCid, content: bytes) -> bool:
    """Returns whether a CID identifies the root block of a file with this content.

    ``ipfs add`` wraps leaves in dag-pb for version 0, and uses raw leaves for version 1.
    """
    if (cid.codec, cid.hash_name) != ("dag-pb", "sha2-256"):
        return False
    if source_digest.of_memory(memoryview(content), None) == cid.digest:
        return True
    return cid.version == 1 and _root_over_raw_leaves(content) == cid.digest


def _root_over_raw_leaves(content: bytes) -> bytes:
    chunks = [content[at : at + CID_CHUNK_BYTES] for at in range(0, len(content), CID_CHUNK_BYTES)]
    level: list[Node] = [(sha256(chunk).digest(), len(chunk), len(chunk)) for chunk in chunks or [b""]]
    link = _LINK_TO_RAW
    while len(level) > 1 or link is _LINK_TO_RAW:
        level = [parent(level[at : at + CID_MAX_LINKS], link) for at in range(0, len(level), CID_MAX_LINKS)]
        link = _LINK_TO_NODE
    digest, _, _ = level[0]
    return digest
