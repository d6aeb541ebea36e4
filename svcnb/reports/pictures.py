"""Pictures and tables of reports; where there is nothing to draw, the sentence that says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from svcnb.client import display

if TYPE_CHECKING:
    from svcnb.charts.renderer import Layers
    from svcnb.toolkit.permission_audit import Permissions

MOST: Final = 30
"""Most keys, and most groups, in one matrix."""

_CELL: Final = 26
_RIGHTS: Final = {"run": "R", "manage": "M", "run and manage": "R M"}


class Sentence:
    """Words in the place of a picture.

    Args:
        text: What it says.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.text)}</p>"


class Rows:
    """A table.

    Args:
        columns: Its head.
        rows: Its rows; texts are shown as they are.
        empty: What is said when there are none.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
        self.columns = tuple(columns)
        self.rows = [tuple(row) for row in rows]
        self.empty = empty

    def __repr__(self) -> str:
        return "\n".join("  ".join(map(str, row)) for row in [self.columns, *self.rows]) if self.rows else self.empty

    def _repr_html_(self) -> str:
        return display.table(self.columns, self.rows, empty=self.empty)


def picture(chart: Callable[..., Any], data: Any, **options: Any) -> Any:
    """Returns a chart, or what there is to say when it has nothing to draw.

    Args:
        chart: One of `svcnb.charts`.
        data: What it draws.
        **options: Its other arguments.
    """
    from svcnb.charts import NothingToDraw

    try:
        return chart(data, **options)
    except NothingToDraw as nothing:
        return Sentence(f"Nothing to draw: {nothing.message}.")


def permission_matrix(permissions: Permissions) -> Layers | Sentence:
    """Draws which usage key may do what in which group: R where it runs actions, M where it changes what is permitted.

    Args:
        permissions: What an account permits.
    """
    import altair as alt

    from svcnb.charts.renderer import Layers

    keys, groups = permissions.keys[:MOST], [group for group, _ in permissions.groups][:MOST]
    names = {key.api_key_hash: f"{key.name or 'key'} {key.api_key_hash[:6]}" for key in keys}
    rows = [
        {"key": names[key.api_key_hash], "group": f"{group.id} {group.name}", "may": right, "letter": _RIGHTS[right]}
        for key in keys
        for group in groups
        if (right := _right(key, group.id))
    ]
    if not rows:
        return Sentence("Nothing to draw: no usage key may do anything in any group.")
    left_out = len(permissions.keys) - len(keys) + len(permissions.groups) - len(groups)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "group", type="nominal", sort=[f"{group.id} {group.name}" for group in groups],
            axis=alt.Axis(title="group", orient="top", labelAngle=-40, labelLimit=140, ticks=False),
        ),
        y=alt.Y("key", type="nominal", sort=list(names.values()), axis=alt.Axis(title=None, ticks=False)),
    )  # fmt: skip
    colour = alt.Color(
        "may", type="nominal", scale=alt.Scale(domain=list(_RIGHTS), range=["#9CC9E8", "#F0C78A", "#E79A6B"]),
        legend=alt.Legend(title="may", orient="bottom"),
    )  # fmt: skip
    text = f"{len(permissions.keys)} usage keys in {len(permissions.groups)} groups"
    more = f"{left_out} keys or groups beyond {MOST} left out" if left_out else ""
    return Layers(
        layer=[
            base.mark_rect(stroke="#888", strokeWidth=0.5).encode(color=colour),
            base.mark_text(color="#1F1F1F", fontSize=11).encode(text=alt.Text("letter", type="nominal")),
        ],
        title=alt.TitleParams(
            "What each usage key may do in each group", subtitle=[each for each in (text, more) if each]
        ),
        description=f"What each usage key may do in each group: {text}",
        width=alt.Step(max(_CELL, 34)),
        height=alt.Step(_CELL),
    )


def _right(key: Any, group: int) -> str:
    runs = bool({0, group} & set(key.execute_in_groups))
    manages = bool({0, group} & {*key.manage_ipfs_ids_in_groups, *key.add_pkp_to_groups, *key.remove_pkp_from_groups})
    return " and ".join(word for word, there in (("run", runs), ("manage", manages)) if there)
