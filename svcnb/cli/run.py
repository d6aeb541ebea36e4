"""Command ``svcnb run``, which runs an action."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples, json_text, output_options, show
from svcnb.cli._parameters import FiniteNumber
from svcnb.cli._service import read_source, with_service
from svcnb.files import read_text
from svcnb.protocol.nesting import parse

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.protocol.action import Action


@click.command(
    "run",
    epilog=examples(
        """svcnb run action.js --params '{"n": 41}' --key-file demo.key""",
        "svcnb run account.toml --action capped",
        "echo 'const main = () => 42' | svcnb run - --json",
    ),
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--params", default="null", help="Parameters of main, as JSON. @FILE reads the parameters from a file.")
@click.option(
    "--action",
    "name",
    help="Name of an action in the description file; required if the file contains several actions.",
)
@click.option(
    "--until-effective",
    type=FiniteNumber(0),
    metavar="SECONDS",
    help=("Retry for at most this number of seconds, until a new permission takes effect."),
)
@output_options
@with_service
def command(
    service: Client, file: Path, params: str, name: str | None, until_effective: float | None, as_json: bool
) -> None:
    """Run an action from a source file, or from a description file.

    The command reads FILE without changes. Use - for standard input. If FILE ends with .toml, it is a description file
    (see `svcnb plan`), whose derived actions run with their constants. The command prints the response on standard
    output and logs on standard error. A run costs one cent per second, and at least one cent. A failed run is free, and
    the exit code is 1.
    """
    from svcnb.client.errors import ActionError

    if file.suffix != ".toml" and name is not None:
        raise click.UsageError(
            f"--action selects an action in a description file, but {file} does not end with .toml: pass a .toml file, "
            "or omit --action"
        )
    source, wanted = _described(file, name) if file.suffix == ".toml" else read_source(file), _parsed(params)
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


def _described(file: Path, name: str | None) -> Action | str:
    """Returns an action from a description file, or only its CID if the file does not contain the source.

    Without a name, the file must contain exactly one action.
    """
    from svcnb.toolkit.plan.description import Description

    description = Description.load(file)
    if name is None and len(description.actions) == 1:
        (name,) = description.actions
    if not description.actions:
        raise click.UsageError(f"the description file {file} contains no actions: add an action to the file")
    if name not in description.actions:
        found = "several actions" if name is None else f"no action {name!r}"
        raise click.UsageError(
            f"the description file {file} contains {found}: pass one of its actions with --action "
            f"({', '.join(description.actions)})"
        )
    return description.action(name)


def _parsed(params: str) -> object:
    try:
        text = read_text(params[1:]) if params.startswith("@") else params
        return parse(text)
    except OSError as error:
        raise click.BadParameter(
            f"{params[1:]!r} cannot be read ({error.strerror}): pass @ and the path of a JSON file",
            param_hint="--params",
        ) from None
    except ValueError as error:
        raise click.BadParameter(
            f"invalid JSON ({error}). Write, for example, '{{\"n\": 1}}'.", param_hint="--params"
        ) from None
