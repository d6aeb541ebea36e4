"""Recipes: complete applications that you can use as the start of a project.

Each folder below ``recipes`` is the single source of a recipe. A new project contains all files of the recipe's
folder except two: ``recipe.toml`` describes the recipe, and ``notebook.md`` is the text of its notebook. The folder
``project`` contains the files that all projects share. `create_project` appends the README of ``project`` to the
recipe's README. `create_project` omits ``contract.py`` if the recipe has no contracts.

`.ci/cookbook.py` generates the notebook, the diagram, the compiled contracts and the gallery.
"""

from __future__ import annotations

import difflib
import shutil
import tomllib
from pathlib import Path
from typing import Final

from svcnb.checked import checked
from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model

_FOLDER: Final = Path(__file__).parent
_DESCRIPTION: Final = "recipe.toml"
_README: Final = "README.md"
_CONTRACTS: Final = "contract.py"
_STAYS: Final = shutil.ignore_patterns(_DESCRIPTION, "notebook.md", "__pycache__", "*.pyc", ".pytest_cache")


class Recipe(Model):
    """Complete application in the cookbook, from which `create_project` creates a project.

    Attributes:
        name: Name of the recipe, for `create_project`.
        title: Heading of the recipe.
        solves: Purpose of the recipe, in one sentence.
        minutes: Time from a new project to the first result, in minutes.
    """

    name: str
    title: str
    solves: str
    minutes: int

    @property
    def folder(self) -> Path:
        """Folder that contains the files of the recipe."""
        return _FOLDER / "recipes" / self.name.replace("-", "_")

    def artifact(self, contract: str) -> Path:
        """Returns the path of a file with the ABI and bytecode of a contract, for `svcnb.testing.deploy`.

        Args:
            contract: Name of the contract, for example ``PriceConsumer``.

        Raises:
            InvalidArgument: The recipe has no contract with this name.
        """
        known = {path.stem: path.with_suffix(".json") for path in sorted(self.folder.glob("*.sol"))}
        if contract not in known:
            raise InvalidArgument(
                f"the recipe {self.name} has no contract {contract!r}",
                hint=f"Use one of {', '.join(known)}."
                if known
                else "This recipe has no contracts. Use a different recipe.",
            )
        return known[contract]


def recipes() -> Listing[Recipe]:
    """Returns all recipes, in alphabetical order of their names."""
    found = []
    for path in sorted((_FOLDER / "recipes").glob(f"*/{_DESCRIPTION}")):
        described = tomllib.loads(path.read_text("utf-8"))
        del described["diagram"]
        found.append(Recipe(name=path.parent.name.replace("_", "-"), **described))
    return Listing(found, of="recipes", kind=Recipe)


@checked
def recipe(name: str) -> Recipe:
    """Returns the recipe that has the given name.

    Args:
        name: Name of the recipe, for example ``price-oracle``.

    Raises:
        InvalidArgument: No recipe has this name.
    """
    known = {each.name: each for each in recipes()}
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise InvalidArgument(
            f"unknown recipe {name!r}: expected one of {', '.join(known)}",
            hint=f"Use the recipe {near[0]}." if near else "To list the recipes, run: svcnb new --list",
        )
    return known[name]


@checked
def create_project(name: str, folder: str | Path) -> Path:
    """Creates a project from a recipe.

    The project contains the action, its tests, the description of the account, a CI workflow and a README. If the
    recipe has contracts, the project also contains the contracts and the program `contract.py`.

    Args:
        name: Name of the recipe.
        folder: Path of the new project. The path must not exist yet, or must be an empty folder.

    Returns:
        The folder of the project.

    Raises:
        InvalidArgument: No recipe has this name, `folder` is a file or a folder that is not empty, or the folder cannot
            be created.
    """
    chosen = recipe(name)
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidArgument(
            f"{target} already exists and is not an empty folder",
            hint="Pass a new or empty folder, because this function does not overwrite files.",
        )
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgument(
            f"cannot create the folder {target}: {error.strerror}", hint="Pass a folder that you can write to."
        ) from None
    shutil.copytree(_FOLDER / "project", target, ignore=_STAYS, dirs_exist_ok=True)
    shutil.copytree(chosen.folder, target, ignore=_STAYS, dirs_exist_ok=True)
    if not any(target.glob("*.sol")):
        (target / _CONTRACTS).unlink()
    readmes = (folder_ / _README for folder_ in (chosen.folder, _FOLDER / "project"))
    (target / _README).write_text("\n".join(each.read_text("utf-8") for each in readmes), "utf-8")
    return target
