"""Creates the images of charts.md.

After a change to the charts, run ``python docs/gallery.py``. Each execution creates the same images, byte for byte. The
runs are random numbers with a fixed seed. The charts of permissions and changes show an account of an emulator, which
also has a fixed seed and a fixed time.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pandas as pd

import svcnb
from svcnb import charts
from svcnb.client.models.traces import Trace, TraceEvent

FOLDER: Final = Path(__file__).resolve().parent / "images" / "charts"
MONDAY: Final = datetime(2026, 11, 30, tzinfo=UTC)
DAYS: Final = 14

ACTIONS: Final = {"price": (2, 0.008, 0.0), "hash": (5, 0.004, 0.0), "sign": (3, 0.012, 0.08)}
"""Weight, median duration in seconds, and share of failures of each action."""

SIGN: Final = """async function main({ text }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  return wallet.signMessage(text);
}"""
_MEGABYTE: Final = 1024 * 1024
_GET: Final[dict[str, Any]] = {"kind": "fetch", "method": "GET", "host": "prices.example", "memory_bytes": _MEGABYTE}
TRACE: Final = Trace(
    engine="fast",
    events=(
        TraceEvent(at_ms=0, kind="start", memory_bytes=0),
        TraceEvent(at_ms=0.6, kind="console", memory_bytes=_MEGABYTE // 4),
        TraceEvent(at_ms=1.9, kind="key", operation="action_key", took_ms=0.9, memory_bytes=_MEGABYTE // 3),
        TraceEvent(at_ms=9.4, phase="start", **_GET),
        TraceEvent(at_ms=11.8, refused="the network policy does not permit this request", took_ms=2.4, **_GET),
        TraceEvent(at_ms=12.3, kind="console", memory_bytes=2 * _MEGABYTE),
        TraceEvent(at_ms=13.1, kind="end", ok=True, memory_bytes=2 * _MEGABYTE),
    ),
)


def runs() -> pd.DataFrame:
    """Returns two weeks of runs, with more runs in working hours."""
    chance = random.Random(7)  # noqa: S311 - the simulated load is not a secret
    weights = [weight for weight, _, _ in ACTIONS.values()]
    rows = []
    for hour in range(DAYS * 24):
        busy = 40 if 8 <= hour % 24 <= 18 and hour // 24 % 7 < 5 else 10  # noqa: PLR2004 - working hours
        for action in chance.choices(list(ACTIONS), weights, k=chance.randrange(busy)):
            _, median, failures = ACTIONS[action]
            row = {
                "started_at": MONDAY + timedelta(hours=hour, seconds=chance.randrange(3_600)),
                "action": action,
                "status": "failed" if chance.random() < failures else "success",
                "elapsed": median * chance.lognormvariate(0, 0.4),
                "cost_cents": 1,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def drawn() -> Iterator[tuple[str, Any]]:
    """Yields each chart of the gallery with its name."""
    load = runs()
    yield "run-timeline", charts.run_timeline(load)
    yield "latency", charts.latency(load)
    yield "latency-by-action", charts.latency(load, by="action")
    yield "success-rate", charts.success_rate(load)
    yield "success-rate-by-action", charts.success_rate(load, by="action")
    yield "spend", charts.spend(load)
    yield "trace", charts.trace(TRACE)

    start = int(MONDAY.timestamp())
    with svcnb.Emulator(seed="gallery", clock=f"frozen@{start}", starter_credits=5_000) as emulator:
        svc = emulator.client(history=False)
        svc = svc.with_key(svc.accounts.create("office"))
        wallet = svc.wallets.create()
        signer = svcnb.Action(SIGN, name="sign")
        signers = svc.groups.create("signers", actions=[signer])
        treasury = svc.groups.create("treasury", wallets=[wallet])
        desk = svc.groups.create("desk", actions=[signer], wallets=[wallet])
        key = svc.usage_keys.create("night shift", execute_in_groups=[signers, treasury])
        yield "permission-graph", charts.permission_graph(svc.explain(key, signer, wallet))
        svc.usage_keys.update(key, execute_in_groups=[desk])
        yield "permission-graph-allowed", charts.permission_graph(svc.explain(key, signer, wallet))

        owner, heir = (svcnb.LocalSigner.from_key("0x" + digits * 32) for digits in ("11", "22"))
        for each in (owner, heir):
            emulator.faucet(each.address)
        emulator.clock.advance("1d")
        mine = svc.accounts.convert(owner, confirm=True)
        helper = mine.usage_keys.create("helper", execute_in_groups=[desk])
        emulator.clock.advance("1d")
        mine.groups.add_action(desk, svcnb.everything)
        mine.usage_keys.delete(key)
        emulator.clock.advance("1d")
        mine.transfer_ownership(heir, confirm=True)
        ours = svc.chain_secured.open(heir)
        ours.groups.remove_action(desk, svcnb.everything)
        ours.usage_keys.delete(helper)
        yield "audit-timeline", charts.audit_timeline(ours.audit())


def main(folder: Path) -> None:
    """Writes each image in a light and in a dark theme."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, chart in drawn():
        for theme in ("light", "dark"):
            charts.save(chart, folder / f"{name}-{theme}.svg", theme=theme)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else FOLDER)
