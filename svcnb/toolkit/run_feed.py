"""All visible runs as one list: the local record, an emulator's own record, and runs of triggers.

A run of this client on an emulator is in two records. The list has one entry for it, matched by the id of its request.
A run of a trigger is also in two records. The emulator's record has it under its correlation id.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from svcnb.client import Client
from svcnb.client.errors import ConfigError
from svcnb.client.models.base import Model
from svcnb.control import ControlRefused, EmulatorError, EmulatorUnreachable
from svcnb.control.plane import ControlPlane
from svcnb.toolkit.history import History, PastRun, Triggered

NEWEST: Final = 1_000
"""Number of runs that are read from each record."""

Origin = Literal["client", "service", "trigger"]


class SeenRun(Model):
    """One run, from any of the records."""

    id: str
    """Id of its request, or of the trigger's run."""

    request_id: str = ""
    """Id of the request that ran it, if known. Its timeline and logs have this id."""

    origin: Origin
    """``client`` when this machine's clients ran it, ``trigger`` for runs of triggers, ``service`` for all others."""

    started_at: float
    """Unix seconds, by the clock of the recording machine."""

    action: str = ""
    cid: str = ""
    key_hash: str = ""
    status: str
    """``success``, ``failed`` or ``refused``; a trigger's run may also be ``queued`` or ``running``."""

    elapsed: float = 0.0
    """Seconds."""

    cost_cents: int = 0
    """Charged amount, or an estimate if the service did not return it."""

    error: str = ""
    traced: bool = False
    """Whether a timeline is available."""

    past: PastRun | None = None
    """This machine's record of it: parameters and response, without secrets."""

    quiet = frozenset({"id", "started_at", "elapsed", "past"})


class RunFeed:
    """Reads the runs of one service.

    Args:
        client: The service; its control token opens an emulator's record.
        history: The local record; the client's own when None, and none when recording is switched off.
        triggers: A client of the triggers service; its runs are read too.
    """

    def __init__(self, client: Client, history: History | None = None, triggers: Triggered | None = None) -> None:
        self._client = client
        self._triggers = triggers
        self._history = history or _history_of(client)
        token = client.config.control_token
        self._plane: ControlPlane | None = ControlPlane(
            f"{client.base_url}/_emulator", token.reveal() if token else None
        )

    @property
    def history(self) -> History | None:
        """The local record; None when nothing is recorded."""
        return self._history

    @property
    def has_service_record(self) -> bool:
        """Whether the service may have a record of its own; known after the first `read`."""
        return self._plane is not None

    def read(self) -> list[SeenRun]:
        """Returns the newest runs, newest first. Free.

        Raises:
            EmulatorUnreachable: Nothing answers at the service's address.
            SvcnbError: The triggers service refused.
        """
        found = {run.id: run for run in self._local()}
        caused: dict[str, SeenRun] = {}
        for row in reversed(self._served_rows()):
            run = _of_service(row)
            caused[row.get("correlation_id", "")] = run  # the last one counts: it may have been tried more than once
            found[run.id] = _merged(found[run.id], run) if run.id in found else run
        for run in self._triggered():
            executed = caused.get(run.id)
            if executed is not None:
                found.pop(executed.id, None)
            found[f"trigger {run.id}"] = run if executed is None else _executed(run, executed)
        return sorted(found.values(), key=lambda run: (run.started_at, run.id), reverse=True)

    def logs_of(self, run: SeenRun) -> str:
        """Returns the output of a run. For a failed run, only if the service kept it."""
        if run.request_id and self._plane is not None:
            try:
                return str(self._plane.request("GET", f"/runs/{run.request_id}")["logs"])
            except EmulatorError:
                pass
        return run.past.logs if run.past else ""

    def _local(self) -> Iterable[SeenRun]:
        if self._history is None:
            return
        here = self._client.base_url
        for number, past in enumerate(self._history.runs(source="client", limit=NEWEST)):
            if past.base_url == here:
                yield _of_past(past, f"local-{number}-{past.started_at.timestamp()}")

    def _served_rows(self) -> list[dict[str, Any]]:
        """Newest first."""
        if self._plane is None:
            return []
        try:
            rows: list[dict[str, Any]] = self._plane.request("GET", f"/runs?limit={NEWEST}&offset=0")["runs"]
        except ControlRefused:
            self._plane = None  # not an emulator, or access refused: both are permanent
            return []
        except EmulatorUnreachable as error:
            # This code cannot determine whether the address should be an emulator or a live service.
            raise EmulatorUnreachable(
                f"nothing answers at {self._client.base_url}, so its runs cannot be read",
                hint="Check the address and that the service is running, then read again.",
            ) from error.with_traceback(None)
        return rows

    def _triggered(self) -> Iterable[SeenRun]:
        if self._triggers is None:
            return
        for trigger in self._triggers.list():
            for run in self._triggers.runs(trigger):
                yield SeenRun(
                    id=run.id,
                    origin="trigger",
                    started_at=run.started_at.timestamp() if run.started_at else 0.0,
                    action=trigger.name,
                    cid=trigger.action_cid,
                    status=run.status,
                    elapsed=run.seconds or 0.0,
                    cost_cents=max(1, int(run.seconds or 0)) if run.ok else 0,
                    error=run.error or "",
                )


def _history_of(client: Client) -> History | None:
    try:
        return History(client.config.history)
    except ConfigError:
        return None


def _of_past(past: PastRun, otherwise: str) -> SeenRun:
    return SeenRun(
        id=past.run_id or otherwise,
        request_id=past.run_id,
        origin="client",
        started_at=past.started_at.timestamp(),
        action=past.action,
        cid=past.cid,
        key_hash=past.key_hash,
        status=past.status,
        elapsed=past.elapsed,
        cost_cents=past.cost_cents,
        error=past.error,
        past=past,
    )


def _of_service(row: Mapping[str, Any]) -> SeenRun:
    return SeenRun(
        id=row["request_id"],
        request_id=row["request_id"],
        origin="service",
        started_at=row["started_at"],
        cid=row["cid"],
        key_hash=row["api_key_hash"],
        status=row["status"],
        elapsed=row["elapsed_ms"] / 1_000,
        cost_cents=row["cost_cents"],
        error=row["error"] or "",
        traced=row["status"] != "refused",
    )


def _merged(local: SeenRun, served: SeenRun) -> SeenRun:
    """Merges two entries: names and values from the client, result and cost from the service."""
    kept = {"status": served.status, "cost_cents": served.cost_cents, "traced": served.traced}
    return local.model_copy(update={**kept, "error": served.error or local.error, "elapsed": served.elapsed})


def _executed(run: SeenRun, executed: SeenRun) -> SeenRun:
    """Merges two entries: the name from the triggers service; id, key and cost from the emulator."""
    kept = {name: getattr(executed, name) for name in ("request_id", "key_hash", "cost_cents", "traced")}
    return run.model_copy(update=kept)
