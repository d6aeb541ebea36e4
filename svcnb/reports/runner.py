"""Execution of a report: checks the parameters, runs the notebook, and saves the executed notebook and a page.

The runner saves a failed report with its executed cells, and the page shows the failed cell. The runner masks the
secrets of the environment in all files before it writes the files to their final location.
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

from svcnb.checked import checked
from svcnb.client.errors import InvalidType, SvcnbError
from svcnb.client.recorder import OFF
from svcnb.client.remote import Executor
from svcnb.exit_codes import ExitCode
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
"""Time limit of one cell, in seconds."""

_IN_TITLE: Final = ("Account", "Service", "Period", "State at")
_PATHS: Final = (TOKEN_FILE, "SVC_HISTORY", "SVCNB_CONFIG")
_CONCLUSION_TAG: Final = "conclusion"
_FAILED_TAG: Final = "papermill-error-cell-tag"
_ANCHOR: Final = "failed-cell"
_KERNEL_LOST: Final = ("DeadKernelError", "KernelDidNotStart")
_WITHOUT_KERNEL: Final = (
    "Create the report again. A kernel stops when memory runs out or a library crashes. To check that "
    "this Python can start a kernel, run: python -m ipykernel_launcher --version."
)


@dataclass(frozen=True)
class Report:
    """Files, conclusion and header values of a completed report.

    Attributes:
        kind: Definition of the report: a `ReportKind`, or an `OwnNotebook` for a notebook of the user.
        notebook: Path of the executed notebook.
        html: Path of the page, a single HTML file that is ready for printing.
        conclusion: Conclusion of the report.
        facts: Values of the header, such as account, service and period.
        not_visible: Data that the report could not read, one sentence for each kind.
        pdf: Path of the printed page. None without the option `pdf`, or if Chromium could not print the page.
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
        """Whether the report found a problem according to its parameters."""
        return bool(self.conclusion.attention)


class ReportFailed(SvcnbError):
    """Error for a report in which a cell failed or the kernel stopped. The saved, incomplete report shows the failure.

    Args:
        message: Failed cell and its error.
        hint: Next step for the user.
        notebook: Path of the notebook with its executed cells.
        html: Path of the HTML page of the incomplete report.
        cell: Execution number of the failed cell. 0 if the kernel did not start.
        error: Class name of the error, for example ``ConfigError``, or ``CellTimeoutError`` if the cell took too long.
    """

    def __init__(
        self, message: str, *, hint: str | None = None, notebook: Path, html: Path, cell: int, error: str
    ) -> None:
        super().__init__(message, hint=hint)
        self.notebook = notebook
        self.html = html
        self.cell = cell
        self.error = error
        if error == "ConfigError":  # a cell reported that a setting is missing
            self.exit_code = ExitCode.USAGE


