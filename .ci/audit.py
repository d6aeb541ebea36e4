"""Finds known vulnerabilities in the pinned versions: ``python .ci/audit.py ADVISORIES``.

ADVISORIES is a folder or a file of advisories in the OSV format, such as the export of the PyPI ecosystem. The script
does not use the network. It exits with 1 if an advisory affects a pinned version.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

sys.path.insert(0, str(Path(__file__).parent))
from sbom import pins


def affected(advisory: dict[str, Any], name: str, version: str) -> bool:
    """Returns whether an advisory affects a version (OSV schema: affected, versions, ranges)."""
    if advisory.get("withdrawn"):
        return False
    for entry in advisory.get("affected", ()):
        package = entry.get("package", {})
        if package.get("ecosystem") != "PyPI" or _normal(package.get("name", "")) != _normal(name):
            continue
        if version in entry.get("versions", ()):
            return True
        if any(_within(span.get("events", ()), version) for span in entry.get("ranges", ()) if span["type"] != "GIT"):
            return True
    return False


def _within(events: Iterable[dict[str, str]], version: str) -> bool:
    """Returns whether a version is between an `introduced` event and the next `fixed` or `last_affected` event."""
    seen, inside = Version(version), False
    for event in sorted(events, key=lambda event: _of(next(iter(event.values())))):
        (what, at) = next(iter(event.items()))
        if what == "introduced" and seen >= _of(at):
            inside = True
        elif (what == "fixed" and seen >= _of(at)) or (what == "last_affected" and seen > _of(at)):
            inside = False
    return inside


def _of(text: str) -> Version:
    try:
        return Version(text)
    except InvalidVersion:
        return Version("0")


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def advisories(place: Path) -> Iterator[dict[str, Any]]:
    """Yields all advisories in a folder or a file."""
    for file in [place] if place.is_file() else sorted(place.rglob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        yield from content if isinstance(content, list) else [content]


def findings(place: Path, pinned: dict[str, str]) -> list[str]:
    """Returns one line for each pinned version that an advisory affects."""
    return [
        f"{name} {version}: {advisory['id']} {advisory.get('summary', '')}".rstrip()
        for advisory in advisories(place)
        for name, version in pinned.items()
        if affected(advisory, name, version)
    ]


if __name__ == "__main__":
    found = findings(Path(sys.argv[1]), {name: version for name, (version, _) in pins().items()})
    sys.stdout.write("\n".join([*found, f"{len(found)} known vulnerabilities among {len(pins())} pinned versions", ""]))
    sys.exit(bool(found))
