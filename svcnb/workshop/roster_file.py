"""Parser for lists of learners: CSV files with names and e-mail addresses, or files with one name per line."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Final, NamedTuple

from svcnb.client.errors import InvalidArgument
from svcnb.files import read_file
from svcnb.protocol.limits import MAX_LEARNERS, MAX_ROSTER_BYTES
from svcnb.workshop.roster import clean

_NAMES: Final = frozenset({"name", "display name", "learner", "student"})
_EMAILS: Final = frozenset({"email", "e-mail", "mail", "e-mail address", "email address"})


class Entry(NamedTuple):
    """Name and e-mail address of one learner in a file. Without an e-mail address in the file, ``email`` is empty."""

    name: str
    email: str = ""


def read_roster(path: Path) -> list[Entry]:
    """Reads a file and returns its learners.

    The file is text in UTF-8. Commas, semicolons or tabs separate the columns. A first line with a column name such as
    ``name`` or ``email`` is a header. Without a header, a value with ``@`` is an e-mail address and the first other
    value is the name. A line with separators but without values is a learner without a name, who gets the name
    *Learner* and a number. Identical names without an e-mail address also get a number.

    Args:
        path: Path of the file with the learners.

    Raises:
        InvalidArgument: The file does not have this format, is too large, or contains no learners or too many learners.
    """
    try:
        raw = read_file(path)
    except OSError as error:
        raise InvalidArgument(
            f"cannot read learners from {path}: {error.strerror or error}",
            hint="Check the path and the permissions of the file.",
        ) from None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + raw.count(b"\n", 0, error.start)
        raise InvalidArgument(
            f"cannot read learners from {path}: line {line} is not UTF-8 text",
            hint='Save the file as UTF-8; in spreadsheet programs, the format is called "CSV UTF-8".',
        ) from None
    if len(raw) > MAX_ROSTER_BYTES:
        raise InvalidArgument(
            f"{path} has {len(raw)} bytes; at most {MAX_ROSTER_BYTES} are allowed",
            hint="Keep only the columns name and email.",
        )
    lines = [line for line in text.splitlines() if line.strip(" ")]
    separator = max(",;\t", key=lines[0].count) if lines else ","
    rows = [[value.strip() for value in row] for row in csv.reader(lines, delimiter=separator)]
    heads = [value.casefold() for value in rows[0]] if rows else []
    if named := not (_NAMES | _EMAILS).isdisjoint(heads):
        rows = rows[1:]
    if not 0 < len(rows) <= MAX_LEARNERS:
        raise InvalidArgument(
            f"{path} contains {len(rows)} learners: expected 1 to {MAX_LEARNERS}",
            hint="Write one learner per line. To teach more learners, start another workshop.",
        )
    entries: list[Entry] = []
    for number, row in enumerate(rows, 1):
        name, email = _by_head(heads, row) if named else _by_value(row)
        display = clean(name) or clean(email, "e-mail address") or f"Learner {number}"
        taken = {each.name.casefold() for each in entries if not (email and each.email)}
        same = sum(each == display.casefold() or each.startswith(f"{display.casefold()} (") for each in taken)
        entries.append(Entry(f"{display} ({same + 1})" if same else display, email))
    return entries


def _by_head(heads: list[str], row: list[str]) -> tuple[str, str]:
    values = dict(zip(heads, row, strict=False))
    name = next((values[head] for head in heads if head in _NAMES and head in values), "")
    return name, next((values[head] for head in heads if head in _EMAILS and head in values), "")


def _by_value(row: list[str]) -> tuple[str, str]:
    email = next((value for value in row if "@" in value), "")
    return next((value for value in row if value and value != email), ""), email
