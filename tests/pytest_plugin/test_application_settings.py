"""Applications under test whose own clients connect to the emulator of the `svc` fixture."""

from __future__ import annotations

import os

import pytest

import svcnb

pytestmark = [pytest.mark.chain]

BEFORE = {name: value for name, value in os.environ.items() if name.startswith("SVC_")}


def application() -> tuple[str, str]:
    """Program of the user, which reads its settings from the environment."""
    with svcnb.Client() as client:
        return client.config.base_url, client.wallets.list()[0].wallet_address


def test_an_application_that_makes_its_own_client_reaches_the_same_account(svc, svc_account) -> None:
    assert application() == (svc.config.base_url, svc_account.wallet_address)


def test_an_address_of_the_developers_own_shell_is_not_used(monkeypatch, request) -> None:
    monkeypatch.setenv("SVC_BASE_URL", "http://127.0.0.1:9")
    svc = request.getfixturevalue("svc")
    assert application()[0] == svc.config.base_url != "http://127.0.0.1:9"


def test_without_the_fixture_the_environment_is_as_before() -> None:
    assert {name: value for name, value in os.environ.items() if name.startswith("SVC_")} == BEFORE
