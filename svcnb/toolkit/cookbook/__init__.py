"""Recipes: whole applications, each of which is the start of a project of one's own.

A recipe is a folder below ``recipes``, the only place where it is written. Its files are the project's files, except
``recipe.toml``, which describes the recipe, and ``notebook.md``, the text of its notebook. What all projects share is
in ``project``; its README is appended to the recipe's. `.ci/cookbook.py` makes the notebook, the picture, the compiled
contracts and the gallery.
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
        name: What `create_project` calls it.
        title: Its heading.
        solves: What it is for, in a sentence.
        minutes: Time from a new project to a first result.
    """

    name: str
    title: str
    solves: str
    minutes: int

    @property
    def folder(self) -> Path:
        """The folder with its files."""
        return _FOLDER / "recipes" / self.name.replace("-", "_")

    def artifact(self, contract: str) -> Path:
        """Returns the file with interface and code of one of its contracts, for `svcnb.testing.deploy`.

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
        InvalidArgument: There is none of this name.
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
    """Makes a project from a recipe: action, contract, tests, plan, workflow and README.

    Args:
        name: The recipe's name.
        folder: Where to; made if it is not there. Nothing in it is written over.

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
