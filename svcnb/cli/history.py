"""Command ``svcnb history``, which shows past runs and their cost, from a local record."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from svcnb.cli._output import CommandGroup, output_options, show

if TYPE_CHECKING:
    from svcnb.toolkit.history import By

_SINCE = "Length of the period up to now, for example 12h or 7d. The command ignores earlier runs."


def _span(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
    from svcnb.protocol.durations import seconds

    try:
        if text is not None:
            seconds(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    return text


@click.group("history", cls=CommandGroup)
def command() -> None:
    """Show the past runs that this machine recorded, and their cost.

    The record is a local file without secrets. Set SVC_HISTORY to the path of another file, or to `off` to disable the
    record.
    """


@command.command("list")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help=("Maximum number of runs, newest first.")
)
@click.option("--status", type=click.Choice(["success", "failed"]), help="Include only runs with this status.")
@click.option("--since", callback=_span, help=_SINCE)
@output_options
def list_(limit: int, status: Literal["success", "failed"] | None, since: str | None, as_json: bool) -> None:
    """List past runs, newest first."""
    from svcnb.toolkit.history import History

    runs = History().runs(limit=limit, status=status, since=since)
    short = [
        {
            "when": f"{run.started_at:%Y-%m-%d %H:%M:%S}",
            "status": run.status,
            "action": run.action or run.cid,
            "cents": run.cost_cents,
            "error": run.error,
        }
        for run in runs
    ]
    show(runs if as_json else short, as_json=as_json)


@command.command("spend")
@click.option(
    "--by",
    type=click.Choice(["action", "key", "day", "service", "trigger"]),
    default="action",
    show_default=True,
    help="Property by which to group the costs.",
)
@click.option("--since", callback=_span, help=_SINCE)
@output_options
def spend(by: By, since: str | None, as_json: bool) -> None:
    """Add up the costs of past runs, in cents."""
    from svcnb.toolkit.history import History

    rows = History().spend(by, since=since)
    short = [{"name": row.name or "-", "runs": row.runs, "failed": row.failed, "cents": row.cost_cents} for row in rows]
    show(rows if as_json else short, as_json=as_json)


@command.command("clear")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def clear(*, yes: bool) -> None:
    """Delete all past runs from the record permanently."""
    from svcnb.toolkit.history import History

    history = History()
    if not yes:
        click.confirm(f"Delete all runs in {history.path}?", abort=True, err=True)
    click.echo(f"Deleted runs: {history.clear()}.")


@command.command("merge")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@output_options
def merge(files: tuple[Path, ...], as_json: bool) -> None:
    """Add the records of other machines to the record of this machine.

    FILES are history files from other machines. The command does not change them. You can repeat the command, because
    it never adds a run twice.
    """
    from svcnb.toolkit.history import History

    history = History()
    added = history.merge(*files)
    show({"file": str(history.path), "runs_added": added.runs, "ledger_entries_added": added.entries}, as_json=as_json)


@command.command("path")
@output_options
def path_(*, as_json: bool) -> None:
    """Print the path of the file that contains the record."""
    from svcnb.toolkit.history import History

    show({"file": str(History().path)}, as_json=as_json, text=str(History().path))
