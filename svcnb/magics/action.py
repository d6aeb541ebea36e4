"""The magic ``%%action``: creates an action from a JavaScript cell, shows its CID, runs it and stores it."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from svcnb.client.errors import ActionError, Explicable, InvalidArgument, TraceUnavailable
from svcnb.files import replace_file
from svcnb.magics.arguments import Options, parameters, value_of
from svcnb.protocol.action import Action

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from svcnb.client import Client
    from svcnb.client.models.runs import Run
    from svcnb.magics.connection import Connection

_READABLE: Final = 0o644
_DEFAULT_CONSTANT: Final = "CONST"


def options() -> Options:
    """Returns the parser for the first line of a cell with ``%%action``."""
    made = Options(
        prog="%%action", description="Creates an action from the JavaScript of the cell, which must define main."
    )
    made.add_argument("variable", nargs="?", help="Variable of the notebook that receives the Action.")
    made.add_argument(
        "--name", help="Name of the action, for display and for --register. Default: the name of the variable."
    )
    made.add_argument("--description", default="", help="Description of the action, for display.")
    made.add_argument(
        "--derive",
        metavar="[NAME=]CONSTANT",
        help=(
            "Append a constant (JSON or a variable) to the cell, as svcnb.Action.derive does. All other options "
            "apply to the derived action. NAME is CONST by default."
        ),
    )
    made.add_argument(
        "--diff", action="store_true", help="Show the changes compared with the previous action in the variable."
    )
    made.add_argument(
        "--run",
        action="store_true",
        help="Run the action, and return the Run. A run costs one cent per second, and at least one cent.",
    )
    made.add_argument(
        "--params", nargs="+", metavar="VALUE", help="Parameters of main: name=value ..., or JSON, or a variable."
    )
    made.add_argument(
        "--until-effective",
        type=float,
        metavar="SECONDS",
        help="Retry for at most this number of seconds, until a new permission takes effect.",
    )
    made.add_argument("--trace", action="store_true", help="Show the timeline of the run (emulator only).")
    made.add_argument("--client", metavar="VARIABLE", help="Variable that contains the client for this cell.")
    made.add_argument("--save", type=Path, metavar="FILE", help="Write the source to a file, byte for byte.")
    made.add_argument("--force", action="store_true", help="With --save: overwrite a file that has different content.")
    made.add_argument(
        "--register", action="store_true", help="Register the action in the account. The call costs one cent."
    )
    made.add_argument("--no-lint", dest="lint", action="store_false", help="Do not check the source for problems.")
    return made


OPTIONS: Final = options()


def action(shell: InteractiveShell, connection: Connection) -> Callable[[str, str], Action | Run]:
    """Returns the function that IPython calls for ``%%action``, with the first line and the rest of the cell.

    The returned function returns the `Action`, or the `Run` if the line contains ``--run``.
    """
    saved: dict[Path, str] = {}

    def magic(line: str, cell: str) -> Action | Run:
        # Perform all checks before the first effect.
        asked = OPTIONS.read(line)
        _check(asked)
        made = _make(asked, cell, shell.user_ns)
        received = parameters(asked.params or [], shell.user_ns)
        client = connection.client(asked.client) if asked.run or asked.register else None
        before = shell.user_ns.get(asked.variable) if asked.variable else None
        if asked.lint:
            _show_findings(made, connection)
        if asked.diff and isinstance(before, Action):
            _display(before.diff(made))
        if asked.variable:
            shell.user_ns[asked.variable] = made
        if asked.save:
            _save(asked.save, made, saved, force=asked.force)
        if client is not None and asked.register:
            _display(client.actions.register(made))
        return _run(asked, made, received, client) if client is not None and asked.run else made

    return magic


def _check(asked: Namespace) -> None:
    """Raises an error for an invalid variable name, and for options that have no effect without another option."""
    if asked.variable and not asked.variable.isidentifier():
        raise InvalidArgument(
            f"invalid variable name {asked.variable!r}: expected a Python identifier, for example my_action",
            hint="Write %%action NAME, followed by the options.",
        )
    if not asked.run:
        needless = {"--params": asked.params, "--until-effective": asked.until_effective, "--trace": asked.trace}
        if lost := [name for name, given in needless.items() if given]:
            raise InvalidArgument(f"{lost[0]} requires --run", hint="Add --run.")
    if asked.force and not asked.save:
        raise InvalidArgument("--force requires --save", hint="Add --save FILE.")
    if asked.register and not (asked.name or asked.variable):
        raise InvalidArgument("--register requires a name for the action", hint="Add --name TEXT.")


def _make(asked: Namespace, cell: str, names: dict[str, Any]) -> Action:
    made = Action(cell, name=asked.name or asked.variable or "", description=asked.description)
    if asked.derive is None:
        return made
    name, equals, text = asked.derive.partition("=")
    if not (equals and name.isidentifier()):
        name, text = _DEFAULT_CONSTANT, asked.derive
    return made.derive(value_of(text, names, "the constant"), name=name)


def _run(asked: Namespace, made: Action, received: object, client: Client) -> Run:
    try:
        run = client.run(made, received, until_effective=asked.until_effective)
    except ActionError as error:
        if error.line is not None:
            error.add_note(f"Line {error.line} of the action is line {error.line + 1} of the cell.")
        if asked.trace:
            _show_trace(client, error)
        raise
    except Explicable as error:
        error.add_note(
            "To see what is missing and how to fix it, run this in the next cell: import sys; sys.last_value.explain()"
        )
        raise
    if asked.trace:
        _show_trace(client, run)
    return run


def _save(path: Path, made: Action, saved: dict[Path, str], *, force: bool) -> None:
    target = path.expanduser().resolve()
    there = target.read_text(encoding="utf-8", errors="replace") if target.exists() else None
    if there not in {None, made.source, saved.get(target)} and not force:
        raise InvalidArgument(
            f"{path} already exists with different content",
            hint="Choose another file, or add --force to overwrite this file.",
        )
    replace_file(target, made.source, _READABLE)
    saved[target] = made.source
    print(f"{path}: {made.size} bytes")  # noqa: T201 - the result of --save


def _show_findings(made: Action, connection: Connection) -> None:
    from svcnb.toolkit.lint import lint

    try:
        findings = lint(made, vocabulary=connection.vocabulary)
    except ImportError:
        return  # without the parser (extra 'lint'), errors appear only when the action runs
    if findings:
        _display(findings)


def _show_trace(client: Client, of: Run | ActionError) -> None:
    try:
        _display(client.trace(of))
    except TraceUnavailable as error:
        print(f"No timeline: {error}")  # noqa: T201 - a note next to the result of the cell


def _display(shown: object) -> None:
    from IPython.display import display

    display(shown)  # type: ignore[no-untyped-call]  # IPython has no types for it
