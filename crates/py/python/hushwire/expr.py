"""Expressions of lazy frames: columns and computations on them. They become SQL."""

from __future__ import annotations

import builtins
import datetime
import decimal
import math
from collections.abc import Iterable
from typing import Any, NoReturn, Union

from hushwire.errors import UsageError

__all__ = ["Expr", "When", "col", "len", "lit", "when"]


def quoted(name: str) -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"'


def _refused(cause: str, remedy: str) -> UsageError:
    return UsageError(step="building an expression", cause=cause, remedy=remedy)


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (float, decimal.Decimal)) and not math.isfinite(value):
        raise _refused(
            "NaN and infinities are no values of a column", "compare with None where a value is missing"
        )
    if isinstance(value, (int, decimal.Decimal)):
        return f"({value})" if value < 0 else str(value)
    if isinstance(value, float):
        text = format(decimal.Decimal(repr(value)), "f")
        return f"({text})" if value < 0 else text
    if isinstance(value, datetime.datetime):
        if value.tzinfo is not None:
            # Timestamps are those of UTC.
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return f"TIMESTAMP '{value.isoformat(sep=' ')}'"
    if isinstance(value, datetime.date):
        return f"DATE '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    raise _refused(
        f"{type(value).__name__} is no value of a column",
        "write a truth value, a number, a date, a time or a string",
    )


#: What an operand may be: an expression, or a value.
Operand = Any


