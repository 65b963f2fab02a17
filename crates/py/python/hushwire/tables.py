"""Tables and their owners."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Union

from hushwire import _native
from hushwire.errors import UsageError

__all__ = ["Table", "double", "of"]

_EPOCH = datetime.date(1970, 1, 1).toordinal()
_MOMENT = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


def _refused(cause: str, remedy: str) -> UsageError:
    return UsageError(step="reading a table", cause=cause, remedy=remedy)


def double(bits: int = 32) -> str:
    """The type of a column of floats that become multiples of ``2**-bits``, 0 to 48.

    >>> double(16)
    'DOUBLE(16)'
    """
    if not 0 <= bits <= 48:
        raise _refused(f"a double has 0 to 48 fractional bits, and not {bits}", "write double(32)")
    return f"DOUBLE({bits})"


class Table:
    """A table and its owner: :func:`of` makes one. No text of it has a value of a row."""

    def __init__(
        self,
        owner: str | None,
        data: _native.Columns | None,
        columns: list[str],
        key: list[str],
        rows: int,
        padded: bool,
    ) -> None:
        #: Who brings it; None for the member that is called as the table.
        self.owner = owner
        #: The columns as SQL declares them: everybody learns these.
        self.columns = columns
        #: The columns of which no two rows have the same values.
        self.key = key
        #: The rows that everybody learns of.
        self.rows = rows
        #: Whether some of them may be padding.
        self.padded = padded
        self._data = data

    def __repr__(self) -> str:
        whose = f" of {self.owner}" if self.owner else ""
        return f"<hushwire.Table{whose}: {self.rows} rows, {', '.join(self.columns)}>"

    def __reduce__(self) -> str:
        raise UsageError(
            step="pickling",
            cause="a table is its owner's, and is not pickled",
            remedy="pickle the data frame itself",
        )


def of(
    owner: str | None,
    frame: Any = None,
    *,
    key: Union[str, Sequence[str]] = (),
    columns: Union[Mapping[str, str], Sequence[str], None] = None,
    rows: int | None = None,
    pad: int | None = None,
) -> Table:
    """Say whose a table is, and what everybody may know of it.

    ``frame`` is a data frame of pandas, polars, pyarrow or DuckDB, a dictionary of lists, a list of
    dictionaries, or the path of a CSV or Parquet file. Without one, the table is another process's:
    then ``columns`` has declarations, as ``["id INTEGER NOT NULL"]``, and ``rows`` their number.

    ``key`` names columns of which no two rows have the same values: a join needs that of one side.
    ``columns`` may give types by name, as ``{"price": "DECIMAL(9, 2)"}``, and otherwise names the
    columns that are taken. ``pad`` is the number of rows that others learn of, at least those there are.

    >>> import hushwire as hw
    >>> hw.of("bob", {"id": [1, 2], "city": ["Tartu", None]}, key="id")
    <hushwire.Table of bob: 2 rows, id BIGINT NOT NULL, city VARCHAR(8)>
    """
    keys = [key] if isinstance(key, str) else list(key)
    if frame is None:
        if rows is None or columns is None or isinstance(columns, Mapping):
            raise _refused(
                "a table without a frame is another process's, and its columns and rows are missing",
                'write columns=["id INTEGER NOT NULL"] and rows=1000',
            )
        return Table(owner, None, list(columns), keys, pad or rows, pad is not None)
    data = native(frame)
    if isinstance(columns, Mapping):
        declared = data.declared(dict(columns), None)
    else:
        declared = data.declared({}, None if columns is None else list(columns))
    if rows is not None and rows != data.rows:
        raise _refused(
            f"the frame has {data.rows} rows, and rows={rows} is given",
            "leave rows out, or write pad= for more rows than there are",
        )
    if pad is not None and pad < data.rows:
        raise _refused(f"the frame has {data.rows} rows, more than pad={pad}", "write more for pad")
    return Table(owner, data, declared, keys, data.rows if pad is None else pad, pad is not None)


def native(frame: Any) -> _native.Columns:
    """The native columns of a frame."""
    if isinstance(frame, _native.Columns):
        return frame
    if isinstance(frame, (str, PathLike)):
        return _native.Columns.file(fspath(frame))
    if not hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "collect"):
        # A lazy frame of polars.
        frame = frame.collect()
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _native.Columns.arrow(frame)
        except ImportError:
            # A data frame of pandas needs pyarrow for it.
            pass
    if hasattr(frame, "to_dict") and hasattr(frame, "columns"):
        frame = {str(name): _of_pandas(frame[name]) for name in frame.columns}
    if isinstance(frame, Mapping):
        return _lists({str(name): _listed(values) for name, values in frame.items()})
    if isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(str(name) for row in frame for name in row))
        return _lists({name: [row.get(name) for row in frame] for name in names})
    raise _refused(
        f"{type(frame).__name__} is no table",
        "bring a data frame, a dictionary of lists, or the path of a CSV or Parquet file",
    )


def _of_pandas(column: Any) -> list[Any]:
    return [None if missing else value for value, missing in zip(column.tolist(), column.isna())]


def _listed(values: Any) -> list[Any]:
    if hasattr(values, "tolist"):
        values = values.tolist()
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise _refused("a column is no list", "bring a list of values for each column")
    return list(values)


def _lists(columns: dict[str, list[Any]]) -> _native.Columns:
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1:
        raise _refused("columns have different lengths", "bring a value for each row, or None")
    rows = lengths.pop() if lengths else 0
    return _native.Columns.lists(rows, [_column(name, values) for name, values in columns.items()])


def _column(name: str, values: list[Any]) -> tuple[str, str, tuple[int, int], list[Any]]:
    kinds = {_kind(name, value) for value in values if value is not None}
    if kinds == {"int", "float"}:
        kinds = {"float"}
    if kinds == {"int", "decimal"}:
        kinds = {"decimal"}
    if len(kinds) > 1:
        raise _refused(f"column {name} has values of several types", "bring values of one type")
    kind = kinds.pop() if kinds else "none"
    if kind == "float":
        return name, kind, (0, 0), [None if v is None else float(v) for v in values]
    if kind == "int":
        if all(v is None or -(2**63) <= v < 2**63 for v in values):
            return name, kind, (0, 0), values
        return _decimals(name, [None if v is None else decimal.Decimal(v) for v in values])
    if kind == "decimal":
        return _decimals(name, [None if v is None else decimal.Decimal(v) for v in values])
    if kind == "date":
        return name, kind, (0, 0), [None if v is None else v.toordinal() - _EPOCH for v in values]
    if kind == "time":
        return name, kind, (0, 0), [None if v is None else _moment(v) for v in values]
    return name, kind, (0, 0), values


def _kind(name: str, value: Any) -> str:
    # The order matters: a truth value is an integer, and a time is a date.
    for kind, types in (
        ("bool", bool),
        ("int", int),
        ("float", float),
        ("decimal", decimal.Decimal),
        ("time", datetime.datetime),
        ("date", datetime.date),
        ("text", str),
    ):
        if isinstance(value, types):
            return kind
    raise _refused(
        f"column {name} has values of type {type(value).__name__}",
        "bring truth values, numbers, decimals, dates, times or strings",
    )


def _moment(value: datetime.datetime) -> int:
    if value.tzinfo is None:
        value = value.replace(tzinfo=datetime.timezone.utc)
    return (value - _MOMENT) // _MICROSECOND


def _decimals(
    name: str, values: list[decimal.Decimal | None]
) -> tuple[str, str, tuple[int, int], list[Any]]:
    scale, digits = 0, 1
    for value in values:
        if value is None:
            continue
        if not value.is_finite():
            raise _refused(f"column {name} has a decimal that is no number", "bring None for it")
        _, figures, exponent = value.as_tuple()
        scale = max(scale, -int(exponent))
        digits = max(digits, len(figures) + int(exponent))
    precision = max(1, max(digits, 0) + scale)
    if precision > 38:
        raise _refused(f"column {name} has decimals of more than 38 digits", "round them before")
    with decimal.localcontext() as context:
        context.prec = 80
        steps = [None if v is None else int(v.scaleb(scale)) for v in values]
    return name, "decimal", (precision, scale), steps