@checked
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
    """Runs a report, and saves the executed notebook and an HTML page.

    Args:
        name: Name of a report in `catalogue`, or path of a notebook that ends with ``.ipynb``.
        parameters: Parameters of the report. The function converts strings to the types of the parameters.
        out: Folder for the files. The function creates a missing folder.
        file: File name without an extension. None means the name of the report and the current time.
        code: Whether the page also shows the code of cells.
        settings: Additional environment variables for this report only, for example ``{"SVC_BASE_URL": ...}``.
        cell_timeout: Time limit of one cell in seconds.
        pdf: Whether to also print the page to a PDF, if Chromium is installed.
        progress: Function to call before each cell with the number of completed cells and the number of all cells.
        **more: Parameters of the report as keyword arguments.

    Returns:
        The report, with its files and its conclusion.

    Raises:
        UnknownReport: No report has this name.
        NotebookUnusable: The file is not a Python notebook.
        ParameterRefused: A parameter is unknown or has an invalid value.
        ConfigError: A setting that the report needs is missing, for example the address of the service.
        ReportFailed: A cell failed, or the kernel stopped. The function has saved the incomplete report.
        ImportError: The extra ``reports`` is not installed.
    """
    kind, checked, environment = prepare(name, {**(parameters or {}), **more}, settings or {})
    folder = Path(out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    from svcnb.reports.execution import execute

    secrets = secrets_of(environment)
    home = None
    if isinstance(kind, OwnNotebook):  # a notebook runs in its own folder, as in Jupyter
        home = kind.file.resolve().parent
        # In another folder, a relative path would refer to another file.
        for setting in _PATHS:
            if (path := environment.get(setting)) and path != OFF:
                environment[setting] = str(Path(path).expanduser().resolve())
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
    title = " · ".join([kind.title, *(facts[name] for name in _IN_TITLE if name in facts)])
    made = _write(notebook, title, stem, code=code)
    printed = print_pdf(made[1]) if pdf else None
    if failure is not None:
        message, hint = (masked(text, secrets) for text in failure.told)
        at = f"The incomplete report is saved: {made[1]}"
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
    """Checks a report before it runs. The arguments and errors are those of `run`.

    Returns:
        The report, its checked parameters, and its environment.
    """
    kind = find(name)
    checked = kind.checked(parameters)
    environment = {**os.environ, **settings}
    if isinstance(kind, ReportKind):
        check_settings(kind.reads, environment)
    return kind, checked, environment


def find(name: str) -> ReportKind | OwnNotebook:
    """Returns the report that has the given name, or the notebook in a file.

    Raises:
        UnknownReport: No report has this name.
        NotebookUnusable: The file is not a Python notebook.
    """
    return read_notebook(name) if is_own(name) else ReportKind.named(name)


@checked
def run_many(
    asked: Iterable[str | tuple[str, Mapping[str, Any]]], *, executor: Executor, **options: Any
) -> list[Report | ReportFailed]:
    """Runs several reports with an executor: threads, processes, or a cluster whose workers share the folder.

    Args:
        asked: Names of reports, or pairs of a name and parameters.
        executor: Executor of `concurrent.futures`, or an object with the same `submit`.
        **options: Options of `run`, for all reports. The executor sends the settings, including keys, to its workers.

    Returns:
        The reports in the given order. For a failed report, the list contains a `ReportFailed` with the paths of the
        report's files.

    Raises:
        InvalidType: An entry is neither a name nor a pair of a name and parameters. No report ran.
        UnknownReport: No report has one of the names. No report ran.
        NotebookUnusable: A file is not a Python notebook. No report ran.
        ParameterRefused: A parameter is unknown or has an invalid value. No report ran.
        ConfigError: A setting that a report needs is missing. Other reports can have run.
    """
    wanted = [_pair(each) for each in asked]
    for name, parameters in wanted:
        find(name).checked(parameters)
    futures = [executor.submit(_made, name, parameters, options) for name, parameters in wanted]
    return [future.result() for future in futures]


def _pair(asked: object) -> tuple[str, dict[str, Any]]:
    match asked:
        case str():
            return asked, {}
        case (str() as name, Mapping() as parameters):
            return name, dict(parameters)
    raise InvalidType(
        f"invalid report {asked!r}: expected a name, or a pair of a name and parameters",
        hint='Pass, for example, "spend" or ("spend", {"since": "30d"}).',
    )


def _made(name: str, parameters: Mapping[str, Any], options: Mapping[str, Any]) -> Report | ReportFailed:
    try:
        return run(name, parameters, **options)
    except ReportFailed as failed:
        return failed


def _tidy(notebook: NotebookNode, secrets: list[str]) -> None:
    """Removes local paths from the metadata, and masks every secret in the whole notebook."""
    metadata = notebook.metadata.get("papermill", {})
    for name in ("input_path", "output_path", "environment_variables"):
        metadata.pop(name, None)
    masked(notebook, secrets)
    for cell in notebook.cells:
        if "outputs" in cell:
            cell["outputs"] = [masked(output, secrets, shown=True) for output in cell["outputs"]]


def _header(notebook: NotebookNode) -> tuple[dict[str, str], tuple[str, ...]]:
    """Returns the values of the report's header, and the data that the report could not read."""
    told = next((each for cell in notebook.cells if (each := _told(cell, HEADER)) is not None), None) or {}
    return dict(told.get("facts", {})), tuple(told.get("not_visible", ()))


def _point_at_failure(notebook: NotebookNode, cell: int) -> None:
    """Replaces papermill's error messages with a note below the heading and an anchor at the failed cell."""
    marks = [each for each in notebook.cells if _FAILED_TAG in each.metadata.get("tags", ())]
    if not marks:  # papermill does not mark a cell that did not finish
        from nbformat.v4 import new_markdown_cell

        notebook.cells.insert(0, new_markdown_cell(metadata={"tags": [_FAILED_TAG]}))
        marks = notebook.cells[:1]
    banner, *anchor = marks
    where = f'in <a href="#{_ANCHOR}">cell {cell}</a>' if anchor else _place(cell)
    banner["source"] = f'<p class="svcnb-conclusion svcnb-attention">This report failed {where} and is incomplete.</p>'
    for each in anchor:
        each["source"] = f'<p id="{_ANCHOR}"><b>The failure:</b></p>'
    notebook.cells.remove(banner)
    notebook.cells.insert(1, banner)


def _conclusion(notebook: NotebookNode) -> Conclusion | None:
    for cell in reversed(notebook.cells):
        if (told := _told(cell, MIME)) is not None:
            return Conclusion(told["attention"], told["also"])
    return None


def _told(cell: NotebookNode, mime: str) -> Any:
    """Returns the first output of a cell with the given MIME type, or None."""
    return next((each for output in cell.get("outputs", ()) if (each := output.get("data", {}).get(mime))), None)


def _put_on_top(notebook: NotebookNode, concluded: Conclusion) -> None:
    """Inserts a copy of the conclusion below the header, or below the heading if there is no header."""
    from nbformat.v4 import new_code_cell, new_output

    shown = new_output("display_data", {"text/plain": repr(concluded), "text/html": concluded.html()})
    headed = (place for place, cell in enumerate(notebook.cells, 1) if _told(cell, HEADER) is not None)
    notebook.cells.insert(next(headed, 1), new_code_cell("", outputs=[shown], metadata={"tags": [_CONCLUSION_TAG]}))


def _free(folder: Path, name: str) -> Path:
    """Reserves an unused file name with the current time, and returns the path without its extension."""
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
        beside = path.with_name(f".{path.name}.{uuid4().hex}.part")  # another process can write the same report
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    return paths


@dataclass(frozen=True)
class _Failure:
    cell: int
    error: str
    told: tuple[str, str]


def _failed(error: BaseException, notebook: NotebookNode, name: str, said: str) -> _Failure:
    """Returns the failed cell and its error, as a sentence and a next step.

    If the kernel has ended, the sentence contains the last line of `said`, the output of the kernel.
    """
    number = int(getattr(error, "exec_count", 0) or _last_begun(notebook))
    named = str(getattr(error, "ename", "")) or type(error).__name__
    what, _, hint = str(getattr(error, "evalue", "") or _first_line(error)).partition("\nNext step: ")
    told = f"the report {name} failed {_place(number)}{_heading(notebook, number)}: {named}: {_first_line(what)}"
    if named in _KERNEL_LOST:
        told += f"; last output: {last}" if (last := _last_line(said)) else ""
        hint = _WITHOUT_KERNEL
    return _Failure(number, named, (told, hint.strip()))


def _place(cell: int) -> str:
    return f"in cell {cell}" if cell else "before its first cell"


def _last_begun(notebook: NotebookNode) -> int:
    """Returns the number of the cell in which a report stopped, for an error without a cell number.

    The function counts the cells that started, because a cell has no execution number if the kernel crashed.
    """
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
