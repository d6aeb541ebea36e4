"""Sphinx: the pages here, the lessons as pages, and reference pages derived from the code."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402 - found through the line above

generate.write(HERE / "generated")
# Sphinx reads below its own folder only.
shutil.copytree(HERE.parent / "notebooks", HERE / "generated" / "lessons", dirs_exist_ok=True)

project = "svcnb"
author = "the svcnb contributors"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "jupyter_execute", "generated/lessons/solutions"]
html_theme = "furo"
html_title = "svcnb"
nb_execution_mode = "off"  # the tests run the lessons and compare what they print
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = ["myst.xref_missing"]  # README links to files beside it, which are no pages
autodoc_member_order = "bysource"
autodoc_typehints = "description"
