"""Conversion of a report's page to a PDF with an installed Chromium."""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Final

_PROGRAMS: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_TIMEOUT_S: Final = 120
_POLICY: Final = (
    '<meta http-equiv="Content-Security-Policy" '
    "content=\"default-src 'none'; img-src data:; font-src data:; style-src 'unsafe-inline'\">"
)
_LOG: Final = logging.getLogger("svcnb.reports")


def chromium() -> str | None:
    """Returns the path in ``SVC_CHROMIUM``, or the path of an installed Chromium, Chrome or Edge, or None."""
    return os.environ.get("SVC_CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)


def print_pdf(page: Path) -> Path | None:
    """Prints a page to a PDF in the same folder, without scripts and without access to other addresses.

    Returns:
        Path of the PDF. If Chromium is missing or fails, the function logs a warning and returns None.
    """
    program = chromium()
    if program is None:
        _LOG.warning("no PDF was created: Chromium was not found. Install Chromium, or set SVC_CHROMIUM to its path.")
        return None
    pdf = page.with_suffix(".pdf")
    with tempfile.TemporaryDirectory(prefix="svcnb-pdf-", ignore_cleanup_errors=True) as profile:
        made, shown = Path(profile) / "report.pdf", Path(profile) / "report.html"
        command = [
            program, "--headless", "--disable-gpu", "--no-first-run", "--no-pdf-header-footer",
            f"--user-data-dir={profile}", f"--print-to-pdf={made}",
            *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),  # root needs this flag
            shown.as_uri(),
        ]  # fmt: skip
        try:
            shown.write_text(
                page.read_text(encoding="utf-8").replace("<head>", f"<head>{_POLICY}", 1), encoding="utf-8"
            )
            subprocess.run(command, check=True, timeout=_TIMEOUT_S, stdin=subprocess.DEVNULL, capture_output=True)
            beside = pdf.with_name(f".{pdf.name}.part")
            shutil.copyfile(made, beside)
            beside.replace(pdf)
        except (OSError, subprocess.SubprocessError) as error:
            _LOG.warning("no PDF was created: %s failed (%s)", program, type(error).__name__)
            return None
    return pdf
