"""Hints for users of the command line.

The hints of the client contain Python code. The hints in this module contain commands instead.
"""

from __future__ import annotations

import sys
from typing import Final

_KEY: Final = "Pass a key with --key-file FILE, or set SVC_API_KEY"
_APPROVAL: Final = "Get a token approved with `svcnb triggers authorize FILE`. Then pass --token-file FILE."
_PAYMENT: Final = "Check the id of the payment, which `svcnb billing top-up` prints."

_IN_PYTHON: Final = ("error.explain()", "triggers.authorize()")

# Maps the name of a class in svcnb.client.errors to the next step. The text replaces only the default hint of a class,
# never a hint for a specific case.
_ADVICE: Final = {
    "Unauthorized": (
        f"{_KEY}. To create an account, run `svcnb account create NAME --save FILE`. A deleted key is no longer valid."
    ),
    "OutOfCredit": "Add credit with `svcnb billing top-up 500`. To see the balance, run `svcnb billing balance`.",
    "Forbidden": (
        "To see what is missing and how to fix it, run `svcnb explain ACTION`. A new permission takes a few seconds "
        "to take effect: use `svcnb run --until-effective 60`."
    ),
    "NotFound": "Check the id. To see the existing objects, run `svcnb groups list`, `svcnb keys list`, `svcnb "
    "wallets list` or `svcnb actions list`.",
    "ActionError": "Correct the source. The CID then changes, so permit the new action in a group.",
    "TimedOut": "Try again: the service may be busy.",
    "NotTheApi": "Check --base-url or SVC_BASE_URL: it must be the part before /core/v1.",
    "PaymentFailed": "Start a new payment: `svcnb billing top-up CENTS`.",
}


def advice(error: BaseException) -> str:
    """Returns the next step for an error of the client.

    Args:
        error: The error that the client raised.

    Returns:
        The error's own hint if it is specific, otherwise the hint of its class, or an empty string.
    """
    own = str(getattr(error, "hint", ""))
    if own != getattr(type(error), "default_hint", "") and not any(said in own for said in _IN_PYTHON):
        return own
    errors = sys.modules.get("svcnb.client.errors")
    for name, step in _ADVICE.items():
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and isinstance(error, kind):
            if name == "NotFound" and "payment" in str(getattr(error, "message", "")):
                return _PAYMENT
            return _APPROVAL if name == "Unauthorized" and _is_about_a_token(error) else step
    return own


def _is_about_a_token(error: BaseException) -> bool:
    return "token" in str(getattr(error, "message", ""))
