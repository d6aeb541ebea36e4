"""Command line of svcnb, with one file for each resource.

The program imports the module of a command, and each dependency, only on first use. The command
``svcnb --help`` does not import click, because `svcnb.cli._overview` contains the help text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from svcnb.cli._overview import help_text
from svcnb.exit_codes import ExitCode


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line, and returns an `ExitCode`. Prints an expected failure without a traceback.

    Args:
        arguments: The arguments after ``svcnb``. None means the arguments of the process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    _replace_closed_streams()
    if sys.stdout is None:  # the output, for example a new key, would be lost
        sys.stderr.write(
            "Error: standard output is closed\nNext step: Redirect standard output to a file, a pipe or /dev/null.\n"
        )
        return ExitCode.USAGE
    if "_SVCNB_COMPLETE" in os.environ:  # a shell requests completions, which click itself writes as bytes
        return _run_with_click(given)
    from svcnb.cli._terminal import safe_terminal

    with safe_terminal():
        return _run(given)


def _replace_closed_streams() -> None:
    """Replaces closed standard input and standard error with the null device."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 - open until the process ends


def _run(given: list[str]) -> int:
    from svcnb.cli._errors import guarded

    if given in ([], ["-h"], ["--help"]):
        return guarded(_print_help)
    if given[:1] == ["emulator"]:
        # The search for plugins of pydantic reads the metadata of all installed packages. The emulator uses no plugin.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        from svcnb.cli._serve import serve, serve_supervised

        without_click: dict[tuple[str, ...], Callable[[], int]] = {
            (): partial(serve, {}),
            ("--supervised",): serve_supervised,
        }
        return guarded(without_click.get(tuple(given[1:]), partial(_run_with_click, given)))
    return guarded(partial(_run_with_click, given))


def _print_help() -> int:
    sys.stdout.write(help_text())
    sys.stdout.flush()
    return ExitCode.OK


def _run_with_click(given: list[str]) -> int:
    from svcnb.cli._root import run

    return run(given)
