"""Help of the command line, which is correct and fast."""

from __future__ import annotations

import shlex

import click
import pytest

from svcnb.cli._overview import COMMANDS
from svcnb.cli._root import LazyGroup, cli
from svcnb.exit_codes import ExitCode

CONTEXT = cli.make_context("svcnb", [], resilient_parsing=True)


def every_command() -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name in COMMANDS:
        command = LazyGroup().get_command(CONTEXT, name)
        assert command is not None
        found[name] = command
        if isinstance(command, click.Group):
            found |= {f"{name} {inner}": each for inner, each in command.commands.items()}
    return found


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_the_overview_shows_the_first_line_of_each_command(name: str) -> None:
    command = every_command()[name]
    assert COMMANDS[name] == (command.help or "").partition("\n")[0]


@pytest.mark.parametrize("name", sorted(every_command()))
def test_every_command_and_option_has_a_description(name: str) -> None:
    command = every_command()[name]
    assert (command.help or "").strip().endswith((".", ")"))
    assert "\\b" not in (command.help or "")  # in a raw string, click would print this mark
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert [option.name for option in options if not option.help] == []


EXAMPLES = [
    (name, line.rpartition("svcnb ")[2])
    for name, command in every_command().items()
    for line in (command.epilog or "").splitlines()
    if "svcnb " in line
]


@pytest.mark.parametrize(("name", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_every_example_uses_its_command_with_existing_options(name: str, line: str) -> None:
    words = shlex.split(line)
    assert words[: len(name.split())] == name.split()
    command = every_command()[name]
    context = click.Context(command, parent=CONTEXT)
    # This runs only the parser, so the files need not exist.
    values, left, _ = command.make_parser(context).parse_args(words[len(name.split()) :])
    needed = {param.name for param in command.params if param.required}
    assert left == []
    assert needed <= {key for key, value in values.items() if value is not None}


@pytest.mark.parametrize("name", ["run", "account create", "keys create", "triggers create", "workshop start"])
def test_first_commands_of_a_task_show_an_example(name: str, svcnb) -> None:
    done = svcnb(*name.split(), "-h")
    assert next(f"  svcnb {line}" for other, line in EXAMPLES if other == name) in done.stdout


READING = {"list", "show", "balance", "exists", "cid", "run", "doctor"}


@pytest.mark.parametrize("name", sorted(name for name in every_command() if name.split()[-1] in READING))
def test_every_command_that_reads_supports_json(name: str) -> None:
    assert "--json" in {flag for option in every_command()[name].params for flag in option.opts}


def test_no_command_takes_a_secret_as_an_argument() -> None:
    for name, command in every_command().items():
        if name == "emulator":
            continue  # its options for secrets have other names, and can also read an environment variable or a pipe
        flags = {flag for option in command.params for flag in option.opts}
        assert flags & {"--api-key", "--key", "--private-key", "--token"} == set(), name


def test_the_overview_contains_each_command_once(svcnb) -> None:
    done = svcnb("--help")
    assert done.returncode == ExitCode.OK
    listed = done.stdout.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in listed] == sorted(COMMANDS)


def test_the_help_documents_every_exit_code(svcnb) -> None:
    told = svcnb("--help").stdout.partition("Exit codes:")[2]
    for code in ExitCode:
        assert f" {code.value} " in told


def test_every_help_option_prints_the_same_text(svcnb) -> None:
    assert svcnb().stdout == svcnb("-h").stdout == svcnb("--help").stdout == cli.get_help(CONTEXT) + "\n"


def test_the_module_and_the_command_are_the_same(svcnb) -> None:
    assert svcnb("--version").stdout.startswith("svcnb 0.")


def test_an_unknown_command_is_an_error_without_a_traceback(svcnb) -> None:
    done = svcnb("lap")
    assert done.returncode == ExitCode.USAGE
    assert "No such command 'lap'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_runs_as_a_process(name: str, svcnb_process) -> None:
    shown = svcnb_process(name, "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"Usage: svcnb {name}")
