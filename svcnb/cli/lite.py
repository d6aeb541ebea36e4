"""Command ``svcnb lite``, which builds and serves the lessons as a static site."""

from __future__ import annotations

from pathlib import Path

import click

from svcnb.cli._output import examples
from svcnb.cli._parameters import PORT

_SITE = click.Path(file_okay=False, path_type=Path)


@click.group("lite")
def command() -> None:
    """Build and serve a static site that runs the lessons and the emulator in the browser."""


@command.command("build", epilog=examples("svcnb lite build site"))
@click.argument("folder", type=_SITE)
@click.option(
    "--distribution",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of the Pyodide distribution, from which the command copies pandas. Without this option, the site "
    "has no pandas.",
)
def build(folder: Path, distribution: Path | None) -> None:
    """Build the site into FOLDER.

    Any web server can publish the folder. The site loads no files from other addresses. The first build downloads the
    Python runtime and the wheels.
    """
    from svcnb.lite.page import SiteNotBuilt
    from svcnb.lite.site import build_site

    try:
        size = build_site(folder, lambda line: click.echo(line, err=True), distribution=distribution)
    except SiteNotBuilt as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"{folder}: {size / 1e6:.0f} MB. Open the site with: svcnb lite serve {folder}")


@command.command("serve", epilog=examples("svcnb lite serve site --port 8080"))
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--port", type=PORT, default=0, help="TCP port; 0 uses a free port.")
def serve(folder: Path, port: int) -> None:
    """Serve a built site on this machine, until Ctrl-C."""
    from svcnb.lite.server import make_server

    if not (folder / "jupyter-lite.json").is_file():
        raise click.ClickException(f"{folder} does not contain a site. To build one, run `svcnb lite build {folder}`.")
    with make_server(folder, port) as server:
        click.echo(f"http://127.0.0.1:{server.server_address[1]}/")
        server.serve_forever()
