"""Lazy frames: tables of several owners with the methods of polars. A frame becomes one query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Union

from hushwire.errors import UsageError
from hushwire.expr import Expr, col, lit, quoted
from hushwire.progress import ProgressLike
from hushwire.query import Plan, Query
from hushwire.result import Result
from hushwire.tables import Table, split_declaration

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
    """A lazy frame. :meth:`Session.frame` begins one, and :meth:`collect` runs it.

    Values are those of SQL: NULL in a comparison is neither true nor false, and the sum of no rows is
    NULL.
    """

    def __init__(
        self,
        session: Session,
        source: str,
        columns: Sequence[str],
        tables: Mapping[str, Table],
        order: Sequence[tuple[str, str]] = (),
        limit: int | None = None,
    ) -> None:
        self._session = session
        #: The text after FROM.
        self._source = source
        self._columns = list(columns)
        self._tables = dict(tables)
        #: The columns by which rows are sorted, with the SQL words after each.
        self._order = list(order)
        self._limit = limit

    @classmethod
    def of(cls, session: Session, name: str, table: Table) -> Frame:
        """A frame of a table."""
        if not table.is_known:
            raise _refused(
                f"the columns of table {name} are not known yet",
                f"learn them first: {name} = session.tables(…)[{name!r}], at all parties",
            )
        for cause, remedy in table._left_out.values():
            # A frame begins with all columns of its table.
            raise _refused(cause, f"{remedy}; columns= of hw.of names those that are taken")
        names = [split_declaration(column)[0] for column in table.columns]
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
        """The text after FROM, with an earlier limit in it."""
        if self._limit is None:
            return self._source
        return f"({self._sql()}) AS q"

    def _sql(self) -> str:
        listed = ", ".join(quoted(name) for name in self._columns)
        sql = f"SELECT {listed} FROM {self._source}"
        if self._order:
            keys = [quoted(name) + words for name, words in self._order]
            sql += f" ORDER BY {', '.join(keys)}"
        if self._limit is not None:
            sql += f" LIMIT {self._limit}"
        return sql

    def _made(self, sql: str, columns: Sequence[str], *, sorted: bool = True) -> Frame:
        order = self._order if sorted and all(name in columns for name, _ in self._order) else []
        return Frame(self._session, f"({sql}) AS q", columns, self._tables, order)

    def select(self, *columns: Union[Column, Iterable[Column]], **named: Any) -> Frame:
        """Only these columns.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.select("n", big=hw.col("n") > 1).sort("n").collect().rows()
        [(1, False), (2, True), (3, True)]
        """
        pairs = _named(_all(columns), named)
        one = bool(pairs) and all(expression._aggregate for _, expression in pairs)
        return self._made(self._select(pairs), [name for name, _ in pairs], sorted=not one)

    def with_columns(self, *columns: Union[Column, Iterable[Column]], **named: Any) -> Frame:
        """All columns and these ones, which replace columns of the same name.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.with_columns(big=hw.col("n") > 1).sort("n").collect().rows()
        [('Tartu', 1, False), ('Oslo', 2, True), ('Oslo', 3, True)]
        """
        new = dict(_named(_all(columns), named))
        pairs = [(name, new.pop(name, col(name))) for name in self._columns]
        pairs += list(new.items())
        kept = self._made(self._select(pairs), [name for name, _ in pairs])
        return kept

    def filter(self, *conditions: Expr) -> Frame:
        """The rows in which all conditions hold. Nobody learns their number.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.filter(hw.col("n") > 1, hw.col("city") == "Oslo").select(hw.len()).collect().rows()
        [(2,)]
        """
        where = " AND ".join(condition._sql for condition in conditions)
        pairs = [(name, col(name)) for name in self._columns]
        return self._made(self._select(pairs, f" WHERE {where}"), self._columns)

    def remove(self, *conditions: Expr) -> Frame:
        """The rows in which not all conditions are true. NULL counts as not true.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", None], "n": [3, 1, 2]})
        ...     t.remove(hw.col("city") == "Oslo").sort("n").collect().rows()
        [('Tartu', 1), (None, 2)]
        """
        where = " AND ".join(condition._sql for condition in conditions)
        return self.filter(Expr(f"(NOT COALESCE({where}, FALSE))"))

    def drop_nulls(self, subset: Union[str, Sequence[str], None] = None) -> Frame:
        """The rows without NULL in these columns; in all columns by default.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", None, "Tartu"], "n": [3, 1, None]})
        ...     t.drop_nulls().collect().rows(), t.drop_nulls("city").select(hw.len()).collect().rows()
        ([('Oslo', 3)], [(2,)])
        """
        names = self._columns if subset is None else _names(subset)
        return self.filter(*(col(self._known(name)).is_not_null() for name in names))

    def fill_null(self, value: Any) -> Frame:
        """All columns, with a value in place of NULL.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"m": [4, None], "n": [None, 1]})
        ...     t.fill_null(0).sort("m").collect().rows()
        [(0, 1), (4, 0)]
        """
        return self.with_columns([col(name).fill_null(value) for name in self._columns])

    def rename(self, names: Mapping[str, str]) -> Frame:
        """The frame with other names for some columns.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.rename({"n": "number"}).columns
        ['city', 'number']
        """
        for name in names:
            self._known(name)
        pairs = [(names.get(name, name), col(name)) for name in self._columns]
        return self._made(self._select(pairs), [name for name, _ in pairs])

    def drop(self, *columns: str) -> Frame:
        """All columns but these.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.drop("n").columns
        ['city']
        """
        for name in columns:
            self._known(name)
        return self.select([name for name in self._columns if name not in columns])

    def unique(self) -> Frame:
        """The distinct rows.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.select("city").unique().sort("city").collect().rows()
        [('Oslo',), ('Tartu',)]
        """
        listed = ", ".join(quoted(name) for name in self._columns)
        return self._made(f"SELECT DISTINCT {listed} FROM {self._from()}", self._columns, sorted=False)

    def sort(
        self,
        *by: Column,
        descending: Union[bool, Sequence[bool]] = False,
        nulls_last: bool | None = None,
    ) -> Frame:
        """The rows sorted by columns. NULL is sorted as in docs/sql.md, unless ``nulls_last`` is given.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.sort("city", "n", descending=[False, True]).collect().rows()
        [('Oslo', 3), ('Oslo', 2), ('Tartu', 1)]
        """
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
        nulls = "" if nulls_last is None else f" NULLS {'LAST' if nulls_last else 'FIRST'}"
        order = [(name, (" DESC" if is_down else "") + nulls) for name, is_down in zip(names, down)]
        return Frame(self._session, source, self._columns, self._tables, order)

    def head(self, n: int = 5) -> Frame:
        """The first rows.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.sort("n").head(2).collect().rows()
        [('Tartu', 1), ('Oslo', 2)]
        """
        limit = n if self._limit is None else min(n, self._limit)
        return Frame(
            self._session, self._source, self._columns, self._tables, self._order, limit
        )

    limit = head

    def slice(self, offset: int, length: int) -> Frame:
        """``length`` rows from row number ``offset`` on; the first row has number 0.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 1, 2, 5]})
        ...     t.sort("n").slice(1, 2).collect().rows()
        [(2,), (3,)]
        """
        if offset < 0 or length < 0:
            raise _refused("a slice counted from the end", "sort downwards, and count from the front")
        last = offset + length if self._limit is None else min(offset + length, self._limit)
        all_rows = Frame(self._session, self._source, self._columns, self._tables, self._order)
        sql = f"{all_rows._sql()} LIMIT {max(0, last - offset)} OFFSET {offset}"
        return self._made(sql, self._columns)

    def top_k(self, k: int, *, by: Union[str, Sequence[str]]) -> Frame:
        """The rows with the greatest values in these columns, the greatest first and NULL last.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.top_k(2, by="n").collect().rows()
        [('Oslo', 3), ('Oslo', 2)]
        """
        return self.sort(*_names(by), descending=True, nulls_last=True).head(k)

    def bottom_k(self, k: int, *, by: Union[str, Sequence[str]]) -> Frame:
        """The rows with the least values in these columns, the least first and NULL last.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.bottom_k(1, by="n").collect().rows()
        [('Tartu', 1)]
        """
        return self.sort(*_names(by), nulls_last=True).head(k)

    def pipe(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        """The result of a function that is called with the frame.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 1, 2]})
        ...     t.pipe(lambda f, least: f.filter(hw.col("n") > least), 1).select(hw.len()).collect().item()
        2
        """
        return function(self, *args, **kwargs)

    def _each(self, aggregate: str) -> Frame:
        return self.select([getattr(col(name), aggregate)() for name in self._columns])

    def sum(self) -> Frame:
        """The sum of each column, in one row.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"m": [3, None], "n": [3, 4]})
        ...     t.sum().collect().rows(), t.count().collect().rows(), t.null_count().collect().rows()
        ([(Decimal('3'), Decimal('7'))], [(1, 2)], [(1, 0)])
        """
        return self._each("sum")

    def mean(self) -> Frame:
        """The mean of each column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [1, 2]})
        ...     float(t.mean().collect().item())
        1.5
        """
        return self._each("mean")

    def min(self) -> Frame:
        """The least value of each column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 4]})
        ...     t.min().collect().item()
        3
        """
        return self._each("min")

    def max(self) -> Frame:
        """The greatest value of each column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 4]})
        ...     t.max().collect().item()
        4
        """
        return self._each("max")

    def median(self) -> Frame:
        """The median of each column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 9, 4]})
        ...     float(t.median().collect().item())
        4.0
        """
        return self._each("median")

    def std(self) -> Frame:
        """The standard deviation of each column, as for a sample.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [1, 2, 3]})
        ...     float(t.std().collect().item())
        1.0
        """
        return self._each("std")

    def var(self) -> Frame:
        """The variance of each column, as for a sample.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [1, 2, 3]})
        ...     float(t.var().collect().item())
        1.0
        """
        return self._each("var")

    def count(self) -> Frame:
        """The number of values of each column that are not NULL.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, None]})
        ...     t.count().collect().item()
        1
        """
        return self._each("count")

    def n_unique(self) -> Frame:
        """The number of different values of each column, without NULL.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, 3, None]})
        ...     t.n_unique().collect().item()
        1
        """
        return self._each("n_unique")

    def null_count(self) -> Frame:
        """The number of NULLs of each column.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"n": [3, None]})
        ...     t.null_count().collect().item()
        1
        """
        return self._each("null_count")

    def group_by(self, *by: Union[Column, Iterable[Column]]) -> GroupBy:
        """The groups of rows with the same values, which :meth:`GroupBy.agg` aggregates.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.group_by("city").agg(total=hw.col("n").sum()).sort("city").collect().rows()
        [('Oslo', Decimal('5')), ('Tartu', Decimal('1'))]
        """
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
        """Join with another frame: ``"inner"``, ``"left"``, ``"right"``, ``"full"``, ``"semi"``, ``"anti"``
        or ``"cross"``, which has no keys. A full join keeps the keys of both sides.

        The keys of one side should be unique. ``hw.of(…, key=…)`` declares this.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu"], "n": [3, 1]})
        ...     u = s.frame(u=hw.of("bob", {"city": ["Tartu"], "km": [7]}, key="city"))
        ...     t.join(u, on="city", how="left").sort("n").collect().rows()
        [('Tartu', 1, 7), ('Oslo', 3, None)]
        """
        left = _names(left_on if on is None else on)
        right = _names(right_on if on is None else on)
        if how == "cross" and (left or right):
            raise _refused("a cross join has no keys", "leave on= out")
        if how != "cross" and (not left or len(left) != len(right)):
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
        words = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN", "cross": "CROSS JOIN"}
        if how not in words:
            raise _refused(f"no join is called {how}", f"write {', '.join(words)}, semi or anti")
        columns = list(self._columns)
        if how == "right":
            # The keys are those of the right side.
            columns = [name for name in self._columns if name not in left]
            own = [f"l.{quoted(name)} AS {quoted(name)}" for name in columns]
        for name in other._columns:
            if name in right and how in ("inner", "left"):
                continue
            if how == "right" and name in right:
                own.append(f"r.{quoted(name)} AS {quoted(name)}")
                columns.append(name)
                continue
            shown = name + suffix if name in self._columns else name
            own.append(f"r.{quoted(name)} AS {quoted(shown)}")
            columns.append(shown)
        on_keys = f" ON {condition}" if condition else ""
        sql = f"SELECT {', '.join(own)} FROM {mine} {words[how]} {theirs}{on_keys}"
        return Frame(self._session, f"({sql}) AS q", columns, tables)

    def _side(self, name: str) -> str:
        """This frame as one side of a join."""
        if self._limit is None and self._source.startswith('"'):
            return f"{self._source} AS {name}"
        return f"({self._sql()}) AS {name}"

    @property
    def sql(self) -> str:
        """The frame as a query in SQL.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     s.frame(t={"n": [1, 2]}).filter(hw.col("n") > 1).sql
        'SELECT "n" FROM (SELECT "n" AS "n" FROM "t" WHERE ("n" > 1)) AS q'
        """
        return self._sql()

    def query(self, **options: Any) -> Query:
        """The planned query; the options are those of :meth:`Session.query`.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.select(hw.len()).query(min_group=2).columns
        [('len', 'BIGINT')]
        """
        return self._session.query(self._sql(), tables=self._tables, **options)

    def explain(self, **options: Any) -> Plan:
        """Return the plan: the operators, who learns what, and the price. Nothing runs.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.sort("n").explain().columns
        [('city', 'VARCHAR(8)'), ('n', 'BIGINT')]
        """
        return self.query(**options).explain()

    def collect(self, *, progress: ProgressLike = None, **options: Any) -> Result:
        """Run the query; the options are those of :meth:`Session.query`.

        >>> import hushwire as hw
        >>> with hw.local() as s:
        ...     t = s.frame(t={"city": ["Oslo", "Tartu", "Oslo"], "n": [3, 1, 2]})
        ...     t.select(hw.col("n").max()).collect(to="city_council").rows()
        [(3,)]
        """
        return self.query(**options).run(progress=progress)

    def __repr__(self) -> str:
        return f"<hushwire.Frame of {', '.join(self._tables)}: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        import html

        from hushwire.report import table

        names = table(["column"], ([name] for name in self._columns))
        return f"{names}<pre>{html.escape(self.sql)}</pre>"

    def __bool__(self) -> bool:
        raise _refused("a lazy frame has no truth value", "collect it, and ask its result")


class GroupBy:
    """The groups of a frame, from :meth:`Frame.group_by`."""

    def __init__(self, frame: Frame, keys: list[tuple[str, Expr]]) -> None:
        self._frame = frame
        self._keys = keys

    def agg(self, *aggregates: Union[Expr, Iterable[Expr]], **named: Any) -> Frame:
        """A frame of one row for each group, with its keys and these aggregates."""
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
