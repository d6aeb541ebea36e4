"""Base class of the endpoints for managed writes: transactions that the service sends for accounts in API mode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from svcnb.emulator.accounts.contract_calls import WRITE_ERRORS, ContractCalls
from svcnb.emulator.http.routing import API, Endpoint, Guard, Handler
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS


@dataclass(frozen=True, eq=False, repr=False)
class ManagedWrites:
    """Base class of the endpoints for managed writes.

    These endpoints share guards, price and errors. Each endpoint requires a key of an account with credit, and costs
    1 cent.

    Source: docs/service/billing.md#prices.

    Attributes:
        tag: Heading of the endpoints in the OpenAPI description.
        guards: Guards that check whether the key belongs to an account and whether the account has credit.
        contract: Client of the contract.
    """

    tag: ClassVar[str]
    guards: tuple[Guard, ...]
    contract: ContractCalls

    def row(
        self, name: str, handler: Handler, request: Any, response: Any, *, method: str = "POST", **more: Any
    ) -> Endpoint:
        """Returns one endpoint, with the guards and the price that all endpoints of this class share.

        Args:
            name: Path of the endpoint below the API prefix.
            handler: Function that handles the request.
            request: Type of the request body, or None if there is no body.
            response: Type of the response body.
            method: HTTP method.
            **more: Additional attributes of the endpoint.
        """
        return Endpoint(
            method,
            f"{API}/{name}",
            handler,
            request=request,
            response=response,
            guards=self.guards,
            price_cents=MANAGEMENT_COST_CENTS,
            tag=self.tag,
            **{"errors": WRITE_ERRORS, **more},
        )
