"""All commands in a line each: what ``svcnb --help`` prints, without click, which alone would triple its time."""

from __future__ import annotations

from svcnb.exit_codes import ExitCode

# Name -> the help line. It is also the first line of the command's own help; a test holds both equal.
COMMANDS: dict[str, str] = {
    "account": "Make accounts, look at them, and hand them over.",
    "actions": "Register actions and put them into groups.",
    "apply": "Make the account as it is described.",
    "billing": "Credit: balance and top-up.",
    "chain-secured": "ChainSecured accounts: open them, create wallets and keys, resume, audit.",
    "cid": "Print the CID of a source file.",
    "completion": "Print the completion script of a shell.",
    "doctor": "Check versions, parts, ports and the service.",
    "emulator": "Run the service on this machine.",
    "explain": "Explain why a key may run an action, or what is missing.",
    "fetch": "Fetch the parts that are no Python, for use without network.",
    "groups": "Groups: which keys may run which actions with which wallets.",
    "history": "Past runs of this machine's clients, and what they cost.",
    "keys": "Usage keys: restricted API keys.",
    "lab": "Open JupyterLab on the lessons, with the emulator running.",
    "lite": "The workbook as a static site: lessons and emulator in a browser tab.",
    "login": "Store an address and a key in the configuration file.",
    "lint": "Find what will go wrong with actions before they run.",
    "new": "Make a project from a recipe.",
    "plan": "Show what separates the account from its description.",
    "record": "Record the answers of a live service, without secrets.",
    "report": "Make a report: run history, spend, permissions, triggers, or a notebook of your own.",
    "run": "Run an action from a source file.",
    "sign": "Sign the typed data of a ChainSecured flow.",
    "templates": "Templates of derived actions: released once, never changed.",
    "triggers": "Triggers: actions that run by themselves.",
    "types": "Write TypeScript declarations, with which editors help with actions.",
    "wallets": "Wallets, whose keys stay in the service's custody.",
    "workshop": "Teach a group: emulators for every learner, and a board of their progress.",
}

_HELP = """\
Usage: svcnb [OPTIONS] COMMAND [ARGS]...

  Accounts, keys, wallets and actions of the service: use it, or run it on this machine.

  svcnb lab                           learn, in JupyterLab
  svcnb emulator                      the service on this machine
  svcnb cid action.js                 the CID of a source
  svcnb run action.js --params '{}'   run it

  Address and key come from --base-url and --key-file, from --profile, from SVC_BASE_URL and
  SVC_API_KEY, or from the configuration file that svcnb login writes.

Options:
  --version   Print the version.
  -h, --help  Print this. Every command has its own: svcnb emulator --help

Commands:
"""


def help_text() -> str:
    """What ``svcnb --help`` prints."""
    width = max(map(len, COMMANDS))
    commands = "".join(f"  {name:<{width}}  {line}\n" for name, line in sorted(COMMANDS.items()))
    codes = ", ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in ExitCode)
    return f"{_HELP}{commands}\nExit codes: {codes}.\n"
