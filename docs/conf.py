"""Configuration of Sphinx: the pages of this folder, the lessons, and the generated reference pages."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import binder_links  # noqa: E402 - the line above adds the folder
import generate  # noqa: E402 - the line above adds the folder

generate.write(HERE / "generated")
# Sphinx reads only files in its own folder.
ROOT = HERE.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FIRST_LESSON = min(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
LINK_REPLACEMENTS = {
    "](docs/index.md)": "](tasks.md)",
    "](docs/": "](",
    "](notebooks)": f"](generated/lessons/{FIRST_LESSON})",
    "](notebooks/": "](generated/lessons/",
    "](CONTRIBUTING.md)": "](contributing.md)",
    "](CHANGELOG.md)": "](changelog.md)",
    "](LICENSE)": "](generated/LICENSE)",
}
for old, new in LINK_REPLACEMENTS.items():
    README = README.replace(old, new)
(HERE / "generated" / "readme.md").write_text(README, encoding="utf-8")
shutil.copyfile(ROOT / "LICENSE", HERE / "generated" / "LICENSE")
shutil.copytree(ROOT / "notebooks", HERE / "generated" / "lessons", dirs_exist_ok=True)
binder_links.add(HERE / "generated" / "lessons", os.environ.get("SVCNB_REPOSITORY", ""))

project = "svcnb"
author = "the svcnb contributors"
extensions = ["myst_nb"]
exclude_patterns = ["_build", "jupyter_execute", "generated/readme.md"]
html_theme = "furo"
html_title = "svcnb"
html_static_path = ["style"]
html_css_files = ["pages.css"]
html_js_files = ["copy.js"]
html_show_copyright = False
nb_execution_mode = "off"  # the tests run the lessons and compare their outputs
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.header",  # a docstring can begin below the second level
    "misc.highlighting_failure",  # cells of JavaScript, and Solidity with underscores; they are still shown
]
