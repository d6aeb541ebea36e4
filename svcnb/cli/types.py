"""Command ``svcnb types``, which writes TypeScript declarations for actions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from svcnb.cli._output import examples
from svcnb.cli._service import vocabulary_option

if TYPE_CHECKING:
    from svcnb.protocol.vocabulary import Vocabulary


@click.command("types", epilog=examples("svcnb types actions/"))
@click.argument("folder", required=False, type=click.Path(file_okay=False, path_type=Path))
@vocabulary_option
def command(folder: Path | None, words: Vocabulary) -> None:
    """Write TypeScript declarations, so that an editor completes and checks the code of actions.

    The command writes action.d.ts to FOLDER, and a jsconfig.json if FOLDER has none. Without FOLDER, it prints the
    declarations. The command needs no service.
    """
    from svcnb.toolkit.declarations import FILE_NAME, declarations, project

    text = declarations(words)
    if folder is None:
        click.echo(text, nl=False)
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE_NAME).write_text(text, encoding="utf-8")
    settings = folder / "jsconfig.json"
    if not settings.exists():
        settings.write_text(project(), encoding="utf-8")
    click.echo(f"{folder / FILE_NAME}")
