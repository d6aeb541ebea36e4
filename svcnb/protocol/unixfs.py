"""Root hash of the block tree of a file in IPFS.

IPFS splits a file into chunks of 256 KiB, and wraps each chunk in a UnixFS message inside a dag-pb node (a leaf). A
parent node lists the hashes and sizes of up to 174 nodes. Parents also have parents, until only a single root remains
(the balanced layout). A file of one chunk consists of a single leaf.

For each node, the tree keeps only one hash and two sizes in memory, and deletes these values as soon as the parent
exists. A file of any size therefore needs only a few hundred entries.

Source: docs/service/keys.md#content-identifiers; UnixFS and dag-pb specifications for the encoding.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Final

from svcnb.protocol.limits import CID_CHUNK_BYTES, CID_MAX_LINKS

Bytes = bytes | bytearray | memoryview

_GROUP: Final = 0x7F
_MORE: Final = 0x80

# Tags of the two protobuf messages. Each byte contains a field number and a wire type.
_NODE_DATA: Final = b"\x0a"
_NODE_LINK: Final = b"\x12"
_LINK_NO_NAME_SIZE: Final = b"\x12\x00\x18"
_FILE: Final = b"\x08\x02"
_FILE_DATA: Final = b"\x12"
_FILE_SIZE: Final = b"\x18"
_FILE_BLOCK_SIZE: Final = b"\x20"

_EMPTY: Final = sha256()  # copy this object for each hash, because OpenSSL searches for the algorithm of a new object

LINK_V0: Final = b"\x0a\x22\x12\x20"
"""Start of a link to a CIDv0: a field of 34 bytes, which starts with the hash code 0x12 and the length 32."""

Node = tuple[bytes, int, int]
"""Block of the tree: its SHA-256, the number of file bytes below it, and the size of its whole subtree in bytes."""


@lru_cache(maxsize=256)  # most nodes of a tree share a few sizes
def varint(number: int) -> bytes:
    """Returns an unsigned number as a protobuf varint: base 128, least significant digit first."""
    groups = bytearray()
    while number > _GROUP:
        groups.append(number & _GROUP | _MORE)
        number >>= 7
    groups.append(number)
    return bytes(groups)


@lru_cache(maxsize=256)
def _leaf_framing(size: int) -> tuple[bytes, bytes]:
    """Returns the bytes before and after a chunk of ``size`` bytes in its leaf."""
    length = varint(size)
    head = _FILE + _FILE_DATA + length if size else _FILE
    tail = _FILE_SIZE + length
    return _NODE_DATA + varint(len(head) + size + len(tail)) + head, tail


def leaf(chunk: Bytes) -> Node:
    """Returns the leaf for a chunk of at most 256 KiB."""
    size = len(chunk)
    head, tail = _leaf_framing(size)
    block = _EMPTY.copy()
    block.update(head)
    block.update(chunk)
    block.update(tail)
    return block.digest(), size, len(head) + size + len(tail)


_FULL_HEAD, _FULL_TAIL = _leaf_framing(CID_CHUNK_BYTES)
_FULL_BLOCK_BYTES: Final = len(_FULL_HEAD) + CID_CHUNK_BYTES + len(_FULL_TAIL)
_FULL_BEGUN: Final = sha256(_FULL_HEAD)


def leaves(data: memoryview) -> list[Node]:
    """Returns the leaves of data that starts at a chunk boundary, and ends at a chunk boundary or the end of the file.

    The function hashes chunks in place, without the interpreter lock, so several threads can hash in parallel.
    """
    found: list[Node] = []
    whole = len(data) - len(data) % CID_CHUNK_BYTES
    # A chunk fills the processor's caches, so the code between two chunks runs with cold caches. Avoiding a call there
    # saves several times as much time as elsewhere.
    for at in range(0, whole, CID_CHUNK_BYTES):
        block = _FULL_BEGUN.copy()
        block.update(data[at : at + CID_CHUNK_BYTES])
        block.update(_FULL_TAIL)
        found.append((block.digest(), CID_CHUNK_BYTES, _FULL_BLOCK_BYTES))
    if whole < len(data):
        found.append(leaf(data[whole:]))
    return found


@lru_cache(maxsize=256)
def _link_framing(file_bytes: int, dag_bytes: int, link: bytes) -> tuple[bytes, bytes, bytes]:
    """Returns encoded parts of a parent: the bytes before and after a child's digest, and the child's file size."""
    tail = _LINK_NO_NAME_SIZE + varint(dag_bytes)
    length = varint(len(link) + _EMPTY.digest_size + len(tail))
    return _NODE_LINK + length + link, tail, _FILE_BLOCK_SIZE + varint(file_bytes)


def parent(children: list[Node], link: bytes = LINK_V0) -> Node:
    """Returns the parent of 1 to 174 nodes.

    Args:
        children: Nodes in the order of the file.
        link: Bytes of a link before the child's digest: field, length, and the part of the CID before the digest.
    """
    parts: list[bytes] = []
    sizes: list[bytes] = []
    file_bytes = dag_bytes = 0
    for digest, file_part, dag_part in children:
        before, after, size = _link_framing(file_part, dag_part, link)
        parts += (before, digest, after)
        sizes.append(size)
        file_bytes += file_part
        dag_bytes += dag_part
    data = _FILE + _FILE_SIZE + varint(file_bytes) + b"".join(sizes)
    parts += (_NODE_DATA, varint(len(data)), data)
    block = b"".join(parts)
    hashed = _EMPTY.copy()
    hashed.update(block)
    return hashed.digest(), file_bytes, dag_bytes + len(block)


class Tree:
    """Incremental tree: accepts leaves in the order of the file and returns the hash of the root.

    Attributes:
        file_bytes: Number of file bytes in the leaves added so far.

    Example:
        >>> tree = Tree()
        >>> tree.add([leaf(b"a")])
        >>> tree.file_bytes, len(tree.digest())
        (1, 32)
    """

    __slots__ = ("_levels", "file_bytes")

    def __init__(self) -> None:
        # Nodes that have no parent yet: first the leaves, then the level above, and so on.
        self._levels: list[list[Node]] = [[]]
        self.file_bytes = 0

    def add(self, nodes: Iterable[Node]) -> None:
        """Adds the next leaves of the file, in order."""
        for node in nodes:
            self.file_bytes += node[1]
            self._add(node, 0)

    def _add(self, node: Node, level: int) -> None:
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(node)
        if len(waiting) == CID_MAX_LINKS:
            self._levels[level] = []
            self._add(parent(waiting), level + 1)

    def digest(self) -> bytes:
        """Returns the root's 32-byte hash over all leaves added so far. Callers can still add leaves afterwards.

        Raises:
            ValueError: The tree has no leaf. Even an empty file has one leaf, over zero bytes.
        """
        nodes: list[Node] = []
        for height, waiting in enumerate(self._levels, 1):
            nodes = [*waiting, *nodes]
            if nodes and (height < len(self._levels) or len(nodes) > 1):
                nodes = [parent(nodes)]
        if not nodes:
            raise ValueError("a tree without leaves has no root: add the leaf of an empty file")
        digest, _, _ = nodes[0]
        return digest

    def copy(self) -> Tree:
        """Returns an independent copy of the tree."""
        twin = Tree()
        twin._levels = [list(level) for level in self._levels]
        twin.file_bytes = self.file_bytes
        return twin
