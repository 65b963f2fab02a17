"""Lazy frames: tables of several owners, with the verbs of polars. A frame becomes one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from hushwire.errors import UsageError
from hushwire.expr import Expr, col, lit, quoted
from hushwire.progress import ProgressLike
from hushwire.query import Plan, Query
from hushwire.result import Result
from hushwire.tables import Table

if TYPE_CHECKING:
    from hushwire.session import Session

__all__ = ["Frame", "GroupBy"]

#: A column by name, or an expression.
Column = Union[str, Expr]


def _refused(cause: str, remedy: str) -> UsageError:
    return UsageError(step="building a frame", cause=cause, remedy=remedy)


def _all(columns: Iterable[Union[Column, Iterable[Column]]]) -> list[Expr]:
    listed: list[Expr] = []
    for one in columns:
        if isinstance(one, Expr):
            listed.append(one)
        elif isinstance(one, str):
            listed.append(col(one))
        else:
            listed += _all(one)
    return listed


def _named(expressions: Iterable[Expr], named: Mapping[str, Any]) -> list[tuple[str, Expr]]:
    pairs = []
    for one in expressions:
        if one._name is None:
            raise _refused("an expression has no name", "name it, as in hw.lit(1).alias('one')")
        pairs.append((one._name, one))
    pairs += [(name, lit(value)) for name, value in named.items()]
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise _refused(f"two columns are called {twice}", "name one of them with .alias")
    return pairs


class Frame:
    """A lazy frame: :meth:`Session.frame` begins one, :meth:`collect` runs it.

    Values are those of SQL: NULL in a comparison is neither true nor false, and the sum of no rows is
    NULL.
    """

    def __init__(
        self,
        session: Session,
        source: str,
        columns: Sequence[str],
        tables: Mapping[str, Table],
        order: Sequence[tuple[str, bool]] = (),
        limit: int | None = None,
    ) -> None:
        self._session = session
        #: What follows FROM.
        self._source = source
        self._columns = list(columns)
        self._tables = dict(tables)
        #: Columns by which rows are sorted, and whether downwards.
        self._order = list(order)
        self._limit = limit

    @classmethod
    def of(cls, session: Session, name: str, table: Table) -> Frame:
        """A frame of a table."""
        names = [_declared(column) for column in table.columns]
        return cls(session, quoted(name), names, {name: table})

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def _known(self, name: str) -> str:
        if name not in self._columns:
            raise _refused(
                f"the frame has no column {name}", f"it has {', '.join(self._columns)}"
            )
        return name

    def _select(self, pairs: Iterable[tuple[str, Expr]], rest: str = "") -> str:
        listed = ", ".join(f"{expression._sql} AS {quoted(name)}" for name, expression in pairs)
        return f"SELECT {listed} FROM {self._from()}{rest}"

    def _from(self) -> str:
        """What follows FROM, with a limit that is there."""
        if self._limit is None:
            return self._source
        return f"({self._sql()}) AS q"

    def _sql(self) -> str:
        listed = ", ".join(quoted(name) for name in self._columns)
        sql = f"SELECT {listed} FROM {self._source}"
        if self._order:
            keys = [f"{quoted(name)}{' DESC' if down else ''}" for name, down in self._order]
            sql += f" ORDER BY {', '.join(keys)}"
        if self._limit is not None:
            sql += f" LIMIT {self._limit}"
        return sql

    def _made(self, sql: str, columns: Sequence[str], *, sorted: bool = True) -> Frame:
        order = self._order if sorted and all(name in columns for name, _ in self._order) else []
        return Frame(self._session, f"({sql}) AS q", columns, self._tables, order)

    def select(self, *columns: Union[Column, Iterable[Column]], **named: Any) -> Frame:
        """These columns alone."""
        pairs = _named(_all(columns), named)
        one = bool(pairs) and all(expression._aggregate for _, expression in pairs)
        return self._made(self._select(pairs), [name for name, _ in pairs], sorted=not one)

    def with_columns(self, *columns: Union[Column, Iterable[Column]], **named: Any) -> Frame:
        """All columns, and these besides or in place of those of their names."""
        new = dict(_named(_all(columns), named))
        pairs = [(name, new.pop(name, col(name))) for name in self._columns]
        pairs += list(new.items())
        kept = self._made(self._select(pairs), [name for name, _ in pairs])
        return kept

    def filter(self, *conditions: Expr) -> Frame:
        """The rows where all conditions hold. Nobody learns how many these are."""
        where = " AND ".join(condition._sql for condition in conditions)
        pairs = [(name, col(name)) for name in self._columns]
        return self._made(self._select(pairs, f" WHERE {where}"), self._columns)

    def rename(self, names: Mapping[str, str]) -> Frame:
        """Other names for columns."""
        for name in names:
            self._known(name)
        pairs = [(names.get(name, name), col(name)) for name in self._columns]
        return self._made(self._select(pairs), [name for name, _ in pairs])

    def drop(self, *columns: str) -> Frame:
        """All columns but these."""
        for name in columns:
            self._known(name)
        return self.select([name for name in self._columns if name not in columns])

    def unique(self) -> Frame:
        """Each row once."""
        listed = ", ".join(quoted(name) for name in self._columns)
        return self._made(f"SELECT DISTINCT {listed} FROM {self._from()}", self._columns, sorted=False)

    def sort(self, *by: Column, descending: Union[bool, Sequence[bool]] = False) -> Frame:
        """The rows sorted by columns; NULL as in SQL here (docs/sql.md)."""
        names = []
        for one in by:
            name = one if isinstance(one, str) else one._name
            if name is None or (isinstance(one, Expr) and one._sql != quoted(name)):
                raise _refused(
                    "rows are sorted by columns", "add the key with with_columns, and sort by its name"
                )
            names.append(self._known(name))
        down = [descending] * len(names) if isinstance(descending, bool) else list(descending)
        if len(down) != len(names):
            raise _refused("descending has another length than the columns", "give one for each")
        source = self._from()
        order = list(zip(names, down))
        return Frame(self._session, source, self._columns, self._tables, order)

    def head(self, n: int = 5) -> Frame:
        """The first rows."""
        limit = n if self._limit is None else min(n, self._limit)
        return Frame(
            self._session, self._source, self._columns, self._tables, self._order, limit
        )

    limit = head

    def group_by(self, *by: Union[Column, Iterable[Column]]) -> GroupBy:
        """Groups of the rows that have the same values: :meth:`GroupBy.agg` aggregates them."""
        keys = _named(_all(by), {})
        if not keys:
            raise _refused("groups need a column", "write select(…) for one row of all")
        return GroupBy(self, keys)

    def join(
        self,
        other: Frame,
        on: Union[str, Sequence[str], None] = None,
        *,
        left_on: Union[str, Sequence[str], None] = None,
        right_on: Union[str, Sequence[str], None] = None,
        how: str = "inner",
        suffix: str = "_right",
    ) -> Frame:
        """Join with another frame: ``"inner"``, ``"left"``, ``"semi"`` or ``"anti"``.

        One side should have no two rows with the same key, which ``hw.of(…, key=…)`` promises.
        """
        left = _names(left_on if on is None else on)
        right = _names(right_on if on is None else on)
        if not left or len(left) != len(right):
            raise _refused("a join needs as many keys of both sides", "write on=, or left_on= and right_on=")
        for a, b in zip(left, right):
            self._known(a)
            other._known(b)
        tables = dict(self._tables)
        for name, table in other._tables.items():
            if tables.setdefault(name, table) is not table:
                raise _refused(f"two tables are called {name}", "begin one of the frames with another name")
        condition = " AND ".join(
            f"l.{quoted(a)} = r.{quoted(b)}" for a, b in zip(left, right)
        )
        mine, theirs = self._side("l"), other._side("r")
        own = [f"l.{quoted(name)} AS {quoted(name)}" for name in self._columns]
        if how in ("semi", "anti"):
            word = "EXISTS" if how == "semi" else "NOT EXISTS"
            sql = (
                f"SELECT {', '.join(own)} FROM {mine} "
                f"WHERE {word} (SELECT 1 FROM {theirs} WHERE {condition})"
            )
            return Frame(self._session, f"({sql}) AS q", self._columns, tables)
        if how not in ("inner", "left"):
            raise _refused(f"no join is called {how}", "write inner, left, semi or anti")
        columns = list(self._columns)
        for name in other._columns:
            if name in right:
                continue
            shown = name + suffix if name in self._columns else name
            own.append(f"r.{quoted(name)} AS {quoted(shown)}")
            columns.append(shown)
        word = "JOIN" if how == "inner" else "LEFT JOIN"
        sql = f"SELECT {', '.join(own)} FROM {mine} {word} {theirs} ON {condition}"
        return Frame(self._session, f"({sql}) AS q", columns, tables)

    def _side(self, name: str) -> str:
        """This frame as one side of a join."""
        if self._limit is None and self._source.startswith('"'):
            return f"{self._source} AS {name}"
        return f"({self._sql()}) AS {name}"

    @property
    def sql(self) -> str:
        """The query that the frame is.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.frame(t={"n": [1, 2]}).filter(hw.col("n") > 1).sql
        'SELECT "n" FROM (SELECT "n" AS "n" FROM "t" WHERE ("n" > 1)) AS q'
        """
        return self._sql()

    def query(self, **options: Any) -> Query:
        """The planned query; the options are those of :meth:`Session.query`."""
        return self._session.query(self._sql(), tables=self._tables, **options)

    def explain(self, **options: Any) -> Plan:
        """Say what is computed, who learns what, and what it costs. Nothing runs."""
        return self.query(**options).explain()

    def collect(self, *, progress: ProgressLike = None, **options: Any) -> Result:
        """Run it; the options are those of :meth:`Session.query`."""
        return self.query(**options).run(progress=progress)

    def __repr__(self) -> str:
        return f"<hushwire.Frame of {', '.join(self._tables)}: {', '.join(self._columns)}>"

    def __bool__(self) -> bool:
        raise _refused("a lazy frame has no truth value", "collect it, and ask its result")


class GroupBy:
    """Groups of a frame: :meth:`Frame.group_by` makes them."""

    def __init__(self, frame: Frame, keys: list[tuple[str, Expr]]) -> None:
        self._frame = frame
        self._keys = keys

    def agg(self, *aggregates: Union[Expr, Iterable[Expr]], **named: Any) -> Frame:
        """One row for each group: its keys, and these aggregates."""
        pairs = self._keys + _named(_all(aggregates), named)
        names = [name for name, _ in pairs]
        if len(set(names)) < len(names):
            raise _refused("an aggregate is called as a key", "name it with .alias")
        by = ", ".join(expression._sql for _, expression in self._keys)
        sql = self._frame._select(pairs, f" GROUP BY {by}")
        return self._frame._made(sql, names, sorted=False)

    def len(self) -> Frame:
        """The number of rows of each group."""
        from hushwire.expr import len as rows

        return self.agg(rows())


def _names(of: Union[str, Sequence[str], None]) -> list[str]:
    return [] if of is None else [of] if isinstance(of, str) else list(of)


def _declared(column: str) -> str:
    """The name of a declaration, which is quoted where it is not one word."""
    if not column.startswith('"'):
        return column.split(maxsplit=1)[0]
    end = 1
    while column[end : end + 2] == '""' or column[end] != '"':
        end += 2 if column[end : end + 2] == '""' else 1
    return column[1:end].replace('""', '"')
