"""Command ``svcnb explain``, which explains whether a key can run an action."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from svcnb.cli._advice import repair_commands
from svcnb.cli._output import examples, output_options, quiet, show
from svcnb.cli._parameters import KeyHash
from svcnb.cli._service import with_service
from svcnb.cli.actions import cid_or_file
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command("explain", epilog=examples("svcnb explain action.js --key-hash 0x5d1c... --wallet 0x93ab..."))
@click.argument("action")
@click.option(
    "--key-hash",
    metavar="HASH",
    type=KeyHash(),
    help="Hash of the usage key to explain, from `svcnb keys list`. Default: the key of this command.",
)
@click.option("--wallet", metavar="ADDRESS", help="Address of the wallet that the action uses.")
@output_options
@click.pass_context
@with_service
def command(
    service: Client, ctx: click.Context, action: str, key_hash: str | None, wallet: str | None, as_json: bool
) -> None:
    """Explain why a key can or cannot run an action.

    ACTION is a CID or a source file. The output shows what is missing, and the commands that fix it. With --json, the
    output contains Python code instead of commands. The command is free. The exit code is 1 if the service would
    reject the run.
    """
    explanation = service.explain(key_hash, cid_or_file(action), wallet)
    repairs = [each.model_copy(update={"code": repair_commands(each.code)}) for each in explanation.repairs]
    text = repr(explanation.model_copy(update={"repairs": tuple(repairs)}))
    missing = [explanation.missing] if explanation.missing else []
    show(missing if quiet() else explanation, as_json=as_json, text=text)
    if not explanation.allowed:
        ctx.exit(ExitCode.FAILED)
