"""Command ``svcnb new``, which creates projects from recipes."""

from __future__ import annotations

from pathlib import Path

import click

from svcnb.cli._output import examples, output_options, show


@click.command("new", epilog=examples("svcnb new --list", "svcnb new price-oracle my-oracle"))
@click.argument("recipe", required=False)
@click.argument("folder", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listed", is_flag=True, help="List the recipes.")
@output_options
def command(recipe: str | None, folder: Path | None, *, listed: bool, as_json: bool) -> None:
    """Create a project from a recipe.

    The project contains an action, tests, a plan of the account, a CI workflow and a README. Most projects also contain
    a contract. The command does not overwrite existing files.
    """
    from svcnb.toolkit.cookbook import create_project, recipes

    if listed:
        show(recipes(), as_json=as_json)
        return
    if recipe is None or folder is None:
        raise click.UsageError(
            "the recipe or the folder is missing: run `svcnb new RECIPE FOLDER`. To list the recipes, run "
            "`svcnb new --list`."
        )
    made = create_project(recipe, folder)
    show({"folder": str(made)}, as_json=as_json, text=f"Created {made}. Next: cd {made} && pytest")
