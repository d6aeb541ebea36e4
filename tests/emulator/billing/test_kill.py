"""A killed process loses no acknowledged charge, and no charge counts twice."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys

import pytest

from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store
from tests.emulator.billing.charging import charge

pytestmark = pytest.mark.slow

WALLET = "0x" + "a" * 40
CREDIT = 1_000_000

CHARGER = """
import asyncio, sys
from svcnb.emulator.billing.ledger import Ledger
from svcnb.emulator.platform.clock import Clock
from svcnb.emulator.platform.store import Store

async def main(url, wallet):
    ledger = Ledger(Store(url), Clock())
    number = 0
    async def worker():
        nonlocal number
        while True:
            number += 1
            mine = number
            await (await ledger.hold(wallet)).settle(1, reason="kill", request_id=f"r{mine}")
            print(mine, flush=True)
    await asyncio.gather(*(worker() for _ in range(8)))

asyncio.run(main(*sys.argv[1:]))
"""


def charge_until_killed(url: str, answers: int) -> list[int]:
    """Returns the numbers of at least ``answers`` acknowledged requests."""
    process = subprocess.Popen([sys.executable, "-c", CHARGER, url, WALLET], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process, process.stdout:
        seen = [int(process.stdout.readline()) for _ in range(answers)]
        process.kill()
        # The process also acknowledged the requests that it wrote before the kill. The last line can be incomplete.
        return seen + [int(line) for line in process.stdout.read().split("\n")[:-1]]


# The default is a few rounds, each below a second. An environment variable can increase the number.
@pytest.mark.parametrize("trial", range(int(os.environ.get("SVCNB_KILL_TRIALS", "3"))))
async def test_a_killed_ledger_keeps_every_acknowledged_charge_once(tmp_path, trial: int):
    url = f"sqlite:///{tmp_path / 'state.db'}"
    store = Store(url)
    await Ledger(store, Clock()).add_credit(WALLET, CREDIT, reason="test", reference="t")
    store.close()

    acknowledged = charge_until_killed(url, random.Random(trial).randint(1, 400))

    store = Store(url)
    ledger = Ledger(store, Clock())
    assert await ledger.verify() == []
    charged = [entry.request_id for entry in await ledger.entries(WALLET) if entry.kind == "charge"]
    assert len(charged) == len(set(charged))
    assert {f"r{number}" for number in acknowledged} <= set(charged)
    assert await ledger.credit_cents(WALLET) == CREDIT - len(charged)
    # All callers repeat their requests, with or without a response. The ledger charges each request once.
    everybody = range(1, max(acknowledged) + 20)
    await asyncio.gather(*(charge(ledger, WALLET, 1, reason="kill", request_id=f"r{number}") for number in everybody))
    assert await ledger.credit_cents(WALLET) == CREDIT - len(everybody)
    assert await ledger.verify() == []
    store.close()
