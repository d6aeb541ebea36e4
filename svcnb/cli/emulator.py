"""``svcnb emulator``: the service as a process.

The options are made from the emulator's table of settings, so the command line, the environment and the documentation
cannot differ. This is the only place outside the emulator that imports it.
"""

from __future__ import annotations

import errno
import json
import os
import signal
import sys
import threading
from types import FrameType
from typing import Any, NoReturn

import click

from svcnb.emulator.settings import ENVIRONMENT_PREFIX, Settings
from svcnb.exit_codes import ExitCode


def _setting_options() -> list[click.Parameter]:
    options: list[click.Parameter] = []
    for name, field in Settings.model_fields.items():
        default = field.default
        shown = "" if default is None else f" Default: {default}."
        options.append(
            click.Option(
                [f"--{name.replace('_', '-')}", name],
                # Text throughout: the table's own types check it, with one error for arguments and environment alike.
                type=str,
                metavar="TEXT" if default is None else type(default).__name__.upper(),
                help=f"{field.description}{shown}",
            )
        )
    return options


def _run(*, supervised: bool, **options: str | None) -> None:
    given: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    if supervised:
        given |= json.loads(sys.stdin.readline() or "{}")
    settings = Settings.load(**given)
    _stop_early_on(signal.SIGTERM)
    if supervised:
        threading.Thread(target=_stop_with_parent, daemon=True, name="svcnb-parent").start()
    if settings.chain_rpc is None:
        _ensure_anvil()
    if settings.seed is not None:
        click.echo("This emulator is seeded: anyone can compute its keys. Nothing of value belongs here.", err=True)
    from svcnb.emulator.app import serve

    try:
        serve(settings, _print_ready)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        click.echo(f"Error: port {settings.port} of {settings.host} belongs to another program.", err=True)
        click.echo("Next step: choose another --port, or leave it out to take a free one.", err=True)
        raise click.exceptions.Exit(ExitCode.PORT_IN_USE) from None


def _print_ready(ready: dict[str, object]) -> None:
    click.echo(json.dumps(ready))
    sys.stdout.flush()


def _ensure_anvil() -> None:
    from svcnb import parts

    try:
        parts.anvil()
    except parts.PartMissing:
        from svcnb.parts.fetch import fetch_anvil

        fetch_anvil(lambda line: click.echo(line, err=True))


def _stop_with_parent() -> None:
    """Ends this process when the standard input does: whoever started it has gone, or wants it to go."""
    while os.read(sys.stdin.fileno(), 4096):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _stop_early_on(number: signal.Signals) -> None:
    """Until the server takes over the signals, one during start-up unwinds what was started so far."""

    def leave(_number: int, _frame: FrameType | None) -> NoReturn:
        raise click.exceptions.Exit(ExitCode.OK)

    signal.signal(number, leave)


command = click.Command(
    "emulator",
    callback=_run,
    params=[
        click.Option(
            ["--supervised"],
            is_flag=True,
            hidden=True,
            help="Read settings as one line of JSON from standard input, and stop at its end.",
        ),
        *_setting_options(),
    ],
    help=(
        "Run the service on this machine.\n\n"
        "One port serves the API, the chain's JSON-RPC gateway, the control plane and the payment page. "
        "When it is ready, one line of JSON says where: "
        "base_url, triggers_url, rpc_url, control_url, contract_address, chain_id, pid. "
        "SIGTERM or Ctrl-C stops it.\n\n"
        f"Every option is also read from the environment: {ENVIRONMENT_PREFIX} and the upper-case name, for example "
        f"{ENVIRONMENT_PREFIX}STARTER_CREDITS."
    ),
    short_help="Run the service on this machine.",
)
