"""Recipes: complete applications, each of which can be the start of your own project.

A recipe is a folder below ``recipes``, its single source. Its files are the project's files, except ``recipe.toml``,
which describes the recipe, and ``notebook.md``, the text of its notebook. The files that all projects share are in
``project``. Its README is appended to the recipe's README. `.ci/cookbook.py` makes the notebook, the picture, the
compiled contracts and the gallery.
"""

from __future__ import annotations

import difflib
import shutil
import tomllib
from pathlib import Path
from typing import Final

from svcnb.client.errors import InvalidArgument
from svcnb.client.listing import Listing
from svcnb.client.models.base import Model

_FOLDER: Final = Path(__file__).parent
_DESCRIPTION: Final = "recipe.toml"
_README: Final = "README.md"
_STAYS: Final = shutil.ignore_patterns(_DESCRIPTION, "notebook.md", "__pycache__", "*.pyc", ".pytest_cache")


class Recipe(Model):
    """One recipe.

    Attributes:
        name: Its name for `create_project`.
        title: Its heading.
        solves: Its purpose, in a sentence.
        minutes: Time from a new project to a first result.
    """

    name: str
    title: str
    solves: str
    minutes: int

    @property
    def folder(self) -> Path:
        """Folder with its files."""
        return _FOLDER / "recipes" / self.name.replace("-", "_")

    def artifact(self, contract: str) -> Path:
        """Returns the file with the ABI and the bytecode of one of its contracts, for `svcnb.testing.deploy`.

        Args:
            contract: The contract's name, for example ``PriceConsumer``.

        Raises:
            InvalidArgument: The recipe has no such contract.
        """
        known = {path.stem: path.with_suffix(".json") for path in sorted(self.folder.glob("*.sol"))}
        if contract not in known:
            raise InvalidArgument(
                f"the recipe {self.name} has no contract {contract!r}",
                hint=f"Its contracts are: {', '.join(known) or 'none'}.",
            )
        return known[contract]


def recipes() -> Listing[Recipe]:
    """Returns all recipes by name."""
    found = []
    for path in sorted((_FOLDER / "recipes").glob(f"*/{_DESCRIPTION}")):
        described = tomllib.loads(path.read_text("utf-8"))
        del described["diagram"]
        found.append(Recipe(name=path.parent.name.replace("_", "-"), **described))
    return Listing(found, of="recipes")


def recipe(name: str) -> Recipe:
    """Returns one recipe.

    Args:
        name: Its name, for example ``price-oracle``.

    Raises:
        InvalidArgument: There is no recipe of this name.
    """
    known = {each.name: each for each in recipes()}
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        raise InvalidArgument(
            f"there is no recipe {name!r}; there are: {', '.join(known)}",
            hint=f"Did you mean {near[0]}?" if near else "See: svcnb new --list",
        )
    return known[name]


def create_project(name: str, folder: str | Path) -> Path:
    """Creates a project from a recipe: action, contract, tests, plan, workflow and README.

    Args:
        name: The recipe's name.
        folder: Folder of the project; created if it does not exist. No file in it is overwritten.

    Returns:
        The folder.

    Raises:
        InvalidArgument: There is no such recipe, or the folder has files already.
    """
    chosen = recipe(name)
    target = Path(folder).expanduser()
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise InvalidArgument(f"{target} exists and is not empty", hint="Name a new folder; nothing is written over.")
    shutil.copytree(_FOLDER / "project", target, ignore=_STAYS, dirs_exist_ok=True)
    shutil.copytree(chosen.folder, target, ignore=_STAYS, dirs_exist_ok=True)
    readmes = (folder_ / _README for folder_ in (chosen.folder, _FOLDER / "project"))
    (target / _README).write_text("\n".join(each.read_text("utf-8") for each in readmes), "utf-8")
    return target
