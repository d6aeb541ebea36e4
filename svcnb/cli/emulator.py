"""Command ``svcnb emulator``, which runs an emulator of the service on this machine.

This module generates the options from the emulator's table of settings, so they always match the environment variables
and the documentation.
"""

from __future__ import annotations

from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin

import click

from svcnb.cli._emulator_control import COMMANDS
from svcnb.cli._output import CommandGroup
from svcnb.cli._serve import serve
from svcnb.emulator.settings import ENVIRONMENT_PREFIX, Settings

_KINDS = {bool: "[true|false]", int: "INTEGER", float: "NUMBER", Path: "PATH"}

_HELP = f"""Run the service on this machine.

One port serves the API, the chain's JSON-RPC gateway, the control plane and the payment page. When the emulator
is ready, it prints one line of JSON. The line contains base_url, triggers_url, rpc_url, control_url, contract_address,
chain_id, pid, service_name and processor_name. If the output is not a terminal, and you did not set a control token,
the line also contains control_token. Programs of the same user on this machine find the control token automatically.
SIGTERM or Ctrl-C stops the emulator.
The commands below control an emulator that runs in another terminal.

You can also set each option with an environment variable. Its name is {ENVIRONMENT_PREFIX} and the uppercase name of
the option with underscores, for example {ENVIRONMENT_PREFIX}STARTER_CREDITS for --starter-credits.
"""


def _options() -> list[click.Parameter]:
    options: list[click.Parameter] = []
    for name, field in Settings.model_fields.items():
        several = get_origin(field.annotation) is tuple
        default = str(field.default).lower() if isinstance(field.default, bool) else field.default
        shown = " Repeatable." if several else "" if default is None else f" Default: {default}."
        options.append(
            click.Option(
                [f"--{name.replace('_', '-')}", name],
                # All values are strings here. The table of settings parses them, so options and environment variables
                # cause the same errors.
                type=str,
                multiple=several,
                default=None,
                metavar=_kind(field.annotation),
                help=f"{field.description}{shown}",
            )
        )
    return options


def _kind(annotation: Any) -> str:
    """Returns the allowed values of a setting for the help, for example ``[allow|deny]``, ``INTEGER`` or ``TEXT``."""
    inner = [kind for kind in get_args(annotation) if kind is not NoneType] or [annotation]
    if get_origin(annotation) is Literal:
        return f"[{'|'.join(map(str, inner))}]"
    return _KINDS.get(inner[0], "TEXT")


@click.pass_context
def _run(ctx: click.Context, /, **options: str | tuple[str, ...] | None) -> int | None:
    if ctx.invoked_subcommand is not None:
        return None
    # An omitted repeatable option is an empty tuple.
    return serve({name: value for name, value in options.items() if value not in (None, ())})


command = CommandGroup(
    "emulator",
    callback=_run,
    params=_options(),
    help=_HELP,
    invoke_without_command=True,
    commands={each.name: each for each in COMMANDS if each.name},
    subcommand_metavar="[COMMAND]",
)
