"""List of results that notebooks display as a table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Generic, TypeVar, overload

from svcnb.client import display

if TYPE_CHECKING:
    from pandas import DataFrame

    from svcnb.client.models.base import Model

M = TypeVar("M", bound="Model")


class Listing(Sequence[M], Generic[M]):
    """Immutable list of models. A notebook displays the list as a table.

    Args:
        items: Models in the order of the list.
        of: Plural name of the models. A notebook shows an empty list with this name, for example as ``no wallets``.
        kind: Class of the models, which determines the columns of a DataFrame, even if the list is empty.

    Example:
        >>> from svcnb.client.models.wallets import Wallet
        >>> Listing([], of="wallets", kind=Wallet)
        []
    """

    __slots__ = ("_items", "_kind", "_of")

    def __init__(self, items: Iterable[M], *, of: str, kind: type[M]) -> None:
        self._items = tuple(items)
        self._of = of
        self._kind = kind

    @overload
    def __getitem__(self, index: int) -> M: ...
    @overload
    def __getitem__(self, index: slice) -> Listing[M]: ...
    def __getitem__(self, index: int | slice) -> M | Listing[M]:
        if isinstance(index, slice):
            return Listing(self._items[index], of=self._of, kind=self._kind)
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    @property
    def kind(self) -> type[M]:
        """Class of the models in the list, which determines the columns of `to_frame`."""
        return self._kind

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence) and not isinstance(other, (str, bytes)):
            return self._items == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._items)

    def __repr__(self) -> str:
        if not self._items:
            return "[]"
        return "[" + ",\n ".join(repr(item) for item in self._items) + "]"

    def _repr_html_(self) -> str:
        rows = [item.summary() for item in self._items]
        # Omit columns without any value, for example secrets, which listings never contain.
        names = [name for name in rows[0] if any(row[name] not in (None, "", ()) for row in rows)] if rows else []
        return display.table(
            [self._items[0].heading(name) for name in names],
            [[row[name] for name in names] for row in rows],
            empty=f"no {self._of}",
        )

    def to_frame(self) -> DataFrame:
        """Returns the models as a pandas DataFrame, with one row for each model and one column for each field.

        Secrets and long strings have no column.

        Times are UTC timestamps, amounts in cents are integers, and states and kinds are categories.

        Raises:
            ExtraMissing: pandas is not installed. The hint contains the command that installs pandas.
        """
        from svcnb.client.frames import frame

        return frame(self._items, self._kind)
