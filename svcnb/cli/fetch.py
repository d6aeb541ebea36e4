"""``svcnb fetch``: everything that must come through the network, once."""

from __future__ import annotations

import click


@click.command("fetch")
@click.option(
    "--compiler",
    is_flag=True,
    help="Also what only development needs: the Solidity compiler, a multi-signature wallet.",
)
def command(compiler: bool) -> None:
    """Fetch the parts that are no Python, for use without network.

    The chain node (anvil) is downloaded from npm by Deno, checked by hash and kept in the user's cache folder
    (SVC_CACHE chooses another). Afterwards nothing here needs internet.
    """
    from svcnb.tools.fetch import fetch_anvil, fetch_safe, fetch_solc

    fetch_anvil(click.echo)
    if compiler:
        fetch_solc(click.echo)
        fetch_safe(click.echo)
