"""Command ``svcnb completion``, which prints completion scripts for shells."""

from __future__ import annotations

import click
from click.shell_completion import BashComplete, FishComplete, ShellComplete, ZshComplete

from svcnb.cli._output import examples

_VARIABLE = "_SVCNB_COMPLETE"
_SHELLS: dict[str, type[ShellComplete]] = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}
_ZSH_COMPLETION = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }"
"""Zsh command that starts zsh's completion system, unless the user's configuration has already started this system.

The completion script needs the completion system, because the script calls `compdef`.
"""


@click.command("completion", epilog=examples("svcnb completion bash"))
@click.argument("shell", type=click.Choice(list(_SHELLS)))
def command(shell: str) -> None:
    """Print the completion script for a shell.

    After the shell loads the script, the Tab key completes commands, options and choices. To load the script in
    every new shell, run the command for your shell once:

    \b
      bash  svcnb completion bash >> ~/.bashrc
      zsh   svcnb completion zsh >> ~/.zshrc
      fish  svcnb completion fish > ~/.config/fish/completions/svcnb.fish

    Then open a new shell.
    """  # noqa: D301 - click requires a backspace character here
    from svcnb.cli._root import cli

    # Do not use click's own `source()`, because it runs bash to check its version, which fails without bash.
    script = _SHELLS[shell](cli, {}, "svcnb", _VARIABLE)
    text = script.source_template % script.source_vars()
    if shell == "zsh":
        header, rest = text.split("\n", 1)  # zsh reads the header only in the first line
        text = f"{header}\n{_ZSH_COMPLETION}\n{rest}"
    click.echo(text)
