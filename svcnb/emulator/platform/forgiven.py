"""Record of requests that the emulator accepts and the live service rejects.

`svcnb doctor` shows the record, so that users can correct a client before it uses the live service. With strict types,
the emulator rejects such requests, and the record stays empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from typing import Any


class Forgiven:
    """Counts of requests that only the emulator accepts, with one entry for each endpoint and deviation."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str, str]] = Counter()

    def note(self, method: str, path: str, forms: AbstractSet[str]) -> None:
        """Counts a request.

        Args:
            method: HTTP method of the request's endpoint.
            path: Path of the request's endpoint.
            forms: Short descriptions of the deviations that the live service rejects.
        """
        self._times.update((method, path, form) for form in forms)

    def entries(self) -> list[dict[str, Any]]:
        """Returns all counts, with method, path, deviation and number of requests."""
        return [
            {"method": method, "path": path, "form": form, "times": times}
            for (method, path, form), times in sorted(self._times.items())
        ]

    def clear(self) -> None:
        """Deletes all counts."""
        self._times.clear()
