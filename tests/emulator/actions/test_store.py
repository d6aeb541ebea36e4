"""The service writes its record of executions after the responses, even if a caller stops waiting."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from svcnb.emulator.actions.store import Execution, RunLog
from svcnb.emulator.platform.store import Store


@pytest.fixture
def store(store_url: str | None) -> Iterator[Store]:
    opened = Store(store_url)
    yield opened
    opened.close()


def execution(request_id: str) -> Execution:
    return Execution(
        request_id=request_id,
        cid="Qm",
        api_key_hash="0x01",
        billing_wallet="0x" + "00" * 20,
        status="success",
        http_status=200,
        logs="",
        cost_cents=1,
        started_at=0.0,
        elapsed_ms=1.0,
    )


async def test_a_cancelled_reader_does_not_cancel_the_writer(store: Store) -> None:
    log = RunLog(store)
    log.add(execution("a"))
    leaving, staying = asyncio.create_task(log.recent()), asyncio.create_task(log.recent())
    await asyncio.sleep(0)
    leaving.cancel()
    async with asyncio.timeout(60):
        assert [row["request_id"] for row in await staying] == ["a"]


async def test_rejected_rows_do_not_prevent_later_rows(store: Store) -> None:
    log = RunLog(store)
    log.add(execution("a"))
    await log.flush()
    log.add(execution("a"))
    await log.flush()
    log.add(execution("b"))
    assert [row["request_id"] for row in await log.recent()] == ["b", "a"]


@pytest.mark.slow
async def test_the_history_has_a_size_limit_and_the_oldest_rows_are_deleted(store: Store) -> None:
    log = RunLog(store)
    for n in range(90):
        log.add(execution(f"{n:03d}")._replace(trace='"' + "x" * 2**20 + '"'))
        await log.flush()
    kept = [row["request_id"] for row in await log.recent(100)]
    assert kept[0] == "089"
    assert kept == sorted(kept, reverse=True)
    assert 55 <= len(kept) <= 72