class Expr:
    """An expression. It describes a computation on secrets, so it has no values and no truth value."""

    def __init__(self, sql: builtins.str, name: builtins.str | None = None, *, aggregate: bool = False) -> None:
        self._sql = sql
        self._name = name
        self._aggregate = aggregate

    def alias(self, name: builtins.str) -> Expr:
        """Name the result.

        >>> col("n").sum().alias("total")
        <hushwire.Expr SUM("n") AS "total">
        """
        return Expr(self._sql, name, aggregate=self._aggregate)

    def _binary(self, operator: builtins.str, other: Operand, *, turned: bool = False) -> Expr:
        other = lit(other)
        left, right = (other, self) if turned else (self, other)
        name = self._name if self._name is not None else other._name
        aggregate = self._aggregate or other._aggregate
        return Expr(f"({left._sql} {operator} {right._sql})", name, aggregate=aggregate)

    def _call(self, function: builtins.str, *arguments: Operand, aggregate: bool = False) -> Expr:
        rest = "".join(f", {lit(argument)._sql}" for argument in arguments)
        made = aggregate or self._aggregate
        return Expr(f"{function}({self._sql}{rest})", self._name, aggregate=made)

    def __add__(self, other: Operand) -> Expr:
        return self._binary("+", other)

    def __radd__(self, other: Operand) -> Expr:
        return self._binary("+", other, turned=True)

    def __sub__(self, other: Operand) -> Expr:
        return self._binary("-", other)

    def __rsub__(self, other: Operand) -> Expr:
        return self._binary("-", other, turned=True)

    def __mul__(self, other: Operand) -> Expr:
        return self._binary("*", other)

    def __rmul__(self, other: Operand) -> Expr:
        return self._binary("*", other, turned=True)

    def __truediv__(self, other: Operand) -> Expr:
        return self._binary("/", other)

    def __rtruediv__(self, other: Operand) -> Expr:
        return self._binary("/", other, turned=True)

    def __neg__(self) -> Expr:
        return Expr(f"(-{self._sql})", self._name, aggregate=self._aggregate)

    def __and__(self, other: Operand) -> Expr:
        return self._binary("AND", other)

    def __rand__(self, other: Operand) -> Expr:
        return self._binary("AND", other, turned=True)

    def __or__(self, other: Operand) -> Expr:
        return self._binary("OR", other)

    def __ror__(self, other: Operand) -> Expr:
        return self._binary("OR", other, turned=True)

    def __invert__(self) -> Expr:
        return Expr(f"(NOT {self._sql})", self._name, aggregate=self._aggregate)

    def __eq__(self, other: Operand) -> Expr:  # type: ignore[override]
        return self._binary("=", other)

    def __ne__(self, other: Operand) -> Expr:  # type: ignore[override]
        return self._binary("<>", other)

    def __lt__(self, other: Operand) -> Expr:
        return self._binary("<", other)

    def __le__(self, other: Operand) -> Expr:
        return self._binary("<=", other)

    def __gt__(self, other: Operand) -> Expr:
        return self._binary(">", other)

    def __ge__(self, other: Operand) -> Expr:
        return self._binary(">=", other)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise _refused(
            "a column of secrets has no truth value",
            "combine conditions with & and |, and choose with hw.when(c).then(a).otherwise(b)",
        )

    def __iter__(self) -> NoReturn:
        raise _refused("a column of secrets cannot be iterated", "write an expression of it")

    # Aggregates.

    def sum(self) -> Expr:
        """The sum; NULL if there are no rows, as in SQL."""
        return self._call("SUM", aggregate=True)

    def mean(self) -> Expr:
        """The mean."""
        return self._call("AVG", aggregate=True)

    def min(self) -> Expr:
        """The least value."""
        return self._call("MIN", aggregate=True)

    def max(self) -> Expr:
        """The greatest value."""
        return self._call("MAX", aggregate=True)

    def count(self) -> Expr:
        """The number of values that are not NULL."""
        return self._call("COUNT", aggregate=True)

    def n_unique(self) -> Expr:
        """The number of different values, without NULL."""
        return Expr(f"COUNT(DISTINCT {self._sql})", self._name, aggregate=True)

    def std(self) -> Expr:
        """The standard deviation of a sample."""
        return self._call("STDDEV_SAMP", aggregate=True)

    def var(self) -> Expr:
        """The variance of a sample."""
        return self._call("VAR_SAMP", aggregate=True)

    def median(self) -> Expr:
        """The median."""
        return self._call("MEDIAN", aggregate=True)

    def null_count(self) -> Expr:
        """The number of NULLs."""
        return Expr(f"(COUNT(*) - COUNT({self._sql}))", self._name, aggregate=True)

    def quantile(self, share: float) -> Expr:
        """The quantile at a fraction between 0 and 1, interpolated between its two neighbours."""
        return self._call("QUANTILE_CONT", share, aggregate=True)

    def over(self, *partition: Union[builtins.str, Expr]) -> Expr:
        """For each row, the aggregate of all rows with the same values in these columns."""
        by = ", ".join(_column(one)._sql for one in partition)
        return Expr(f"{self._sql} OVER (PARTITION BY {by})", self._name)

    # Values.

    def is_null(self) -> Expr:
        """Whether it is NULL."""
        return Expr(f"({self._sql} IS NULL)", self._name, aggregate=self._aggregate)

    def is_not_null(self) -> Expr:
        """Whether it is not NULL."""
        return Expr(f"({self._sql} IS NOT NULL)", self._name, aggregate=self._aggregate)

    def fill_null(self, value: Operand) -> Expr:
        """The value, or this one in place of NULL."""
        return self._call("COALESCE", value)

    def is_in(self, values: Iterable[Any]) -> Expr:
        """Whether it is one of these values, which all members learn."""
        listed = ", ".join(_literal(value) for value in values)
        if not listed:
            return Expr("FALSE", self._name)
        return Expr(f"({self._sql} IN ({listed}))", self._name, aggregate=self._aggregate)

    def is_between(self, low: Operand, high: Operand) -> Expr:
        """Whether it lies between two values, both included."""
        sql = f"({self._sql} BETWEEN {lit(low)._sql} AND {lit(high)._sql})"
        return Expr(sql, self._name, aggregate=self._aggregate)

    def abs(self) -> Expr:
        """The absolute value."""
        return self._call("ABS")

    def round(self, decimals: int = 0) -> Expr:
        """The number rounded to this number of decimals."""
        return self._call("ROUND", decimals)

    def floor(self) -> Expr:
        """The greatest integer that is not above the number."""
        return self._call("FLOOR")

    def ceil(self) -> Expr:
        """The least integer that is not below the number."""
        return self._call("CEIL")

    def sqrt(self) -> Expr:
        """The square root."""
        return self._call("SQRT")

    def exp(self) -> Expr:
        """e to the power of the number."""
        return self._call("EXP")

    def log(self) -> Expr:
        """The natural logarithm; NULL if the number is not above 0."""
        return self._call("LN")

    def pow(self, exponent: Operand) -> Expr:
        """The number to the power of an exponent."""
        return self._call("POWER", exponent)

    def sign(self) -> Expr:
        """The sign of the number: -1, 0 or 1."""
        return self._call("SIGN")

    def clip(self, lower_bound: Operand = None, upper_bound: Operand = None) -> Expr:
        """The value, or the nearest bound if it lies outside the bounds; NULL stays NULL."""
        sql = self._sql
        if lower_bound is not None:
            sql = f"GREATEST({sql}, {lit(lower_bound)._sql})"
        if upper_bound is not None:
            sql = f"LEAST({sql}, {lit(upper_bound)._sql})"
        # GREATEST and LEAST ignore NULL.
        sql = f"CASE WHEN {self._sql} IS NULL THEN NULL ELSE {sql} END"
        return Expr(sql, self._name, aggregate=self._aggregate)

    # Operators by their names.

    add, sub, mul, truediv, neg = __add__, __sub__, __mul__, __truediv__, __neg__
    eq, ne, lt, le, gt, ge = __eq__, __ne__, __lt__, __le__, __gt__, __ge__
    and_, or_, not_ = __and__, __or__, __invert__

    def cast(self, ty: builtins.str) -> Expr:
        """The value as another SQL type, such as ``"DECIMAL(9, 2)"``."""
        return Expr(f"CAST({self._sql} AS {ty})", self._name, aggregate=self._aggregate)

    @property
    def str(self) -> _Texts:
        """Functions of strings."""
        return _Texts(self)

    @property
    def dt(self) -> _Times:
        """Functions of dates and times."""
        return _Times(self)

    def __repr__(self) -> builtins.str:
        named = f" AS {quoted(self._name)}" if self._name and self._sql != quoted(self._name) else ""
        return f"<hushwire.Expr {self._sql}{named}>"


