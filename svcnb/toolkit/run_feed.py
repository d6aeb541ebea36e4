"""List of all visible runs, from the local history, the runs of an emulator, and the triggers service.

A run of this client on an emulator is in two sources: the local history and the emulator. The list contains one entry
for the run, matched by its request id. A run of a trigger can also be in two sources: the triggers service and the
emulator. The list contains one entry for this run, matched by its correlation id.

If the client repeated a run until a new permission took effect, the emulator records all attempts, and the list
contains only the last attempt. A check of a new usage key is in the list only if the service charged for the check.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Literal

from svcnb.checked import Checked
from svcnb.client import Client
from svcnb.client.errors import ConfigError
from svcnb.client.models.base import Model
from svcnb.client.record_schema import KEY_CHECK
from svcnb.client.running import REPEATED
from svcnb.control import ControlRefused, EmulatorError, EmulatorUnreachable
from svcnb.control.plane import ControlPlane
from svcnb.toolkit.history import History, PastRun, Triggered

NEWEST: Final = 1_000
"""Maximum number of runs to read from the local history, and maximum number of runs to read from an emulator."""

Origin = Literal["client", "service", "trigger"]


class SeenRun(Model):
    """Run that a client, an emulator or the triggers service recorded."""

    id: str
    """Id of the request, or of the trigger's run. For a run without such an id, an id that this module creates."""

    request_id: str = ""
    """Id of the request that executed the action, if known. The timeline and the logs have the same id."""

    origin: Origin
    """``client`` for runs that a client recorded, ``trigger`` for runs of triggers, ``service`` for all others."""

    started_at: float
    """Start in Unix seconds, by the clock of the machine that recorded the run. 0.0 if unknown."""

    action: str = ""
    """Name of the executed action. Empty if unknown."""
    cid: str = ""
    """CID of the executed action. Empty if unknown."""
    key_hash: str = ""
    """Hash of the key that started the run. Empty if unknown."""
    status: str
    """``success``, ``failed`` or ``refused``. For the run of a trigger, also ``queued`` or ``running``."""

    elapsed: float = 0.0
    """Duration of the run in seconds, as recorded by the source of the entry."""

    cost_cents: int = 0
    """Charged amount in cents, or an estimate if the service did not return the amount."""

    error: str = ""
    """Message of the error. Empty for a run without an error."""
    traced: bool = False
    """Whether the emulator recorded a timeline of the run, which `svcnb.Client.trace` returns."""

    past: PastRun | None = None
    """Record of the run in the local history, with parameters and response, without secrets.

    None if the run is known only from an emulator or the triggers service."""

    quiet: ClassVar[frozenset[str]] = frozenset({"id", "started_at", "elapsed", "past"})


class RunFeed(Checked):
    """Reader of the runs of one service.

    Args:
        client: Client of the service. Its control token gives access to the runs of an emulator.
        history: Local history. None means the history of the client. If recording is disabled, there is no history.
        triggers: Client of the triggers service. None means that the feed does not read runs of triggers.
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
        """Local history. None if recording is disabled."""
        return self._history

    @property
    def has_service_record(self) -> bool:
        """Whether `read` requests the runs that the emulator recorded.

        False after `read` has found that the service is not an emulator, or that the emulator denies access.
        """
        return self._plane is not None

    def read(self) -> list[SeenRun]:
        """Returns the newest runs, newest first. This call is free.

        Raises:
            EmulatorUnreachable: No server responds at the address of the service.
            SvcnbError: The triggers service did not respond, or rejected the request.
        """
        found = {run.id: run for run in self._local()}
        caused: dict[str, SeenRun] = {}
        for row in reversed(_last_tries(self._served_rows())):
            run = _of_service(row)
            caused[row.get("correlation_id", "")] = run  # a later attempt of a trigger's run replaces an earlier one
            found[run.id] = _merged(found[run.id], run) if run.id in found else run
        for run in self._triggered():
            executed = caused.get(run.id)
            if executed is not None:
                found.pop(executed.id, None)
            found[f"trigger {run.id}"] = run if executed is None else _executed(run, executed)
        return sorted(found.values(), key=lambda run: (run.started_at, run.id), reverse=True)

    def logs_of(self, run: SeenRun) -> str:
        """Returns the console output of a run, from the emulator or from the local history.

        The result is empty if neither the emulator nor the history stored the output.
        """
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
        """Returns the runs of the emulator, newest first."""
        if self._plane is None:
            return []
        try:
            rows: list[dict[str, Any]] = self._plane.request("GET", f"/runs?limit={NEWEST}&offset=0")["runs"]
        except ControlRefused:
            self._plane = None  # the service is not an emulator or denied access; both conditions are permanent
            return []
        except EmulatorUnreachable as error:
            # It is unknown whether the address belongs to an emulator or a live service.
            raise EmulatorUnreachable(
                f"cannot connect to {self._client.base_url}, so its runs cannot be read",
                hint="Check the address, and check that the service is running. Then try again.",
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


def _last_tries(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows, newest first, without earlier attempts of a repeated run and without free checks of keys."""
    kept: list[dict[str, Any]] = []
    repeated: set[str] = set()
    for row in rows:
        tag = row.get("correlation_id", "")
        if tag in repeated or (tag.startswith(KEY_CHECK) and not row["cost_cents"]):
            continue
        if tag.startswith(REPEATED):
            repeated.add(tag)
        kept.append(row)
    return kept


def _of_service(row: Mapping[str, Any]) -> SeenRun:
    return SeenRun(
        id=row["request_id"],
        request_id=row["request_id"],
        origin="service",
        started_at=row["started_at"],
        action="check of a usage key" if row.get("correlation_id", "").startswith(KEY_CHECK) else "",
        cid=row["cid"],
        key_hash=row["api_key_hash"],
        status=row["status"],
        elapsed=row["elapsed_ms"] / 1_000,
        cost_cents=row["cost_cents"],
        error=row["error"] or "",
        traced=row["status"] != "refused",
    )


def _merged(local: SeenRun, served: SeenRun) -> SeenRun:
    """Returns the client's entry for a run, with the status, error, duration, cost and key hash from the service."""
    # Use the key hash from the service, which is the one on the chain, because key names are stored under this hash.
    kept = {name: getattr(served, name) for name in ("status", "cost_cents", "traced", "key_hash")}
    return local.model_copy(update={**kept, "error": served.error or local.error, "elapsed": served.elapsed})


def _executed(run: SeenRun, executed: SeenRun) -> SeenRun:
    """Returns the entry for a trigger's run, with the request id, key hash and cost from the emulator."""
    kept = {name: getattr(executed, name) for name in ("request_id", "key_hash", "cost_cents", "traced")}
    return run.model_copy(update=kept)
