"""Command ``svcnb lint``, which finds problems in actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples, output_options, show
from svcnb.cli._service import vocabulary_option
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary


@click.command("lint", epilog=examples("svcnb lint action.js actions/*.js"))
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@vocabulary_option
@output_options
@click.pass_context
def command(ctx: click.Context, files: tuple[Path, ...], words: Vocabulary, as_json: bool) -> None:
    """Find problems in actions before they run.

    The command finds a missing main function, undefined names, parameters used as globals, leaked keys, and exceeded
    limits. The command needs no service. The exit code is 1 if the linter reports an error.
    """
    from svcnb.protocol.action import Action
    from svcnb.toolkit.lint import lint

    reports = [lint(Action.from_file(file, name=str(file)), vocabulary=words) for file in files]
    shown = reports if as_json else [each for each in reports if len(each)]
    entries = [{"file": each.name, "findings": list(each)} for each in shown]
    show(entries, as_json=as_json, text="\n".join(map(repr, shown)))
    if not all(report.ok for report in reports):
        ctx.exit(ExitCode.FAILED)
