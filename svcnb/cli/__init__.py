"""The command line, one file per noun.

A command's file is imported when the command runs, and what it needs when it is needed. ``svcnb --help`` imports not
even click: what it says stands in `svcnb.cli._overview`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial

from svcnb.cli._overview import help_text
from svcnb.exit_codes import ExitCode


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line.

    Args:
        arguments: What follows ``svcnb``; the process's own arguments when None.

    Returns:
        An `ExitCode`. Expected failures are told in two lines on standard error, never with a trace.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "_SVCNB_COMPLETE" in os.environ:  # a shell asks what fits; the answer is all ours, and click writes it as bytes
        return _run_with_click(given)
    if given in ([], ["-h"], ["--help"]):
        sys.stdout.write(help_text())
        return ExitCode.OK
    from svcnb.cli._terminal import safe_terminal

    with safe_terminal():
        return _run(given)


def _run(given: list[str]) -> int:
    from svcnb.cli._errors import guarded

    if given[:1] == ["emulator"]:
        from svcnb.cli._serve import quick_loading, serve, serve_supervised

        without_click: dict[tuple[str, ...], Callable[[], int]] = {
            (): partial(serve, {}),
            ("--supervised",): serve_supervised,
        }
        with quick_loading():
            return guarded(without_click.get(tuple(given[1:]), partial(_run_with_click, given)))
    return guarded(partial(_run_with_click, given))


def _run_with_click(given: list[str]) -> int:
    from svcnb.cli._root import run

    return run(given)
