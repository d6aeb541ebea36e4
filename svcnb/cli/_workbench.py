"""Notebook for ``svcnb lab --workbench``, which has one cell that shows all panels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

NAME: Final = "workbench.ipynb"

_TEXT: Final = """\
# Workbench

1. Click the cell below, the one that starts with `import svcnb`.
2. Press the button ▶ in the toolbar above, or <kbd>Shift</kbd>+<kbd>Enter</kbd>.

The Workbench appears below the cell. The next steps require no Python. Start with **Account**: type a name,
press **Create**, and store the key. Then press **Add credit**. On this local service, you do not pay real money.
Next, open **Actions** and follow *Steps to a first signature*.

After you reload this page or restart JupyterLab, run the cell again."""

_CELL: Final = """\
import svcnb

svc = svcnb.Client()
svcnb.panels.Workbench(svc)"""


def workbench_folder(folder: Path) -> Path:
    """Writes the notebook into a folder that does not contain the notebook yet, and returns the folder."""
    file = folder.resolve() / NAME
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        cell: dict[str, object] = {"metadata": {}, "id": "panels", "outputs": [], "execution_count": None}
        notebook = {
            "cells": [
                {"cell_type": "markdown", "id": "text", "metadata": {}, "source": _TEXT},
                {"cell_type": "code", "source": _CELL, **cell},
            ],
            "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        file.write_text(json.dumps(notebook, indent=1), encoding="utf-8")
    return file.parent
