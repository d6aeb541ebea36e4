"""``svcnb report``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import show
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.reports import Report


@click.command("report", epilog=examples("svcnb report --list", "svcnb report spend -p since=30d --out reports"))
@click.argument("name", required=False)
@click.option("--list", "listed", is_flag=True, help="List the reports and their parameters.")
@click.option("--param", "-p", "given", multiple=True, metavar="NAME=VALUE", help="A parameter; may be repeated.")
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=".", help="Folder for the report. Default: here."
)
@click.option(
    "--file", metavar="STEM", help="Name of its files, without ending. Default: the report's name and the time."
)
@click.option("--code", is_flag=True, help="Show the cells' code in the page, too.")
@click.option("--base-url", help="Address of the service, the part before /core/v1. Default: SVC_BASE_URL.")
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="File that holds the key; - is standard input. Default: SVC_API_KEY.",
)
@click.option("--triggers-url", help="Address of the triggers service. Default: SVC_TRIGGERS_URL.")
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that holds the token of the triggers service. Default: SVC_TRIGGERS_TOKEN_FILE.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, /, name: str | None, given: tuple[str, ...], **options: Any) -> None:
    """Make a report: run history, spend, permissions, triggers.

    A report is a notebook and a page, with an exit code for whoever schedules it.

    It ends with 0 when nothing wants attention, with 7 when something does, and with 1 when a cell of the report
    failed; the report is saved in each case.
    """
    if options["listed"] or name is None:
        _list(as_json=options["as_json"])
        return
    from svcnb import reports

    made = reports.run(
        name,
        _parameters(given),
        out=options["out"],
        file=options["file"],
        code=options["code"],
        settings=_settings(options),
    )
    _tell(made, as_json=options["as_json"])
    if made.attention:
        ctx.exit(ExitCode.ATTENTION)


def _list(*, as_json: bool) -> None:
    from svcnb.reports import catalogue

    rows: list[dict[str, Any]] = [
        {
            "name": kind.name,
            "says": kind.says,
            "parameters": [
                {"name": name, "default": field.default, "what": field.description}
                for name, field in kind.parameters.model_fields.items()
            ],
        }
        for kind in catalogue
    ]
    if as_json:
        show(rows, as_json=True)
        return
    for kind in rows:
        click.echo(f"{kind['name']}: {kind['says']}")
        for parameter in kind["parameters"]:
            default = "not set" if parameter["default"] is None else parameter["default"]
            click.echo(f"  {parameter['name']:<20} {parameter['what']} [{default}]")


def _parameters(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(f"{each!r} is no NAME=VALUE, for example since=30d", param_hint="--param")
        found[name.strip()] = value
    return found


def _settings(options: dict[str, Any]) -> dict[str, str]:
    """What the options say, as the environment of the report."""
    from svcnb.cli._service import read_secret

    key_file, token_file = options["key_file"], options["token_file"]
    told = {
        "SVC_BASE_URL": options["base_url"],
        "SVC_API_KEY": None if key_file is None else read_secret(key_file),
        "SVC_TRIGGERS_URL": options["triggers_url"],
        "SVC_TRIGGERS_TOKEN_FILE": None if token_file is None else str(token_file),
    }
    return {variable: value for variable, value in told.items() if value is not None}


def _tell(made: Report, *, as_json: bool) -> None:
    if as_json:
        show(
            {
                "report": made.kind.name,
                "html": str(made.html),
                "notebook": str(made.notebook),
                "attention": made.conclusion.attention,
                "also": made.conclusion.also,
            },
            as_json=True,
        )
        return
    click.echo(str(made.html))
    click.echo(repr(made.conclusion), err=True)
