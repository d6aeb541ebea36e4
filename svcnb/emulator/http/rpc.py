"""The chain's JSON-RPC on the emulator's port: what wallets and contract libraries speak."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import Response

from svcnb.emulator.http.answers import answer, answered
from svcnb.emulator.http.body import read_bytes, read_json
from svcnb.emulator.http.endpoint import Call, Endpoint
from svcnb.emulator.http.origins import RPC

_PARSE_ERROR: Final = -32700


def endpoints() -> list[Endpoint]:
    """The gateway's row."""
    return [Endpoint("POST", RPC, gateway, described=False)]


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
    return Response(status_code=204) if reply is None else await answered(reply)
