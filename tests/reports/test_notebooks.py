"""Notebooks of users as reports: parameters, types, and unusable notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import papermill
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from svcnb.reports import ParameterRefused
from svcnb.reports.notebooks import STARTING_POINT, NotebookUnusable, create_notebook, read_notebook

PARAMETERS = """
day = "2026-11-01"  # first day
limit = 5
share = 0.5
strict = False
names = ["a"]
chosen: int = None
anything = None
computed = len("abc")
"""


def write(folder: Path, *cells: Any, **metadata: Any) -> Path:
    metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}} | metadata
    file = folder / "mine.ipynb"
    nbformat.write(new_notebook(cells=list(cells), metadata=metadata), file)
    return file


@pytest.fixture
def mine(tmp_path):
    cells = [
        new_markdown_cell("# My report\n\nText"), new_code_cell(PARAMETERS, metadata={"tags": ["parameters"]}),
    ]  # fmt: skip
    return read_notebook(write(tmp_path, *cells))


def test_title_and_types_come_from_the_notebook_itself(mine) -> None:
    assert (mine.name, mine.title, mine.fields["day"].description) == ("mine", "My report", "first day")
    assert set(mine.fields) == set(papermill.inspect_notebook(mine.file))
    given = {
        "day": "7", "limit": "7", "share": "7", "strict": "True", "names": '["b"]', "chosen": "3", "anything": "text",
        "computed": "4",
    }  # fmt: skip
    assert mine.checked(given) == {
        "day": "7", "limit": 7, "share": 7.0, "strict": True, "names": ["b"], "chosen": 3, "anything": "text",
        "computed": 4,
    }  # fmt: skip
    assert mine.checked({}) == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"limit": "five"}, "limit = 'five' for mine.ipynb: expected an integer"),
        ({"limit": "5.5"}, "expected an integer"),
        ({"limit": True}, "expected an integer"),
        ({"strict": "yes"}, "expected true or false"),
        ({"names": "a"}, "expected a JSON list"),
        ({"share": float("nan")}, "share"),
        ({"days": "7"}, "no parameter 'days'"),
        ({"api_key": "marked-secret"}, "looks like the name of a secret"),
        ({"database_password": "marked-secret"}, "looks like the name of a secret"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_runs(mine, given, said) -> None:
    with pytest.raises(ParameterRefused, match=said) as caught:
        mine.checked(given)
    assert caught.value.hint
    assert "marked-secret" not in f"{caught.value!r}{caught.value}"


def test_a_notebook_without_a_tagged_cell_says_how_to_tag_one(tmp_path) -> None:
    with pytest.raises(ParameterRefused, match="no parameter 'day'") as caught:
        read_notebook(write(tmp_path, new_code_cell("day = 1"))).checked({"day": "2"})
    assert "tag 'parameters'" in str(caught.value.hint)


@pytest.mark.usefixtures("high_recursion_limit")
@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a valid notebook"),
        (b"[]", "is not a valid notebook"),
        (b'{"cells": [1]}', "is not a valid notebook"),
        (b"[" * 200_000, "is not a valid notebook"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_is_not_a_notebook_is_rejected(tmp_path, content, said) -> None:
    file = tmp_path / "mine.ipynb"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(NotebookUnusable, match=said):
        read_notebook(file)


def test_a_notebook_in_another_language_is_refused(tmp_path) -> None:
    file = write(tmp_path, kernelspec={"name": "ir", "display_name": "R", "language": "R"})
    with pytest.raises(NotebookUnusable, match="has the language R: expected python"):
        read_notebook(file)


@pytest.mark.parametrize("source", ["%time x = 1", f"x = {'-' * 20_000}1"])
def test_parameters_that_are_not_python_are_refused(tmp_path, source) -> None:
    file = write(tmp_path, new_code_cell(source, metadata={"tags": ["parameters"]}))
    with pytest.raises(NotebookUnusable, match="are not valid Python"):
        read_notebook(file)


def test_a_new_notebook_is_valid_and_never_replaces_another(tmp_path) -> None:
    made = create_notebook(tmp_path / "mine.ipynb")
    nbformat.validate(json.loads(made.read_text(encoding="utf-8")))
    assert made.read_bytes() == STARTING_POINT.read_bytes()
    assert set(read_notebook(made).fields) == {"since", "zone", "most_failed"}
    with pytest.raises(NotebookUnusable, match="already exists"):
        create_notebook(made)
    with pytest.raises(NotebookUnusable, match=r"does not end with \.ipynb"):
        create_notebook(tmp_path / "mine.py")


def test_the_error_for_a_notebook_in_a_missing_folder_says_how_to_fix_it(tmp_path) -> None:
    with pytest.raises(NotebookUnusable, match=f"the folder {tmp_path / 'missing'} does not exist") as refused:
        create_notebook(tmp_path / "missing" / "mine.ipynb")
    assert str(refused.value.hint).startswith("Create the folder, or ")
    (tmp_path / "file").touch()
    with pytest.raises(NotebookUnusable, match=r"cannot create .*mine\.ipynb: Not a directory"):
        create_notebook(tmp_path / "file" / "mine.ipynb")
