"""Lists the public functions that no test executed: ``coverage json -o FILE && python .ci/uncovered.py FILE``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def uncovered(report: dict[str, Any]) -> list[str]:
    """Returns the file and name of each public function or method without an executed line, from a JSON report."""
    return [
        f"{path}: {name}"
        for path, file in sorted(report["files"].items())
        for name, found in file["functions"].items()
        if name and found["summary"]["num_statements"] and not found["summary"]["covered_lines"]
        if not any(part.startswith(("_", "<")) for part in (*_modules(path), *name.split(".")))
    ]


def _modules(path: str) -> tuple[str, ...]:
    return Path(path.removesuffix("/__init__.py")).with_suffix("").parts


def main(file: str) -> None:
    """Prints the functions and their number."""
    found = uncovered(json.loads(Path(file).read_text(encoding="utf-8")))
    lines = [f"public functions without a test: {len(found)}", *(f"  {each}" for each in found)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
