"""A lease of one server is exclusive until the server stops."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from urllib.parse import parse_qs, urlsplit

import pytest

from svcnb.emulator.platform.leases import held, release, take
from svcnb.emulator.platform.store import Store, StoreUnavailable


@pytest.fixture
def servers(postgres_url: str) -> Iterator[list[Store]]:
    opened = [Store(postgres_url) for _ in range(2)]
    yield opened
    for store in opened:
        store.close()


def taking(name: str) -> Callable[..., bool]:
    return partial(take, name=name)


async def test_a_lease_of_one_server_is_not_available_to_another(servers: list[Store]) -> None:
    first, second = servers
    assert await first.run(taking("thing"))
    assert await first.run(taking("thing"))  # the server still has the lease
    assert not await second.run(taking("thing"))
    assert await second.run(taking("another thing"))

    await second.run(partial(release, name="thing"))  # the server cannot release the lease of another server
    assert not await second.run(taking("thing"))
    await first.run(partial(release, name="thing"))
    assert await second.run(taking("thing"))


async def test_the_leases_of_a_stopped_server_are_free(servers: list[Store]) -> None:
    first, second = servers
    assert await first.run(taking("thing"))
    first.close()
    async with asyncio.timeout(300):
        while not await second.run(taking("thing")):  # noqa: ASYNC110 - the database notices by itself
            await asyncio.sleep(0.01)


async def test_a_lost_connection_is_reported_once_and_restored(servers: list[Store]) -> None:
    first, second = servers
    assert await first.run(taking("thing"))
    backend = await first.run(lambda connection: connection.value("SELECT pg_backend_pid()"))
    end = "SELECT pg_terminate_backend(:pid, 60000)"
    assert await second.run(lambda connection: connection.value(end, pid=backend))
    with pytest.raises(StoreUnavailable):
        await first.run(taking("thing"))
    assert await second.run(taking("thing"))  # its leases are free
    assert not await first.run(taking("thing"))


async def test_transactions_of_servers_run_in_sequence(servers: list[Store]) -> None:
    await servers[0].run(lambda connection: connection.run("CREATE TABLE counter (n integer)"))
    await servers[0].run(lambda connection: connection.insert("counter", n=0))

    def count(connection) -> None:
        seen = connection.value("SELECT n FROM counter")
        connection.run("UPDATE counter SET n = :n", n=seen + 1)

    await asyncio.gather(*(store.run(count) for store in servers for _ in range(100)))
    assert await servers[0].run(lambda connection: connection.value("SELECT n FROM counter")) == 200


async def test_waiting_for_a_lease_ends_when_the_lease_is_released(servers: list[Store]) -> None:
    first, second = servers
    order: list[str] = []

    began, gate = asyncio.Event(), asyncio.Event()

    async def work(store: Store, name: str) -> None:
        async with held(store, "thing"):
            order.append(f"{name} begins")
            began.set()
            await gate.wait()
            order.append(f"{name} ends")

    one = asyncio.create_task(work(first, "one"))
    await began.wait()
    two = asyncio.create_task(work(second, "two"))
    assert not await second.run(taking("thing"))
    gate.set()
    await asyncio.gather(one, two)
    assert order == ["one begins", "one ends", "two begins", "two ends"]


async def test_work_under_a_lease_succeeds_even_if_the_release_fails(servers: list[Store]) -> None:
    first, second = servers
    backend = await first.run(lambda connection: connection.value("SELECT pg_backend_pid()"))
    done = False
    async with held(first, "thing"):
        end = "SELECT pg_terminate_backend(:pid, 60000)"
        assert await second.run(lambda connection: connection.value(end, pid=backend))
        done = True
    assert done
    assert await second.run(taking("thing"))  # the database released the lease of the lost connection


@pytest.mark.slow
async def test_a_single_server_has_every_lease() -> None:
    store = Store()
    try:
        assert await store.run(taking("thing"))
        async with held(store, "thing"):
            pass
    finally:
        store.close()


async def test_an_unavailable_database_is_a_503_until_it_is_available_again(postgres_url: str) -> None:
    import psycopg

    store = Store(postgres_url)
    url = urlsplit(postgres_url)
    name, [host] = url.path.strip("/"), parse_qs(url.query)["host"]
    admin = psycopg.connect(f"host={host} user=svcnb dbname=postgres", autocommit=True)
    try:
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        admin.execute("SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = %s", [name])
        for _ in range(3):
            with pytest.raises(StoreUnavailable) as caught:
                await store.run(taking("thing"))
            assert caught.value.status == 503
        admin.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        assert await store.run(taking("thing"))
    finally:
        admin.close()
        store.close()
