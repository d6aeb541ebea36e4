"""Program that draws charts in a separate process. `svcnb.charts.native` starts the program and reads its output.

A request consists of a line with a number of bytes, and JSON of this size. A response consists of a line with ``drawn``
or ``failed`` and a number of bytes, and content of this size. The process ends at the end of its standard input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import sys
from typing import Any


def main() -> None:
    """Draws charts until the end of standard input."""
    timeout = float(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt of a notebook signals the whole process group
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of native code must not corrupt a response
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device, not a file
        import vl_convert

        draw: dict[str, Any] = {"svg": vl_convert.vegalite_to_svg, "png": vl_convert.vegalite_to_png}
        for line in sys.stdin.buffer:
            request = json.loads(sys.stdin.buffer.read(int(line)))
            # If the parent process has ended, this process must end even during an endless drawing.
            faulthandler.dump_traceback_later(timeout + 5, exit=True, file=nowhere)
            try:
                made = draw[request["form"]](request["spec"], **request["options"])
                state, content = "drawn", made if isinstance(made, bytes) else made.encode()
            except ValueError as refused:
                state, content = "failed", str(refused).encode(errors="replace")
            faulthandler.cancel_dump_traceback_later()
            answers.write(f"{state} {len(content)}\n".encode() + content)
            answers.flush()


if __name__ == "__main__":
    main()
