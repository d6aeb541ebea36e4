"""``svcnb plan``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show
from svcnb.cli._service import read_secret, with_service
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.triggers import TriggersClient
    from svcnb.toolkit.plan import Plan


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that plan and apply share."""
    for option in (
        click.option("--prune", is_flag=True, help="Remove groups, keys and actions that are not described."),
        click.option(
            "--state",
            type=click.Path(dir_okay=False, path_type=Path),
            help="File that remembers names. Default: beside FILE.",
        ),
        click.option(
            "--triggers-token-file",
            "token_file",
            type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
            help="File with a token of the triggers service, where triggers are described.",
        ),
        click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


def triggers_of(token_file: Path | None) -> AbstractContextManager[TriggersClient | None]:
    """A client of the triggers service, when there is a token for it."""
    if token_file is None:
        return nullcontext()
    from svcnb.client.triggers import TriggersClient

    return TriggersClient(token=read_secret(token_file))


def shown(plan: Plan) -> dict[str, Any]:
    """A plan as JSON values."""
    steps = [
        {"sign": step.sign, "kind": step.kind, "name": step.name, "says": step.says, "cents": step.cents}
        for step in plan
    ]
    return {"steps": steps, "cents": plan.cost.cents}


@click.command("plan", epilog=examples("svcnb plan account.toml --check"))
@plan_options
@click.option("--check", is_flag=True, help="End with 1 if there is anything to do.")
@output_options
@click.pass_context
@with_service
def command(
    service: Client,
    ctx: click.Context,
    file: Path,
    state: Path | None,
    token_file: Path | None,
    *,
    prune: bool,
    check: bool,
    as_json: bool,
) -> None:
    """Show what separates the account from its description.

    FILE is TOML: actions, wallets, groups, keys and triggers by name. Changes nothing and costs nothing.
    """
    from svcnb.toolkit.plan import plan

    with triggers_of(token_file) as triggers:
        found = plan(service, file, state=state, prune=prune, triggers=triggers)
    if as_json:
        show(shown(found), as_json=True)
    else:
        click.echo(repr(found))
    if check and len(found):
        ctx.exit(ExitCode.FAILED)
