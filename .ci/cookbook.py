"""Generates the files of a recipe: compiled contracts, diagram, notebook, and its card in the gallery.

``poe cookbook`` generates the files of all recipes, and ``poe cookbook price-oracle`` those of one recipe. Commit the
generated files, because tests compare them.

``notebook.md`` in a recipe's folder contains the notebook's text. Fenced blocks of Python are its code cells. An empty
block ``action NAME`` becomes a cell with ``action.js``. The script replaces ``<!-- README -->`` with the text before
the README's first section, ``<!-- README: Heading -->`` with a section of the README, and ``<!-- file: NAME -->`` with
a file.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import textwrap
import tomllib
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any, Final

import nbformat
from nbclient import NotebookClient

from svcnb.emulator.chain import compile as compiler
from svcnb.toolkit.cookbook import Recipe, recipes

ROOT: Final = Path(__file__).resolve().parents[1]
NOTEBOOKS: Final = ROOT / "notebooks" / "cookbook"
GALLERY: Final = ROOT / "docs" / "cookbook.md"
MARKS: Final = ("<!-- recipes: written by .ci/cookbook.py -->\n", "<!-- end of recipes -->\n")
PICTURE: Final = "diagram.svg"

_FENCE: Final = re.compile(r"^```(python|action)([^\n]*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_INCLUDE: Final = re.compile(r"^<!-- (README|file)(?:: (.+))? -->$", re.MULTILINE)
_GAS_LINE: Final = re.compile(r"^(.+?) +([\d,]+) gas$", re.MULTILINE)
_COST_LINE: Final = re.compile(r"^one run costs (\d+) cents?$", re.MULTILINE)


# --- contracts ------------------------------------------------------------------------------------------------------


def compiled(source: Path) -> dict[str, Any]:
    """Returns the ABI and the creation bytecode of the only contract in a file."""
    wanted = {source.name: {"*": ["abi", "evm.bytecode.object"]}}
    request = {
        "language": "Solidity",
        "sources": {source.name: {"content": source.read_text("utf-8")}},
        "settings": {**compiler.SETTINGS, "outputSelection": wanted},
    }
    (answer,) = compiler._run(json.dumps([request]))  # noqa: SLF001 - a tool of the same project
    if answer.get("errors"):
        raise SystemExit("\n".join(each["formattedMessage"] for each in answer["errors"]))
    (built,) = answer["contracts"][source.name].values()
    return {"abi": built["abi"], "bytecode": "0x" + built["evm"]["bytecode"]["object"]}


# --- diagrams -------------------------------------------------------------------------------------------------------

_STYLE: Final = (
    ".b{fill:#fff;stroke:#5b6b7f;stroke-width:1.5}.k{fill:#eef4fb;stroke:#2d6cb3;stroke-width:2}.t{fill:#1c2733;"
    "font-weight:600}.m{fill:#4a5867;font-size:12px}.a{stroke:#2d6cb3;stroke-width:2;fill:none;marker-end:url(#h)}"
)
_ARROW_HEAD: Final = (
    '<defs><marker id="h" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
    '<path d="M0 0 10 5 0 10z" fill="#2d6cb3"/></marker></defs>'
)
_LEAST_WIDTH, _BOX, _LEAST_GAP, _LINE = 760, 172, 60, 18


def diagram_of(recipe: Recipe) -> dict[str, Any]:
    """Returns the settings of the diagram from `recipe.toml`."""
    described: dict[str, Any] = tomllib.loads((recipe.folder / "recipe.toml").read_text("utf-8"))["diagram"]
    return described


def picture(recipe: Recipe) -> str:
    """Returns the recipe's diagram as SVG: columns of boxes, with arrows from each column to the next."""
    diagram = diagram_of(recipe)
    columns = [[box.split("|") for box in column] for column in diagram["columns"]]
    heights = [[20 + _LINE * len(box) for box in column] for column in columns]
    height = max(sum(each) + 14 * (len(each) - 1) for each in heights) + 2 * 30
    gaps = len(columns) - 1
    width = max(_LEAST_WIDTH, 40 + _BOX * len(columns) + _LEAST_GAP * gaps)
    gap = (width - 40 - _BOX * len(columns)) / gaps
    parts, middles = [], []
    for place, (column, sizes) in enumerate(zip(columns, heights, strict=True)):
        x, y = 20 + place * (_BOX + gap), (height - sum(sizes) - 14 * (len(sizes) - 1)) / 2
        found = []
        for (title, *lines), size in zip(column, sizes, strict=True):
            kind = "k" if title.startswith("*") else "b"
            parts.append(f'<rect class="{kind}" x="{x:.0f}" y="{y:.0f}" width="{_BOX}" height="{size}" rx="8"/>')
            for row, text in enumerate([title.removeprefix("*"), *lines]):
                style = "m" if row else "t"
                at = y + 24 + _LINE * row
                parts.append(f'<text class="{style}" x="{x + 12:.0f}" y="{at:.0f}">{escape(text)}</text>')
            found.append((x, y + size / 2))
            y += size + 14
        middles.append(found)
    for place, label in enumerate(diagram["arrows"]):
        for x, y in middles[place]:
            for to_x, to_y in middles[place + 1]:
                parts.append(f'<path class="a" d="M{x + _BOX:.0f} {y:.0f} L{to_x - 4:.0f} {to_y:.0f}"/>')
        middle = 20 + _BOX + place * (_BOX + gap) + gap / 2
        parts.append(f'<text class="m" text-anchor="middle" x="{middle:.0f}" y="18">{escape(label)}</text>')
    view = f'viewBox="0 0 {width} {height:.0f}" role="img" aria-labelledby="t d"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {view} font-family="system-ui, sans-serif" font-size="14">
