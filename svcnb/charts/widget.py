"""Widget for live charts. It contains the libraries that Altair's widget loads from the internet."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Final

import altair as alt

from svcnb.bundles import read_bundle

_LIBRARIES: Final = Path(__file__).with_name("static") / "vega.js"
_IMPORT: Final = re.compile(r"""^import\s.*?from\s+["']https?://.*?$""", re.MULTILINE)


@cache
def offline_widget() -> type[alt.JupyterChart]:
    """Returns a subclass of `altair.JupyterChart` that contains the JavaScript libraries instead of downloading them.

    All other code of the widget is Altair's own, so parameters and selections work as in `altair.JupyterChart`.

    Raises:
        ModuleNotFoundError: anywidget is not installed (extra ``lab``).
    """
    from altair.jupyter import jupyter_chart

    script = Path(jupyter_chart.__file__).with_name("js") / "index.js"
    libraries = f"{read_bundle(_LIBRARIES).decode()}\nconst {{ vegaEmbed, lodashDebounce }} = found;\n"

    class LiveChart(alt.JupyterChart):
        """Live chart of Altair with a copy of its JavaScript libraries, for use without internet access."""

        _esm = libraries + _IMPORT.sub("", script.read_text(encoding="utf-8"))

    return LiveChart
