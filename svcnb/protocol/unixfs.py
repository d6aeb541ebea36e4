"""The tree of blocks that a file becomes in IPFS, reduced to what its root hash needs.

A file is cut into chunks of 256 KiB. Each chunk is wrapped in a UnixFS message inside a dag-pb node (a leaf). While
more than one node is left, every 174 of them get a parent that lists their hashes and sizes (the balanced layout). A
file of one chunk is its leaf.

Nothing is kept but one hash and two sizes a node, and nodes are dropped as soon as their parent is made: a file of any
size needs a few hundred entries.

Source: specification 1.3; UnixFS and dag-pb specifications for the byte forms.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple

from svcnb.protocol.limits import CID_CHUNK_BYTES, CID_MAX_LINKS

Bytes = bytes | bytearray | memoryview

_GROUP: Final = 0x7F
_MORE: Final = 0x80

# Tags of the two protobuf messages, field number and wire type in one byte.
_NODE_DATA: Final = b"\x0a"
_NODE_LINK: Final = b"\x12"
_LINK_HASH: Final = b"\x0a\x22\x12\x20"  # and the start of a sha2-256 multihash: 34 bytes, code 0x12, length 32
_LINK_NO_NAME_SIZE: Final = b"\x12\x00\x18"
_FILE: Final = b"\x08\x02"
_FILE_DATA: Final = b"\x12"
_FILE_SIZE: Final = b"\x18"
_FILE_BLOCK_SIZE: Final = b"\x20"


class Node(NamedTuple):
    """A block of the tree.

    Attributes:
        digest: SHA-256 of its bytes.
        file_bytes: Bytes of the file below it.
        dag_bytes: Bytes of its block and of all blocks below it.
    """

    digest: bytes
    file_bytes: int
    dag_bytes: int


@lru_cache(maxsize=256)  # most nodes of a tree have the same few sizes
def varint(number: int) -> bytes:
    """An unsigned number in base 128, lowest group first, as protobuf writes it."""
    groups = bytearray()
    while number > _GROUP:
        groups.append(number & _GROUP | _MORE)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _around(size: int) -> tuple[bytes, bytes]:
    """What stands before and after a chunk of ``size`` bytes in its leaf."""
    length = varint(size)
    head = _FILE + _FILE_DATA + length if size else _FILE
    tail = _FILE_SIZE + length
    return _NODE_DATA + varint(len(head) + size + len(tail)) + head, tail


_FULL_HEAD, _FULL_TAIL = _around(CID_CHUNK_BYTES)
_FULL_DAG_BYTES: Final = len(_FULL_HEAD) + CID_CHUNK_BYTES + len(_FULL_TAIL)


def leaf_digest(chunk: Bytes) -> bytes:
    """SHA-256 of the leaf around a chunk of at most 256 KiB.

    The chunk is hashed where it lies, without the interpreter lock, so threads can do this side by side.
    """
    size = len(chunk)
    head, tail = (_FULL_HEAD, _FULL_TAIL) if size == CID_CHUNK_BYTES else _around(size)
    block = sha256(head)
    block.update(chunk)
    block.update(tail)
    return block.digest()


def leaf(digest: bytes, size: int) -> Node:
    """The node of a leaf whose digest is known.

    Args:
        digest: From `leaf_digest`.
        size: Bytes of its chunk.
    """
    if size == CID_CHUNK_BYTES:
        return Node(digest, size, _FULL_DAG_BYTES)
    head, tail = _around(size)
    return Node(digest, size, len(head) + size + len(tail))


def parent(children: list[Node]) -> Node:
    """The node above one to 174 nodes."""
    links = bytearray()
    sizes = bytearray()
    file_bytes = dag_bytes = 0
    for child in children:
        link = _LINK_HASH + child.digest + _LINK_NO_NAME_SIZE + varint(child.dag_bytes)
        links += _NODE_LINK + varint(len(link)) + link
        sizes += _FILE_BLOCK_SIZE + varint(child.file_bytes)
        file_bytes += child.file_bytes
        dag_bytes += child.dag_bytes
    data = _FILE + _FILE_SIZE + varint(file_bytes) + sizes
    block = links + _NODE_DATA + varint(len(data)) + data
    return Node(sha256(block).digest(), file_bytes, dag_bytes + len(block))


class Tree:
    """Takes leaves in the order of the file and gives the root.

    Example:
        >>> tree = Tree()
        >>> tree.add(leaf(leaf_digest(b"a"), 1))
        >>> tree.root().file_bytes
        1
    """

    __slots__ = ("_levels",)

    def __init__(self) -> None:
        # Nodes that still wait for their parent: leaves first, then the level above, and so on.
        self._levels: list[list[Node]] = [[]]

    def add(self, node: Node, level: int = 0) -> None:
        """Adds the next leaf."""
        if level == len(self._levels):
            self._levels.append([])
        waiting = self._levels[level]
        waiting.append(node)
        if len(waiting) == CID_MAX_LINKS:
            self._levels[level] = []
            self.add(parent(waiting), level + 1)

    def root(self) -> Node:
        """The root over all leaves added so far; leaves may still be added afterwards.

        Raises:
            ValueError: There is no leaf; an empty file has one, over no bytes.
        """
        below: list[Node] = []
        for height, waiting in enumerate(self._levels):
            nodes = [*waiting, *below]
            if height == len(self._levels) - 1 and len(nodes) == 1:
                return nodes[0]
            below = [parent(nodes)] if nodes else []
        if not below:
            raise ValueError("a tree without leaves has no root: add the leaf of an empty file")
        return below[0]

    def copy(self) -> Tree:
        """A tree that grows apart from this one."""
        twin = Tree()
        twin._levels = [list(level) for level in self._levels]
        return twin
