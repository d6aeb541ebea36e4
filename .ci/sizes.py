"""Measures the size that each extra adds to a new virtual environment, and prints a table.

Usage: ``python .ci/sizes.py WHEEL [--write]``. With ``--write``, the script also updates the table in the README. It
needs uv and a package index. The figures include the project itself and the bytecode that uv compiles.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
EXTRAS = {
    "": "the client, the calculation of CIDs, the command line",
    "chain": "ChainSecured accounts: signing, contract calls",
    "emulator": "the emulator, which simulates the service on this machine",
    "lab": "JupyterLab, panels, charts",
    "lint": "the linter for actions",
    "reports": "scheduled reports, created from notebooks",
    "testing": "pytest and nbval, to test your own actions and notebooks",
    "postgres": "the PostgreSQL driver, for several emulators that share a database",
    "all": "all extras above, and web3 for direct access to the chain",
    "workshop": "the emulator, JupyterLab, and JupyterHub for a workshop",
    "lite": "JupyterLite, to build the lessons as a static site",
    "cluster": "Dask, to run batches and reports on a cluster",
}
BEGIN, END = "<!-- sizes: written by .ci/sizes.py -->", "<!-- end of sizes -->"
BYTES_PER_MB = 1_000_000
UV = shutil.which("uv") or "uv"


def size(folder: Path) -> int:
    """Returns the total size of all files in a folder, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def measured(wheel: Path, extra: str) -> int:
    """Returns the bytes that an extra adds to an empty environment of this Python version."""
    with tempfile.TemporaryDirectory(prefix="svcnb-size-") as folder:
        subprocess.run([UV, "venv", "-q", "-p", sys.executable, folder], check=True)
        empty = size(Path(folder))
        wanted = f"{wheel}[{extra}]" if extra else str(wheel)
        command = [UV, "pip", "install", "-q", "--compile-bytecode", "--link-mode", "copy", "-p", folder]
        subprocess.run([*command, "-c", str(ROOT / "constraints.txt"), wanted], check=True)
        return size(Path(folder)) - empty


def table(figures: dict[str, int]) -> str:
    """Returns the table as Markdown.

    Args:
        figures: Sizes in bytes, with the extras as keys.
    """
    lines = ["| extra | contains | MB |", "|---|---|---|"]
    for extra, what in EXTRAS.items():
        name = f"`{extra}`" if extra else "(none)"
        lines.append(f"| {name} | {what} | {round(figures[extra] / BYTES_PER_MB)} |")
    return "\n".join(lines)


def main() -> None:
    """Measures and prints the sizes. With ``--write``, the script also updates the README."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheel", type=Path, help="a built wheel of the project")
    parser.add_argument("--write", action="store_true", help="write the table into README.md")
    given = parser.parse_args()
    text = table({extra: measured(given.wheel.resolve(), extra) for extra in EXTRAS})
    sys.stdout.write(text + "\n")
    if given.write:
        readme = README.read_text(encoding="utf-8")
        pattern = re.escape(BEGIN) + ".*?" + re.escape(END)
        README.write_text(
            re.sub(pattern, lambda _: f"{BEGIN}\n{text}\n{END}", readme, flags=re.DOTALL), encoding="utf-8"
        )


if __name__ == "__main__":
    main()
