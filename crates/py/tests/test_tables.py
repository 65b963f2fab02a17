"""Tables of several owners, columns that SQL cannot take, and values of results."""

from __future__ import annotations

import ctypes
import datetime
import decimal
import math
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from conftest import Parties
from hypothesis import given, settings
from hypothesis import strategies as st
from test_queries import ROWS, same

import hushwire as hw
from hushwire import _exchange
from test_connect import Told

SCHEMA = {"k": pl.Int64, "n": pl.Int64, "s": pl.String}


@settings(max_examples=max(4, settings().max_examples // 3))
@given(rows=st.lists(ROWS, min_size=2, max_size=3), pad=st.integers(0, 2))
def test_parts_give_what_one_table_does(three: hw.Session, rows: list[Any], pad: int) -> None:
    parts = [pl.DataFrame(part, schema=SCHEMA, orient="row") for part in rows]
    whole = pl.concat(parts)
    pads = {f"owner{k}": part.height + pad for k, part in enumerate(parts)} if pad else None
    table = hw.parts({f"owner{k}": part for k, part in enumerate(parts)}, pad=pads)
    got = three.sql("SELECT s, SUM(n) AS n, COUNT(*) AS many FROM t WHERE k < 5 GROUP BY s", t=table)
    kept = whole.filter(pl.col("k") < 5).group_by("s")
    # The sum of no values is NULL in SQL.
    total = pl.when(pl.col("n").count() > 0).then(pl.col("n").sum())
    same(got.rows(), kept.agg(total.alias("n"), many=pl.len()).rows())
    assert table.rows == whole.height + pad * len(parts)


def test_types_of_parts_hold_the_values_of_all(three: hw.Session) -> None:
    one = pl.DataFrame({"a": pl.Series([3], dtype=pl.Int16), "s": ["x"], "d": [decimal.Decimal("1.25")]})
    two = pl.DataFrame({"s": ["a longer text", None], "d": [7, 8], "a": pl.Series([70_000, 1], dtype=pl.Int32)})
    table = hw.parts({"ann": one, "bob": two})
    assert table.columns == ["a INTEGER NOT NULL", "s VARCHAR(16)", "d DECIMAL(38, 2) NOT NULL"] or table.columns == [
        "a INTEGER NOT NULL",
        "s VARCHAR(16)",
        "d DECIMAL(21, 2) NOT NULL",
    ]
    rows = three.sql("SELECT a, s, d FROM t ORDER BY a", t=table).rows()
    assert rows == [(1, None, 8), (3, "x", decimal.Decimal("1.25")), (70_000, "a longer text", 7)]
    assert repr(table).startswith("<hushwire.Table of ann and bob: 3 rows")
    assert "ann and bob" in table._repr_html_()


def test_parts_that_do_not_fit_are_refused(three: hw.Session) -> None:
    with pytest.raises(hw.UsageError, match="column b is not in all parts"):
        hw.parts({"ann": {"a": [1]}, "bob": {"a": [1], "b": [2]}})
    with pytest.raises(hw.UsageError, match="column a is VARCHAR.*declare it"):
        hw.parts({"ann": {"a": ["x"]}, "bob": {"a": [1]}})
    with pytest.raises(hw.UsageError, match="different keys"):
        hw.parts({"ann": hw.of(None, {"a": [1]}, key="a"), "bob": {"a": [1]}})
    with pytest.raises(hw.UsageError, match="no parts"):
        hw.parts({})
    # The keys of each owner are unique, but not the keys of all owners together. The parties notice
    # it.
    twice = hw.parts({"ann": {"a": [1, 2]}, "bob": {"a": [2, 3]}}, key="a")
    who = hw.of("eve", {"b": [1, 2]})
    with pytest.raises(hw.PartyError, match="unique"):
        three.sql("SELECT COUNT(*) AS n FROM t JOIN w ON a = b", t=twice, w=who)


PROGRAM = """
import sys
import hushwire as hw

index = int(sys.argv[1])
north, south = {"ward": ["a", "b"], "days": [3, 9]}, {"days": [4], "ward": ["a longer name"]}
own = [{"stays": hw.parts({"party0": north})}, {"stays": hw.parts({"party1": south})}, {}][index]
with hw.connect(f"party{index}.toml") as p:
    print(p.tables(**own)["stays"])
    result = p.sql("SELECT ward, SUM(days) AS days FROM stays GROUP BY ward ORDER BY ward", tables=own, to="party2")
    print(result.rows() if index == 2 else "")
    alone = {"stays": hw.of(None, north)} if index == 0 else own
    try:
        p.sql("SELECT COUNT(*) AS n FROM stays", tables=alone, to="party2")
        print("it ran")
    except hw.PartyError as e:
        print(type(e).__name__, e.remedy)
"""


def test_parties_bring_parts_of_one_table(parties: Parties) -> None:
    lines = parties(PROGRAM)
    shown = "<hushwire.Table of party0 and party1: 3 rows, ward VARCHAR(16) NOT NULL, days BIGINT NOT NULL>"
    assert [line[0] for line in lines] == [shown] * 3, lines
    assert lines[2][1] == "[('a', Decimal('3')), ('a longer name', Decimal('4')), ('b', Decimal('9'))]", lines
    # A party that does not declare its table as a part gets an error that says how.
    assert all(line[2].startswith(("Refused", "NetworkError")) for line in lines), lines
    assert any("hw.parts" in line[2] for line in lines), lines


@pytest.mark.parametrize("part", ["1", '"yes"', "null"])
def test_a_part_in_no_known_form_is_refused(part: str) -> None:
    told = '{"tables": {"t": {"columns": ["n INTEGER"], "key": [], "rows": 1, "padded": false, "part": %s}}}'
    session: Any = Told((told % part).encode())
    with pytest.raises(hw.Refused, match="no known form"):
        _exchange.tables(session, {})


def test_dictionaries_of_other_values_than_texts(three: hw.Session) -> None:
    # Places in a dictionary were once read as values, beyond the end of the buffer.
    table = pa.table(
        {
            "n": pa.array([70_000, -5, 70_000, None]).dictionary_encode(),
            "d": pa.array([decimal.Decimal("1.25"), None, decimal.Decimal("3.50"), None]).dictionary_encode(),
            "b": pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 1], pa.int8()), pa.array([True, False])),
            "t": pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array(["x", None])),
        }
    )
    rows = three.sql("SELECT n, d, b, t FROM t", t=table).rows()
    one, other = decimal.Decimal("1.25"), decimal.Decimal("3.50")
    assert rows == [
        (70_000, one, False, "x"),
        (-5, None, True, None),
        (70_000, other, False, None),
        (None, None, False, "x"),
    ]
    # Parts of a table, and batches with dictionaries of their own.
    parts = pa.chunked_array([pa.array([1, 2]).dictionary_encode(), pa.array([9, 1]).dictionary_encode()])
    assert three.sql("SELECT SUM(n) AS n FROM t", t=pa.table({"n": parts})).item() == 13
    assert three.sql("SELECT n FROM t", t=pa.table({"n": parts}).slice(1, 2)).rows() == [(2,), (9,)]


