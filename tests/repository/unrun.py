"""Display of a lesson before it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NOTEBOOKS: Final = Path(__file__).parents[2] / "notebooks"

LESSONS: Final = sorted([*NOTEBOOKS.glob("[0-9]*.ipynb"), *NOTEBOOKS.glob("cookbook/*.ipynb")])

IMAGES: Final = {"04-groups-and-least-privilege": 2, "14-history-and-charts": 6}
"""Number of diagrams and charts in the outputs of each lesson that contains any."""
