"""Requests and errors of the synchronous and the asynchronous client of the triggers service."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from svcnb import AsyncTriggersClient, Client, InvalidArgument, NotFound, TransportError, TriggersClient
from svcnb.client.config import Retries, load
from svcnb.client.errors import NotTheApi, TimedOut

ADDRESS = "http://triggers.test"
ACTION = "const main = () => 1"
CONFIG = load(base_url=ADDRESS).replace(retries=Retries(attempts=1))
Answer = httpx.Response | httpx.HTTPError


@pytest.fixture(params=["synchronous", "asynchronous"])
def call(request) -> Callable[..., list[httpx.Request]]:
    """Returns a function that calls a method of each client, and returns the sent requests."""

    def perform(name: str, *args: Any, answer: Answer | None = None, **named: Any) -> list[httpx.Request]:
        sent: list[httpx.Request] = []

        def respond(one: httpx.Request) -> httpx.Response:
            sent.append(one)
            if isinstance(answer, httpx.HTTPError):
                raise answer
            if answer is None:
                return httpx.Response(202, json={"run_id": "r-1"})
            return httpx.Response(answer.status_code, headers=answer.headers, content=answer.content)

        transport = httpx.MockTransport(respond)
        if request.param == "synchronous":
            with httpx.Client(transport=transport) as http:
                getattr(TriggersClient(ADDRESS, config=CONFIG, http_client=http), name)(*args, **named)
            return sent

        async def awaited() -> None:
            async with httpx.AsyncClient(transport=transport) as http:
                await getattr(AsyncTriggersClient(ADDRESS, config=CONFIG, http_client=http), name)(*args, **named)

        asyncio.run(awaited())
        return sent

    return perform


@pytest.mark.parametrize("body", [math.nan, math.inf, {"a": [-math.inf]}, {1, 2}, {"a": b"bytes"}, [object()]])
def test_a_webhook_body_that_json_cannot_represent_is_rejected_before_sending(call, body) -> None:
    with pytest.raises(InvalidArgument, match="cannot be encoded as JSON") as caught:
        call("fire", "t-1", body)
    assert "NaN" in caught.value.hint


def test_a_webhook_body_that_contains_itself_is_rejected(call) -> None:
    body: list[Any] = []
    body.append(body)
    with pytest.raises(InvalidArgument, match="cannot be encoded as JSON"):
        call("fire", "t-1", body)


@pytest.mark.parametrize(
    ("body", "content"), [({"n": [1, None]}, b'{"n":[1,null]}'), ("grüß", "grüß".encode()), (b"\xff", b"\xff")]
)
def test_a_webhook_receives_json_strings_and_bytes(call, body, content) -> None:
    (sent,) = call("fire", "t-1", body)
    assert (sent.url.path, sent.content) == ("/webhook/t-1", content)


def test_default_parameters_that_json_cannot_represent_are_rejected_before_anything_is_created(unused_tcp_port) -> None:
    with Client(f"http://127.0.0.1:{unused_tcp_port}") as svc, TriggersClient(ADDRESS, config=CONFIG) as triggers:
        with pytest.raises(InvalidArgument, match="cannot be encoded as JSON") as caught:
            triggers.create_for(svc, ACTION, name="hook", default_params={"n": math.nan})
        assert "already created" not in caught.value.hint


@pytest.mark.parametrize(
    ("answer", "method", "kind", "told"),
    [
        (httpx.Response(200, html="<html>"), "list", NotTheApi, "Set triggers_url to the part of the address before"),
        (httpx.Response(502, html="<html>"), "list", NotTheApi, "check triggers_url."),
        (httpx.Response(307, headers={"Location": "http://b/"}), "list", NotTheApi, "Set triggers_url to the target"),
        (httpx.Response(200, json={"runs": 1}), "list", NotTheApi, "Check that triggers_url is the address"),
        (httpx.Response(202, json=[]), "fire", NotTheApi, "Check that triggers_url is the address"),
        (httpx.Response(202, html="<html>"), "fire", NotTheApi, "Set triggers_url to the part"),
        (httpx.Response(404, html="<html>"), "fire", NotTheApi, "Set triggers_url to the part"),
        (httpx.Response(404, json="no trigger"), "fire", NotFound, "for example triggers.list()."),
        (httpx.ReadError("broken"), "list", TransportError, "Check the address of the service (triggers_url)"),
        (httpx.ReadError("broken"), "fire", TransportError, "Check the address of the service (triggers_url)"),
        (httpx.ReadTimeout("late"), "list", TimedOut, "svcnb.TriggersClient(config=svc.with_options(timeout=seconds)"),
    ],
)  # fmt: skip
def test_hints_name_the_settings_and_methods_of_the_triggers_client(call, answer, method, kind, told) -> None:
    with pytest.raises(kind) as caught:
        call(method, *(["t-1"] if method == "fire" else []), answer=answer)
    assert type(caught.value) is kind
    assert told in caught.value.hint
    assert "base_url" not in caught.value.hint
