"""Conversion of models to pandas DataFrames whose column types match the fields."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin

from svcnb.client.secret import Secret
from svcnb.errors import ExtraMissing

if TYPE_CHECKING:
    from pandas import DataFrame, Series

    from svcnb.client.models.base import Model

_OPTIONAL = {bool: "boolean", int: "Int64", float: "float64"}


def frame(items: Iterable[Model], kind: type[Model]) -> DataFrame:
    """Returns models of one class as a DataFrame.

    Args:
        items: Models, one for each row.
        kind: Class of the models. Its method `Model.framed` returns the columns.

    Raises:
        ExtraMissing: pandas is not installed.
    """
    pd = pandas()
    rows = list(items)
    fields = kind.framed()
    columns = {name: _column([getattr(row, name) for row in rows], fields[name], kind, name) for name in fields}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)))


def pandas() -> Any:
    """Returns the pandas module.

    Raises:
        ExtraMissing: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ExtraMissing("data frames require pandas", "lab") from error
    return pd


def _column(values: list[Any], annotation: Any, kind: type[Model], name: str) -> Series[Any]:
    pd = pandas()
    type_, optional = _without_none(annotation)
    if type_ is datetime:
        return pd.Series(pd.to_datetime(values, utc=True), dtype="datetime64[us, UTC]")
    if name in kind.unix_seconds:  # 0 means that the time is not set
        return pd.Series(pd.to_datetime([value or None for value in values], unit="s", utc=True)).astype(
            "datetime64[us, UTC]"
        )
    if get_origin(type_) is Literal or name in kind.categories:
        return pd.Series(values, dtype="category")
    if type_ in _OPTIONAL:
        beyond = type_ is int and any(abs(value or 0) > _INT64 for value in values)
        return pd.Series(values, dtype=object if beyond else _OPTIONAL[type_] if optional else type_)
    return pd.Series(values, dtype="str" if type_ is str else object)


_INT64 = 2**63 - 1


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """Returns the type of a field without None, and whether the field allows None."""
    if get_origin(annotation) in (Union, UnionType):
        rest = [each for each in get_args(annotation) if each is not NoneType]
        return (rest[0] if len(rest) == 1 else object), len(rest) < len(get_args(annotation))
    return annotation, False


def is_secret(annotation: Any) -> bool:
    """Returns whether the type of a field is `Secret`, with or without None."""
    return _without_none(annotation)[0] is Secret