class _Texts:
    """Functions of strings."""

    def __init__(self, of: Expr) -> None:
        self._of = of

    def _like(self, pattern: str) -> Expr:
        return Expr(f"({self._of._sql} LIKE {_literal(pattern)})", self._of._name)

    def starts_with(self, prefix: str) -> Expr:
        """Whether it begins with a text."""
        return self._like(_plain(prefix) + "%")

    def ends_with(self, suffix: str) -> Expr:
        """Whether it ends with a text."""
        return self._like("%" + _plain(suffix))

    def contains(self, part: str) -> Expr:
        """Whether it contains a text, which is not a regular expression."""
        return self._like("%" + _plain(part) + "%")

    def to_uppercase(self) -> Expr:
        """The string in upper case."""
        return self._of._call("UPPER")

    def to_lowercase(self) -> Expr:
        """The string in lower case."""
        return self._of._call("LOWER")

    def len_chars(self) -> Expr:
        """The number of characters."""
        return self._of._call("LENGTH")


def _plain(text: str) -> str:
    if "%" in text or "_" in text:
        raise _refused("the text has % or _, which LIKE takes for any characters", "leave them out")
    return text


class _Times:
    """Functions of dates and times."""

    def __init__(self, of: Expr) -> None:
        self._of = of

    def _part(self, part: str) -> Expr:
        return Expr(f"EXTRACT({part} FROM {self._of._sql})", self._of._name)

    def year(self) -> Expr:
        """The year."""
        return self._part("YEAR")

    def month(self) -> Expr:
        """The month, 1 to 12."""
        return self._part("MONTH")

    def day(self) -> Expr:
        """The day of the month."""
        return self._part("DAY")


def _column(of: Union[str, Expr]) -> Expr:
    return col(of) if isinstance(of, str) else of


def col(name: str) -> Expr:
    """A column of a lazy frame.

    >>> col("salary") > 1000
    <hushwire.Expr ("salary" > 1000) AS "salary">
    """
    if not isinstance(name, str):
        raise _refused(f"a column is called by a text, and not by {type(name).__name__}", 'write col("id")')
    return Expr(quoted(name), name)


def lit(value: Operand) -> Expr:
    """A value that all members know.

    >>> lit("it's")
    <hushwire.Expr 'it''s'>
    """
    return value if isinstance(value, Expr) else Expr(_literal(value))


def len() -> Expr:
    """The number of rows, as an aggregate.

    >>> len()
    <hushwire.Expr COUNT(*) AS "len">
    """
    return Expr("COUNT(*)", "len", aggregate=True)


class When:
    """An incomplete choice, which :func:`when` begins."""

    def __init__(self, cases: tuple[str, ...], condition: Expr) -> None:
        self._cases = cases
        self._condition = condition

    def then(self, value: Operand) -> Then:
        """The value if the condition holds."""
        value = lit(value)
        case = f"WHEN {self._condition._sql} THEN {value._sql}"
        return Then((*self._cases, case), value._name)


class Then(Expr):
    """A choice, which is NULL if no condition holds."""

    def __init__(self, cases: tuple[str, ...], name: str | None) -> None:
        super().__init__(f"CASE {' '.join(cases)} END", name)
        self._cases = cases

    def when(self, condition: Expr) -> When:
        """Another condition, for rows in which no earlier one holds."""
        return When(self._cases, condition)

    def otherwise(self, value: Operand) -> Expr:
        """The value if no condition holds."""
        return Expr(f"CASE {' '.join(self._cases)} ELSE {lit(value)._sql} END", self._name)


def when(condition: Expr) -> When:
    """Choose a value by a condition on secrets.

    >>> when(col("n") > 3).then(1).otherwise(0)
    <hushwire.Expr CASE WHEN ("n" > 3) THEN 1 ELSE 0 END>
    """
    return When((), condition)
