from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest

from svcnb.client import AsyncClient, Client
from svcnb.client._http import AsyncTransport, SyncTransport
from svcnb.client.config import Retries
from svcnb.client.session import AsyncSession, SyncSession

ADDRESS = "http://service.test"
Handler = Callable[[httpx.Request], httpx.Response]


@pytest.fixture(autouse=True)
def _own_settings(monkeypatch, tmp_path) -> None:
    """Separates the tests from the settings of the current user."""
    for name in ("BASE_URL", "API_KEY", "TRIGGERS_URL", "RPC_URL", "SERVICE_NAME", "PROCESSOR_NAME"):
        monkeypatch.delenv(f"SVC_{name}", raising=False)
    monkeypatch.delenv("SVCNB_CONFIG", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def quick() -> Retries:
    """Returns the default retry policy without delays."""
    return Retries(first_delay=0.0, longest_retry_after=0.0)


@pytest.fixture
def scripted(quick) -> Iterator[Callable[..., Client]]:
    """Returns a function that creates clients of a simulated service, for responses that a real one cannot produce."""
    made: list[Client] = []

    def make(handler: Handler, **options) -> Client:
        client = Client(ADDRESS, **({"retries": quick} | options))
        client.close()
        transport = SyncTransport(ADDRESS, httpx.MockTransport(handler))
        client._start(SyncSession(transport, client.config, client.on_run), owner=True)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
async def async_scripted(quick):
    """Asynchronous version of `scripted`."""
    made: list[AsyncClient] = []

    async def make(handler: Handler, **options) -> AsyncClient:
        client = AsyncClient(ADDRESS, **({"retries": quick} | options))
        await client.close()
        transport = AsyncTransport(ADDRESS, httpx.MockTransport(handler))
        client._start(AsyncSession(transport, client.config, client.on_run), owner=True)
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()
