"""``svcnb completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from svcnb.cli._examples import examples

_VARIABLE = "_SVCNB_COMPLETE"


@click.command("completion", epilog=examples("svcnb completion bash"))
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    r"""Print the completion script of a shell.

    After it is loaded, the Tab key completes commands, options and choices. To load it in every new shell, run once:

    \b
      bash  svcnb completion bash >> ~/.bashrc
      zsh   svcnb completion zsh >> ~/.zshrc
      fish  svcnb completion fish > ~/.config/fish/completions/svcnb.fish

    Tab then asks the program for what fits.
    """
    from svcnb.cli._root import cli

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"this version of click has no completion for {shell}.")
    # click's own `source()` runs bash to look at its version, which a computer without it does not have.
    script = kind(cli, {}, "svcnb", _VARIABLE)
    click.echo(script.source_template % script.source_vars())
