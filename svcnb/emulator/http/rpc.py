"""The chain's JSON-RPC on the emulator's port: what wallets and contract libraries speak."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from svcnb.emulator.errors import StructuredError
from svcnb.emulator.http.answers import answer
from svcnb.emulator.http.body import read_bytes, read_json
from svcnb.emulator.http.endpoint import Call, Endpoint, Guard
from svcnb.emulator.http.origins import host_name, is_local_name, is_trusted_origin

RPC: Final = "/rpc"
_PARSE_ERROR: Final = -32700


def endpoints() -> list[Endpoint]:
    """The gateway's row."""
    return [Endpoint("POST", RPC, gateway, guards=(_PAGES,), described=False)]


async def _check_pages(call: Call) -> None:
    """Refuses pages of other sites: the chain asks for no credential, and a seeded emulator's keys can be computed."""
    request = call.request
    settings = call.service.settings
    if not is_trusted_origin(request):
        raise _forbidden("A page of another site may not use the chain.")
    if settings.control_token is None and not is_local_name(name := host_name(request)):
        raise _forbidden(f"The chain does not answer under the name {name[:80]!r}: use 127.0.0.1 or localhost.")


def _forbidden(message: str) -> StructuredError:
    return StructuredError(
        403, message, fix="Call it from this machine, or start the emulator with control_token (SVC_CONTROL_TOKEN)."
    )


_PAGES: Final = Guard(_check_pages, frozenset({403}))


async def gateway(call: Call, _given: None) -> Response:
    """Forwards a JSON-RPC request or batch to the chain; accepted transactions are written to the journal first."""
    service = call.service
    data = await read_bytes(call.request, service.settings.max_body_bytes)
    try:
        body: Any = await read_json(data)
    except ValueError as error:
        return answer(
            {"jsonrpc": "2.0", "id": None, "error": {"code": _PARSE_ERROR, "message": f"Parse error: {error}"}}
        )
    await service.faults.check("chain")
    reply = await service.chain.rpc(body)
    return Response(status_code=204) if reply is None else answer(reply)
