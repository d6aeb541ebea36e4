"""HTML page of a report: a single file without scripts or external resources, suitable for printing."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Final

from nbformat import NotebookNode

_STYLE: Final = Path(__file__).with_name("page.css")
_PAGE: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def page(notebook: NotebookNode, title: str, *, code: bool = False) -> str:
    """Returns an executed report as an HTML page.

    The page always shows the code of a failed cell. If `code` is true, the page also shows the code of all other cells.
    """
    from nbconvert import HTMLExporter
    from traitlets.config import Config

    settings = Config()
    settings.HTMLExporter.preprocessors = []
    exporter = HTMLExporter(config=settings, template_name="basic")
    exporter.exclude_input_prompt = exporter.exclude_output_prompt = True
    exporter.exclude_anchor_links = True
    shown = NotebookNode(notebook)
    shown.cells = [_cell(cell, code=code) for cell in notebook.cells]
    body, _ = exporter.from_notebook_node(shown)
    return _PAGE.format(title=escape(title), style=_STYLE.read_text(encoding="utf-8"), body=body)


def _cell(cell: NotebookNode, *, code: bool) -> NotebookNode:
    broken = any(output.get("output_type") == "error" for output in cell.get("outputs", ()))
    hidden = (_is_code(cell) and not (code or broken)) or not cell["source"]
    copied = NotebookNode(cell)
    copied.metadata = NotebookNode({**cell.metadata, "transient": {"remove_source": hidden}})
    return copied


def _is_code(cell: NotebookNode) -> bool:
    return bool(cell["cell_type"] == "code")
