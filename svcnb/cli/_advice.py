"""Next steps in the words of the command line.

The client's own hints speak Python, which is what most of its users write; whoever typed a command needs a command.
"""

from __future__ import annotations

import sys
from typing import Final

_KEY: Final = "Give a key with --key-file FILE or in SVC_API_KEY"
_APPROVAL: Final = "`svcnb triggers authorize FILE` has the token in FILE approved; then pass --token-file FILE."

_IN_PYTHON: Final = ("error.explain()", "triggers.authorize()")

# Class in svcnb.client.errors -> what to do next. Only what is general is replaced, never a
# hint made for the case.
_ADVICE: Final = {
    "Unauthorized": f"{_KEY}; `svcnb account create NAME --save FILE` makes one. A removed key stays refused.",
    "OutOfCredit": "`svcnb billing top-up 500` adds credit, `svcnb billing balance` shows what is there.",
    "Forbidden": "`svcnb explain ACTION` names the missing link and what repairs it. A fresh grant takes a moment: "
    "`svcnb run --until-effective 60`.",
    "NotFound": "`svcnb groups list`, `keys list`, `wallets list` and `actions list` show what exists.",
    "ActionError": "Correct the source; its CID changes with it, so permit the new action again.",
    "TimedOut": "Try again: the service may be busy.",
    "NotTheApi": "Check --base-url or SVC_BASE_URL: it is the part before /core/v1.",
    "PaymentFailed": "Start again with `svcnb billing top-up CENTS`.",
}


def advice(error: BaseException) -> str:
    """What to do next after an error of the client.

    Args:
        error: What the client raised.

    Returns:
        The error's own hint where it was made for this case; empty where there is none.
    """
    own = str(getattr(error, "hint", ""))
    if own != getattr(type(error), "default_hint", "") and not any(said in own for said in _IN_PYTHON):
        return own
    errors = sys.modules.get("svcnb.client.errors")
    for name, step in _ADVICE.items():
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and isinstance(error, kind):
            return _APPROVAL if name == "Unauthorized" and _is_about_a_token(error) else step
    return own


def _is_about_a_token(error: BaseException) -> bool:
    return "token" in str(getattr(error, "message", ""))
