"""HTTP clients and headers of the user, raw responses, and the log."""

from __future__ import annotations

import logging
from typing import Any

import httpx
import pytest

from svcnb import AsyncClient, ChainError, Client, InvalidArgument, InvalidType, TransportError, TriggersClient
from svcnb.client.calls import Flow
from svcnb.client.chain.rpc import request as chain_request
from svcnb.client.config import Retries
from svcnb.client.remote import Service

ADDRESS = "http://service.test"
KEY = "bWFya2VkLXNlY3JldC1tYXJrZWQtc2VjcmV0LTEyMzQ="


def answered(seen: list[httpx.Request]) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=[], headers={"X-Request-Id": "r-1"})

    return httpx.MockTransport(answer)


def test_the_users_http_client_sends_the_requests_and_stays_open() -> None:
    seen: list[httpx.Request] = []
    with httpx.Client(transport=answered(seen), headers={"X-Mine": "yes"}, follow_redirects=True) as mine:
        with Client(ADDRESS, api_key=KEY, http_client=mine) as svc:
            assert list(svc.groups.list()) == []
        with TriggersClient(ADDRESS, http_client=mine) as triggers:
            triggers.list()
        assert not mine.is_closed
    assert [request.headers["x-mine"] for request in seen] == ["yes", "yes"]


def test_the_users_http_client_does_not_follow_redirects_with_a_key() -> None:
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(307, headers={"Location": "http://elsewhere.test/"})

    with httpx.Client(transport=httpx.MockTransport(answer), follow_redirects=True) as mine:
        svc = Client(ADDRESS, api_key=KEY, http_client=mine)
        with pytest.raises(TransportError, match="is a redirect"):
            svc.groups.list()
    assert asked == ["service.test"]


async def test_the_users_asynchronous_http_client_sends_the_requests_and_stays_open() -> None:
    seen: list[httpx.Request] = []
    async with httpx.AsyncClient(transport=answered(seen)) as mine:
        async with AsyncClient(ADDRESS, http_client=mine, headers={"X-Team": "a"}) as svc:
            raw = await svc.with_raw_response(lambda svc: svc.groups.list())
        assert not mine.is_closed
    assert (raw.status, raw.request_id, list(raw.value)) == (200, "r-1", [])
    assert seen[0].headers["x-team"] == "a"


def test_an_http_client_of_the_wrong_kind_is_rejected() -> None:
    with pytest.raises(InvalidType, match=r"expected httpx\.Client"):
        Client(ADDRESS, http_client=httpx.AsyncClient())  # type: ignore[arg-type]  # on purpose
    with pytest.raises(InvalidType, match=r"expected httpx\.AsyncClient"):
        AsyncClient(ADDRESS, http_client="httpx")  # type: ignore[arg-type]  # on purpose


def test_headers_are_sent_only_to_the_service() -> None:
    seen: list[httpx.Request] = []
    with httpx.Client(transport=answered(seen)) as mine:
        svc = Client(ADDRESS, api_key=KEY, http_client=mine, headers={"X-Gateway-Token": "let-me-in"})
        svc.groups.list()
        svc.with_key(None).wallets.list()
        svc.with_options(headers={"X-Other": "1"}).groups.list()
        with pytest.raises(ChainError):
            svc._session.drive(_chain_call())
    assert [request.headers.get("x-gateway-token") for request in seen] == ["let-me-in", "let-me-in", None, None]
    assert seen[2].headers["x-other"] == "1"
    assert seen[3].url.host == "chain.test"
    assert "let-me-in" not in repr(svc.config)
    assert "let-me-in" not in repr(Service.of(svc.config))
    assert Service.of(svc.config).config.headers == {"x-gateway-token": "let-me-in"}


def _chain_call() -> Flow[Any]:
    return chain_request("http://chain.test/key-in-the-path", "eth_chainId", [])


@pytest.mark.parametrize(
    ("headers", "told"),
    [
        ({"X-Api-Key": "k"}, "the header X-Api-Key is not allowed, because the client sets this header"),
        ({"bad name": "v"}, "invalid header name"),
        ({"X-A": "secret\r\nX-B: 1"}, "invalid value of the header X-A"),
        ({"X-A": 5}, "invalid value of the header X-A"),
        ("X-A: 1", "invalid headers of type str"),
    ],
)
def test_the_error_for_invalid_headers_does_not_contain_their_values(headers, told) -> None:
    with pytest.raises(InvalidArgument, match=told) as caught:
        Client(ADDRESS, headers=headers)
    assert "secret" not in str(caught.value)


