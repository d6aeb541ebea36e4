"""Runs panel with a live list of runs, their results and costs, and the timeline of each run."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final

import traitlets

from svcnb.client import Client
from svcnb.client.errors import InvalidArgument, SvcnbError
from svcnb.client.frames import pandas
from svcnb.panels.base import Panel, command
from svcnb.panels.traces import trace_view
from svcnb.panels.wire import pretty
from svcnb.protocol.hashes import api_key_hash, hashed_cid
from svcnb.toolkit.history import History, Triggered
from svcnb.toolkit.run_feed import RunFeed, SeenRun
from svcnb.toolkit.run_summary import summarise

SHOWN: Final = 200
"""Maximum number of rows in the table. The charts also include older runs."""

NAMES_KEPT_S: Final = 20.0
"""Lifetime of the cached names of actions and keys, in seconds."""

FILTERS: Final = ("action", "key", "status", "origin")
_DRAWN: Final = {"started_at", "status", "elapsed", "action", "cid", "cost_cents"}
_CHARTS_CODE: Final = "charts.run_timeline(runs), charts.latency(runs), charts.success_rate(runs), charts.spend(runs)"


class RunsPanel(Panel, bundle="runs"):
    """Live list of the runs of a service.

    The runs come from the local history (`svcnb.toolkit.history`). If the service is an emulator, the panel also reads
    the runs of the emulator. If you pass a client of the triggers service, the panel also shows the runs of triggers.
    The widget's state contains no data of a run.

    Args:
        client: Client of the service.
        history: Local history. None means the history of the client.
        triggers: Client of the triggers service. None omits the runs of triggers, except those in the local history.

    Attributes:
        filters: Filters of the list: ``action`` (a CID), ``key`` (the hash of a key), ``status`` and ``origin``. An
            empty string matches all runs. With ``everyone``, the list includes runs of other accounts on the same
            emulator.

    Example:
        ``svcnb.panels.RunsPanel(svc, triggers=emulator.triggers())``
    """

    title = "Runs"
    filters = traitlets.Dict(dict.fromkeys(FILTERS, "") | {"everyone": False}).tag(sync=True)

    def __init__(self, client: Client, *, history: History | None = None, triggers: Triggered | None = None) -> None:
        super().__init__(client)
        self._feed = RunFeed(client, history, triggers)
        self._has_triggers = triggers is not None
        self._actions: dict[str, str] = {}
        self._keys: dict[str, str] = {}
        self._has_names = False
        self._named_at = -NAMES_KEPT_S  # the monotonic clock can start at 0 when the machine starts
        self._seen: dict[str, SeenRun] = {}

    def session_changed(self, what: frozenset[str]) -> None:
        """Marks the cached names as outdated after a change of the account or of its resources."""
        if what & {"account", "resources"}:
            self._named_at = -NAMES_KEPT_S
        if "account" in what:
            self._actions, self._keys, self._has_names = {}, {}, False

    def about(self) -> dict[str, object]:
        """Returns the active filters."""
        return {name: value for name, value in self.filters.items() if value}

    @property
    def runs(self) -> list[SeenRun]:
        """Reads and returns the runs that the panel shows, newest first."""
        return self._wanted(self._feed.read())

    # --- commands -----------------------------------------------------------------------------------------------

    @command
    async def read(self, seen: str) -> dict[str, Any]:
        """Reads the runs, and returns the data to show, with a hash of the data.

        Args:
            seen: Hash of the data that the view already shows. If the data is unchanged, the result contains only the
                hash.
        """
        await self._read_names()
        found = await asyncio.to_thread(self._feed.read)
        shown = self._wanted(found)
        self._seen = {run.id: run for run in found}
        rows = [self._row(run) for run in shown[:SHOWN]]
        answer = {
            "rows": rows,
            "summary": asdict(summarise([self._named(run) for run in shown])),
            "choices": self._choices(found),
            "sources": {
                "history": self._feed.history is not None,
                "service": self._feed.has_service_record,
                "triggers": self._has_triggers,
            },
        }
        state = hashlib.sha256(json.dumps(answer, sort_keys=True).encode()).hexdigest()
        return {"state": state} if state == seen else {"state": state, **answer}

    @command
    async def look_at(self, number: str) -> dict[str, Any]:
        """Returns all data of one run of the list. ``number`` is the id of the run in the list."""
        run = self._seen.get(number)
        if run is None:
            raise InvalidArgument("this run is no longer stored", hint="Refresh the list.")
        trace, untraced = None, ""
        if run.traced:
            try:
                trace = trace_view(await self.service.trace(run.request_id))
                self.record(f"svc.trace({run.request_id!r})")
            except SvcnbError as error:  # for example, the emulator has deleted the trace
                untraced = error.message
        past = run.past
        return {
            **self._row(run),
            "cid": run.cid,
            "key_hash": run.key_hash,
            "error": run.error,
            "params": "" if past is None else pretty(past.params),
            "response": "" if past is None or not past.ok else pretty(past.response),
            "has_values": past is not None,
            "logs": await asyncio.to_thread(self._feed.logs_of, run),
            "trace": trace,
            "untraced": untraced,
        }

    @command
    def choose(self, filters: dict[str, Any]) -> None:
        """Changes the filters, and records them as Python code."""
        if set(filters) != {*FILTERS, "everyone"}:
            raise InvalidArgument(
                f"invalid filters {sorted(filters)}: expected {', '.join(FILTERS)} and everyone",
                hint="Reload the page.",
            )
        self.filters = filters
        self.record(self._chosen())

    @command
    async def draw(self) -> list[str]:
        """Returns the charts of `svcnb.charts` for the displayed runs, as SVG."""
        self.channel.progress("Drawing the charts")
        await self._read_names()
        drawn = await asyncio.to_thread(lambda: _drawings([self._named(run) for run in self.runs]))
        self.record(f"from svcnb import charts\n{self._chosen()}\n{_CHARTS_CODE}")
        return drawn

    def _chosen(self) -> str:
        """Returns those filters that the local history supports, as Python code."""
        wanted = {name: self.filters[name] for name in ("action", "key")}
        if self.filters["status"] in {"success", "failed"}:
            wanted["status"] = self.filters["status"]
        told = ", ".join(f"{name}={value!r}" for name, value in wanted.items() if value)
        return f"from svcnb.toolkit.history import History\nruns = History().runs({told})"

    # --- internal methods ---------------------------------------------------------------------------------------

    def _wanted(self, found: list[SeenRun]) -> list[SeenRun]:
        wanted = self.filters
        mine = self._own_keys()
        return [
            run
            for run in found
            if (not wanted["action"] or run.cid == wanted["action"])
            and (not wanted["key"] or run.key_hash == wanted["key"])
            and (not wanted["status"] or run.status == wanted["status"])
            and (not wanted["origin"] or run.origin == wanted["origin"])
            and (wanted["everyone"] or run.origin != "service" or not mine or run.key_hash in mine)
        ]

    def _own_keys(self) -> set[str]:
        """Returns the known hashes of the account's keys. Empty without a key."""
        key = self.client.config.api_key
        return {*([api_key_hash(key.reveal())] if key else []), *self._keys}

    async def _read_names(self) -> None:
        resources = self.session.resources
        if (
            self.client.config.api_key is None and resources is self.service
        ) or time.monotonic() - self._named_at < NAMES_KEPT_S:
            return
        try:
            actions, keys = await asyncio.gather(resources.actions.list(), resources.usage_keys.list())
        except SvcnbError:
            return  # the list of runs then shows hashes instead of names
        self._actions = {each.hashed_cid: each.name for each in actions if each.hashed_cid}
        self._keys = {each.api_key_hash: each.name for each in keys}
        self._named_at, self._has_names = time.monotonic(), True

    def _named(self, run: SeenRun) -> SeenRun:
        return run if run.action or not run.cid else run.model_copy(update={"action": self._action_name(run)})

    def _action_name(self, run: SeenRun) -> str:
        return run.action or (self._actions.get(_hash_of(run.cid), "") if run.cid else "")

    def _key_name(self, key_hash: str) -> str:
        if key_hash in self._keys:
            return self._keys[key_hash] or _short(key_hash)
        # The account key is the only key of the account that the service does not list.
        return "account key" if self._has_names and key_hash in self._own_keys() else _short(key_hash)

    def _row(self, run: SeenRun) -> dict[str, Any]:
        return {
            "id": run.id,
            "origin": run.origin,
            "started_at": run.started_at,
            "action": self._action_name(run) or _short(run.cid),
            "key": self._key_name(run.key_hash),
            "status": run.status,
            "elapsed": run.elapsed,
            "cost_cents": run.cost_cents,
            "error": run.error.partition("\n")[0][:200],
        }

    def _choices(self, found: list[SeenRun]) -> dict[str, dict[str, str]]:
        """Returns the available values of each filter, with their displayed names."""
        return {
            "action": {run.cid: self._action_name(run) or _short(run.cid) for run in reversed(found) if run.cid},
            "key": {run.key_hash: self._key_name(run.key_hash) for run in reversed(found) if run.key_hash},
            "status": {run.status: run.status for run in reversed(found)},
        }


@lru_cache(maxsize=4_096)
def _hash_of(cid: str) -> str:
    return hashed_cid(cid)


def _short(text: str) -> str:
    return f"{text[:8]}…{text[-4:]}" if len(text) > 16 else text  # noqa: PLR2004 - shorter texts stay complete


def _drawings(runs: list[SeenRun]) -> list[str]:
    """Returns the charts as SVG. The page then does not need a chart library. Charts without data are omitted."""
    from svcnb import charts

    pd = pandas()
    if not runs:
        raise charts.NothingToDraw("there are no runs to draw", hint="Run an action first, or change the filters.")
    frame = pd.DataFrame([run.model_dump(include=_DRAWN) for run in runs])
    frame["started_at"] = pd.to_datetime(frame["started_at"], unit="s", utc=True)
    # Charts expect the format of a client's runs, in which a rejection is a failure.
    frame["status"] = frame["status"].replace("refused", "failed")
    found: list[str] = []
    for chart in (charts.run_timeline, charts.latency, charts.success_rate, charts.spend):
        try:
            found.append(charts.svg(chart(frame), theme="auto"))
        except InvalidArgument:  # for example, the latency chart if all runs failed
            continue
    return found
