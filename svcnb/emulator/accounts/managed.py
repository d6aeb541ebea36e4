"""Factory for the endpoints of managed writes. These endpoints share guards, price and errors."""

from __future__ import annotations

from typing import Any

from svcnb.emulator.accounts.contract_calls import WRITE_ERRORS
from svcnb.emulator.http.routing import API, Endpoint, Guard, Handler
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS


class ManagedRows:
    """Factory for the endpoints of managed writes.

    Each endpoint requires a key of an account with credit, and costs 1 cent.

    Source: docs/service/billing.md#prices.

    Args:
        *guards: Guards that check whether the key belongs to an account and whether the account has credit.
    """

    def __init__(self, *guards: Guard) -> None:
        self._guards = guards

    def rows(self, tag: str, *rows: tuple[str, Handler, Any, Any]) -> list[Endpoint]:
        """Returns the endpoints for one resource.

        Args:
            tag: Heading of the endpoints in the OpenAPI description.
            *rows: Name, handler, request type and response type of each endpoint.
        """
        return [
            self.row("POST", name, handler, request, response, tag=tag) for name, handler, request, response in rows
        ]

    def row(self, method: str, name: str, handler: Handler, request: Any, response: Any, **more: Any) -> Endpoint:
        """Returns one endpoint.

        Args:
            method: HTTP method.
            name: Path of the endpoint below the API prefix.
            handler: Function that handles the request.
            request: Type of the request body, or None if there is no body.
            response: Type of the response body.
            **more: Additional attributes of the endpoint.
        """
        more.setdefault("errors", WRITE_ERRORS)
        return Endpoint(
            method,
            f"{API}/{name}",
            handler,
            request=request,
            response=response,
            guards=self._guards,
            price_cents=MANAGEMENT_COST_CENTS,
            **more,
        )
