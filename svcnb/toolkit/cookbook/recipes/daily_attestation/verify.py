"""Offline verification of a chain of reports: ``python verify.py reports.json SIGNER``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from eth_account import Account
from eth_account.messages import encode_defunct
from eth_utils.address import is_checksum_address
from eth_utils.crypto import keccak

FIELDS = {"title": str, "period": int, "value": str, "previous": str, "signature": str}


def text_of(report: dict[str, Any]) -> str:
    """Returns the text that the action signed."""
    return f"{report['title']}\n{report['period']}\n{report['value']}\n{report['previous']}"


def problems(reports: list[Any], signer: str) -> list[str]:
    """Returns the problems in a chain of reports. The function cannot find missing reports at the end of the chain.

    Args:
        reports: The reports, oldest first. The first report must be the first report of the chain.
        signer: Address of the action's own key with its EIP-55 checksum. The address depends only on the
            action's CID.

    Returns:
        One line for each problem, or an empty list if the function finds no problem.
    """
    found, previous, expected = [], "0x" + "00" * 32, None
    for number, report in enumerate(reports, 1):
        if not isinstance(report, dict) or any(type(report.get(name)) is not kind for name, kind in FIELDS.items()):
            found.append(f"report {number}: expected strings in {', '.join(FIELDS)}, and a whole number in period")
            continue
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
        previous, expected = "0x" + keccak(text.encode("utf-8", "surrogatepass")).hex(), period + 1
    return found


def main() -> int:
    """Verifies the reports in a file, prints the problems, and returns the exit code."""
    parser = argparse.ArgumentParser(description="Verifies a chain of reports without the service.")
    parser.add_argument("reports", type=Path, metavar="reports.json", help="list of all reports, oldest first")
    parser.add_argument("signer", metavar="SIGNER", help="address of the action's own key, with its EIP-55 checksum")
    given = parser.parse_args()
    try:
        reports = json.loads(given.reports.read_text("utf-8"))
    except (OSError, ValueError) as error:
        parser.error(f"cannot read {given.reports}: {error}")
    if not isinstance(reports, list):
        parser.error(f"{given.reports} does not contain a list of reports")
    if not is_checksum_address(given.signer):
        parser.error(f"invalid SIGNER {given.signer}: expected an address with its EIP-55 checksum")
    wrong = problems(reports, given.signer)
    print("\n".join(wrong) or "No problems found. Also check the period of the last report.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
