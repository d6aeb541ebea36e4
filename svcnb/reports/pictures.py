"""Images and tables of reports. Without data, a sentence replaces an image or table."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Final

from svcnb.brief import NO_MATH
from svcnb.checked import checked
from svcnb.client import display
from svcnb.client.models.billing import dollars
from svcnb.toolkit.account_data import key_names

if TYPE_CHECKING:
    from svcnb.toolkit.permission_audit import Permissions

MOST: Final = 30
"""Maximum number of keys in a permission matrix, and maximum number of groups."""

_CELL: Final = 26
_WIDE_CELL: Final = 34
_FEW: Final = 15
_EVERY: Final = "every group"
_WHOLE_CENTS: Final = 1_000
_RIGHTS: Final = {"run": "R", "manage": "M", "run and manage": "R M"}


class Sentence:
    """Text that replaces an image.

    Args:
        text: Text to show.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<p class='{NO_MATH}'>{escape(self.text)}</p>"


class Rows:
    """Table of a report.

    Args:
        columns: Names of the columns.
        rows: Rows of the table, as strings, numbers, lists or None. The table shortens long values.
        empty: Text to show if there are no rows.
        total: Number of all rows, if the table omits some rows. A line below the table then shows both numbers. None
            means that the table contains all rows.
    """

    def __init__(
        self, columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str, *, total: int | None = None
    ) -> None:
        self.columns: tuple[str, ...] = tuple(columns)
        self.rows: list[tuple[object, ...]] = [tuple(row) for row in rows]
        self.empty = empty
        self.total: int = len(self.rows) if total is None else total

    def __repr__(self) -> str:
        if not self.rows:
            return self.empty
        lines = ["  ".join(map(str, row)) for row in [self.columns, *self.rows]]
        return "\n".join([*lines, self._left_out()]).rstrip()

    def _repr_html_(self) -> str:
        below = f"<p class='svcnb-unseen'>{self._left_out()}</p>" if self._left_out() else ""
        return f"<div class='{NO_MATH}'>{display.table(self.columns, self.rows, empty=self.empty)}{below}</div>"

    def _left_out(self) -> str:
        """Returns the text below the table. The text is empty if the table contains all rows."""
        if self.total <= len(self.rows):
            return ""
        return f"{len(self.rows):,} of {self.total:,} rows are shown."


class Picture:
    """Chart as an image. Unlike a drawing inside HTML, an image also appears in notebooks that are not trusted.

    Args:
        chart: Any Altair chart.
    """

    def __init__(self, chart: Any) -> None:
        from svcnb.charts import svg
        from svcnb.charts.renderer import describe

        self.said: str = describe(chart.to_dict(context={"pre_transform": False}))
        self._svg = svg(chart)

    def __repr__(self) -> str:
        return self.said

    def _repr_html_(self) -> str:
        data = b64encode(self._svg.encode()).decode()
        return f'<img alt="{escape(self.said)}" src="data:image/svg+xml;base64,{data}">'


@checked
def money(cents: float) -> str:
    """Returns an amount in a readable unit: ``$12,345.67``, ``3.5 cents``, ``0.02 cents``.

    Args:
        cents: Amount in cents.
    """
    if cents == round(cents) or abs(cents) >= _WHOLE_CENTS:
        whole, point, rest = dollars(abs(round(cents))).partition(".")
        return f"{'-' if round(cents) < 0 else ''}${int(whole[1:]):,}{point}{rest}"
    return f"{cents:.2g} cents"


@checked
def count(number: int, one: str) -> str:
    """Returns a number with its unit, for example ``1 run`` or ``1,204 runs``.

    Args:
        number: Number to show, with commas as thousands separators.
        one: Unit in the singular. The function adds an s to form the plural.
    """
    return f"{number:,} {one}{'' if number == 1 else 's'}"


@checked
def picture(chart: Callable[..., Any], data: Any, **options: Any) -> Picture | Sentence:
    """Returns a chart as an image, or a sentence if there is no data.

    Args:
        chart: Function of `svcnb.charts` that returns the chart.
        data: Data to draw, for example ``data.runs``.
        **options: Other arguments of the function.
    """
    from svcnb.charts import NothingToDraw

    try:
        return Picture(chart(data, **options))
    except NothingToDraw as nothing:
        return Sentence(f"{nothing.message[:1].upper()}{nothing.message[1:]}.")


@checked
def permission_matrix(permissions: Permissions) -> Picture | Sentence:
    """Returns a chart with the permissions of usage keys in groups.

    R means running actions, and M means adding or removing actions or wallets. A separate column shows permissions for
    every group, including future groups. The chart shows at most 30 keys and 30 groups. If no key has a permission in
    a group, the function returns a sentence.

    Args:
        permissions: Permissions of an account, from `read_permissions`.
    """
    import altair as alt

    from svcnb.charts.renderer import Layers

    # Keys with permissions in every group come first, so that the matrix always contains them.
    keys = sorted(permissions.keys, key=lambda key: not _right(key, 0))[:MOST]
    groups = [group for group, _ in permissions.groups][:MOST]
    names = key_names(permissions.keys)
    columns = {0: _EVERY} | {group.id: f"{group.id} {group.name}" for group in groups}
    rows = [
        {"key": names[key.api_key_hash], "group": column, "may": right, "letter": _RIGHTS[right]}
        for key in keys
        for number, column in columns.items()
        if (right := _right(key, number))
    ]
    if not rows:
        return Sentence("No usage key has permissions in any group.")
    if not any(row["group"] == _EVERY for row in rows):
        del columns[0]
    left_out = len(permissions.keys) - len(keys) + len(permissions.groups) - len(groups)
    plain = alt.Axis(title=None, ticks=False)
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X(
            "group", type="nominal", sort=list(columns.values()), scale=alt.Scale(domain=list(columns.values())),
            axis=alt.Axis(title="group", orient="top", labelAngle=-40, labelLimit=140, ticks=False),
        ),
        y=alt.Y("key", type="nominal", sort=[names[each.api_key_hash] for each in keys], axis=plain),
    )  # fmt: skip
    colour = alt.Color(
        "may", type="nominal", scale=alt.Scale(domain=list(_RIGHTS), range=["#9CC9E8", "#F0C78A", "#E79A6B"]),
        legend=alt.Legend(title="permission", orient="bottom"),
    )  # fmt: skip
    text = f"{count(len(permissions.keys), 'usage key')} in {count(len(permissions.groups), 'group')}"
    more = f"{left_out} keys or groups are not shown, because the limit is {MOST}" if left_out else ""
    return Picture(
        Layers(
            layer=[
                base.mark_rect(stroke="#888", strokeWidth=0.5).encode(color=colour),
                base.mark_text(color="#1F1F1F", fontSize=11).encode(text=alt.Text("letter", type="nominal")),
            ],
            title=alt.TitleParams(
                "Permissions of each usage key in each group", subtitle=[each for each in (text, more) if each]
            ),
            description=f"Permissions of each usage key in each group: {text}",
            width=alt.Step(_CELL if len(columns) > _FEW else _WIDE_CELL),
            height=alt.Step(_CELL),
        )
    )


def _right(key: Any, group: int) -> str:
    """Returns ``run``, ``manage``, ``run and manage`` or an empty string. Group 0 is the wildcard for every group."""
    runs = group in key.execute_in_groups
    manages = group in {*key.manage_ipfs_ids_in_groups, *key.add_pkp_to_groups, *key.remove_pkp_from_groups}
    return " and ".join(word for word, there in (("run", runs), ("manage", manages)) if there)
