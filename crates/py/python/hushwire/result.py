"""Results of queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Callable

from hushwire import _native
from hushwire.errors import UsageError

__all__ = ["Result"]

#: The most rows that a notebook shows.
_SHOWN = 20


def _optional(module: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise UsageError(
            step="reading the result",
            cause=f"{what} needs {module}, which is not installed",
            remedy=f"pip install {module}, or take .rows()",
        ) from None


class Result:
    """The result of a query, for libraries of data frames and for people.

    It has ``__arrow_c_stream__``, so every library with the Arrow capsule interface can read it.
    """

    def __init__(self, answer: _native.Answer) -> None:
        self._answer = answer

    def _learnt(self) -> _native.Answer:
        if not self._answer.learns:
            raise UsageError(
                step="reading the result",
                cause="this party does not learn it",
                remedy="name the party in to=, at all parties",
            )
        return self._answer

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self._answer.columns]

    @property
    def types(self) -> dict[str, str]:
        """The SQL type of each column."""
        return dict(self._answer.columns)

    def __len__(self) -> int:
        return len(self._learnt())

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.rows())

    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as tuples of Python values: None, bool, int, float, Decimal, date, datetime,
        timedelta, str.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.sql("SELECT city, COUNT(*) AS n FROM t GROUP BY city ORDER BY city",
        ...           t={"city": ["Oslo", "Tartu", "Oslo"]}).rows()
        [('Oslo', 2), ('Tartu', 1)]
        """
        convert: list[Callable[[Any], Any] | None] = [_python(ty) for _, ty in self._answer.columns]
        rows = self._learnt().rows()
        if not any(convert):
            return rows
        return [
            tuple(
                value if value is None or to is None else to(value) for value, to in zip(row, convert)
            )
            for row in rows
        ]

    fetchall = rows

    def item(self) -> Any:
        """The only value of a result of one row and one column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.sql("SELECT COUNT(*) AS n FROM t", t={"city": ["Oslo", "Tartu"]}).item()
        2
        """
        rows = self.rows()
        if len(rows) != 1 or len(rows[0]) != 1:
            raise UsageError(
                step="reading the result",
                cause=f"it has {len(rows)} rows and {len(self.columns)} columns, and one value is asked for",
                remedy="take .rows(), or a column by its name",
            )
        return rows[0][0]

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        return len(self), len(self.columns)

    def __getitem__(self, column: str) -> list[Any]:
        """The values of a column, as values of Python."""
        if column not in self.columns:
            raise KeyError(f"the result has no column {column!r}: it has {', '.join(self.columns)}")
        at = self.columns.index(column)
        return [row[at] for row in self.rows()]

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._learnt().__arrow_c_stream__(requested_schema)

    def arrow(self) -> Any:
        """The result as a table of pyarrow."""
        return _optional("pyarrow", ".arrow()").table(self)

    def pl(self) -> Any:
        """The result as a data frame of polars."""
        polars = _optional("polars", ".pl()")
        return polars.DataFrame(self)

    def df(self) -> Any:
        """The result as a data frame of pandas.

        Decimals and dates are Python objects. Without pyarrow, the frame is made from Python values.
        """
        pandas = _optional("pandas", ".df()")
        try:
            return self.arrow().to_pandas()
        except UsageError:
            return pandas.DataFrame(self.rows(), columns=self.columns)

    def numpy(self) -> dict[str, Any]:
        """The columns as NumPy arrays: decimals as floats, dates as ``datetime64``, texts as objects.

        A column with NULL is a masked array.
        """
        numpy = _optional("numpy", ".numpy()")
        arrays = {}
        answer = self._learnt()
        for k, (name, _) in enumerate(answer.columns):
            known = answer.elements(k)
            if known is None:
                arrays[name] = self._objects(k, numpy)
                continue
            form, data, valid = known
            # Dates come as numbers of 64 bits, as NumPy has them.
            made = numpy.frombuffer(data, dtype=form).copy()
            if valid is not None:
                made = numpy.ma.array(made, mask=numpy.frombuffer(valid, dtype="|b1") == 0)
            arrays[name] = made
        return arrays

    def _objects(self, column: int, numpy: Any) -> Any:
        """A column of strings."""
        values = [row[column] for row in self._answer.texts(len(self))]
        masked = [value is None for value in values]
        made = numpy.array(["" if value is None else value for value in values], dtype=object)
        return numpy.ma.array(made, mask=masked) if any(masked) else made

    def _texts(self) -> list[list[str]]:
        texts = self._learnt().texts(_SHOWN)
        return [["NULL" if field is None else field for field in row] for row in texts]

    def __repr__(self) -> str:
        if not self._answer.learns:
            return "<hushwire.Result: other members learn it>"
        lines = [self.columns, *self._texts()]
        widths = [max(len(line[k]) for line in lines) for k in range(len(self.columns))]
        shown = ["  ".join(text.ljust(w) for text, w in zip(line, widths)).rstrip() for line in lines]
        rule = "  ".join("-" * width for width in widths)
        more = len(self) - _SHOWN
        tail = [f"… and {more} rows more"] if more > 0 else []
        return "\n".join([shown[0], rule, *shown[1:], *tail])

    def _repr_html_(self) -> str:
        if not self._answer.learns:
            return "<p>Other members learn the result.</p>"
        import html

        names = self._answer.columns
        head = "".join(
            f"<th title='{html.escape(ty)}'>{html.escape(name)}</th>" for name, ty in names
        )
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(field)}</td>" for field in row) + "</tr>"
            for row in self._texts()
        )
        more = len(self) - _SHOWN
        tail = f"<p>… and {more} rows more</p>" if more > 0 else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{tail}"

    def __reduce__(self) -> str:
        raise UsageError(
            step="pickling",
            cause="a result is not pickled",
            remedy="pickle .df(), .pl() or .rows()",
        )


def _python(ty: str) -> Callable[[Any], Any] | None:
    import datetime
    import decimal

    if ty.startswith("DECIMAL"):
        return decimal.Decimal
    if ty == "DATE":
        return datetime.date.fromisoformat
    if ty == "TIMESTAMP":
        return datetime.datetime.fromisoformat
    if ty == "INTERVAL":
        return lambda steps: datetime.timedelta(microseconds=steps)
    return None

