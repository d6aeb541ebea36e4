"""Record of requests that the emulator accepts and the live service refuses.

`svcnb doctor` shows it, so that a client is corrected before it meets the live service. With strict types such requests
are refused, and the record stays empty.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set as AbstractSet
from typing import Any


class Forgiven:
    """Counts of forgiven requests. There are as many entries as endpoints and forms, so it does not grow."""

    def __init__(self) -> None:
        self._times: Counter[tuple[str, str, str]] = Counter()

    def note(self, method: str, path: str, forms: AbstractSet[str]) -> None:
        """Counts a request.

        Args:
            method: HTTP method of its endpoint.
            path: Path of its endpoint.
            forms: What the live service would refuse about it, each in a few words.
        """
        self._times.update((method, path, form) for form in forms)

    def entries(self) -> list[dict[str, Any]]:
        """The forgiven requests: method, path, form and number of times."""
        return [
            {"method": method, "path": path, "form": form, "times": times}
            for (method, path, form), times in sorted(self._times.items())
        ]

    def clear(self) -> None:
        """Deletes all counts."""
        self._times.clear()
