"""Cache of recently run sources. A caller can run a cached source again by its CID.

Source: docs/service/endpoints.md#running-an-action.
"""

from __future__ import annotations

from collections import OrderedDict

from svcnb.protocol.limits import KEPT_SOURCE_BYTES


class SourceCache:
    """Cache of the most recently run sources, up to a limit in bytes.

    Args:
        limit_bytes: Maximum total size of the cached sources, in bytes.
    """

    def __init__(self, limit_bytes: int = KEPT_SOURCE_BYTES) -> None:
        self._limit = limit_bytes
        self._size = 0
        self._sources: OrderedDict[str, tuple[str, int]] = OrderedDict()

    def put(self, cid: str, source: str) -> None:
        """Stores the source of a permitted run. If the cache is full, deletes the least recently run sources."""
        if cid in self._sources:
            self._sources.move_to_end(cid)
            return
        size = len(source.encode())
        self._sources[cid] = (source, size)
        self._size += size
        while self._size > self._limit:
            _, (_, dropped) = self._sources.popitem(last=False)
            self._size -= dropped

    def get(self, cid: str) -> str | None:
        """Returns the source for a CID, or None if the source is not cached."""
        found = self._sources.get(cid)
        return found[0] if found else None

    def clear(self) -> None:
        """Deletes all cached sources. Callers must then send a source again before they can use its CID."""
        self._sources.clear()
        self._size = 0
