"""Command ``svcnb templates``, which manages templates of derived actions."""

from __future__ import annotations

from pathlib import Path

import click

from svcnb.cli._output import CommandGroup, examples, output_options, show
from svcnb.exit_codes import ExitCode

_REGISTRY = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.group("templates", cls=CommandGroup)
def command() -> None:
    """Manage templates of derived actions.

    A derived action consists of a template, followed by a constant.

    REGISTRY is the JSON file that lists the templates. The command `release` creates a missing file.
    """


@command.command("check")
@click.argument("registry", type=_REGISTRY)
@output_options
@click.pass_context
def check(ctx: click.Context, registry: Path, as_json: bool) -> None:
    """Check that no released template and no derived action has changed.

    The exit code is 1 if one of them has changed.
    """
    from svcnb.toolkit.templates import Templates

    templates = Templates(registry)
    wrong = templates.check()
    good = (
        f"All templates ({len(templates)}) and derived actions ({len(templates.derived())}) are unchanged since "
        "their release."
    )
    show([{"problem": line} for line in wrong], as_json=as_json, text="\n".join(wrong) or good, columns=("problem",))
    if wrong:
        ctx.exit(ExitCode.FAILED)


@command.command("release", epilog=examples("svcnb templates release templates.json tip-jar tip_jar.js --version 1"))
@click.argument("registry", type=click.Path(dir_okay=False, path_type=Path))
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--version", default="1", show_default=True, help="Version of the template.")
@click.option(
    "--constant-name", default="CONST", show_default=True, help=("Name of the constant that the template reads.")
)
@click.option("--protocol-version", default=1, show_default=True, help="Version of the constant's format.")
def release(registry: Path, name: str, file: Path, version: str, constant_name: str, protocol_version: int) -> None:
    """Release a version of a template permanently, and print the template's CID.

    FILE is the source of the template, and must be in the folder of REGISTRY.
    """
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
    show(derived if as_json else short, as_json=as_json)
