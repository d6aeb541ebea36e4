"""Adds the link "Run this on Binder" to each notebook of the documentation. `conf.py` uses it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

BINDER = "https://mybinder.org/v2"
GITHUB = re.compile(r"https://github\.com/([^/]+/[^/]+?)(?:\.git)?/?$")


def link(notebook: str, repository: str) -> str:
    """Returns the link as Markdown.

    Args:
        notebook: Path of the notebook in the repository.
        repository: Address of the repository; empty if it is unknown.

    Returns:
        A link that opens the notebook on Binder. Without a repository, a link to the page that explains Binder.
    """
    if not repository:
        up = "../" * notebook.count("/")
        return f"[Run this on Binder]({up}../binder.md)"
    found = GITHUB.match(repository)
    source = f"gh/{found[1]}" if found else f"git/{quote(repository, safe='')}"
    return f"[Run this on Binder]({BINDER}/{source}/HEAD?urlpath=lab/tree/{quote(notebook)})"


def add(folder: Path, repository: str) -> None:
    """Adds the link below the first cell of every notebook of a folder.

    Args:
        folder: Copies of the notebooks.
        repository: Address of the repository; empty if it is unknown.
    """
    for path in folder.rglob("*.ipynb"):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        text = link(f"notebooks/{path.relative_to(folder).as_posix()}", repository)
        notebook["cells"].insert(1, {"cell_type": "markdown", "id": "binder", "metadata": {}, "source": [text]})
        path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
