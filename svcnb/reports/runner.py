"""Executes a report: checked parameters, a notebook run from top to bottom, a notebook and a page as its result.

A failed report is saved as far as it came, and points at its broken cell. Secrets that the environment holds are looked
for in everything before it is written where it stays.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from svcnb.client.errors import SvcnbError
from svcnb.client.recorder import OFF
from svcnb.client.remote import Executor
from svcnb.reports.conclusion import MIME, Conclusion
from svcnb.reports.data import TOKEN_FILE, check_settings
from svcnb.reports.header import MIME as HEADER
from svcnb.reports.kinds import ReportKind
from svcnb.reports.masking import masked, secrets_of
from svcnb.reports.notebooks import OwnNotebook, is_own, read_notebook
from svcnb.reports.pdf import print_pdf

if TYPE_CHECKING:
    from nbformat import NotebookNode

CELL_TIMEOUT_S: Final = 600
"""Seconds that one cell may take."""

_IN_TITLE: Final = ("Account", "Service", "Period", "State at")
_PATHS: Final = (TOKEN_FILE, "SVC_HISTORY", "SVCNB_CONFIG")
_CONCLUSION_TAG: Final = "conclusion"
_FAILED_TAG: Final = "papermill-error-cell-tag"
_ANCHOR: Final = "failed-cell"
_KERNEL_GONE: Final = ("DeadKernelError", "KernelDidNotStart")
_WITHOUT_KERNEL: Final = (
    "Make it again. A kernel ends when memory runs out or a library crashes; whether this Python can start one is "
    "shown by: python -m ipykernel_launcher --version."
)


@dataclass(frozen=True)
class Report:
    """A report that was made.

    Attributes:
        kind: Which one.
        notebook: The executed notebook.
        html: The page made of it, whole in itself and ready to be printed.
        conclusion: What it found.
        facts: What its header says: account, service, period and more.
        not_visible: What it could not see, a sentence each.
        pdf: The printed page; None unless a PDF was asked for and a Chromium printed it.
    """

    kind: ReportKind | OwnNotebook
    notebook: Path
    html: Path
    conclusion: Conclusion
    facts: Mapping[str, str] = field(default_factory=dict)
    not_visible: tuple[str, ...] = ()
    pdf: Path | None = None

    @property
    def attention(self) -> bool:
        """Whether it found something that its parameters call a problem."""
        return bool(self.conclusion.attention)


class ReportFailed(SvcnbError):
    """A cell of a report failed. What there is of the report is saved, and points at that cell.

    Args:
        message: Which cell, and with what.
        hint: The next step.
        notebook: The notebook as far as it came.
        html: The page made of it.
        cell: Number of the broken cell, as the notebook counts executions; 0 when its kernel did not start.
        error: Name of the error's class; empty when the cell never ended.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, notebook: Path, html: Path, cell: int, error: str
    ) -> None:
        super().__init__(message, hint=hint)
        self.notebook = notebook
        self.html = html
        self.cell = cell
        self.error = error