@settings(max_examples=max(4, settings().max_examples // 3))
@given(values=st.lists(st.one_of(st.none(), st.integers(-(2**40), 2**40)), min_size=1, max_size=12))
def test_categories_of_numbers_are_their_numbers(three: hw.Session, values: list[Any]) -> None:
    table = pa.table({"n": pa.array(values, pa.int64()).dictionary_encode()})
    assert three.sql("SELECT n FROM t", t=table).rows() == [(value,) for value in values]


def test_columns_of_objects_show_no_value(three: hw.Session) -> None:
    pd = pytest.importorskip("pandas")
    for values in ([1, "secret"], ["secret", 1], [1j, 2j], ["\ud800secret"]):
        with pytest.raises(hw.UsageError) as caught:
            hw.of("ann", pd.DataFrame({"a": pd.Series(values, dtype=object)}))
        assert "secret" not in repr(caught.value)
        assert caught.value.__suppress_context__ or caught.value.__context__ is None
    whole = pd.DataFrame({"a": pd.Series([1, 2**70], dtype=object)})
    assert three.sql("SELECT a FROM t", t=whole).rows() == [(1,), (2**70,)]
    with pytest.raises(hw.UsageError, match="two columns are called a"):
        hw.of("ann", pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(hw.UsageError, match="to_frame"):
        hw.of("ann", pd.Series([1, 2], name="a"))


def test_the_index_of_a_filtered_frame_is_no_column(three: hw.Session) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [3, 4, 5]}).loc[[0, 2]]
    assert hw.of("ann", frame).columns == ["a BIGINT NOT NULL"]
    assert three.sql("SELECT * FROM t", t=frame).rows() == [(3,), (5,)]
    for keys in ([7, 9], [7, 8], [9, 7]):
        named = frame.set_index(pd.Index(keys, name="k"))
        assert three.sql("SELECT k, a FROM t", t=named).rows() == [(keys[0], 3), (keys[1], 5)]


def test_scalars_of_numpy_are_numbers(three: hw.Session) -> None:
    table = {"a": [np.int64(1), None, np.int8(2)], "b": [np.bool_(True), False, None], "s": [np.str_("x"), "y", None]}
    assert three.sql("SELECT * FROM t", t=table).rows() == [(1, True, "x"), (None, False, "y"), (2, None, None)]


@pytest.mark.parametrize("wrong", [{"pad": "x"}, {"rows": 1.5}, {"pad": True}])
def test_options_of_other_types_are_refused(three: hw.Session, wrong: dict[str, Any]) -> None:
    with pytest.raises(hw.UsageError, match="no whole number"):
        hw.of("ann", {"a": [1]}, **wrong)
    with pytest.raises(hw.UsageError, match="owner is a name"):
        hw.of(5, {"a": [1]})  # type: ignore[arg-type]
    with pytest.raises(hw.UsageError, match="no text"):
        three.sql(None, t={"a": [1]})  # type: ignore[arg-type]


ODD = {"f": [1.5, 2.0], "m": [1, 2], "list": [[1], [2]], "nothing": [None, None]}


def test_columns_that_nobody_reads_may_be_of_any_type(three: hw.Session) -> None:
    odd = pl.DataFrame(ODD)
    assert three.sql("SELECT SUM(m) AS s, COUNT(*) AS n FROM t WHERE m * 2 > 1", t=odd).rows() == [(3, 2)]
    assert hw.of("ann", odd).columns == ["m BIGINT NOT NULL"]
    declared = hw.of("ann", odd, columns={"f": hw.double(4)})
    assert three.sql("SELECT SUM(f) AS s FROM t", t=declared).item() == 3.5


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("SELECT SUM(f) AS s FROM t", "column f has floats"),
        ("SELECT t.f FROM t WHERE m > 1", "column f has floats"),
        ('SELECT "list" FROM t', "column list has values of a type"),
        ("SELECT m FROM t ORDER BY nothing", "column nothing has no values"),
        ("SELECT * FROM t", "all columns, and column f has floats"),
        ("SELECT m, t.* FROM t", "all columns, and column f has floats"),
        ("SELECT absent FROM t", "no column is called absent"),
    ],
)
def test_a_column_that_is_read_is_refused_by_its_name(three: hw.Session, sql: str, named: str) -> None:
    with pytest.raises(hw.UsageError, match=named) as caught:
        three.query(sql, t=pl.DataFrame(ODD))
    assert caught.value.remedy


