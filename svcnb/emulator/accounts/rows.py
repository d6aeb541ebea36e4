"""What the rows of all managed writes share: guards, price, refusals."""

from __future__ import annotations

from typing import Any

from svcnb.emulator.access.guards import FUNDED, KEY
from svcnb.emulator.accounts.relay import WRITE_ERRORS
from svcnb.emulator.http.endpoint import API, Endpoint, Handler
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS


def managed(tag: str, *rows: tuple[str, Handler, Any, Any]) -> list[Endpoint]:
    """Rows of managed writes (specification 4.2: each needs a funded key and costs a cent).

    Args:
        tag: Their heading in the description.
        *rows: Name, handler, type of the body, type of the answer.
    """
    return [
        Endpoint(
            "POST",
            f"{API}/{name}",
            handler,
            request=request,
            response=response,
            guards=(KEY, FUNDED),
            price_cents=MANAGEMENT_COST_CENTS,
            errors=WRITE_ERRORS,
            tag=tag,
        )
        for name, handler, request, response in rows
    ]
