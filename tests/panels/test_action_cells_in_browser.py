"""Cells with %%action in a real JupyterLab: JavaScript colours and indentation, and Python in all other cells."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser

ACTION = "%%action\n// it's JavaScript\nconst main = () => `${1}`;"
PYTHON = "for letter in 'it':\n    print(letter)  # it"
# Texts with the colour of the word `const`, in the editor of the cell with a number.
LIKE_CONST = """number => {
  const editors = [...document.querySelectorAll('.jp-CodeCell .cm-content')].filter((each) => each.offsetParent);
  const spans = [...editors[number].querySelectorAll('.cm-line span')];
  const wanted = spans.find((each) => each.textContent === 'const');
  return wanted ? spans.filter((each) => each.className === wanted.className).map((each) => each.textContent) : [];
}"""
COMMENT = """number => {
  const editors = [...document.querySelectorAll('.jp-CodeCell .cm-content')].filter((each) => each.offsetParent);
  return [...editors[number].querySelectorAll('.cm-line span')].map((each) => each.textContent);
}"""


def test_action_cells_are_javascript_and_other_cells_python(notebook):
    nb = notebook(ACTION, PYTHON, run=False)
    nb.tab.wait_for_function(f'() => ({COMMENT})(0).includes("// it\'s JavaScript")')
    assert nb.tab.evaluate(LIKE_CONST, 0) == ["const"]
    # Python does not have the first kind of comment, but has the second.
    assert {"for", "in", "# it"} <= set(nb.tab.evaluate(COMMENT, 1))


def test_a_change_of_the_first_line_changes_the_language(notebook):
    nb = notebook("const main = () => 1; // comment", run=False)
    tab = nb.tab
    assert "// comment" not in tab.evaluate(COMMENT, 0)
    editor = tab.locator(".jp-CodeCell:visible .cm-content").first
    editor.press("Control+Home")
    tab.keyboard.type("%%action\n")
    tab.wait_for_function(f"() => ({COMMENT})(0).includes('// comment')")
    # JavaScript indentation: one step after an opening brace.
    editor.press("Control+End")
    tab.keyboard.insert_text("\nfunction f() {")
    tab.keyboard.press("Enter")
    tab.keyboard.type("x")
    source = tab.evaluate("() => window.jupyterapp.shell.currentWidget.content.activeCell.model.sharedModel.source")
    assert source.split("\n")[-1].strip("}") in {"  x", "    x"}
    editor.press("Control+Home")
    tab.keyboard.press("Delete")
    tab.wait_for_function(f"() => !({COMMENT})(0).includes('// comment')")
