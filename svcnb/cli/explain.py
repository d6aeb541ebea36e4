"""``svcnb explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show
from svcnb.cli._service import with_service
from svcnb.cli.actions import cid_or_file
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command("explain", epilog=examples("svcnb explain action.js --key-hash 0x5d1c... --wallet 0x93ab..."))
@click.argument("action")
@click.option(
    "--key-hash", metavar="HASH", help="Explain this usage key instead of the one in use; `svcnb keys list` shows it."
)
@click.option("--wallet", metavar="ADDRESS", help="A wallet that the action wants to use.")
@output_options
@click.pass_context
@with_service
def command(
    service: Client, ctx: click.Context, action: str, key_hash: str | None, wallet: str | None, as_json: bool
) -> None:
    """Explain why a key may run an action, or what is missing.

    ACTION is a CID or a source file. Names the missing link and the Python that repairs it. Free. Ends with 1 if the
    run would be refused.
    """
    explanation = service.explain(key_hash, cid_or_file(action), wallet)
    if as_json:
        show(explanation, as_json=True)
    else:
        click.echo(repr(explanation))
    if not explanation.allowed:
        ctx.exit(ExitCode.FAILED)
