"""``svcnb lint``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show
from svcnb.exit_codes import ExitCode


@click.command("lint", epilog=examples("svcnb lint action.js actions/*.js"))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--service-name", help="The service's name, if it is not svc. Default: SVC_SERVICE_NAME.")
@output_options
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], service_name: str | None, as_json: bool) -> None:
    """Find what will go wrong with actions before they run.

    Looks for a missing main, names that are not there, parameters used as globals, keys that leak, limits exceeded.
    Needs no service. Ends with 1 if anything was found that fails when it runs.
    """
    from svcnb.protocol.action import Action
    from svcnb.protocol.vocabulary import Vocabulary
    from svcnb.toolkit.lint import lint

    words = Vocabulary(service=service_name or os.environ.get("SVC_SERVICE_NAME") or "svc")
    reports = [lint(Action.from_file(file, name=str(file)), vocabulary=words) for file in files]
    if as_json:
        show([{"file": each.name, "findings": list(each)} for each in reports], as_json=True)
    else:
        for report in reports:
            if len(report):
                click.echo(repr(report))
    if not all(report.ok for report in reports):
        ctx.exit(ExitCode.FAILED)