<title id="t">{escape(recipe.title)}</title>
<desc id="d">{escape(diagram["text"])}</desc>
<style>{_STYLE}</style>
{_ARROW_HEAD}
<rect width="{width}" height="{height:.0f}" rx="10" fill="#f7f9fb"/>
{chr(10).join(parts)}
</svg>
"""


# --- notebooks ------------------------------------------------------------------------------------------------------


def cells(recipe: Recipe) -> list[tuple[str, str]]:
    """Returns the kind and source of each cell of the recipe's notebook."""
    text = (recipe.folder / "notebook.md").read_text("utf-8")
    found, at = [], 0
    for fence in _FENCE.finditer(text):
        found.append(("markdown", text[at : fence.start()]))
        language, name, source = fence.groups()
        if language == "action":
            source = f"%%action {name.strip()} --no-lint\n{(recipe.folder / 'action.js').read_text('utf-8')}"
        found.append(("code", source))
        at = fence.end()
    found.append(("markdown", text[at:]))
    filled = [(kind, _filled(recipe, source) if kind == "markdown" else source) for kind, source in found]
    return [(kind, source.strip("\n")) for kind, source in filled if source.strip()]


def sections(text: str) -> dict[str, str]:
    """Returns the sections of a Markdown text by second-level heading. The text before them has the name ``""``."""
    beginning, *rest = re.split(r"^## ", text, flags=re.MULTILINE)
    return {"": beginning} | {part.partition("\n")[0]: "## " + part for part in rest}


def _filled(recipe: Recipe, text: str) -> str:
    def included(match: re.Match[str]) -> str:
        kind, name = match.groups()
        if kind == "file":
            language = {".sol": "solidity", ".js": "javascript"}.get(Path(name).suffix, "")
            return f"```{language}\n{(recipe.folder / name).read_text('utf-8').rstrip()}\n```"
        readme = sections((recipe.folder / "README.md").read_text("utf-8"))[name or ""]
        return readme.replace(f"]({PICTURE})", f"](images/{recipe.name}.svg)").rstrip()

    return _INCLUDE.sub(included, text)


