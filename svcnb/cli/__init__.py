"""The command line, one file per noun.

A command's file is imported when the command runs, and what it needs when it is needed, so ``svcnb --help`` costs no
more than click itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module

import click

from svcnb.cli._errors import explain
from svcnb.exit_codes import ExitCode

# Name -> module in this package, and the help line. The line stands here, too, so that the list of commands imports
# none of them; a test holds both equal.
COMMANDS: dict[str, tuple[str, str]] = {
    "account": ("account", "Make accounts and look at them."),
    "actions": ("actions", "Register actions and put them into groups."),
    "billing": ("billing", "Credit: balance and top-up."),
    "cid": ("cid", "Print the CID of a source file."),
    "doctor": ("doctor", "Check versions, parts, ports and the service."),
    "emulator": ("emulator", "Run the service on this machine."),
    "fetch": ("fetch", "Fetch the parts that are no Python, for use without network."),
    "groups": ("groups", "Groups: which keys may run which actions with which wallets."),
    "keys": ("keys", "Usage keys: credentials that may do little."),
    "lab": ("lab", "Open JupyterLab on the lessons, with the emulator running."),
    "run": ("run", "Run an action from a source file."),
    "sign": ("sign", "Sign the typed data of a ChainSecured flow."),
    "wallets": ("wallets", "Wallets, whose keys stay in the service's custody."),
}


class LazyGroup(click.Group):
    """A group that imports a command when it runs, and none for the list of commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """The names, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """The command itself, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"svcnb.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, from the table."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


def _show_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"svcnb {version('svcnb')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Print it.")
def cli() -> None:
    """Accounts, keys, wallets and actions of the svc service: use it, or run it on this machine.

    \b
    svcnb lab                          learn, in JupyterLab
    svcnb emulator                     the service on this machine
    svcnb cid action.js                the CID of a source
    svcnb run action.js --params '{}'  run it

    Address and key come from --base-url and SVC_API_KEY, SVC_BASE_URL, or the configuration file.
    Exit codes: 0 done, 1 refused or failed, 2 usage, 3 a part is missing, 4 port in use,
    5 state unusable, 6 unreachable, 130 interrupted.
    """  # noqa: D301 - click's mark for "do not wrap"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command line.

    Args:
        arguments: What follows ``svcnb``; the process's own arguments when None.

    Returns:
        An `ExitCode`. Expected failures are told in two lines on standard error, never with a trace.
    """
    try:
        code = cli.main(args=None if arguments is None else list(arguments), prog_name="svcnb", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return ExitCode.INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        known = explain(error)
        if known is None:
            raise  # a defect of ours: the trace is what a report needs
        message, hint, code = known
        click.echo(f"Error: {message}", err=True)
        if hint:
            click.echo(f"Next step: {hint}", err=True)
        return code
    return code if isinstance(code, int) else ExitCode.OK
