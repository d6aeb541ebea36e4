"""Command ``svcnb report``, which creates reports from notebooks."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from svcnb.cli._output import examples, show
from svcnb.cli._service import base_url_option, read_key, triggers_url_option
from svcnb.errors import ExtraMissing
from svcnb.exit_codes import ExitCode

if TYPE_CHECKING:
    from svcnb.reports import Report
    from svcnb.reports.summary import Summary

_NEW = "new"


@click.command(
    "report",
    epilog=examples(
        "svcnb report --list",
        "svcnb report spend -p since=30d --out reports",
        "svcnb report new mine.ipynb",
        "svcnb report mine.ipynb -p since=1d --out reports --summary",
    ),
)
@click.argument("name", required=False)
@click.argument("file_of_new", metavar="[FILE]", required=False)
@click.option(
    "--list", "listed", is_flag=True, help="List all reports, or only the report NAME, with their parameters."
)
@click.option(
    "--param", "-p", "given", multiple=True, metavar="NAME=VALUE", help=("A parameter of the report; repeatable.")
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=".",
    help=("Folder for the report. Default: the current folder."),
)
@click.option(
    "--file",
    metavar="STEM",
    help="Name of the report's files, without an extension. Default: the name of the report and the time.",
)
@click.option("--code", is_flag=True, help="Include the code of the cells in the page.")
@click.option("--pdf", is_flag=True, help="Also create a PDF file. This requires Chromium.")
@base_url_option
@click.option(
    "--key-file",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
    help="File that contains the key. Use - for standard input. Default: SVC_API_KEY, otherwise the configuration "
    "file.",
)
@triggers_url_option
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File that contains the token of the triggers service. Default: SVC_TRIGGERS_TOKEN_FILE.",
)
@click.option("--profile", metavar="NAME", help="Profile that `svcnb login` stored. Default: SVC_PROFILE.")
@click.option("--summary", is_flag=True, help="Print the result as Markdown instead of the path of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print the result, or the list of reports, as JSON.")
@click.option("--quiet", is_flag=True, help="Do not print anything if no problem is found.")
@click.option(
    "--log-json", is_flag=True, help=("Log start, progress and end on standard error, one JSON object per line.")
)
@click.option("--notify", metavar="URL", help="Post the result as JSON to this webhook, even if the report fails.")
@click.option(
    "--keep",
    type=click.IntRange(1),
    help="Number of reports with this NAME to keep in --out, including the new report. The command deletes older "
    "reports with this NAME.",
)
@click.pass_context
def command(ctx: click.Context, /, name: str | None, file_of_new: str | None, **options: Any) -> None:
    """Create a report: run history, spend, permissions, triggers, or your own notebook.

    NAME is the name of a report, or the path of a notebook, for example mine.ipynb. `svcnb report new FILE` creates a
    notebook that you can edit.

    The exit code is 0 if the report finds no problem, and 7 if the report finds a problem. Code 1 means that a cell
    failed, or that the webhook of --notify did not accept the result. In all these cases, the command saves the
    report. Code 2 means that a setting or parameter is missing or invalid. Code 8 means that another process is
    creating the same report.
    """
    if name == _NEW:
        _create(file_of_new)
        return
    if file_of_new is not None:
        raise click.UsageError(
            f"unexpected argument {file_of_new!r}: name only one report, and pass parameters with --param NAME=VALUE"
        )
    if options["listed"] or name is None:
        _list(name, as_json=options["as_json"])
        return
    if find_spec("papermill") is None:
        raise ExtraMissing("reports require papermill", "reports")
    from svcnb.reports.kernel import skip_iri_grammar

    skip_iri_grammar()  # this process runs only this command
    ctx.exit(_Job(name, options).run())


class _Job:
    """Job that creates one report, sends its notification and determines the exit code."""

    def __init__(self, name: str, options: dict[str, Any]) -> None:
        self._name = name
        self._options = options
        self._begun = time.monotonic()

    def run(self) -> int:
        """Creates the report, and returns the exit code. The method also sends errors to the webhook."""
        from svcnb.reports.runner import prepare
        from svcnb.reports.summary import Summary
        from svcnb.reports.unattended import delete_old, ipython_folder, locked, webhook

        options = self._options
        if options["notify"]:
            webhook(options["notify"])
        try:
            parameters = _parameters(options["given"])
            settings = _settings(options)
            prepare(self._name, parameters, settings)
            stem = options["file"] or _stem(self._name)
            with ipython_folder(), locked(options["out"].expanduser(), stem):
                self._log("started")
                made = self._made(parameters, settings)
                if options["keep"]:
                    delete_old(options["out"].expanduser(), made.kind.name, options["keep"])
        except Exception as error:
            self._failed(error)
            raise
        code = ExitCode.ATTENTION if made.attention else ExitCode.OK
        summary = Summary.of(made, made.kind.name, code)
        self._tell(made, summary)
        self._log("finished", **summary.json())
        return code if self._notify(summary) else code or ExitCode.FAILED

    def _made(self, parameters: dict[str, str], settings: dict[str, str]) -> Report:
        from svcnb import reports

        options = self._options
        made = reports.run(
            self._name,
            parameters,
            out=options["out"],
            file=options["file"],
            code=options["code"],
            pdf=options["pdf"],
            settings=settings,
            progress=self._progress(),
        )
        self._clear()
        return made

    def _failed(self, error: Exception) -> None:
        from svcnb.cli._errors import explain
        from svcnb.reports.summary import Summary

        self._clear()
        known = explain(error)
        code = known.code if known else getattr(error, "exit_code", ExitCode.FAILED)
        summary = Summary.of(error, _stem(self._name), int(code))
        self._log("failed", **summary.json())
        self._notify(summary)

    def _tell(self, made: Report, summary: Summary) -> None:
        options = self._options
        if options["quiet"] and not made.attention:
            return
        if options["summary"]:
            click.echo(summary.markdown(), nl=False)
        elif options["as_json"]:
            told = summary.json()
            del told["text"]
            show(told, as_json=True)
        else:
            click.echo(str(made.html))
        if not (options["summary"] or options["as_json"] or options["log_json"]):
            click.echo(repr(made.conclusion), err=True)

    def _notify(self, summary: Summary) -> bool:
        """Sends the result to the webhook, if any. Returns False only if the webhook did not accept the result."""
        from svcnb.reports.unattended import NotificationFailed, notify

        if not self._options["notify"]:
            return True
        try:
            notify(self._options["notify"], summary.json())
        except NotificationFailed as error:
            click.echo(f"Warning: {error.message}", err=True)
            return False
        return True

    def _log(self, event: str, **more: Any) -> None:
        if self._options["log_json"]:
            elapsed = round(time.monotonic() - self._begun, 3)
            line = {"event": event, "report": _stem(self._name), "elapsed_s": elapsed, **more}
            click.echo(json.dumps(line, ensure_ascii=False), err=True)

    def _progress(self) -> Callable[[int, int], object] | None:
        if self._options["log_json"]:
            return lambda done, count: self._log("cell", done=done, cells=count)
        if self._options["quiet"] or not sys.stderr.isatty():
            return None
        return lambda done, count: click.echo(f"\r{_stem(self._name)}: cell {done + 1} of {count}", nl=False, err=True)

    def _clear(self) -> None:
        """Deletes the progress line from the terminal."""
        if sys.stderr.isatty() and not (self._options["quiet"] or self._options["log_json"]):
            click.echo("\r\x1b[K", nl=False, err=True)


def _stem(name: str) -> str:
    return Path(name).name.removesuffix(".ipynb")


def _create(file: str | None) -> None:
    from svcnb.reports.notebooks import create_notebook

    if file is None:
        raise click.UsageError("`svcnb report new` requires a file: run, for example, `svcnb report new mine.ipynb`")
    made = create_notebook(file)
    click.echo(str(made))
    click.echo(f"Edit the notebook in JupyterLab. Then run: svcnb report {made}", err=True)


def _list(name: str | None, *, as_json: bool) -> None:
    from svcnb.reports import catalogue
    from svcnb.reports.notebooks import OwnNotebook
    from svcnb.reports.runner import find

    chosen = catalogue if name is None else (find(name),)
    rows: list[dict[str, Any]] = [
        {
            "name": kind.name,
            "says": kind.title if isinstance(kind, OwnNotebook) else kind.says,
            "parameters": [
                {"name": name, "default": field.default, "what": field.description}
                for name, field in (
                    kind.fields if isinstance(kind, OwnNotebook) else kind.parameters.model_fields
                ).items()
            ],
        }
        for kind in chosen
    ]
    if as_json:
        show(rows, as_json=True)
        return
    for kind in rows:
        click.echo(f"{kind['name']}: {kind['says']}")
        for parameter in kind["parameters"]:
            default = "not set" if parameter["default"] is None else parameter["default"]
            click.echo(f"  {parameter['name']:<20} {parameter['what']} [{default}]")


def _parameters(given: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in given:
        name, sign, value = each.partition("=")
        if not sign:
            raise click.BadParameter(
                f"{name!r} does not have the format NAME=VALUE. Write, for example, since=30d.", param_hint="--param"
            )
        if not name.strip():
            raise click.BadParameter(
                "the parameter has no name before =: write NAME=VALUE, for example since=30d", param_hint="--param"
            )
        found[name.strip()] = value
    return found


def _settings(options: dict[str, Any]) -> dict[str, str]:
    """Returns the options as environment variables for the report."""
    key_file, token_file = options["key_file"], options["token_file"]
    if options["profile"] is not None and (options["base_url"] or key_file or options["triggers_url"]):
        raise click.UsageError(
            "--profile cannot be combined with --base-url, --key-file and --triggers-url: omit --profile, or omit the "
            "other options"
        )
    told = {
        "SVC_BASE_URL": options["base_url"],
        "SVC_API_KEY": None if key_file is None else read_key(key_file),
        "SVC_PROFILE": options["profile"],
        "SVC_TRIGGERS_URL": options["triggers_url"],
        "SVC_TRIGGERS_TOKEN_FILE": None if token_file is None else str(token_file.resolve()),
    }
    return {variable: value for variable, value in told.items() if value is not None}
