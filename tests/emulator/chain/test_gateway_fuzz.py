"""Random requests to the gateway, which always returns a JSON-RPC 2.0 response, and never changes the chain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from svcnb.emulator.chain.gateway import METHODS

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from tests.emulator.chain.conftest import World

anything = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
numbers = st.sampled_from(["0x0", "0x1", "latest", "earliest", "pending", "0x" + "f" * 64, "0x", "-0x1"])
addresses = st.sampled_from(["0x" + "00" * 20, "0x" + "11" * 20, "0x11", "address"])
calls = st.fixed_dictionaries(
    {},
    optional={
        "to": addresses | st.none(),
        "from": addresses,
        "data": st.sampled_from(["0x", "0x8da5cb5b", "0x8da5cb5", "data"]),
        "value": numbers,
        "gas": numbers,
        "fromBlock": numbers,
        "toBlock": numbers,
        "topics": anything,
    },
)
params = st.lists(anything | numbers | addresses | calls | st.booleans(), max_size=4)
requests = st.fixed_dictionaries(
    {"method": st.sampled_from(sorted(METHODS)) | st.text(max_size=10)},
    optional={"jsonrpc": st.just("2.0"), "id": anything, "params": params | anything},
)
bodies = requests | anything | st.lists(requests | anything, max_size=3)


def check_answer(request: Any, answer: Any) -> None:
    assert answer["jsonrpc"] == "2.0"
    assert ("result" in answer) != ("error" in answer)
    assert answer["id"] == (request.get("id") if isinstance(request, dict) else None)
    if error := answer.get("error"):
        assert isinstance(error["code"], int)
        assert isinstance(error["message"], str)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(bodies)
def test_any_body_receives_a_json_rpc_response_without_effect(world: World, body: Any) -> None:
    before = world.chain._chain.head
    answer = world.rpc(body)
    json.dumps(answer)
    if isinstance(body, list) and body:
        asked = [request for request in body if not is_notification(request)]
        assert len(answer or []) == len(asked)
        for request, each in zip(asked, answer or [], strict=True):
            check_answer(request, each)
    elif is_notification(body):
        assert answer is None
    else:
        check_answer(body, answer)
    assert world.chain._chain.head == before
    assert world.request("eth_chainId")["result"] == hex(31337)


def is_notification(request: Any) -> bool:
    return isinstance(request, dict) and "id" not in request and isinstance(request.get("method"), str)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300) | st.binary(max_size=120).map(lambda data: b"\x02" + data))
def test_random_bytes_are_never_accepted_as_a_transaction(world: World, data: bytes) -> None:
    before = world.chain._chain.head
    answer = world.request("eth_sendRawTransaction", "0x" + data.hex())
    assert answer["error"]["code"] < 0
    assert world.chain._chain.head == before
