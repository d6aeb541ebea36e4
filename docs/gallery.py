"""Creates the images of charts.md from real runs of an emulator in two simulated weeks.

After a change to the charts, run ``python docs/gallery.py``. The durations differ slightly between two executions.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import svcnb
from svcnb import charts
from svcnb.toolkit.history import History

FOLDER = Path(__file__).resolve().parent / "images" / "charts"

DAYS = 14
WEEK_S = 7 * 86_400
# 1970 began on a Thursday.
MONDAY_S = 4 * 86_400

ACTIONS = {
    "price": """async function main({ event }) {
  let sum = 0;
  for (let i = 0; i < event.n * 2e6; i++) sum += i % 7;
  return sum;
}""",
    "hash": "async function main({ event }) { return ethers.utils.id(String(event.n)); }",
    "sign": """async function main({ event }) {
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  if (event.n > 19) throw new Error("too much");
  return wallet.signMessage(String(event.n));
}""",
}
TRACED = """async function main() {
  console.log("who signs?");
  const wallet = new ethers.Wallet(await Svc.Actions.getSvcActionPrivateKey());
  const signed = await wallet.signMessage("hello");
  try { await fetch("https://prices.example/btc"); } catch (refused) { console.log("no network here"); }
  return signed;
}"""


def drawn() -> Iterator[tuple[str, Any]]:
    """Yields each chart of the gallery with its name."""
    chance = random.Random(7)  # noqa: S311 - the simulated load is not a secret
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        emulator = stack.enter_context(svcnb.Emulator(starter_credits=5_000, network_policy="deny"))
        triggers = stack.enter_context(emulator.triggers())
        svc = emulator.client(history=folder / "history.sqlite")
        svc = svc.with_key(svc.accounts.create("gallery"))
        hooks = [triggers.create_for(svc, svcnb.Action(code), name=name) for name, code in ACTIONS.items()]
        monday = (emulator.clock.now() - MONDAY_S) // WEEK_S * WEEK_S + MONDAY_S + WEEK_S
        for hour in range(DAYS * 24):
            # The clock continues between these steps, so the runs have their real durations.
            emulator.clock.advance(monday + hour * 3_600 + chance.randrange(2_400) - emulator.clock.now())
            busy = 3 if 8 <= hour % 24 <= 18 and hour // 24 % 7 < 5 else 1  # noqa: PLR2004 - working hours
            for _ in range(chance.randrange(busy + 1)):
                hook = chance.choices(hooks, weights=(2, 5, 3))[0]
                triggers.wait_for_run(hook, triggers.fire(hook, {"n": chance.randrange(1, 22)}))
        history = History(folder / "history.sqlite")
        history.add_trigger_runs(triggers)
        yield "run-timeline", charts.run_timeline(history)
        yield "latency", charts.latency(history)
        yield "latency-by-action", charts.latency(history, by="action")
        yield "success-rate", charts.success_rate(history)
        yield "success-rate-by-action", charts.success_rate(history, by="action")
        yield "spend", charts.spend(history)
        yield "trace", charts.trace(svc.run(TRACED))

        svc = emulator.client(history=False)
        svc = svc.with_key(svc.accounts.create("office"))
        wallet = svc.wallets.create()
        signer = svcnb.Action(ACTIONS["sign"], name="sign")
        signers = svc.groups.create("signers", actions=[signer])
        treasury = svc.groups.create("treasury", wallets=[wallet])
        desk = svc.groups.create("desk", actions=[signer], wallets=[wallet])
        key = svc.usage_keys.create("night shift", execute_in_groups=[signers, treasury])
        yield "permission-graph", charts.permission_graph(svc.explain(key, signer, wallet))
        svc.usage_keys.update(key, execute_in_groups=[desk])
        yield "permission-graph-allowed", charts.permission_graph(svc.explain(key, signer, wallet))

        owner, heir = svcnb.LocalSigner.random(), svcnb.LocalSigner.random()
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


def main() -> None:
    """Writes each image in a light and in a dark theme."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, chart in drawn():
        print(chart)  # noqa: T201 - output of this script
        for theme in ("light", "dark"):
            charts.save(chart, FOLDER / f"{name}-{theme}.svg", theme=theme)


if __name__ == "__main__":
    main()
