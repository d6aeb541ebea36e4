"""``svcnb record``."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._examples import examples
from svcnb.cli._service import with_service

if TYPE_CHECKING:
    from svcnb.client import Client


@click.command("record", epilog=examples("svcnb record --live --folder recordings"))
@with_service
@click.option("--live", is_flag=True, help="Confirms that requests are sent and credit is spent.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("recordings"),
    show_default=True,
    help="Where the files are written; files of the same name are replaced.",
)
def command(service: Client, live: bool, folder: Path) -> None:
    """Record the answers of a live service, without secrets.

    Sends the requests of the recorded conversations again and writes the answers into a folder. With a key it makes a
    group, a wallet, an action and two usage keys, runs small actions, and removes all but the wallet: about 40 cents.
    Without a key it records what needs none.
    """
    if not live:
        raise click.UsageError("recording sends requests and spends credit: confirm with --live")
    from svcnb.toolkit import recorded

    config = service.config
    key = config.api_key.reveal() if config.api_key else None
    source = f"recorded on {datetime.now(UTC):%Y-%m-%d}"
    for conversation in recorded.load():
        if conversation.needs == "account" and key is None:
            click.echo(f"left out   {conversation.name}: needs a key, see --key-file")
            continue
        path = recorded.record(
            conversation,
            recorded.over_http(config.base_url),
            folder,
            source=source,
            key=key,
            vocabulary=config.vocabulary,
        )
        click.echo(f"recorded   {path}: {len(conversation.exchanges)} answers")
