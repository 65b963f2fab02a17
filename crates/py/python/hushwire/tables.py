"""Tables and their owners."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Union

from hushwire import _native
from hushwire.errors import PartyError, UsageError

__all__ = ["Table", "double", "of", "parts"]

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
    """A table and its owner. :func:`of` makes one. Its text forms contain no value of a row."""

    def __init__(
        self,
        owner: str | None,
        data: _native.Columns | None,
        columns: list[str],
        key: list[str],
        rows: int,
        padded: bool,
        *,
        left_out: Mapping[str, tuple[str, str]] | None = None,
        parts: Sequence[Table] = (),
    ) -> None:
        #: The owner; None for the member with the name of the table, and for several owners.
        self.owner = owner
        #: The declarations of the columns in SQL, which are public.
        self.columns = columns
        #: The columns that together are unique in each row.
        self.key = key
        #: The number of rows, which is public.
        self.rows = rows
        #: Whether some of them may be padding.
        self.padded = padded
        self._data = data
        #: Columns of the frame that SQL cannot take, each with the cause and the remedy.
        self._left_out = dict(left_out or {})
        self._parts = list(parts)

    @property
    def parts(self) -> list[Table]:
        """The parts of its owners, or the table itself if it has one owner.

        >>> import hushwire as hw
        >>> [part.owner for part in hw.parts({"ann": {"n": [1, 2]}, "bob": {"n": [3]}}).parts]
        ['ann', 'bob']
        """
        return self._parts or [self]

    def _of(self, owner: str) -> Table:
        """The same table with an owner. Parts that name an owner keep it."""
        if self._parts:
            return _joined([part._of(part.owner or owner) for part in self._parts])
        own = (self.columns, self.key, self.rows, self.padded)
        return Table(owner, self._data, *own, left_out=self._left_out)

    @property
    def is_known(self) -> bool:
        """Whether its columns are known. Otherwise another party of a session will tell them."""
        return bool(self.columns)

    def __repr__(self) -> str:
        whose = self._whose()
        if not self.is_known:
            return f"<hushwire.Table{whose}: columns not known yet>"
        return f"<hushwire.Table{whose}: {self.rows} rows, {', '.join(self.columns)}>"

    def _whose(self) -> str:
        owners = [part.owner for part in self.parts if part.owner]
        return f" of {' and '.join(owners)}" if owners else ""

    def _repr_html_(self) -> str:
        import html

        from hushwire.report import table

        whose = self._whose()
        keys = f", key {', '.join(self.key)}" if self.key else ""
        more = ", some of them padding" if self.padded else ""
        about = html.escape(f"table{whose}: {self.rows:,} rows{more}{keys}")
        columns = ((column.split(" ", 1) + [""])[:2] for column in self.columns)
        return f"<p>{about}</p>" + table(["column", "type"], columns)

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
    """Declare the owner of a table, and the facts about it that are public.

    ``frame`` is a data frame of pandas, polars, pyarrow or DuckDB, a dictionary of lists, a list of
    dictionaries, or the path of a CSV or Parquet file. Without a frame, the table is another
    party's, which tells its columns and row count in the session. ``columns`` may have the expected
    declarations, such as ``["id INTEGER NOT NULL"]``, and ``rows`` the expected number of rows. Any
    others are then refused.

    ``key`` names columns that together are unique in each row; a join needs a key on one side.
    ``columns`` gives types by name, such as ``{"price": "DECIMAL(9, 2)"}``, or the names of the columns
    to take. Without it, columns that SQL cannot take are left out, and a query that reads one of them
    is refused. ``pad`` is the number of rows that others learn, which is at least the true number.

    >>> import hushwire as hw
    >>> hw.of("bob", {"id": [1, 2], "city": ["Tartu", None]}, key="id")
    <hushwire.Table of bob: 2 rows, id BIGINT NOT NULL, city VARCHAR(8)>
    """
    if owner is not None and not isinstance(owner, str):
        raise _refused(f"an owner is a name, and not {type(owner).__name__}", 'write it as in hw.of("alice", frame)')
    for name, number in (("rows", rows), ("pad", pad)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, int)):
            raise _refused(f"{name} is {type(number).__name__}, and no whole number", f"write {name}=1000")
    keys = [key] if isinstance(key, str) else list(key)
    if frame is None:
        if owner is not None and not keys and (rows, columns, pad) == (None, None, None):
            return Table(owner, None, [], [], 0, False)
        if rows is None or not columns or isinstance(columns, Mapping):
            raise _refused(
                "a table without a frame is another party's, and its columns or rows are missing",
                'write columns=["id INTEGER NOT NULL"] and rows=1000, or the owner alone',
            )
        return Table(owner, None, list(columns), keys, pad or rows, pad is not None)
    data = native(frame)
    left_out: dict[str, tuple[str, str]] = {}
    if columns is None or isinstance(columns, Mapping):
        declared, others = data.usable(dict(columns or {}))
        left_out = {name: (cause, remedy) for name, cause, remedy in others}
        for name in left_out if not declared else [name for name in keys if name in left_out]:
            raise _refused(*left_out[name])
    else:
        declared = data.declared({}, list(columns))
    if rows is not None and rows != data.rows:
        raise _refused(
            f"the frame has {data.rows} rows, and rows={rows} is given",
            "leave rows out, or write pad= for more rows than there are",
        )
    if pad is not None and pad < data.rows:
        raise _refused(f"the frame has {data.rows} rows, more than pad={pad}", "write more for pad")
    size = data.rows if pad is None else pad
    return Table(owner, data, declared, keys, size, pad is not None, left_out=left_out)


def parts(frames: Mapping[str, Any], **options: Any) -> Table:
    """Declare one table whose rows come from several members. ``frames`` has a frame for each owner.
    ``options`` are those of :func:`of`, and ``pad`` may give a number for each owner.

    The parts have the same columns. Each type is wide enough for all parts, and a column may have NULL
    if it has NULL in one part. In a session of :func:`connect`, each party names only itself, and
    learns of the other parts from the session.

    >>> import hushwire as hw
    >>> stays = hw.parts({"north": {"days": [3, 9]}, "south": {"days": [4]}})
    >>> stays
    <hushwire.Table of north and south: 3 rows, days BIGINT NOT NULL>
    >>> with hw.local() as s:
    ...     s.sql("SELECT MAX(days) AS most, COUNT(*) AS n FROM stays", stays=stays).rows()
    [(9, 3)]
    """
    if not frames:
        raise _refused("a table of no parts", "write a frame for each owner")
    pads = options.pop("pad", None)
    if not isinstance(pads, Mapping):
        pads = dict.fromkeys(frames, pads)
    made = []
    for owner, frame in frames.items():
        table = frame if isinstance(frame, Table) else of(owner, frame, pad=pads.get(owner), **options)
        made.append(table._of(owner))
    return _joined(made)


def _joined(made: Sequence[Table]) -> Table:
    """One table of parts, whose column types are wide enough for all parts."""
    known = [part for part in made if part.is_known]
    columns = _common([part.columns for part in known]) if known else []
    left_out = {name: why for part in made for name, why in part._left_out.items()}
    rows, padded = sum(part.rows for part in made), any(part.padded for part in made)
    key = known[0].key if known else []
    if any(part.key != key for part in known):
        raise _refused("parts of one table have different keys", "write the same key= for all")
    return Table(None, None, columns, key, rows, padded, left_out=left_out, parts=made)


def _common(parts: list[list[str]]) -> list[str]:
    """Declarations of columns that are wide enough for all parts."""
    declared = [dict(split_declaration(column) for column in columns) for columns in parts]
    names = list(declared[0])
    for other in declared[1:]:
        odd = sorted(set(names) ^ set(other))
        if odd:
            raise _refused(
                f"column {odd[0]} is not in all parts of the table",
                "bring the same columns, or choose them by columns=",
            )
    columns = []
    for name, column in zip(names, parts[0]):
        types = [other[name] for other in declared]
        nullable = any(not ty.endswith(" NOT NULL") for ty in types)
        ty = _wide(name, [ty.removesuffix(" NOT NULL") for ty in types])
        quoted = column[: len(column) - len(types[0])]
        columns.append(f"{quoted}{ty}{'' if nullable else ' NOT NULL'}")
    return columns


#: The most digits of the integer types of SQL.
_DIGITS = {"SMALLINT": 5, "INTEGER": 10, "BIGINT": 19}


def _wide(name: str, types: list[str]) -> str:
    """A type that holds the values of all these."""
    if len(set(types)) == 1:
        return types[0]
    forms = [re.fullmatch(r"(\w+)(?:\((\d+)(?:, (\d+))?\))?", ty) for ty in types]
    words = {form.group(1) for form in forms if form is not None}
    if words == {"VARCHAR"}:
        return max(types, key=lambda ty: int(ty[8:-1]))
    if words <= _DIGITS.keys():
        return max(types, key=lambda ty: _DIGITS[ty])
    if words <= {*_DIGITS, "DECIMAL"}:
        pairs = [(int(f[2] or _DIGITS.get(f[1], 0)), int(f[3] or 0)) for f in forms if f is not None]
        scale = max(scale for _, scale in pairs)
        precision = max(precision - scale for precision, scale in pairs) + scale
        if precision <= 38:
            return f"DECIMAL({precision}, {scale})"
    raise _refused(
        f"column {name} is {' and '.join(dict.fromkeys(types))} in parts of the table",
        f'declare it in all parts, as columns={{"{name}": "{types[0]}"}}',
    )


def split_declaration(column: str) -> tuple[str, str]:
    """The name of a declaration, which is quoted unless it is one word, and its type."""
    if not column.startswith('"'):
        name, _, ty = column.partition(" ")
        return name, ty
    end = 1
    while column[end : end + 2] == '""' or column[end] != '"':
        end += 2 if column[end : end + 2] == '""' else 1
    return column[1:end].replace('""', '"'), column[end + 2 :]


def native(frame: Any) -> _native.Columns:
    """The native columns of a frame."""
    if isinstance(frame, _native.Columns):
        return frame
    if isinstance(frame, (str, PathLike)):
        return _native.Columns.file(fspath(frame))
    if not hasattr(frame, "__arrow_c_stream__") and hasattr(frame, "collect"):
        # A lazy frame of polars.
        frame = frame.collect()
    is_pandas = hasattr(frame, "to_dict") and hasattr(frame, "columns") and hasattr(frame, "index")
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return _native.Columns.arrow(_without_index(frame) if is_pandas else frame)
        except PartyError:
            raise
        except Exception as error:
            # A data frame of pandas needs pyarrow for it, and some columns of objects have no type
            # of Arrow. Other libraries' texts may have a value.
            if not is_pandas:
                kind, why = type(frame).__name__, type(error).__name__
                raise _refused(
                    f"{kind} does not become a table of Arrow ({why})",
                    "bring a data frame whose columns have one type each, as series.to_frame() of one column",
                ) from None
    if is_pandas:
        names = [str(name) for name in frame.columns]
        for name in names:
            if names.count(name) > 1:
                raise _refused(f"two columns are called {name}", "give one of them another name")
        frame = {name: _of_pandas(frame[own]) for name, own in zip(names, frame.columns)}
    if isinstance(frame, Mapping):
        return _lists({str(name): _listed(values) for name, values in frame.items()})
    if isinstance(frame, Sequence) and all(isinstance(row, Mapping) for row in frame):
        names = list(dict.fromkeys(str(name) for row in frame for name in row))
        return _lists({name: [row.get(name) for row in frame] for name in names})
    raise _refused(
        f"{type(frame).__name__} is no table",
        "bring a data frame, a dictionary of lists, or the path of a CSV or Parquet file",
    )


def _without_index(frame: Any) -> Any:
    """A data frame of pandas whose index becomes a column if it has a name, and is dropped otherwise."""
    index = frame.index
    is_numbered, is_named = type(index).__name__ == "RangeIndex", any(name is not None for name in index.names)
    if is_numbered == is_named:
        # A library of Arrow drops a range index, and keeps any other index.
        return frame.reset_index(drop=not is_named)
    return frame


def _of_pandas(column: Any) -> list[Any]:
    return [None if missing else value for value, missing in zip(column.tolist(), column.isna())]


def _listed(values: Any) -> list[Any]:
    if type(values).__module__ == "numpy" and values.dtype.kind in "mM" and values.ndim == 1:
        # `tolist` makes integers of times that Python's types do not hold exactly.
        return list(values)
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
    made = [_column(name, values) for name, values in columns.items()]
    try:
        return _native.Columns.lists(rows, made)
    except UnicodeError:
        # Its message contains a part of a value.
        raise _refused("a string is not valid Unicode", "mend it, as by encoding with errors=") from None


def _column(name: str, values: list[Any]) -> tuple[str, str, tuple[int, int], list[Any]]:
    # pandas writes a missing value as NaT or NA, which are neither None nor values.
    values = [None if type(value).__name__ in ("NaTType", "NAType") else value for value in values]
    if any(type(value).__module__ == "numpy" for value in values):
        values = [_item(name, value) if hasattr(value, "item") else value for value in values]
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
        if any(getattr(v, "nanosecond", 0) for v in values):
            raise _too_fine(name)
        return name, kind, (0, 0), [None if v is None else _moment(v) for v in values]
    return name, kind, (0, 0), values


def _item(name: str, value: Any) -> Any:
    """The value of Python that a scalar of NumPy is."""
    kind = value.dtype.kind
    if kind == "M":
        moment = value.astype("datetime64[us]")
        # NaT, which is missing, equals nothing.
        if value == value and moment != value:
            raise _too_fine(name)
        # Days, months and years are dates; hours and all that is shorter are times.
        item = value.item()
        item = moment.item() if isinstance(item, int) else item
        if isinstance(item, int):
            raise _refused(f"column {name} has times outside the years 1 to 9999", "leave them out")
        return item
    if kind == "m":
        raise _refused(f"column {name} has durations", "bring them as numbers, as of seconds")
    return value.item()


def _too_fine(name: str) -> UsageError:
    return _refused(
        f"column {name} has times with fractions of a microsecond",
        "round them to whole microseconds, the steps of TIMESTAMP",
    )


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
