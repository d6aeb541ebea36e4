"""File that stores each outcome of a batch immediately, on its own line, so that a killed process loses no outcome."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Final, NoReturn

from svcnb.client.errors import InvalidArgument
from svcnb.client.models.outcomes import Outcome
from svcnb.client.request import encode
from svcnb.files import read_text
from svcnb.protocol.errors import shown
from svcnb.protocol.nesting import parse

FORMAT: Final = "svcnb batch 1"
_OTHER_FILE: Final = "Pass another file. If you do not need the results in this file, you can delete it instead."


class BatchFile:
    """File with the outcomes of one batch. Only the owner can read the file, because responses can be confidential.

    Args:
        path: Path of the file. If the file does not exist, `open` creates the file.
        cid: CID of the action.
        params: Parameters of all runs.

    Raises:
        InvalidArgument: The parameters of a run cannot be encoded as JSON.
    """

    def __init__(self, path: Path, cid: str, params: Sequence[object]) -> None:
        self.path: Path = path.expanduser()
        digest = hashlib.sha256()
        for each in params:
            digest.update(encode(each) + b"\n")
        self._header = {"format": FORMAT, "cid": cid, "runs": len(params), "params": digest.hexdigest()}
        self._params = params
        self._file: IO[str] | None = None

    def read(self) -> Iterator[Outcome]:
        """Yields the saved outcomes, except an outcome whose line is incomplete after a crash.

        Raises:
            InvalidArgument: svcnb did not write the file, or the file belongs to another batch.
        """
        if not self.path.exists():
            return
        lines = read_text(self.path, limit=None).splitlines()
        if not lines:
            return
        if (header := _json(lines[0])) != self._header:
            self._refuse(header)
        for line in lines[1:]:
            kept = _json(line)  # None if a crash truncated the line
            if isinstance(kept, dict) and 0 <= kept.get("index", -1) < len(self._params):
                yield Outcome.model_validate({**kept, "params": self._params[kept["index"]]})

    def _refuse(self, header: Any) -> NoReturn:
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            raise InvalidArgument(
                f"the file {self.path} is not a batch file",
                hint="Pass the path of a new file, or of a file that svc.map(..., resume=path) wrote.",
            )
        if header.get("cid") != self._header["cid"]:
            other = f"it contains runs of the action {shown(header.get('cid'))}, not {self._header['cid']!r}"
        elif header.get("runs") != self._header["runs"]:
            other = f"that batch has {shown(header.get('runs'))} runs, but this batch has {self._header['runs']}"
        else:
            other = "that batch has other parameters"
        raise InvalidArgument(f"the file {self.path} belongs to another batch: {other}", hint=_OTHER_FILE)

    def open(self) -> None:
        """Opens the file for appending, and creates the file if it does not exist."""
        new = not self.path.exists() or not self.path.stat().st_size
        descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file = os.fdopen(descriptor, "a", encoding="utf-8")
        # Start a new line, so that the next outcome is not appended to a line that a crash truncated.
        self._line(self._header) if new else self._file.write("\n")

    def write(self, outcome: Outcome) -> None:
        """Saves one outcome."""
        if self._file is not None:
            self._line(outcome.model_dump(exclude={"params", "exception"}))

    def close(self) -> None:
        """Closes the file. The file does not store the outcomes of runs that end later."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _line(self, value: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")
            self._file.flush()


def _json(line: str) -> Any:
    try:
        return parse(line)
    except ValueError:
        return None
