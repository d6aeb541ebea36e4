"""Hints for users of the command line.

The hints of the client contain Python code. The hints in this module contain commands instead.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from typing import Final

_KEY: Final = "Pass a key with --key-file FILE, or set SVC_API_KEY"
_APPROVAL: Final = (
    "To get an approved token, run `svcnb triggers authorize FILE`. Then pass FILE with --token-file, or with "
    "--triggers-token-file for `svcnb plan` and `svcnb apply`."
)
_NEW_ACCOUNT: Final = "To create an account, run `svcnb chain-secured create NAME --wallet-key-file FILE`"
_CONVERSION: Final = "To convert an account in API mode, run `svcnb account convert --wallet-key-file FILE`"
_PAYMENT: Final = "Check the id of the payment, which `svcnb billing top-up` prints."
_ADDRESS: Final = "Set --base-url or SVC_BASE_URL to the part of the address before /core/v1."

_IN_PYTHON: Final = ("error.explain()", "triggers.authorize()")

# Maps the name of a class in svcnb.client.errors to the next step. The text replaces only the default hint of a class,
# never a hint for a specific case.
_ADVICE: Final = {
    "Unauthorized": (
        f"{_KEY}. To create an account, run `svcnb account create NAME --save FILE`. A deleted key is no longer valid."
    ),
    "OutOfCredit": "Add credit with `svcnb billing top-up 500`. To see the balance, run `svcnb billing balance`.",
    "Forbidden": "The usage key does not have the permission, or has expired. To check the key, run `svcnb keys list "
    "--json`. In ChainSecured mode, only the owner can change the account: see `svcnb chain-secured --help`.",
    "NotFound": "Check the id. To see the existing objects, run `svcnb groups list`, `svcnb keys list`, `svcnb "
    "wallets list` or `svcnb actions list`.",
    "ActionError": "Correct the source. The CID then changes, so permit the new action in a group.",
    "TimedOut": "Run the command again in a few seconds.",
    "NotTheApi": _ADDRESS,
    "PaymentFailed": "Start a new payment: `svcnb billing top-up CENTS`.",
}
_EXECUTION: Final = (
    "To see what is missing and how to fix it, run `svcnb explain ACTION`. A new permission takes a few seconds "
    "to take effect: use `svcnb run --until-effective 60`."
)

# Replaces Python in hints for specific cases. Each pattern is a regular expression.
_COMMANDS: Final[tuple[tuple[str, str | Callable[[re.Match[str]], str]], ...]] = (
    (r"Pass a name: .*", "Pass a name that is not empty."),
    (r"Pass the account key: svc\..*", "Pass the account key with --key-file FILE, or set SVC_API_KEY."),
    (r"Pass a key: svc\.explain.*", f"{_KEY}."),
    (r"Pass a valid key: svc\.with_key\(key\), or set", "Pass a valid key with --key-file FILE, or set"),
    (
        r"Pass svcnb\.Action\(source\), its CID \(Qm\.\.\.\) or the source text\..*",
        "Pass a source file or a CID (Qm...).",
    ),
    (
        r"Pass a Wallet or its address (\([^)]{0,200}\))\.(.{0,200}) The id of a wallet is not its address\.",
        r"Pass an address \1.\2",
    ),
    (r"Pass a Group, its number .*", "Pass the number of a group, for example 7."),
    (r"Pass a signer, or an address: ", "Pass an address: "),
    (r"Pass the Payment that top_up returned, or its id\.", "Pass the id of the payment."),
    (r"Pass the api_key_hash of an account, .*", "Pass the api_key_hash that `svcnb chain-secured open` prints."),
    (r"(?:Create an account: |To create an account, call )svc\.chain_secured\.create\(owner, name\)", _NEW_ACCOUNT),
    (r"(?:Or convert|To convert) an account in API mode(?:: |, call )svc\.accounts\.convert\(owner\)", _CONVERSION),
    (r"svc\.chain_secured\.open\(owner\)", "`svcnb chain-secured open --wallet-key-file FILE`"),
    (r"svc\.chain_secured\.pending\(\)", "`svcnb chain-secured pending`"),
    (
        r"svc\.chain_secured\.resume\('([^']{0,200})', owner\)",
        r"`svcnb chain-secured resume \1 --wallet-key-file FILE`",
    ),
    (r" (?:To delete the record, call|Or delete the record:) svc\.chain_secured\.delete_pending\([^)]{0,200}\)\.", ""),
    (r" To only read the account, call svc\.chain_secured\.look\(api_key_hash\)\.", ""),
    (r": svc\.chain_secured\.drift\(\) lists[^.]{0,200}\.", "."),
    (r" To list (?:the )?missing functions(?: of the contract)?, call svc\.chain_secured\.drift\(\)\.", ""),
    (r"svc\.chain_secured\.look\('([^']{0,200})'\)", r"`svcnb account audit \1`"),
    (r"mine\.describe\(\)", "`svcnb chain-secured open --wallet-key-file FILE`"),
    (r"\. Or add this permission to the usage key, for example: mine\..*", "."),
    (
        r"svc\.usage_keys\.update\(key\)\. In ChainSecured mode, .*",
        "`svcnb keys update HASH --execute-in-group GROUP`.",
    ),
    (r"(?:svc|mine)\.usage_keys\.list\(\)", "`svcnb keys list`"),
    (r"(?:svc|mine)\.(groups|wallets|actions)\.list\(\)", r"`svcnb \1 list`"),
    (r"(?:svc|mine)\.groups\.contents\(([^)]{0,200})\)", lambda found: f"`svcnb groups show {found[1].upper()}`"),
    (r": svc\.groups\.update\(\d{1,20}, (?:actions=actions|wallets=wallets)\)", ""),
    (r"svc\.groups\.(add|remove)_(action|wallet)\b", r"`svcnb groups \1-\2`"),
    (r"Pass the UsageKey that mine\.usage_keys\.create\(\) returned", "Pass the usage key"),
    (r"(?:svc|mine)\.actions\.register\(action, name=name\)", "`svcnb actions register FILE --name NAME`"),
    (
        r"Pass the action or its source: svcnb\.Action\(source\)\.cid is version 0\.",
        "Pass the source file, or the CID that `svcnb cid FILE` prints.",
    ),
    (r"svc\.billing\.top_up\(([^)]{0,200})\)", r"`svcnb billing top-up \1`"),
    (r"svc\.billing\.balance\(\)", "`svcnb billing balance`"),
    (r"svc\.billing\.wait\(payment\) again", "`svcnb billing confirm PAYMENT`"),
    (r"svcnb\.cid\(source\)", "`svcnb cid FILE`"),
    (r"triggers\.list\(\)", "`svcnb triggers list`"),
    (r", or allow more time: svcnb\.TriggersClient\(.*", "."),
    (r"triggers\.runs\(trigger\)", "`svcnb triggers runs TRIGGER`"),
    (
        r"Pass an object from triggers\.create or triggers\.list, or its id\.",
        "Pass an id that `svcnb triggers list` shows.",
    ),
    (r"Omit the token\. The client then creates .*", _APPROVAL),
    (r"Then call authorize again: the client uses", "Then run the command again: it uses"),
    (r" at the line in error\.line\.", " at this line."),
    (r"The schema of every body is in /core/v1/openapi\.json\.", "The message names the field."),
    (r"Pass triggers_url=URL, or set SVC_TRIGGERS_URL\..*", "Pass --triggers-url URL, or set SVC_TRIGGERS_URL."),
    (r'Add "cron" to config, .*', "Pass the times, for example --cron '0 9 * * *'."),
    (r"Add the fields (chain, .{0,200}) to config\.", r"Add the fields \1 to the JSON object of --config."),
    (r"emu\.faucet\(address\)", "`svcnb emulator faucet ADDRESS`"),
    (r", or use `with svcnb\.Emulator\(\).*", "."),
    (r", or with svcnb\.Emulator\(\)", ""),
    (r" In Python, use `with svcnb\.Emulator\(\).*", ""),
    (
        r"List the snapshots with emulator\.snapshots\(\) or GET /_emulator/snapshots",
        "To list the snapshots, run `svcnb emulator snapshot list`",
    ),
    (r"emulator\.delete_snapshot\(name\) or DELETE /_emulator/snapshots/NAME", "`svcnb emulator snapshot delete NAME`"),
    (r"emulator\.faults\.clear\(\) or DELETE /_emulator/faults", "`svcnb emulator fault --clear`"),
    (r"Pass base_url=URL \(--base-url on the command line\)", "Pass --base-url URL"),
    (r": (?:svcnb\.Client\()?rpc_url=(?:url|\.\.\.)\)?[,.] [Oo]r (?:set )?SVC_RPC_URL", " with SVC_RPC_URL"),
    (r"Pass the password of the file: .*", "Run the command again, and enter the password of the key file."),
    (r"rpc_url \(SVC_RPC_URL\)", "SVC_RPC_URL"),
    (r"SVCNB_CONFIG or config_file", "SVCNB_CONFIG"),
    (r"Set (base|triggers)_url to", r"Set --\1-url to"),
    (r"svc\.node\.chain_config\(\) returns", "`svcnb doctor` shows"),
    (r" svc\.node\.limits\(\) returns the limits of one run\.", ""),
    (r"svc\.node\.version\(\) or ", ""),
    (r": svcnb\.Client\('([^']{0,200})'\)", r" with --base-url \1"),
    (r", or pass the path: History\(path\)", ""),
    (r"Workshop\.add\(name\) or ", ""),
    (r"Pass an authorized client: plan\(.*", "Pass the file of an approved token with --triggers-token-file."),
    (r"Pass a destination for the secrets: apply\(.*", "Pass a file for the secrets with --secrets FILE."),
    (r"Pass the file or the dictionary with the secret: apply\(.*", "Pass the file with the secret: --secrets FILE."),
    (r"\b(a different|a new) file: state=\"[^\"]{0,40}\"\.", r"\1 file with --state FILE."),
    (r"Plan\.apply\(\) or ", ""),
    (r"as a new version: release\([^)]{0,200}\)\.", "as a new version with --version."),
    (r"\b([Cc])all (?=`svcnb )", lambda found: "Run " if found[1] == "C" else "run "),
    (r"repeat the call([.,])", r"run the command again\1"),
)
_PATTERNS: Final = tuple(re.compile(pattern) for pattern, _ in _COMMANDS)

_SHORT_OPTIONS: Final = {"actions": "--action", "wallets": "--wallet", "execute_in_groups": "--execute-in-group"}
_VERBS: Final = {"wallets.create", "groups.create", "groups.add_action", "groups.add_wallet", "usage_keys.create"} | {
    "usage_keys.update",
    "billing.top_up",
}


def advice(error: BaseException) -> str:
    """Returns what the user can do after an error of the client, as text with commands instead of Python code.

    Returns an empty string if no advice exists.
    """
    own = str(getattr(error, "hint", ""))
    if own != getattr(type(error), "default_hint", "") and not any(said in own for said in _IN_PYTHON):
        return in_commands(own)
    errors = sys.modules.get("svcnb.client.errors")
    if own and own == getattr(errors, "EXECUTION_HINT", ""):
        return _EXECUTION
    message = str(getattr(error, "message", ""))
    if message.startswith("there is no endpoint "):
        return _ADDRESS
    if message.startswith("there is no payment "):
        return _PAYMENT
    for name, step in _ADVICE.items():
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and isinstance(error, kind):
            is_about_a_token = name == "Unauthorized" and "token" in message
            return _APPROVAL if is_about_a_token else step
    return in_commands(own)


def in_commands(hint: str) -> str:
    """Returns a hint of the client with commands instead of Python code."""
    for pattern, (_, command) in zip(_PATTERNS, _COMMANDS, strict=True):
        hint = pattern.sub(command, hint)
    return hint


def repair_commands(code: str) -> str:
    """Translates Python code that adds a missing permission into commands, one per line.

    Lines for which no command exists stay unchanged.

    A name in upper case, such as ``GROUP``, is the value that the previous command prints.
    """
    return "\n".join(map(_command, code.splitlines()))


def _command(line: str) -> str:
    statement = ast.parse(line).body[0]
    call = getattr(statement, "value", None)
    if not isinstance(call, ast.Call):
        return line
    verb = ast.unparse(call.func).partition(".")[2]
    if verb not in _VERBS or not {option.arg for option in call.keywords} <= set(_SHORT_OPTIONS):
        return line
    words = [*verb.replace("usage_keys", "keys").replace("_", "-").split("."), *map(_word, call.args)]
    for option in call.keywords:
        for value in getattr(option.value, "elts", ()):
            words += [_SHORT_OPTIONS[str(option.arg)], _word(value)]
    return " ".join(["svcnb", *words])


def _word(value: ast.expr) -> str:
    import shlex

    return value.id.upper() if isinstance(value, ast.Name) else shlex.quote(str(ast.literal_eval(value)))
