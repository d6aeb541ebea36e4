"""JSON-RPC endpoint of the chain on the emulator's port, for wallets and contract libraries."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.responses import Response

from svcnb.emulator.http.answers import answer, answered
from svcnb.emulator.http.body import read_bytes, read_json
from svcnb.emulator.http.routing import Call, Endpoint
from svcnb.emulator.platform.faults import Faults
from svcnb.emulator.platform.origins import RPC

_PARSE_ERROR: Final = -32700


def rpc_endpoint(answer_rpc: Callable[[Any], Awaitable[Any]], faults: Faults, max_body_bytes: int) -> Endpoint:
    """Returns the JSON-RPC endpoint of the chain, which forwards requests and batches to the chain.

    Args:
        answer_rpc: Function that handles a parsed request or batch. Before the function returns, the
            chain writes accepted transactions to its journal.
        faults: Injected faults of the chain.
        max_body_bytes: Maximum size of a body, in bytes.
    """

    async def forward(call: Call, _given: None) -> Response:
        data = await read_bytes(call.request, max_body_bytes)
        try:
            body: Any = await read_json(data)
        except ValueError as error:
            return answer(
                {"jsonrpc": "2.0", "id": None, "error": {"code": _PARSE_ERROR, "message": f"Parse error: {error}"}}
            )
        await faults.check("chain")
        reply = await answer_rpc(body)
        return Response(status_code=204) if reply is None else await answered(reply)

    return Endpoint("POST", RPC, forward, described=False)
