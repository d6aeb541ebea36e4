"""Command ``svcnb record``, which records the responses of a live service."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples
from svcnb.cli._service import with_service

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command("record", epilog=examples("svcnb record --live --folder recordings"))
@with_service
@click.option("--live", is_flag=True, help="Confirm that the command can send requests and spend credit.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("recordings"),
    show_default=True,
    help="Folder for the files. The command replaces existing files with the same names.",
)
def command(service: Client, live: bool, folder: Path) -> None:
    """Record the responses of a live service, without secrets.

    svcnb contains recorded requests and responses, called conversations. The command sends these requests to the
    service, and writes the new responses to a folder. With a key, the command creates a group, a wallet, an action and
    two usage keys, and runs small actions. The command then deletes these objects, except the wallet and the wallets
    that the service registers for usage keys. The recording costs about 40 cents. Without a key, the command
    records only the conversations that need no key.
    """
    if not live:
        raise click.UsageError(
            "--live is missing: pass --live to confirm that the command sends requests and spends credit"
        )
    from svcnb.toolkit import recorded

    config = service.config
    key = config.api_key.reveal() if config.api_key else None
    source = f"recorded on {datetime.now(UTC):%Y-%m-%d}"
    for conversation in recorded.load():
        if conversation.needs == "account" and key is None:
            click.echo(f"skipped    {conversation.name}: a key is required; pass --key-file")
            continue
        path = recorded.record(
            conversation,
            recorded.over_http(config.base_url),
            folder,
            source=source,
            key=key,
            vocabulary=config.vocabulary,
        )
        click.echo(f"recorded   {path}: {len(conversation.exchanges)} responses")
