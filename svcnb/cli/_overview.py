"""List of all commands, which ``svcnb --help`` prints.

This module does not import click, because the import would triple the run time of ``svcnb --help``.
"""

from __future__ import annotations

from svcnb.exit_codes import ExitCode

# Maps the name of each command to its help line. The line is also the first line of the command's own help, which a
# test checks.
COMMANDS: dict[str, str] = {
    "account": "Create, check, convert, transfer and audit accounts.",
    "actions": "List, register and delete actions.",
    "apply": "Change the account to match its description file.",
    "billing": "Show the credit, and add credit.",
    "chain-secured": "Create, show and audit ChainSecured accounts, and create their wallets and keys.",
    "cid": "Print the CID of a source file, or of each action in a description file.",
    "completion": "Print the completion script for a shell.",
    "doctor": "Check versions, external tools, ports and the service.",
    "emulator": "Run the service on this machine.",
    "explain": "Explain why a key can or cannot run an action.",
    "fetch": "Download the non-Python dependencies for offline use.",
    "groups": "Manage groups, which define the actions and wallets that keys can use.",
    "history": "Show the past runs that this machine recorded, and their cost.",
    "keys": "Manage usage keys: restricted API keys.",
    "lab": "Open the lessons in JupyterLab, with a running emulator.",
    "lite": "Build and serve a static site that runs the lessons and the emulator in the browser.",
    "login": "Store a service address and a key in the configuration file.",
    "lint": "Find problems in actions before they run.",
    "new": "Create a project from a recipe.",
    "plan": "Show the changes needed to match the description file.",
    "record": "Record the responses of a live service, without secrets.",
    "report": "Create a report: run history, spend, permissions, triggers, or your own notebook.",
    "run": "Run an action from a source file, or from a description file.",
    "sign": "Sign the typed data of a ChainSecured flow.",
    "templates": "Manage templates of derived actions.",
    "triggers": "Manage triggers, which run actions automatically.",
    "types": "Write TypeScript declarations, so that an editor completes and checks the code of actions.",
    "wallets": "Manage wallets, whose private keys the service derives.",
    "workshop": "Run a workshop, with a progress board and with an emulator for each learner.",
}

_HELP = """\
Usage: svcnb [OPTIONS] COMMAND [ARGS]...

  Command line of the service: accounts, keys, wallets and actions, and a local emulator.

  svcnb lab                           open the lessons in JupyterLab
  svcnb emulator                      run the service on this machine
  svcnb cid action.js                 print the CID of a source file
  svcnb run action.js --params '{}'   run an action

  The address and the key come from options (--base-url, --key-file, --profile). Without options,
  they come from SVC_BASE_URL and SVC_API_KEY, or from the file that svcnb login writes.

Options:
  --version   Print the version.
  -h, --help  Print this help. Each command has its own help: svcnb emulator --help

Commands:
"""


def help_text() -> str:
    """Returns the output of ``svcnb --help``."""
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name:<{width}}  {line}\n" for name, line in sorted(COMMANDS.items()))
    codes = ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in ExitCode)
    return f"{_HELP}{commands}\nExit codes: {codes}.\n"
