"""Pytest plugin with fixtures for testing your own actions on an emulator.

The plugin is part of svcnb, and pytest finds the plugin automatically. The fixture ``svc`` is a client with its own
funded account, and ``svc_emulator`` is the emulator. Every test starts in the same state, because the plugin restores a
snapshot of the emulator after each test. With ``--svc-live``, the same tests run on the live service that
``SVC_BASE_URL`` and ``SVC_API_KEY`` specify. pytest then skips tests that use ``svc_emulator``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.config import Config
    from svcnb.client.models.accounts import Account
    from svcnb.control import EmulatorControl
    from svcnb.launch import Emulator
    from svcnb.testing import Recorded

START = "svc-pytest-start"
CREDIT_CENTS = 10_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option ``--svc-live``."""
    group = parser.getgroup("svcnb", "tests of actions")
    group.addoption(
        "--svc-live",
        action="store_true",
        default=False,
        help=(
            "Run the tests on the service at SVC_BASE_URL with the key in SVC_API_KEY, instead of on an emulator. The "
            "tests use real credit, and their changes are permanent."
        ),
    )


@pytest.fixture(scope="session")
def svc_emulator_settings() -> dict[str, Any]:
    """Settings of the emulator, for example ``{"seed": "mine"}``. To change them, override this fixture.

    The overriding fixture needs the scope ``session``, because all tests share the emulator.

    The default preset is ``strict``: a request that the live service rejects also fails in the test. The setting
    ``{"preset": "tolerant"}`` accepts such requests.
    """
    return {}


@pytest.fixture(scope="session")
def svc_start(request: pytest.FixtureRequest) -> Iterator[tuple[Emulator, Account]]:
    """Emulator and account for the whole test run, both saved in one snapshot."""
    from svcnb.launch import Emulator

    own = request.getfixturevalue("svc_emulator_settings")
    if not isinstance(own, dict):
        pytest.fail(
            f"the fixture svc_emulator_settings returned a value of type {type(own).__name__}: the fixture must return "
            'a dict with settings of the emulator, for example {"seed": "mine"}',
            pytrace=False,
        )
    settings: dict[str, Any] = {"starter_credits": CREDIT_CENTS, "preset": "strict"} | own
    with Emulator(**settings) as emulator:
        account = emulator.client().accounts.create("pytest")
        if missing := CREDIT_CENTS - int(settings["starter_credits"]):
            emulator.credit(account.wallet_address, missing)
        emulator.snapshot(START)
        yield emulator, account


@pytest.fixture
def svc_emulator(request: pytest.FixtureRequest) -> Iterator[EmulatorControl]:
    """The emulator in its initial state. With ``--svc-live``, pytest skips tests that use this fixture."""
    if _live(request):
        pytest.skip("requires an emulator, but --svc-live uses a live service")
    emulator, _ = request.getfixturevalue("svc_start")
    yield emulator
    emulator.faults.clear()
    emulator.restore(START)


@pytest.fixture
def svc_account(request: pytest.FixtureRequest) -> Account:
    """A funded account in API mode, the same in every test.

    With ``--svc-live``, the fixture is the account of the configured key.
    """
    if _live(request):
        return _live_account()
    request.getfixturevalue("svc_emulator")
    account: Account = request.getfixturevalue("svc_start")[1]
    return account


@pytest.fixture
def svc(request: pytest.FixtureRequest, svc_account: Account) -> Iterator[Client]:
    """A client with the account's key.

    The fixture sets environment variables, so an application that calls ``svcnb.Client()`` uses the same settings.
    """
    from svcnb.client import Client

    if _live(request):
        client = Client(api_key=svc_account)
    else:
        client = request.getfixturevalue("svc_emulator").client(api_key=svc_account)
    with client, pytest.MonkeyPatch.context() as environment:
        for name, value in _environment_of(client.config).items():
            if value:
                environment.setenv(name, value)
            else:
                environment.delenv(name, raising=False)
        yield client


@pytest.fixture
def svc_recorded(svc_emulator: EmulatorControl) -> Callable[[Any], Recorded]:
    """Function that reads the emulator's record of a run: ``svc_recorded(run)``, or ``svc_recorded(error)``."""
    from svcnb.testing import recorded

    return lambda run: recorded(svc_emulator, run)


def _environment_of(config: Config) -> dict[str, str]:
    """Returns environment variables for a new client with the same settings. Unset settings are empty strings."""
    return {
        "SVC_BASE_URL": config.base_url,
        "SVC_API_KEY": config.api_key.reveal() if config.api_key else "",
        "SVC_TRIGGERS_URL": config.triggers_url or "",
        "SVC_RPC_URL": config.rpc_url or "",
        "SVC_SERVICE_NAME": config.vocabulary.service,
        "SVC_PROCESSOR_NAME": config.vocabulary.processor,
    }


def _live(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--svc-live"))


def _live_account() -> Account:
    from svcnb.client import Client
    from svcnb.client.config import load
    from svcnb.client.errors import ConfigError
    from svcnb.client.models.accounts import Account

    needs = (
        "--svc-live requires SVC_PROFILE, or SVC_BASE_URL and SVC_API_KEY with the key of an account that has credit"
    )
    key = None
    try:
        key = load().api_key
    except ConfigError as error:
        needs = f"{needs}: {error.message}" if os.environ.get("SVC_PROFILE") else needs
    if key is None:  # outside of the handler, because pytest would also print the handled error
        pytest.fail(needs, pytrace=False)
    with Client(api_key=key) as client:
        master = client.wallets.list()[0]
    return Account(wallet_address=master.wallet_address, api_key=key)
