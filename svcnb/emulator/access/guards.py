"""The checks before a body is read, in the order of reference facts 2.1."""

from __future__ import annotations

from svcnb.emulator.access.caller import Caller
from svcnb.emulator.access.credentials import presented_key
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.endpoint import Call, Guard
from svcnb.protocol.limits import MANAGEMENT_COST_CENTS

KEY_SCHEMES = ("ApiKey", "Bearer")


async def identify(call: Call) -> Caller:
    """Resolves the presented key, once a request.

    Args:
        call: The request.

    Returns:
        The account behind the key.

    Raises:
        StructuredError: 401 no key or an unknown one, 503 when the chain cannot be asked.
    """
    known = call.known_caller
    if known is not None:
        return known
    key = presented_key(call.request.headers)
    await call.service.faults.check("chain")
    caller = await call.service.directory.resolve(key)
    call.caller = caller
    return caller


async def _present(call: Call) -> None:
    presented_key(call.request.headers)


async def _resolves(call: Call) -> None:
    await identify(call)


async def _funded(call: Call) -> None:
    service = call.service
    if not service.settings.billing_enabled:
        return
    caller = await identify(call)
    await service.faults.check("billing")
    call.hold = await service.ledger.hold(caller.billing_wallet, MANAGEMENT_COST_CENTS)


async def _shed(call: Call) -> None:
    service = call.service
    await service.faults.check("cpu")
    if service.settings.load_shedding and service.load.overloaded():
        raise StructuredError(
            429,
            "The node is shedding load because of CPU pressure. Nothing was charged.",
            fix="Try again after the seconds in Retry-After, and wait longer each time.",
            headers={"Retry-After": "1"},
        )


KEY_PRESENT = Guard(_present, frozenset({401}), KEY_SCHEMES)
"""Some key is sent; nobody asks yet whether it exists."""

KEY = Guard(_resolves, frozenset({401, 503}), KEY_SCHEMES)
"""The key resolves to an account."""

FUNDED = Guard(_funded, frozenset({402, 503}), KEY_SCHEMES)
"""The account has a cent of credit that no other call holds; it is set aside until this call ends."""

SHED = Guard(_shed, frozenset({429}))
"""The node has room for another execution."""
