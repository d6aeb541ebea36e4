"""Signatures contain the service's time. The client warns once if this machine's clock is wrong."""

from __future__ import annotations

import time
import warnings
from email.utils import formatdate

import httpx
import pytest

from svcnb import Client, LocalSigner
from svcnb.client._http import SyncTransport
from svcnb.client.chain.access import ChainAccess, ClockSkew
from svcnb.client.chain.writes import Writer
from svcnb.client.chain_secured.ownership import signed
from svcnb.client.session import SyncSession
from svcnb.protocol.typed_data import Flow

OWNER = LocalSigner.from_key("0x" + "11" * 32)


def client_of(base_url: str, skew_s: float) -> Client:
    def answer(_: httpx.Request) -> httpx.Response:
        headers = {"date": formatdate(time.time() + skew_s, usegmt=True)}
        return httpx.Response(200, json={"chain_id": 1, "contract_address": "0x" + "c0" * 20}, headers=headers)

    client = Client(base_url)
    client.close()
    client._start(SyncSession(SyncTransport(base_url, httpx.MockTransport(answer)), client.config, []), owner=True)
    return client


@pytest.mark.parametrize("skew_s", [-10_000.0, -200.0, 0.0, 121.5, 86_400.0])
def test_a_signature_contains_the_services_time(skew_s) -> None:
    with client_of("https://service.test", skew_s) as svc, warnings.catch_warnings():
        warnings.simplefilter("ignore", ClockSkew)
        envelope = svc._session.drive(signed(Writer(ChainAccess(svc.config), OWNER), Flow.CREATE_WALLET))
        assert abs(envelope.issued_at - (time.time() + skew_s)) < 60


@pytest.mark.parametrize(("skew_s", "told"), [(110.0, False), (-110.0, False), (130.0, True), (-130.0, True)])
def test_a_difference_of_more_than_two_minutes_causes_one_warning(skew_s, told) -> None:
    with client_of("https://service.test", skew_s) as svc, warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        chain = ChainAccess(svc.config)
        for _ in range(2):
            svc._session.drive(chain.time())
    assert [item.category for item in seen] == [ClockSkew] * told
    if told:
        assert ("ahead of" if skew_s > 0 else "behind") in str(seen[0].message)


def test_a_service_on_this_machine_causes_no_clock_warning() -> None:
    with client_of("http://127.0.0.1:1", -40_000_000) as svc, warnings.catch_warnings():
        warnings.simplefilter("error")
        assert svc._session.drive(ChainAccess(svc.config).time()) < time.time() - 30_000_000


@pytest.mark.chain
def test_the_emulators_date_header_is_its_own_time(start_emulator) -> None:
    emulator = start_emulator(clock="frozen@1767225600")
    svc = emulator.client()
    assert svc._session.drive(ChainAccess(svc.config).time()) == 1_767_225_600
    emulator.clock.advance("1h")
    answer = httpx.get(f"{emulator.base_url}/core/v1/get_node_chain_config", trust_env=False)
    assert answer.headers["date"] == formatdate(1_767_229_200, usegmt=True)
