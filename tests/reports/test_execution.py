"""Notebooks of reports in their kernels."""

from __future__ import annotations

import os

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from svcnb.reports.execution import execute

pytestmark = pytest.mark.slow


def test_what_the_kernel_says_of_itself_does_not_reach_the_mail_of_a_scheduler(tmp_path, capfd) -> None:
    # As it says that the interrupt which ends it came between two cells, on a busy machine.
    cells = ["get_ipython().kernel.log.error('an interrupt came')", "print('done')"]
    template = tmp_path / "template.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in cells]), template)
    notebook, error = execute(template, {}, os.environ, 300)
    assert error is None
    assert notebook.cells[-1]["outputs"][0]["text"] == "done\n"
    assert capfd.readouterr().err == ""
