"""``svcnb templates``."""

from __future__ import annotations

from pathlib import Path

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import Noun, output_options, show
from svcnb.exit_codes import ExitCode

_REGISTRY = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("templates", cls=Noun)
def command() -> None:
    """Templates of derived actions: released once, never changed.

    REGISTRY is the JSON file that lists them; a new one is made by the first release.
    """


@command.command("check")
@click.argument("registry", type=_REGISTRY)
@click.pass_context
def check(ctx: click.Context, registry: Path) -> None:
    """Check that no released template changed, and every derived action is what it was.

    Ends with 1 if one did.
    """
    from svcnb.toolkit.templates import Templates

    templates = Templates(registry)
    wrong = templates.check()
    for line in wrong:
        click.echo(line)
    if wrong:
        ctx.exit(ExitCode.FAILED)
    click.echo(f"{len(templates)} templates and {len(templates.derived())} derived actions are as released.")


@command.command("release", epilog=examples("svcnb templates release templates.json tip-jar tip_jar.js --version 1"))
@click.argument("registry", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--version", default="1", show_default=True, help="Version of its bytes.")
@click.option("--constant-name", default="CONST", show_default=True, help="Name of the constant that it reads.")
@click.option("--protocol-version", default=1, show_default=True, help="Version of that constant's meaning.")
def release(registry: Path, name: str, file: Path, version: str, constant_name: str, protocol_version: int) -> None:
    """Write a template down for good and print its CID. FILE lies beside REGISTRY."""
    from svcnb.toolkit.templates import Templates

    template = Templates(registry).release(
        name, file, version=version, constant_name=constant_name, protocol_version=protocol_version
    )
    click.echo(template.cid)


@command.command("list")
@click.argument("registry", type=_REGISTRY)
@output_options
def list_(registry: Path, as_json: bool) -> None:
    """List derived actions with their templates and CIDs."""
    from svcnb.toolkit.templates import Templates

    derived = Templates(registry).derived()
    short = [{"name": each.name, "template": each.template, "cid": each.cid} for each in derived]
    show(list(derived) if as_json else short, as_json=as_json)
