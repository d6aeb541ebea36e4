"""Simulation of three price sources, for tests and for offline use of the oracle: ``python sources.py``."""

from __future__ import annotations

import json
import threading
import time
from datetime import UTC, datetime

from svcnb.testing import StubServer

PLACES = {
    "/products/ETH-USD/ticker": ("price", "time"),
    "/api/v2/ticker/ethusd/": ("last", "timestamp"),
    "/v1/pubticker/ethusd": ("last", "volume.timestamp"),
}


class Sources(StubServer):
    """HTTP server with the response formats of three public exchanges."""

    @property
    def described(self) -> list[dict[str, str]]:
        """The setting ``sources`` of the oracle: each source's URL, and the JSON paths of the price and of its time."""
        return [{"url": self.url + path, "price": price, "at": at} for path, (price, at) in PLACES.items()]

    def report(self, *prices: object, age_s: float = 0) -> None:
        """Sets the responses of the sources.

        Args:
            *prices: The price that each of the three sources reports, in the order of `PLACES`.
            age_s: Age of all three prices in seconds.
        """
        first, second, third = prices
        answers = (
            lambda _: {"price": first, "time": _iso(time.time() - age_s)},
            lambda _: {"last": second, "timestamp": str(int(time.time() - age_s))},
            lambda _: {"last": third, "volume": {"timestamp": int((time.time() - age_s) * 1000)}},
        )
        self.answers = dict(zip(PLACES, answers, strict=True))


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


if __name__ == "__main__":
    with Sources() as sources:
        sources.report("3141.50", "3141.59", "3141.70")
        print(f"Start the emulator with --allow-address {sources.host}\nChange `sources` in account.toml:\nsources = [")
        for each in sources.described:
            print("  { " + ", ".join(f"{name} = {json.dumps(value)}" for name, value in each.items()) + " },")
        print("]\nTo stop the sources, press Ctrl-C.", flush=True)
        threading.Event().wait()
