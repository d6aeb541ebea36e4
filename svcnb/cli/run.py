"""``svcnb run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import json_text, output_options, show
from svcnb.cli._service import read_source, with_service
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command(
    "run",
    epilog=examples(
        """svcnb run action.js --params '{"n": 41}' --key-file demo.key""",
        "echo 'const main = () => 42' | svcnb run - --json",
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--params", default="null", help="What main receives, as JSON; @FILE reads a file.")
@click.option("--until-effective", type=float, metavar="SECONDS", help="Keep trying while a new grant takes effect.")
@output_options
@with_service
def command(service: Client, file: Path, params: str, until_effective: float | None, as_json: bool) -> None:
    """Run an action from a source file.

    FILE is read as it stands; - reads standard input. The response goes to standard output, logs to standard error.
    Costs one cent a second, at least one; a failed run costs nothing and ends with 1.
    """
    from svcnb.client.errors import ActionError

    source, wanted = read_source(file), _parsed(params)
    try:
        run = service.run(source, wanted, until_effective=until_effective)
    except ActionError as error:
        if error.stack:
            click.echo(error.stack, err=True)
        raise
    if as_json:
        shown = {"response": run.response, "logs": run.logs, "cid": run.cid, "request_id": run.request_id}
        show(shown, as_json=True)
        return
    if run.logs:
        click.echo(run.logs, err=True, nl=not run.logs.endswith("\n"))
    click.echo(run.response if isinstance(run.response, str) else json_text(run.response))


def _parsed(params: str) -> object:
    try:
        text = Path(params[1:]).read_text(encoding="utf-8") if params.startswith("@") else params
        return parse(text)
    except OSError as error:
        raise click.BadParameter(f"{params[1:]}: {error.strerror}.", param_hint="--params") from None
    except ValueError as error:
        raise click.BadParameter(
            f"this is no JSON ({error}). Write for example '{{\"n\": 1}}'.", param_hint="--params"
        ) from None
