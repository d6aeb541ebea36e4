"""Execution of report notebooks in kernels."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from svcnb.reports.execution import execute

pytestmark = pytest.mark.slow


SPOKEN = (
    # On a busy machine, the kernel reports that the interrupt arrived between two cells, ...
    "get_ipython().kernel.log.error('an interrupt came')",
    # ... or that its output socket closed before its last message.
    "import sys; print('Socket operation on non-socket', file=sys.__stderr__, flush=True)",
    "print('past the notebook', file=sys.__stdout__, flush=True)",
)


def test_messages_of_the_kernel_are_not_part_of_the_output(tmp_path, capfd) -> None:
    template = tmp_path / "template.ipynb"
    cells = [new_code_cell(cell) for cell in (*SPOKEN, "print('done')")]
    nbformat.write(new_notebook(cells=cells), template)
    notebook, error, said = execute(template, {}, os.environ, 300)
    assert error is None
    assert notebook.cells[-1]["outputs"][0]["text"] == "done\n"
    assert capfd.readouterr() == ("", "")
    assert said.splitlines() == ["Socket operation on non-socket", "past the notebook"]
