"""Recipes: whole applications, each of which is the start of a project of one's own.

A recipe is a folder below ``recipes``. Its files are the project's files; ``recipe.toml`` describes the recipe and is
not copied. What all projects share is in ``project``.
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
_STAYS: Final = shutil.ignore_patterns(_DESCRIPTION, "__pycache__", "*.pyc", ".pytest_cache")


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


def recipes() -> Listing[Recipe]:
    """Returns all recipes by name."""
    found = []
    for path in sorted((_FOLDER / "recipes").glob(f"*/{_DESCRIPTION}")):
        described = tomllib.loads(path.read_text("utf-8"))
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
    return target
