"""Simulated HTTP servers for the tests and the notebook: a shop, and a store that can return false records."""

from __future__ import annotations

from typing import Any

from svcnb.testing import StubServer


class Shop(StubServer):
    """Shop that reports its orders. A refund is an order with a negative amount."""

    def sell(self, order: str, customer: str, cents: Any) -> None:
        """Adds an order. If `cents` is negative, the order is a refund. Tests also pass values that are not numbers."""
        self.answers[f"/orders/{order}"] = {"customer": customer, "cents": cents}


class Store(StubServer):
    """Store with a list of records for each customer. Tests change `records` to return false receipts."""

    def __init__(self) -> None:
        super().__init__()
        self.records: dict[str, list[Any]] = {}

    def of(self, customer: str) -> list[Any]:
        """Returns the list of a customer's records. Changes of this list change the responses of the store."""
        self.answers[f"/receipts/{customer}"] = self._keep_or_show
        return self.records.setdefault(customer, [])

    def _keep_or_show(self, request: Any) -> Any:
        records = self.of(request.path.rpartition("/")[2])
        if request.method == "POST":
            records.append(request.json)
            return ""
        return records