def test_a_raw_response_has_every_page_of_a_list_and_does_not_display_bodies(scripted) -> None:
    pages = {"0": 100, "1": 3}

    def answer(request: httpx.Request) -> httpx.Response:
        number = int(request.url.params["page_number"])
        groups = [
            {"id": str(100 * number + at + 1), "name": KEY, "description": ""} for at in range(pages[str(number)])
        ]
        return httpx.Response(200, json=groups, headers={"X-Request-Id": f"r-{number}"})

    svc = scripted(answer)
    raw = svc.with_raw_response(lambda svc: svc.groups.list())
    assert len(raw.value) == 103
    assert [response.headers["x-request-id"] for response in raw.responses] == ["r-0", "r-1"]
    assert (raw.status, raw.request_id) == (200, "r-1")
    assert raw.content.startswith(b"[{")
    assert KEY not in repr(raw.responses)


def test_the_log_contains_requests_but_no_secrets(caplog) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.host == "chain.test":
            return httpx.Response(200, json={"jsonrpc": "2.0", "id": 1, "result": "0x1"})
        return httpx.Response(200, json=[], headers={"X-Request-Id": "r-1"})

    with httpx.Client(transport=httpx.MockTransport(answer)) as mine, caplog.at_level(logging.DEBUG, logger="svcnb"):
        svc = Client("http://service.test:81", api_key=KEY, http_client=mine, headers={"X-A": "token-1"})
        svc.groups.list()
        svc._session.drive(_chain_call())
    lines = [record.getMessage() for record in caplog.records if record.name == "svcnb"]
    assert lines[0].startswith("GET http://service.test:81/core/v1/list_groups: 200, 2 bytes in ")
    assert lines[0].endswith("request id r-1")
    assert lines[1].startswith("POST http://chain.test: 200, ")
    assert not [secret for secret in (KEY, "token-1", "key-in-the-path") if secret in caplog.text]


def test_the_log_contains_requests_without_a_response(caplog) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("late", request=request)

    with (
        httpx.Client(transport=httpx.MockTransport(answer)) as mine,
        caplog.at_level(logging.DEBUG, logger="svcnb"),
        pytest.raises(TransportError),
    ):
        Client(ADDRESS, http_client=mine, retries=0).groups.list()
    assert "GET http://service.test/core/v1/list_groups: http://service.test did not respond to" in caplog.text


def test_an_error_of_your_own_transport_is_not_reported_as_a_closed_client() -> None:
    def fail(_request: httpx.Request) -> httpx.Response:
        raise RuntimeError("the cable is unplugged")

    with httpx.Client(transport=httpx.MockTransport(fail)) as mine:
        svc = Client(ADDRESS, api_key=KEY, http_client=mine)
        with pytest.raises(RuntimeError, match=r"^the cable is unplugged$"):
            svc.groups.list()


def test_a_closed_client_is_named_as_the_cause_without_retries() -> None:
    svc = Client(ADDRESS, retries=Retries(first_delay=3600.0))
    svc.close()
    with pytest.raises(TransportError, match="this client is closed") as caught:
        svc.groups.list()
    assert (caught.value.closed, caught.value.unsent) == (True, True)
    with pytest.raises(TransportError, match="this client is closed") as caught:
        svc.run("const main = () => 1")
    assert "with` block" in caught.value.hint, "the action cannot have run"
    with pytest.raises(ChainError, match="this client is closed") as refused:
        svc._session.drive(_chain_call())
    assert "with` block" in refused.value.hint


async def test_a_closed_asynchronous_client_is_named_as_the_cause_without_retries() -> None:
    svc = AsyncClient(ADDRESS, retries=Retries(first_delay=3600.0))
    await svc.close()
    with pytest.raises(TransportError, match="this client is closed") as caught:
        await svc.groups.list()
    assert (caught.value.closed, caught.value.unsent) == (True, True)
    with pytest.raises(ChainError, match="this client is closed"):
        await svc._session.drive(_chain_call())
