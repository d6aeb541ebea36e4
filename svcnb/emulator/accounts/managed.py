"""Endpoints of managed writes: the guards, price and errors that all of them share."""

from __future__ import annotations

from typing import Any

from svcnb.emulator.accounts.contract_calls import WRITE_ERRORS
from svcnb.emulator.http.endpoint import API, Endpoint, Guard, Handler
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS


class ManagedRows:
    """Factory for the endpoints of managed writes (specification 4.2: each needs a funded key and costs a cent).

    Args:
        *guards: The key resolves, and its account is funded.
    """

    def __init__(self, *guards: Guard) -> None:
        self._guards = guards

    def rows(self, tag: str, *rows: tuple[str, Handler, Any, Any]) -> list[Endpoint]:
        """Creates the endpoints of one resource.

        Args:
            tag: Their heading in the description.
            *rows: Name, handler, type of the body, type of the answer.
        """
        return [
            self.row("POST", name, handler, request, response, tag=tag) for name, handler, request, response in rows
        ]

    def row(self, method: str, name: str, handler: Handler, request: Any, response: Any, **more: Any) -> Endpoint:
        """Creates one endpoint.

        Args:
            method: HTTP method.
            name: Its path below the API's.
            handler: Answers the request.
            request: Type of the body, None for none.
            response: Type of the answer.
            **more: Further attributes of the endpoint.
        """
        return Endpoint(
            method,
            f"{API}/{name}",
            handler,
            request=request,
            response=response,
            guards=self._guards,
            price_cents=MANAGEMENT_COST_CENTS,
            **({"errors": WRITE_ERRORS} | more),
        )
