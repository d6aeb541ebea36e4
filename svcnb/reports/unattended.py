"""Support for scheduled reports: a lock, a notification, and the deletion of old reports."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from string import punctuation
from typing import IO, Any, Final
from urllib.parse import quote, urlsplit

from svcnb.client.errors import ConfigError, SvcnbError
from svcnb.exit_codes import ExitCode

_TIMEOUT_S: Final = 10.0
_CHECK: Final = "Check the address that --notify sets, and check that the webhook accepts JSON."
_TIME: Final = re.compile(r"-(\d{8}T\d{6}Z)(?:-(\d+))?$")
_STAMP: Final = r"-\d{8}T\d{6}Z(?:-\d+)?\.(?:ipynb|html|pdf)"


class ReportRunning(SvcnbError):
    """Error for a report that another process is already running."""

    exit_code = ExitCode.BUSY


class NotificationFailed(SvcnbError):
    """Error for a webhook that did not accept the summary of ``--notify``."""


@contextmanager
def locked(folder: Path, name: str) -> Iterator[None]:
    """Context manager that locks a report while it runs. If the process ends, the operating system releases the lock.

    Raises:
        ReportRunning: Another process is running the report.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f".{name}.lock"
    with path.open("a+b") as file:
        if not _lock(file):
            raise ReportRunning(
                f"another process is creating the report {name}",
                hint=f"Wait until that process ends. The process holds the lock {path}.",
            )
        yield


def _lock(file: IO[bytes]) -> bool:
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(0)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]  # Windows only
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def ipython_folder() -> Iterator[None]:
    """Context manager that sets a temporary IPython folder while a report runs, if the home folder is not writable.

    System users of scheduled services often have no home folder. Without the temporary folder, IPython would print a
    warning to standard error, which cron sends by e-mail. IPython would also create a folder for each process, and not
    delete it.
    """
    usual = Path(os.path.expanduser("~/.ipython"))  # noqa: PTH111 - never fails
    if "IPYTHONDIR" in os.environ or os.access(usual if usual.exists() else usual.parent, os.W_OK):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="svcnb-ipython-", ignore_cleanup_errors=True) as folder:
        os.environ["IPYTHONDIR"] = folder
        try:
            yield
        finally:
            del os.environ["IPYTHONDIR"]


def webhook(url: str) -> str:
    """Checks the URL of a webhook and returns it. Errors never contain the URL, because it often contains a secret.

    Raises:
        ConfigError: The URL does not use http or https.
    """
    with suppress(ValueError):  # do not show the exception, because its message can contain a part of the URL
        parts = urlsplit(url)
        if parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0:
            return url
    raise ConfigError(
        "invalid address for --notify: expected an http or https address", hint="Pass --notify https://host/path."
    )


def notify(url: str, summary: Mapping[str, Any]) -> None:
    """Sends a summary as JSON to a webhook. The function does not follow redirects.

    Raises:
        NotificationFailed: The webhook is not reachable, or did not respond with a 2xx status.
    """
    parts = urlsplit(webhook(url))
    connect = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = connect(parts.hostname or "", parts.port, timeout=_TIMEOUT_S)
    where = f"{parts.scheme}://{parts.hostname}"
    target = quote((parts.path or "/") + (f"?{parts.query}" if parts.query else ""), safe=punctuation)
    try:
        body = json.dumps(summary).encode()
        connection.request("POST", target, body, {"Content-Type": "application/json"})
        status = connection.getresponse().status
    except (OSError, HTTPException, UnicodeError) as error:
        raise NotificationFailed(
            f"cannot send the notification to {where}: {type(error).__name__}", hint=_CHECK
        ) from None
    finally:
        connection.close()
    if not 200 <= status < 300:  # noqa: PLR2004 - 2xx statuses mean success
        raise NotificationFailed(
            f"{where} responded to the notification with status {status}: expected a status from 200 to 299",
            hint=_CHECK,
        )


def delete_old(folder: Path, name: str, keep: int) -> list[Path]:
    """Deletes the oldest files of one report. The newest files, and files with a name from ``--file``, remain.

    Args:
        folder: Folder of the reports.
        name: Name of the report.
        keep: Number of newest runs of the report to keep. Each run has a notebook, an HTML page and sometimes a PDF
            file.

    Returns:
        The deleted files.
    """
    pattern = re.compile(re.escape(name) + _STAMP)
    reports: dict[str, list[Path]] = {}
    for path in folder.iterdir():
        if pattern.fullmatch(path.name):
            reports.setdefault(path.stem, []).append(path)
    order = sorted(reports, key=_age)
    deleted = [path for stem in order[: max(0, len(order) - keep)] for path in reports[stem]]
    for path in deleted:
        with suppress(FileNotFoundError):
            path.unlink()
    return deleted


def _age(stem: str) -> tuple[str, int]:
    """Returns the time in a file name, and the number after it that distinguishes reports of the same second."""
    found = _TIME.search(stem)
    return (found[1], int(found[2] or 1)) if found else ("", 0)
