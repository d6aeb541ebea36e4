"""Command ``svcnb fetch``, which downloads the non-Python dependencies once."""

from __future__ import annotations

import click


@click.command("fetch")
@click.option(
    "--compiler",
    is_flag=True,
    help="Also download the development tools: the Solidity compiler and a multi-signature wallet.",
)
def command(compiler: bool) -> None:
    """Download the non-Python dependencies for offline use.

    Deno downloads the chain node (anvil) from npm. The command verifies the file's hash and stores the file in the
    user's cache folder. The environment variable SVC_CACHE sets another folder. After the download, the emulator
    does not need internet access.
    """
    from svcnb.tools.fetch import fetch_anvil, fetch_safe, fetch_solc

    fetch_anvil(click.echo)
    if compiler:
        fetch_solc(click.echo)
        fetch_safe(click.echo)
