"""Root command, which converts results and errors to exit codes."""

from __future__ import annotations

from importlib import import_module

import click

from svcnb.cli._overview import COMMANDS, help_text
from svcnb.exit_codes import ExitCode


class LazyGroup(click.Group):
    """Command group that imports the module of each command on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Returns the command names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Imports and returns the command with this name, or returns None for an unknown name."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(f"svcnb.cli.{cmd_name.replace('-', '_')}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a command as click does. For a mistyped name, the error suggests similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(error.command_name, possibilities=COMMANDS, ctx=ctx) from None

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        """Returns the help text of `svcnb.cli._overview`."""
        return help_text().rstrip("\n")


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from svcnb import __version__

        click.echo(f"svcnb {__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Print the version."
)
def cli() -> None:
    """Command line of the service: accounts, keys, wallets and actions, and a local emulator."""


def run(arguments: list[str]) -> int:
    """Runs a command line with click, and returns the exit code.

    The function prints the errors of click, for example an unknown option. It does not catch other exceptions. Ctrl-C
    and a refused confirmation raise `KeyboardInterrupt`.
    """
    try:
        code = cli.main(args=arguments, prog_name="svcnb", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.Abort as stopped:
        if not isinstance(stopped.__context__, EOFError):
            raise KeyboardInterrupt from None
        click.echo(
            "\nError: standard input ended before the command received an answer. Run the command in a terminal, "
            "or pass the answers as options, which --help lists.",
            err=True,
        )
        return ExitCode.USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    return code if isinstance(code, int) else ExitCode.OK
