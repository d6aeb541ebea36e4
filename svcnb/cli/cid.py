"""``svcnb cid``."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from svcnb.cli._examples import examples
from svcnb.cli._output import output_options, show


@click.command("cid", epilog=examples("svcnb cid action.js"))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@output_options
def command(file: Path, as_json: bool) -> None:
    """Print the CID of a source file.

    FILE is read as bytes, as it stands; - reads standard input. Nothing is asked of the service: the CID follows from
    the bytes (IPFS CIDv0 of UnixFS).
    """
    from svcnb.protocol.cid import cid
    from svcnb.protocol.hashes import hashed_cid

    source = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    found = cid(source)
    show({"cid": found, "hashed_cid": hashed_cid(found)} if as_json else found, as_json=as_json)
