"""Servers that share a PostgreSQL database respect each other's holds, so together they never exceed the credit."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Iterator

import pytest

from svcnb.emulator.billing.ledger import Hold, Ledger
from svcnb.emulator.errors import StructuredError
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store

WALLETS = ["0x" + letter * 40 for letter in "abc"]
ADA = WALLETS[0]


class Server:
    """Ledger of one server, with a separate connection."""

    def __init__(self, url: str) -> None:
        self.store = Store(url)
        self.ledger = Ledger(self.store, Clock(0.0))

    async def told(self) -> None:
        """Waits until the other servers can see the credit that this server has released."""
        await asyncio.sleep(0)  # the batcher queues its request
        await self.store.run(lambda _: None)


@pytest.fixture
def servers(postgres_url: str) -> Iterator[list[Server]]:
    made = [Server(postgres_url) for _ in range(2)]
    yield made
    for server in made:
        server.store.close()


async def pay_in(server: Server, cents: int, reference: str = "first", wallet: str = ADA) -> None:
    await server.ledger.add_credit(wallet, cents, reason="test", reference=reference)


async def test_one_server_cannot_spend_credit_that_another_holds(servers: list[Server]) -> None:
    one, two = servers
    await pay_in(one, 5)
    held = await one.ledger.hold(ADA, 3)
    with pytest.raises(StructuredError) as caught:
        await two.ledger.hold(ADA, 3)
    assert caught.value.status == 402
    assert "$0.02" in caught.value.message
    more = await two.ledger.hold(ADA, 1)
    with pytest.raises(StructuredError):
        await more.grow(3)
    await more.grow(2)
    with pytest.raises(StructuredError):
        await held.grow(4)
    await held.settle(3, reason="test", request_id="r1")
    await more.settle(1, reason="test", request_id="r2")
    rest = await one.ledger.hold(ADA, 1)  # a charge below its hold releases the remainder
    rest.release()
    await one.told()
    assert (await two.ledger.hold(ADA, 1)).state == "active"
    assert await one.ledger.verify() == []


async def test_two_servers_have_the_same_results_as_one(servers: list[Server]) -> None:
    chance = random.Random(7)
    balance: Counter[str] = Counter()
    held: Counter[str] = Counter()
    holds: list[tuple[Server, Hold]] = []
    refused = 0
    for n in range(250):
        server, wallet, cents = chance.choice(servers), chance.choice(WALLETS), chance.randint(1, 4)
        what = chance.choice(["pay in", "hold", "hold", "hold", "grow", "settle", "release"])
        if what == "pay in":
            await pay_in(server, cents, str(n), wallet)
            balance[wallet] += cents
        elif what == "hold":
            if balance[wallet] - held[wallet] >= cents:
                holds.append((server, await server.ledger.hold(wallet, cents)))
                held[wallet] += cents
            else:
                refused += 1
                with pytest.raises(StructuredError, match="this call needs"):
                    await server.ledger.hold(wallet, cents)
        elif holds and what == "grow":
            _, hold = chance.choice(holds)
            more = hold.cents + cents
            if balance[hold.account] - held[hold.account] >= cents:
                await hold.grow(more)
                held[hold.account] += cents
            else:
                refused += 1
                with pytest.raises(StructuredError, match="this call needs"):
                    await hold.grow(more)
        elif holds:
            owner, hold = holds.pop(chance.randrange(len(holds)))
            held[hold.account] -= hold.cents
            if what == "settle":
                spent = chance.randint(1, hold.cents)
                balance[hold.account] -= spent
                left = await hold.settle(spent, reason="test", request_id=f"r{n}")
                assert left == balance[hold.account] >= 0
            else:
                hold.release()
                await owner.told()
    assert refused > 20, "nothing was put to the test"
    for server in servers:
        assert {wallet: await server.ledger.credit_cents(wallet) for wallet in WALLETS} == {
            wallet: balance[wallet] for wallet in WALLETS
        }
        assert await server.ledger.verify() == []


async def test_concurrent_calls_to_both_servers_never_exceed_the_credit(
    servers: list[Server],
) -> None:
    await pay_in(servers[0], 40)

    async def call(n: int) -> int:
        chance = random.Random(n)
        cents = chance.randint(1, 3)
        try:
            hold = await servers[n % 2].ledger.hold(ADA, cents)
        except StructuredError as error:
            return 0 if error.status == 402 else 1_000
        async with hold:
            await asyncio.sleep(chance.random() / 100)
            if n % 5 == 0:
                return 0  # the call fails, and costs nothing
            assert await hold.settle(cents, reason="test", request_id=f"r{n}") >= 0
            return cents

    spent = sum(await asyncio.gather(*map(call, range(80))))
    for server in servers:
        await server.told()
    assert 0 < spent <= 40
    for server in servers:
        assert await server.ledger.credit_cents(ADA) == 40 - spent
        assert await server.ledger.verify() == []
        if spent < 40:  # no hold remains
            async with await server.ledger.hold(ADA, 40 - spent):
                pass
            await server.told()


async def test_the_holds_of_a_stopped_server_are_released(servers: list[Server]) -> None:
    one, two = servers
    await pay_in(one, 5)
    await one.ledger.hold(ADA, 5)
    with pytest.raises(StructuredError):
        await two.ledger.hold(ADA, 1)
    one.store.close()
    async with asyncio.timeout(60):
        while True:
            try:
                await two.ledger.hold(ADA, 5)
            except StructuredError:
                await asyncio.sleep(0.01)  # the database detects the closed connection
            else:
                break


async def test_a_single_server_does_not_store_its_holds(store, ledger) -> None:
    await ledger.add_credit(ADA, 5, reason="test", reference="first")
    await (await ledger.hold(ADA, 2)).settle(1, reason="test", request_id="r1")
    rows = await store.run(lambda connection: connection.value("SELECT count(*) FROM ledger_holds"))
    assert rows == (1 if store.shared else 0)