def test_what_is_asked_for_is_not_left_out(three: hw.Session) -> None:
    odd = pl.DataFrame(ODD)
    for make in (
        lambda: hw.of("ann", odd, columns=["f"]),
        lambda: hw.of("ann", odd, key="f"),
        lambda: hw.of("ann", odd.select("f")),
        lambda: three.frame(t=odd),
    ):
        with pytest.raises(hw.UsageError, match="column f has floats"):
            make()
    with pytest.raises(hw.UsageError, match="no column absent"):
        hw.of("ann", odd, columns={"absent": "INTEGER"})


class Once:
    """A table with one capsule, which only its first reader may read."""

    def __init__(self, table: Any) -> None:
        self.capsule = table.__arrow_c_stream__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.capsule


def test_a_stream_is_read_once() -> None:
    # pyarrow leaves the callbacks in a stream that it has moved out, and this package clears them.
    for read in (pa.table, lambda table: hw.of("ann", table)):
        table = Once(pa.table({"k": [1, 2]}))
        read(table)
        with pytest.raises(hw.UsageError, match="does not become a table of Arrow"):
            hw.of("ann", table)


class Uncounted:
    """A table whose stream does not say how many rows of a batch are null as a whole."""

    def __init__(self, table: Any) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        capsule = self.table.__arrow_c_stream__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        # The second field of a stream is `get_next`, and that of an array `null_count`.
        stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(ctypes.c_void_p))
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int64))
        counted = kind(stream[1])

        def get_next(stream: int, array: Any) -> int:
            code = counted(stream, array)
            array[1] = -1
            return code

        self.uncounted = kind(get_next)
        stream[1] = ctypes.cast(self.uncounted, ctypes.c_void_p).value
        return capsule


def test_rows_that_are_null_as_a_whole_are_refused() -> None:
    rows = pa.array([{"k": 1}, {"k": 2}, None], pa.struct([("k", pa.int64())]))
    for kind in (lambda table: table, Uncounted):
        for part in (rows, rows.slice(1)):
            with pytest.raises(hw.UsageError, match="does not become a table of Arrow"):
                hw.of("ann", kind(pa.chunked_array([part])))
        assert hw.of("ann", kind(pa.chunked_array([rows.slice(1, 1)]))).rows == 1


#: Every type with its declaration.
DECLARED = ["BOOLEAN", "SMALLINT", "BIGINT", "DECIMAL(9, 2)", "DOUBLE(16)", "DATE", "TIMESTAMP", "VARCHAR(8)", "DIGEST"]


