"""Command ``svcnb plan``, which shows the changes that an account needs to match its description file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import examples, output_options, quiet, show
from svcnb.cli._service import read_secret, with_service
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.client import Client
    from svcnb.client.triggers import TriggersClient
    from svcnb.toolkit.plan import Plan


def plan_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator that adds the argument FILE, and the options that `plan` and `apply` have in common."""
    for option in (
        click.option("--prune", is_flag=True, help="Delete groups, keys and actions that are not in FILE."),
        click.option(
            "--state",
            type=click.Path(dir_okay=False, path_type=Path),
            help="File that maps names to wallets, groups, keys and triggers. Default: FILE with the extension "
            ".state.json instead of .toml.",
        ),
        click.option(
            "--triggers-token-file",
            "token_file",
            type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
            help="File that contains an approved token of the triggers service. Required if FILE contains triggers.",
        ),
        click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


def triggers_of(token_file: Path | None) -> AbstractContextManager[TriggersClient | None]:
    """Returns a context manager that yields a client of the triggers service, or None without a token."""
    if token_file is None:
        return nullcontext()
    from svcnb.client.triggers import TriggersClient

    return TriggersClient(token=read_secret(token_file))


def shown(plan: Plan) -> dict[str, Any]:
    """Returns the steps and the cost of a plan as JSON values."""
    steps = [
        {"sign": step.sign, "kind": step.kind, "name": step.name, "says": step.says, "cents": step.cents}
        for step in plan
    ]
    return {"steps": steps, "cents": plan.cost.cents}


@click.command("plan", epilog=examples("svcnb plan account.toml --check"))
@plan_options
@click.option("--check", is_flag=True, help="Exit with code 1 if changes are needed.")
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
    """Show the changes needed to match the description file.

    FILE is the description file: a TOML file with actions, wallets, groups, keys and triggers by name. The command
    shows the changes and their cost (the plan). It does not change anything, and is free.
    """
    from svcnb.toolkit.plan import plan

    with triggers_of(token_file) as triggers:
        found = plan(service, file, state=state, prune=prune, triggers=triggers)
    content = shown(found)
    show(content["steps"] if quiet() else content, as_json=as_json, text=repr(found))
    if check and len(found):
        ctx.exit(ExitCode.FAILED)
