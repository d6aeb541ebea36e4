"""Comparison of content with a CID of any version, codec and hash function.

Source: UnixFS, dag-pb and CID specifications. ``ipfs add`` wraps leaves in dag-pb for version 0, and uses raw leaves
for version 1.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

from svcnb.protocol import source_digest
from svcnb.protocol.errors import MalformedCid
from svcnb.protocol.limits import CID_CHUNK_BYTES, CID_MAX_LINKS
from svcnb.protocol.unixfs import Node, parent

if TYPE_CHECKING:
    from svcnb.protocol.cid_text import ParsedCid

# Field and length of a link, then the start of a CIDv1: version, codec, sha2-256, 32 bytes.
_LINK_TO_RAW: Final = b"\x0a\x24\x01\x55\x12\x20"
_LINK_TO_NODE: Final = b"\x0a\x24\x01\x70\x12\x20"


def is_block(cid: ParsedCid, content: bytes) -> bool:
    """Returns whether a CID is the hash of these bytes.

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


def is_file(cid: ParsedCid, content: bytes) -> bool:
    """Returns whether a CID is the root of the block tree of a file."""
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
