"""Offline verification of a chain of reports: ``python verify.py reports.json SIGNER``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.crypto import keccak


def text_of(report: dict[str, Any]) -> str:
    """Returns the text that the action signed."""
    return f"{report['title']}\n{report['period']}\n{report['value']}\n{report['previous']}"


def problems(reports: list[dict[str, Any]], signer: str) -> list[str]:
    """Returns the problems in a chain of reports. The function cannot find missing reports at the end of the chain.

    Args:
        reports: The reports, oldest first. The first report must be the first report of the chain.
        signer: Address of the action's own key with its EIP-55 checksum. It depends only on the action's CID.

    Returns:
        One line for each problem, or an empty list if the function finds no problem.
    """
    found, previous, expected = [], "0x" + "00" * 32, None
    for report in reports:
        period, text = report["period"], text_of(report)
        try:
            by = Account.recover_message(encode_defunct(text=text), signature=report["signature"])
        except Exception:  # noqa: BLE001 - any malformed signature
            by = None
        if by != signer:
            found.append(f"period {period}: not signed by {signer}")
        if report["previous"] != previous:
            found.append(f"period {period}: does not refer to the previous report")
        if expected is not None and period != expected:
            found.append(f"period {period}: expected period {expected}")
        previous, expected = "0x" + keccak(text=text).hex(), period + 1
    return found


if __name__ == "__main__":
    wrong = problems(json.loads(Path(sys.argv[1]).read_text("utf-8")), sys.argv[2])
    print("\n".join(wrong) or "No problems found. Also check the date of the last report.")
    sys.exit(bool(wrong))