@pytest.mark.parametrize("declared", DECLARED)
@pytest.mark.parametrize("kind", ["lists", "polars", "pyarrow"])
def test_columns_without_values_are_of_the_type_that_they_are_declared(
    three: hw.Session, kind: str, declared: str
) -> None:
    for rows in (0, 1, 11):
        table = {"k": list(range(rows)), "x": [None] * rows}
        frames = {
            "lists": lambda: table,
            "polars": lambda: pl.DataFrame(table, schema={"k": pl.Int64, "x": pl.Null}),
            "pyarrow": lambda: pa.table({"k": pa.array(table["k"], pa.int64()), "x": pa.nulls(rows)}),
        }
        own = hw.of("ann", frames[kind](), columns={"k": "BIGINT", "x": declared})
        sql = "SELECT COUNT(*) AS n, COUNT(t.x) AS m, COUNT(u.x) AS u FROM t, u"
        assert three.sql(sql, t=own, u={"x": [5]}).rows() == [(rows, 0, rows)]
    with pytest.raises(hw.UsageError, match="column x has no values") as caught:
        hw.of("ann", {"x": []})
    assert '"x": "INTEGER"' in caught.value.remedy
    with pytest.raises(hw.FileError, match="NULL"):
        three.sql("SELECT COUNT(x) AS n FROM t", t=hw.of("ann", {"x": [None]}, columns={"x": f"{declared} NOT NULL"}))


@pytest.mark.parametrize("declared", ["DOUBLE(16)", "DECIMAL(9, 2)"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_numbers_that_no_type_holds_are_named(three: hw.Session, odd: float, dtype: Any, declared: str) -> None:
    def asked(values: list[float]) -> Any:
        own = hw.of("ann", pl.DataFrame({"x": np.array(values, dtype=dtype)}), columns={"x": declared})
        return three.sql("SELECT COUNT(x) AS n FROM t", t=own)

    with pytest.raises(hw.FileError, match="row 2 has NaN or an infinity in x") as caught:
        asked([1.0, -2.5, odd, 4.0])
    assert "None" in caught.value.remedy and caught.value.code == "HW0645"
    # A number that is too large has a different error.
    with pytest.raises(hw.FileError, match="row 1 has a value in x"):
        asked([1.0, 1e30])


def test_values_of_results(three: hw.Session) -> None:
    result = three.sql("SELECT k, n FROM t ORDER BY k", t={"k": [1, 2], "n": [None, 4]})
    assert result.shape == (2, 2)
    assert result["n"] == [None, 4] and result.fetchall() == [(1, None), (2, 4)]
    assert three.sql("SELECT MAX(k) AS most FROM t", t={"k": [1, 2]}).item() == 2
    with pytest.raises(KeyError, match="it has k, n"):
        result["absent"]
    with pytest.raises(hw.UsageError, match="2 rows and 2 columns"):
        result.item()


def test_times_of_numpy_and_pandas_in_lists_are_times(three: hw.Session) -> None:
    # Finer times than microseconds were once numbers of nanoseconds, or lost them.
    pd = pytest.importorskip("pandas")
    moment = datetime.datetime(2020, 1, 1, 1, 2, 3)
    fine = np.array([moment, "NaT"], "M8[ns]")
    for times in (fine, list(fine), pd.Series(fine), [pd.Timestamp(moment), pd.NaT], fine.astype("M8[us]")):
        assert three.sql("SELECT a FROM t", t={"a": times}).rows() == [(moment,), (None,)]
    days = np.array(["2020-01-01", "NaT"], "M8[D]")
    assert three.sql("SELECT a FROM t", t={"a": days}).rows() == [(moment.date(),), (None,)]
    assert three.sql("SELECT a FROM t", t={"a": [7, pd.NA]}).rows() == [(7,), (None,)]
    odd = fine + np.timedelta64(1, "ns")
    far = np.array(["12020-01-01"], "M8[D]")
    for wrong, says in (
        (odd, "fractions of a microsecond"),
        (list(odd), "fractions of a microsecond"),
        (list(pd.Series(odd)), "fractions of a microsecond"),
        (far, "years 1 to 9999"),
        (far.astype("M8[s]"), "years 1 to 9999"),
        (np.array([5], "m8[ns]"), "durations"),
        ([np.timedelta64(5, "ns")], "durations"),
    ):
        with pytest.raises(hw.UsageError, match=says):
            hw.of("ann", {"a": wrong})


def test_periods_of_pandas_are_no_numbers(three: hw.Session) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"p": pd.period_range("2020-01", periods=2, freq="M"), "n": [1, 2]})
    assert three.sql("SELECT SUM(n) AS n FROM t", t=frame).item() == 3
    for table in (frame, pa.Table.from_pandas(frame)):
        with pytest.raises(hw.UsageError, match="column p has values of a type"):
            three.sql("SELECT p FROM t", t=table)
