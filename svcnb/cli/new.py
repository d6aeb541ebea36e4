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

    RECIPE is the name of a recipe, which --list shows. FOLDER is a new or empty folder. The project contains an action,
    tests, a description file of the account (account.toml), a CI workflow and a README. Most projects also contain a
    contract.
    """
    from svcnb.toolkit.cookbook import create_project, recipes

    if listed:
        show(recipes(), as_json=as_json)
        return
    if recipe is None:
        raise click.UsageError(
            "the name of the recipe is missing. To list the recipes, run `svcnb new --list`. Then run "
            "`svcnb new RECIPE FOLDER`."
        )
    if folder is None:
        raise click.UsageError(
            f"the argument FOLDER is missing: pass a new folder, for example `svcnb new {recipe} my-project`"
        )
    made = create_project(recipe, folder)
    show({"folder": str(made)}, as_json=as_json, text=f"Created {made}. Next: cd {made} && svcnb fetch && pytest")
