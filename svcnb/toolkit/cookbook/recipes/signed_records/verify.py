"""Offline verification of receipts: ``python verify.py receipts.json ISSUER``."""

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


def canonical(receipt: dict[str, Any]) -> str:
    """Returns the text that the issuer signed: canonical JSON (RFC 8785)."""
    return json.dumps(receipt, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def head_of(receipt: dict[str, Any]) -> str:
    """Returns the hash of a receipt. The next receipt contains this hash."""
    return "0x" + keccak(canonical(receipt).encode("utf-8", "surrogatepass")).hex()


def problems(records: list[Any], issuer: str) -> list[str]:
    """Returns the problems in the records of one customer.

    The function cannot find missing records at the end of the list.

    Args:
        records: All records of the customer, as the store returns them.
        issuer: Address of the issuer's own key with its EIP-55 checksum. The address depends only on the
            issuer's CID.

    Returns:
        One line for each problem, or an empty list if the function finds no problem.
    """
    found, previous = [], "0x" + "00" * 32
    for number, record in enumerate(records, 1):
        receipt = record.get("receipt") if isinstance(record, dict) else None
        if not isinstance(receipt, dict):
            found.append(f"receipt {number}: expected an object with the fields receipt and signature")
            continue
        try:
            by = Account.recover_message(encode_defunct(text=canonical(receipt)), signature=record["signature"])
        except Exception:  # noqa: BLE001 - any malformed signature
            by = None
        if by != issuer:
            found.append(f"receipt {number}: {issuer} did not sign this receipt")
        if receipt.get("number") != number or receipt.get("previous") != previous:
            found.append(f"receipt {number}: the number, or the hash of the previous receipt, is wrong")
        previous = head_of(receipt)
    return found


def main() -> int:
    """Verifies the receipts in a file, prints the problems, and returns the exit code."""
    parser = argparse.ArgumentParser(description="Verifies the receipts of one customer without the service.")
    parser.add_argument("receipts", type=Path, metavar="receipts.json", help="list of all records of the customer")
    parser.add_argument("issuer", metavar="ISSUER", help="address of the issuer's own key, with its EIP-55 checksum")
    given = parser.parse_args()
    try:
        records = json.loads(given.receipts.read_text("utf-8"))
    except (OSError, ValueError) as error:
        parser.error(f"cannot read {given.receipts}: {error}")
    if not isinstance(records, list):
        parser.error(f"{given.receipts} does not contain a list of records")
    if not is_checksum_address(given.issuer):
        parser.error(f"invalid ISSUER {given.issuer}: expected an address with its EIP-55 checksum")
    wrong = problems(records, given.issuer)
    print("\n".join(wrong) or "All receipts are valid.")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