def run(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    out: str | Path = ".",
    file: str | None = None,
    code: bool = False,
    settings: Mapping[str, str] | None = None,
    cell_timeout: float = CELL_TIMEOUT_S,
    pdf: bool = False,
    progress: Callable[[int, int], object] | None = None,
    **more: Any,
) -> Report:
    """Makes a report.

    Args:
        name: One of `catalogue`, or the file of a notebook, which ends with ``.ipynb``.
        parameters: Its parameters; texts are read as values of their types.
        out: Folder for the files; made if it does not exist.
        file: Their name without ending; the report's name and the time of now when None.
        code: Whether the page shows the cells' code, too.
        settings: Environment for the report alone, for example ``{"SVC_BASE_URL": ...}``, beside the process's own.
        cell_timeout: Seconds that one cell may take.
        pdf: Whether the page is printed to a PDF, too, where a Chromium is installed.
        progress: Is told before each cell how many are done, and how many there are.
        **more: Parameters by name.

    Returns:
        Where it is, and what it found.

    Raises:
        UnknownReport: There is no report of that name.
        NotebookUnusable: The file is not a notebook in Python.
        ParameterRefused: A parameter is unknown or cannot be used.
        ConfigError: A setting is missing that the report needs, for example the address of the service.
        ReportFailed: A cell failed. The report is saved all the same.
        ImportError: The extra ``reports`` is not installed.
    """
    kind, checked, environment = prepare(name, {**(parameters or {}), **more}, settings or {})
    folder = Path(out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    from svcnb.reports.execution import execute

    secrets = secrets_of(environment)
    home = None
    if isinstance(kind, OwnNotebook):  # it runs in its own folder, as in Jupyter
        home = kind.file.resolve().parent
        environment |= {name: str(Path(environment[name]).expanduser().resolve()) for name in _paths(environment)}
    notebook, error, said = execute(
        kind.template, checked, environment, cell_timeout, folder=home, progress=progress, own_kernel=home is None
    )
    _tidy(notebook, secrets)
    failure = None if error is None else _failed(error, notebook, kind.name, said)
    if failure is not None:
        _point_at_failure(notebook, failure.cell)
    concluded = _conclusion(notebook)
    if concluded is not None:
        _put_on_top(notebook, concluded)
    facts, unseen = _header(notebook)
    stem = folder / file if file else _free(folder, kind.name)
    made = _write(notebook, _titled(kind.title, facts), stem, code=code)
    printed = print_pdf(made[1]) if pdf else None
    if failure is not None:
        message, hint = (masked(text, secrets) for text in failure.told)
        at = f"The report is saved as far as it came: {made[1]}"
        raise ReportFailed(
            message,
            hint=f"{hint.rstrip('.')}. {at}" if hint else at,
            notebook=made[0],
            html=made[1],
            cell=failure.cell,
            error=failure.error,
        ) from None
    return Report(kind, *made, concluded or Conclusion(()), facts, unseen, printed)


def prepare(
    name: str, parameters: Mapping[str, Any], settings: Mapping[str, str]
) -> tuple[ReportKind | OwnNotebook, dict[str, Any], dict[str, str]]:
    """Checks everything that can be checked before a report runs; arguments and errors as for `run`.

    Returns:
        The report, its checked parameters, and its environment.
    """
    kind = find(name)
    checked = kind.checked(parameters)
    environment = {**os.environ, **settings}
    if isinstance(kind, ReportKind):
        check_settings(kind.reads, environment)
    return kind, checked, environment


def _paths(environment: Mapping[str, str]) -> list[str]:
    """Settings that are paths, and mean another file in another folder."""
    return [name for name in _PATHS if environment.get(name) not in {None, "", OFF}]


def find(name: str) -> ReportKind | OwnNotebook:
    """Returns the report of a name, or the notebook of a file.

    Args:
        name: One of `catalogue`, or a file that ends with ``.ipynb``.

    Raises:
        UnknownReport: There is no report of that name.
        NotebookUnusable: The file is not a notebook in Python.
    """
    return read_notebook(name) if is_own(name) else ReportKind.named(name)


def run_many(
    asked: Iterable[str | tuple[str, Mapping[str, Any]]], *, executor: Executor, **options: Any
) -> list[Report | ReportFailed]:
    """Makes several reports by an executor: threads, processes, or a cluster whose workers share the folder.

    Args:
        asked: Names, or names with parameters.
        executor: Any executor of `concurrent.futures`, or what submits as they do.
        **options: As for `run`, for all of them. Settings, and so keys, travel to the executor's workers.

    Returns:
        The reports in the order asked for; in the place of a failed one its error, which says where it is saved.

    Raises:
        UnknownReport: There is none of that name; nothing ran.
        ParameterRefused: A parameter is unknown or cannot be used; nothing ran.
    """
    wanted = [(each, {}) if isinstance(each, str) else (each[0], dict(each[1])) for each in asked]
    for name, parameters in wanted:
        find(name).checked(parameters)
    futures = [executor.submit(_made, name, parameters, options) for name, parameters in wanted]
    return [future.result() for future in futures]


def _made(name: str, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> Report | ReportFailed:
    try:
        return run(name, parameters, **options)
    except ReportFailed as failed:
        return failed


def _tidy(notebook: NotebookNode, secrets: list[str]) -> None:
    """Removes what says where it ran, and, should a cell have shown one, every secret."""
    metadata = notebook.metadata.get("papermill", {})
    for name in ("input_path", "output_path", "environment_variables"):
        metadata.pop(name, None)
    for cell in notebook.cells:
        cell["source"] = masked(cell["source"], secrets)
        if "outputs" in cell:
            cell["outputs"] = [masked(output, secrets, shown=True) for output in cell["outputs"]]


def _header(notebook: NotebookNode) -> tuple[dict[str, str], tuple[str, ...]]:
    """What the report's header says, and what the report could not see."""
    told = next((each for cell in notebook.cells if (each := _told(cell, HEADER)) is not None), None) or {}
    return dict(told.get("facts", {})), tuple(told.get("not_visible", ()))


def _titled(title: str, facts: Mapping[str, str]) -> str:
    """The page's title: what it is about, and when."""
    return " · ".join([title, *(facts[name] for name in _IN_TITLE if name in facts)])


def _point_at_failure(notebook: NotebookNode, cell: int) -> None:
    """Says under the heading that and where it failed, in the place of papermill's red letters."""
    marks = [each for each in notebook.cells if _FAILED_TAG in each.metadata.get("tags", ())]
    if not marks:  # a cell that never ended leaves no mark
        from nbformat.v4 import new_markdown_cell

        notebook.cells.insert(0, new_markdown_cell(metadata={"tags": [_FAILED_TAG]}))
        marks = notebook.cells[:1]
    banner, *anchor = marks
    where = f'in <a href="#{_ANCHOR}">cell {cell}</a>' if anchor else _place(cell)
    banner["source"] = f'<p class="svcnb-conclusion svcnb-attention">This report failed {where} and ends there.</p>'
    for each in anchor:
        each["source"] = f'<p id="{_ANCHOR}"><b>It failed here:</b></p>'
    notebook.cells.remove(banner)
    notebook.cells.insert(1, banner)


def _conclusion(notebook: NotebookNode) -> Conclusion | None:
    for cell in reversed(notebook.cells):
        if (told := _told(cell, MIME)) is not None:
            return Conclusion(told["attention"], told["also"])
    return None


def _told(cell: NotebookNode, mime: str) -> Any:
    """What a cell showed under a MIME type; None when it showed nothing of it."""
    return next((each for output in cell.get("outputs", ()) if (each := output.get("data", {}).get(mime))), None)


def _put_on_top(notebook: NotebookNode, concluded: Conclusion) -> None:
    """Puts the conclusion where readers begin: under the header, or under the heading where there is none."""
    from nbformat.v4 import new_code_cell, new_output

    shown = new_output("display_data", {"text/plain": repr(concluded), "text/html": concluded.html()})
    headed = (place for place, cell in enumerate(notebook.cells, 1) if _told(cell, HEADER) is not None)
    notebook.cells.insert(next(headed, 1), new_code_cell("", outputs=[shown], metadata={"tags": [_CONCLUSION_TAG]}))


def _free(folder: Path, name: str) -> Path:
    """A name with the time of now that no other report takes."""
    stem = f"{name}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for ending in itertools.chain([""], (f"-{number}" for number in itertools.count(2))):
        with suppress(FileExistsError):
            (folder / f"{stem}{ending}.ipynb").touch(exist_ok=False)
            return folder / f"{stem}{ending}"
    raise AssertionError("unreachable: there is no last number")


def _write(notebook: NotebookNode, title: str, stem: Path, *, code: bool) -> tuple[Path, Path]:
    import nbformat

    from svcnb.reports.page import page

    paths = stem.with_name(f"{stem.name}.ipynb"), stem.with_name(f"{stem.name}.html")
    for path, text in zip(paths, (nbformat.writes(notebook) + "\n", page(notebook, title, code=code)), strict=True):
        beside = path.with_name(f".{path.name}.{uuid4().hex}.part")  # another may write the same report
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    return paths


@dataclass(frozen=True)
class _Failure:
    cell: int
    error: str
    told: tuple[str, str]


def _failed(error: BaseException, notebook: NotebookNode, name: str, said: str) -> _Failure:
    """Which cell broke, and what it said: sentence and next step. Of a kernel that is gone there is what it `said`."""
    number = int(getattr(error, "exec_count", 0) or _last_begun(notebook))
    named = str(getattr(error, "ename", "")) or type(error).__name__
    what, _, hint = str(getattr(error, "evalue", "") or _first_line(error)).partition("\nNext step: ")
    told = f"the report {name} failed {_place(number)}{_heading(notebook, number)}: {named}: {_first_line(what)}"
    if named in _KERNEL_GONE:
        told += f"; it said last: {last}" if (last := _last_line(said)) else ""
        hint = _WITHOUT_KERNEL
    return _Failure(number, named, (told, hint.strip()))


def _place(cell: int) -> str:
    return f"in cell {cell}" if cell else "before its first cell"


def _last_begun(notebook: NotebookNode) -> int:
    """The cell in which a report without an error of its own stopped; a kernel that dies may not have counted it."""
    return sum(map(_begun, notebook.cells))


def _begun(cell: NotebookNode) -> bool:
    runs = cell["cell_type"] == "code" and cell["source"].strip()
    return bool(runs and cell.metadata.get("papermill", {}).get("start_time"))


def _heading(notebook: NotebookNode, number: int) -> str:
    if not number:
        return ""
    heading, counted = "", 0
    for cell in notebook.cells:
        if cell["cell_type"] == "markdown" and cell["source"].startswith("#"):
            heading = cell["source"].splitlines()[0].lstrip("# ")
        counted += _begun(cell)
        if counted == number:
            break
    return f" ({heading})" if heading else ""


def _first_line(value: object) -> str:
    return next(iter(str(value).strip().splitlines()), "")


def _last_line(text: str) -> str:
    return next(iter(text.strip().splitlines()[-1:]), "")
