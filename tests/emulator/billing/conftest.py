from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from svcnb import control_tokens
from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.billing.processor import Processor
from svcnb.emulator.keys.custody import Custody
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.randomness import Randomness
from svcnb.emulator.platform.store import Store
from svcnb.emulator.settings import Settings

if TYPE_CHECKING:
    from svcnb.launch import Emulator

NOON = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""


@pytest.fixture
def clock() -> Clock:
    return Clock(NOON)


@pytest.fixture
def store(store_url: str | None) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


@pytest.fixture
def ledger(store, clock) -> Ledger:
    return Ledger(store, clock)


@pytest.fixture
def processor(store, clock) -> Processor:
    settings = Settings(crypto_delay_ms=60_000)
    randomness = Randomness()
    custody = Custody(b"\7" * 32, settings.vocabulary, randomness)
    return Processor(store=store, clock=clock, randomness=randomness, custody=custody, settings=settings)


class Api:
    """Raw HTTP client for a running emulator, independent of the project's client."""

    def __init__(self, base_url: str) -> None:
        self.base_url = base_url
        self.http = httpx.Client(base_url=base_url, timeout=300, trust_env=False, follow_redirects=False)

    def get(self, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        return self.call("GET", path, key, **more)

    def post(self, path: str, body: object = None, key: str | None = None, **more: Any) -> httpx.Response:
        return self.call("POST", path, key, json=body, **more)

    def call(self, method: str, path: str, key: str | None = None, **more: Any) -> httpx.Response:
        headers = more.pop("headers", {}) | ({"X-Api-Key": key} if key else {})
        if path.startswith("/_emulator"):
            found = control_tokens.find(self.base_url)
            assert found is not None
            headers["Authorization"] = found.authorization()
        prefix = "" if path.startswith("/") else "/core/v1/"
        return self.http.request(method, prefix + path, headers=headers, **more)

    def account(self) -> tuple[str, str]:
        """Creates an account. Returns its key and wallet."""
        made = self.post("new_account", {"account_name": "billing test"}).raise_for_status().json()
        return made["api_key"], made["wallet_address"]

    def intent(self, key: str, cents: int = 500) -> tuple[str, str]:
        """Creates a payment. Returns its id and client secret."""
        made = self.post("billing/create_payment_intent", {"amount_cents": cents}, key).raise_for_status().json()
        return made["payment_intent_id"], made["client_secret"]

    def pay(self, intent: str, secret: str, method: str = "card", **more: str) -> httpx.Response:
        """Pays like a browser library."""
        body = {"client_secret": secret, "method": method, **more}
        path = f"/processor/v1/payment_intents/{intent}/confirm"
        return self.post(path, body, headers={"Authorization": f"Bearer {self.publishable_key}"})

    @property
    def publishable_key(self) -> str:
        return str(self.get("billing/processor_config").json()["publishable_key"])

    def balance(self, key: str) -> int:
        return int(self.get("billing/balance", key).raise_for_status().json()["balance_cents"])


@pytest.fixture(scope="package")
def poor_emulator() -> Iterator[Emulator]:
    """Emulator whose accounts start without credit, and whose crypto payments take a minute."""
    from svcnb.launch import Emulator

    with Emulator(crypto_delay_ms=60_000) as running:
        yield running


@pytest.fixture
def api_of() -> Iterator[Callable[[Emulator], Api]]:
    """Returns a function that creates raw HTTP clients for an emulator, whose connections close after the test."""
    with ExitStack() as stack:

        def connect(emulator: Emulator) -> Api:
            made = Api(emulator.base_url)
            stack.callback(made.http.close)
            return made

        yield connect


@pytest.fixture
def api(poor_emulator: Emulator, api_of: Callable[[Emulator], Api]) -> Api:
    return api_of(poor_emulator)