def notebook(recipe: Recipe) -> Any:
    """Returns the recipe's notebook without outputs."""
    made = nbformat.v4.new_notebook()  # type: ignore[no-untyped-call]
    for number, (kind, source) in enumerate(cells(recipe)):
        new = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
        name = hashlib.sha256(f"{recipe.name} {number}".encode()).hexdigest()[:8]
        made.cells.append(new(source, id=name))  # type: ignore[no-untyped-call]
    made.metadata = {
        "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return made


def write_notebook(recipe: Recipe) -> None:
    """Runs the recipe's notebook and saves it with its outputs."""
    made = notebook(recipe)
    metadata = dict(made.metadata)
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(NOTEBOOKS)}}).execute()
    made.metadata = metadata
    for cell in made.cells:
        cell.metadata = {}
    nbformat.write(made, NOTEBOOKS / f"{recipe.name}.ipynb")  # type: ignore[no-untyped-call]


# --- gallery --------------------------------------------------------------------------------------------------------


def printed(recipe: Recipe) -> str:
    """Returns the printed output of the recipe's stored notebook."""
    file = NOTEBOOKS / f"{recipe.name}.ipynb"
    content = json.loads(file.read_text("utf-8")) if file.is_file() else {"cells": []}
    outputs = [output for cell in content["cells"] for output in cell.get("outputs", ())]
    return "".join("".join(output["text"]) for output in outputs if output.get("name") == "stdout")


def gallery() -> str:
    """Returns the cards of all recipes, with the gas of their contracts from the notebooks' output."""
    return "\n".join([*(line for each in recipes() for line in _card(each)), *_gas()]) + "\n"


def _card(recipe: Recipe) -> Iterator[str]:
    cost = _COST_LINE.search(printed(recipe))
    yield f"### [{recipe.title}](generated/lessons/cookbook/{recipe.name}.ipynb)\n"
    yield f"{recipe.solves}\n"
    yield f"![{diagram_of(recipe)['text']}](generated/lessons/cookbook/images/{recipe.name}.svg)\n"
    cents = f" **One run:** {cost[1]} cent{'s' if cost[1] != '1' else ''}." if cost else ""
    yield f"**Time:** {recipe.minutes} minutes.{cents} **Project:** `svcnb new {recipe.name} my-{recipe.name}`\n"


def _gas() -> Iterator[str]:
    yield "## Gas\n"
    text = (
        "If a recipe has a contract, its notebook measures the [gas](generated/lessons/glossary.md#gas) of each call. "
        "The table rounds the gas to thousands. The first call of a function can need more gas than later calls, "
        "because the first call writes to storage that was empty before."
    )
    yield textwrap.fill(text, 150) + "\n"
    yield "| Recipe | Call | Gas |\n|---|---|---|"
    for recipe in recipes():
        for call, gas in _GAS_LINE.findall(printed(recipe)):
            yield f"| {recipe.title} | {call} | {gas} |"


def page_with_gallery(page: str) -> str:
    """Returns the gallery page with updated cards."""
    before, _, rest = page.partition(MARKS[0])
    _, _, after = rest.partition(MARKS[1])
    return f"{before}{MARKS[0]}\n{gallery()}\n{MARKS[1]}{after}"


def main(names: list[str]) -> None:
    """Generates the files of the named recipes, or of all recipes."""
    (NOTEBOOKS / "images").mkdir(parents=True, exist_ok=True)
    for recipe in recipes():
        if names and recipe.name not in names:
            continue
        sys.stdout.write(f"{recipe.name}\n")
        for source in recipe.folder.glob("*.sol"):
            source.with_suffix(".json").write_text(json.dumps(compiled(source), indent=1) + "\n", "utf-8")
        (recipe.folder / PICTURE).write_text(picture(recipe), "utf-8")
        shutil.copyfile(recipe.folder / PICTURE, NOTEBOOKS / "images" / f"{recipe.name}.svg")
        write_notebook(recipe)
    GALLERY.write_text(page_with_gallery(GALLERY.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
