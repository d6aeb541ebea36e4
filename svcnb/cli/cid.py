"""Command ``svcnb cid``, which prints the CID of a source file, or of each action in a description file."""

from __future__ import annotations

from pathlib import Path

import click

from svcnb.cli._output import examples, output_options, show
from svcnb.cli._service import read_input


@click.command(
    "cid", epilog=examples("svcnb cid action.js", "svcnb cid action.js --expect bafy…", "svcnb cid account.toml")
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option(
    "--expect", metavar="CID", help="Exit with code 2 if this CID, of version 0 or 1, does not identify the file."
)
@output_options
def command(file: Path, expect: str | None, as_json: bool) -> None:
    """Print the CID of a source file, or of each action in a description file.

    The command reads FILE as bytes, without changes. Use - for standard input. If FILE ends with .toml, it is a
    description file (see `svcnb plan`). The command then lists the file's actions, including derived actions. The
    command computes the CIDs (IPFS CIDv0 of UnixFS) without the service.
    """
    from svcnb.errors import InvalidArgument
    from svcnb.protocol.cid import cid, parse_cid
    from svcnb.protocol.hashes import hashed_cid

    if file.suffix == ".toml":
        if expect is not None:
            raise click.UsageError(
                f"--expect needs a source file, but {file} is a description file, which can contain several actions: "
                "pass a source file, or omit --expect"
            )
        from svcnb.toolkit.plan.description import Description

        description = Description.load(file)
        cids = {name: description.cid(name) for name in description.actions}
        rows = [{"name": name, "cid": found, "hashed_cid": hashed_cid(found)} for name, found in cids.items()]
        show(rows if as_json else [{"name": row["name"], "cid": row["cid"]} for row in rows], as_json=as_json)
        return
    source = read_input(file)
    found = cid(source)
    if expect is not None and not parse_cid(expect).identifies(source):
        raise InvalidArgument(
            f"{expect} is not the CID of {'standard input' if str(file) == '-' else file}",
            hint=f"Restore the source, or pass the CID of this source: --expect {found}.",
        )
    show({"cid": found, "hashed_cid": hashed_cid(found)} if as_json else found, as_json=as_json)
