"""Queries and lazy frames against SQLite, polars and DuckDB; frames of every library."""

from __future__ import annotations

import datetime
import decimal
import sqlite3
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hushwire as hw

PAY = {"person": [1, 2, 3, 4], "salary": [4200, 3900, 5100, 2800]}
WHO = {"id": [4, 3, 2, 1], "city": ["Oslo", "Tartu", "Oslo", None]}
QUERY = (
    "SELECT city, SUM(salary) AS total, COUNT(*) AS n FROM pay JOIN who ON person = id "
    "GROUP BY city ORDER BY total"
)
WANTED = [(None, 4200, 1), ("Tartu", 5100, 1), ("Oslo", 6700, 2)]


def frames(kind: str, table: dict[str, list[Any]]) -> Any:
    made = {
        "lists": lambda: table,
        "rows": lambda: [dict(zip(table, row)) for row in zip(*table.values())],
        "polars": lambda: pl.DataFrame(table),
        "lazy": lambda: pl.LazyFrame(table),
        "chunks": lambda: pl.concat([pl.DataFrame(table)[:1], pl.DataFrame(table)[1:]], rechunk=False),
        "sliced": lambda: pl.DataFrame({k: [v[0], *v, v[0]] for k, v in table.items()})[1:-1],
        "categories": lambda: pl.DataFrame(table).with_columns(pl.col(pl.String).cast(pl.Categorical)),
        "pandas": lambda: pd.DataFrame(table),
        "pyarrow": lambda: pa.table(table),
        "large": lambda: pa.table(table).cast(
            pa.schema([(f.name, pa.large_string() if f.type == pa.string() else f.type) for f in pa.table(table).schema])
        ),
        "views": lambda: pa.table(table).cast(
            pa.schema([(f.name, pa.string_view() if f.type == pa.string() else f.type) for f in pa.table(table).schema])
        ),
        "dictionary": lambda: pa.table(
            {k: pa.array(v).dictionary_encode() if isinstance(v[0], str) else v for k, v in table.items()}
        ),
        "duckdb": lambda: duckdb.sql("SELECT * FROM f", connection=connected(pa.table(table))),
        "numpy": lambda: {k: np.array(v, dtype=object) if None in v else np.array(v) for k, v in table.items()},
    }
    return made[kind]()


def connected(table: Any) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect()
    connection.register("f", table)
    return connection


@pytest.mark.parametrize(
    "kind",
    ["lists", "rows", "polars", "lazy", "chunks", "sliced", "categories", "pandas", "pyarrow", "large"]
    + ["views", "dictionary", "duckdb", "numpy"],
)
def test_frames_of_every_library(three: hw.Session, kind: str) -> None:
    pay = hw.of("alice", frames(kind, PAY))
    who = hw.of("bob", frames(kind, WHO), key="id")
    assert three.sql(QUERY, pay=pay, who=who).rows() == WANTED


def test_files_are_tables(three: hw.Session, tmp_path: Any) -> None:
    pl.DataFrame(PAY).write_csv(tmp_path / "pay.csv")
    pl.DataFrame(WHO).write_parquet(tmp_path / "who.parquet")
    who = hw.of("bob", tmp_path / "who.parquet", key="id")
    assert three.sql(QUERY, pay=tmp_path / "pay.csv", who=who).rows() == WANTED


TYPES: dict[str, tuple[list[Any], str]] = {
    "flag": ([True, None, False], "BOOLEAN"),
    "small": ([1, -2, None], "SMALLINT"),
    "whole": ([70_000, None, -70_000], "INTEGER"),
    "big": ([2**62, None, -(2**62)], "BIGINT"),
    "money": ([decimal.Decimal("12.50"), None, decimal.Decimal("-0.01")], "DECIMAL(9, 2)"),
    "wide": ([decimal.Decimal(10**29 + 1), None, decimal.Decimal(-3)], "DECIMAL(38, 0)"),
    "day": ([datetime.date(2026, 11, 29), None, datetime.date(1969, 1, 1)], "DATE"),
    "time": ([datetime.datetime(2026, 1, 2, 3, 4, 5, 6), None, datetime.datetime(1969, 1, 1)], "TIMESTAMP"),
    "text": (["Zürich", None, ""], "VARCHAR(8)"),
}
ARROW = {
    "flag": pa.bool_(),
    "small": pa.int16(),
    "whole": pa.int32(),
    "big": pa.int64(),
    "money": pa.decimal128(9, 2),
    "wide": pa.decimal128(38, 0),
    "day": pa.date32(),
    "time": pa.timestamp("us"),
    "text": pa.string(),
}


def test_values_of_every_type_come_back(three: hw.Session) -> None:
    table = pa.table({name: pa.array(values, ARROW[name]) for name, (values, _) in TYPES.items()})
    table = table.append_column("id", pa.array([1, 2, 3], pa.int32()))
    result = three.sql("SELECT * FROM t ORDER BY id", t=table)
    assert result.types == {**{name: ty for name, (_, ty) in TYPES.items()}, "id": "INTEGER"}
    wanted = [tuple(row) for row in zip(*(values for values, _ in TYPES.values()), [1, 2, 3])]
    assert result.rows() == wanted
    assert result.arrow().to_pylist() == table.to_pylist()
    assert result.pl().rows() == wanted
    assert result.df()["whole"].dropna().tolist() == [70_000, -70_000]
    assert duckdb.sql("SELECT * FROM f", connection=connected(result.arrow())).fetchall() == wanted
    arrays = result.numpy()
    assert arrays["small"].tolist() == [1, -2, None]
    assert arrays["day"][0] == np.datetime64("2026-11-29")
    assert len(result) == 3
    assert "Zürich" in result._repr_html_() and "Zürich" in repr(result)


def test_widths_and_units_of_numbers(three: hw.Session) -> None:
    values = [3, None, 200]
    for ty in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64(), pa.int16(), pa.int32(), pa.int64()):
        got = three.sql("SELECT n FROM t ORDER BY i", t=pa.table({"n": pa.array(values, ty), "i": [1, 2, 3]}))
        assert [None if n is None else int(n) for (n,) in got.rows()] == values, ty
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5)
    for unit in ("s", "ms", "us", "ns"):
        got = three.sql("SELECT n FROM t", t=pa.table({"n": pa.array([moment], pa.timestamp(unit))}))
        assert got.rows() == [(moment,)]
    day = datetime.date(2026, 1, 2)
    got = three.sql("SELECT n FROM t", t=pa.table({"n": pa.array([day], pa.date64())}))
    assert got.rows() == [(day,)]


def test_a_difference_of_moments_is_an_interval(three: hw.Session) -> None:
    moments = [datetime.datetime(2026, 1, 2, 3, 4, 5, 6), None]
    table = pa.table({"n": pa.array(moments, pa.timestamp("us")), "i": [1, 2]})
    got = three.sql("SELECT n - TIMESTAMP '2026-01-01 00:00:00' AS gone FROM t ORDER BY i", t=table)
    gone = moments[0] - datetime.datetime(2026, 1, 1)
    assert got.rows() == [(gone,), (None,)]
    assert got.arrow().column("gone").to_pylist() == [gone, None]
    assert got.arrow().schema.field("gone").type == pa.duration("us")
    assert got.numpy()["gone"][0] == np.timedelta64(gone)


def test_text_that_the_owner_computes_is_right_from_columns(three: hw.Session) -> None:
    table = {"note": ["Öl 12", "no", None, "Ähre 7"], "i": [1, 2, 3, 4]}
    got = three.sql("SELECT REGEXP_EXTRACT(note, '[0-9]+') AS n, UPPER(note) AS u FROM t ORDER BY i", t=table)
    assert got.rows() == [("12", "ÖL 12"), ("", "NO"), (None, None), ("7", "ÄHRE 7")]


def test_floats_are_declared_or_refused(three: hw.Session) -> None:
    table = {"price": [0.5, 2.25, -1.0]}
    with pytest.raises(hw.UsageError, match="price.*hw.double"):
        three.sql("SELECT SUM(price) AS s FROM t", t=table)
    by_steps = hw.of("a", table, columns={"price": hw.double(16)})
    assert three.sql("SELECT SUM(price) AS s FROM t", t=by_steps).rows() == [(1.75,)]
    by_digits = hw.of("a", table, columns={"price": "DECIMAL(9, 2)"})
    assert three.sql("SELECT SUM(price) AS s FROM t", t=by_digits).rows() == [(decimal.Decimal("1.75"),)]


def test_keys_are_checked(three: hw.Session) -> None:
    for values in ([1, 2, 1], ["a", "b", "a"]):
        who = hw.of("bob", {"id": values, "n": [1, 2, 3]}, key="id")
        with pytest.raises(hw.FileError, match="row 2.*the table's key"):
            three.sql("SELECT COUNT(*) AS c FROM t JOIN who ON a = id", t={"a": values}, who=who)


def test_padding_hides_rows(three: hw.Session) -> None:
    t = hw.of("a", {"n": [1, 2, 3]}, pad=8)
    assert t.rows == 8
    assert three.sql("SELECT COUNT(*) AS c, SUM(n) AS s FROM t", t=t).rows() == [(3, 6)]
    with pytest.raises(hw.UsageError, match="more than pad"):
        hw.of("a", {"n": [1, 2, 3]}, pad=2)


def test_columns_that_are_chosen(three: hw.Session) -> None:
    t = hw.of("a", {"n": [1, 2], "note": ["x" * 600, "y"]}, columns=["n"])
    assert t.columns == ["n BIGINT NOT NULL"]
    assert three.sql("SELECT SUM(n) AS s FROM t", t=t).rows() == [(3,)]


def test_parameters_and_groups(three: hw.Session) -> None:
    got = three.sql("SELECT SUM(n) AS s FROM t WHERE n > :least", t={"n": [1, 5, 9]}, parameters={"least": 4})
    assert got.rows() == [(14,)]
    table = {"c": ["a", "a", "b"], "n": [1, 2, 3]}
    got = three.sql("SELECT c, SUM(n) AS s FROM t GROUP BY c", t=table, min_group=2)
    assert got.rows() == [("a", 3)]


def test_a_plan_says_who_learns_what(three: hw.Session) -> None:
    query = three.query(QUERY, pay=PAY, who=hw.of("bob", WHO, key="id"))
    plan = query.explain()
    assert "rows" in str(plan) and "learn" in str(plan) and "rounds" in str(plan)
    assert plan.cost["rounds"] > 0 and plan.cost["seconds"]["wan"] > plan.cost["seconds"]["local"]
    assert "<div" in plan._repr_html_() and "<li>" in query._repr_html_()
    assert query.digest.startswith("blake3:")
    assert [name for name, _ in query.columns] == ["city", "total", "n"]


ROWS = st.lists(
    st.tuples(
        st.integers(0, 5),
        st.one_of(st.none(), st.integers(-1000, 1000)),
        st.sampled_from(["a", "b", "cc", None]),
    ),
    min_size=1,
    max_size=12,
)


def key(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((field is not None, field) for field in row)


def same(got: list[tuple[Any, ...]], wanted: list[tuple[Any, ...]]) -> None:
    def plain(field: Any) -> Any:
        return round(float(field), 6) if isinstance(field, (decimal.Decimal, float)) else field

    lines = [sorted((tuple(map(plain, row)) for row in rows), key=key) for rows in (got, wanted)]
    assert lines[0] == lines[1]


@given(rows=ROWS, least=st.integers(-1000, 1000))
def test_queries_give_what_sqlite_does(three: hw.Session, rows: list[Any], least: int) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (k INTEGER, n INTEGER, s TEXT)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    table = pa.table(
        {
            "k": pa.array([row[0] for row in rows], pa.int32()),
            "n": pa.array([row[1] for row in rows], pa.int32()),
            "s": pa.array([row[2] for row in rows], pa.string()),
        }
    )
    for sql in (
        f"SELECT k, SUM(n) AS a, COUNT(n) AS b, MIN(n) AS c, MAX(s) AS d FROM t WHERE k <> 3 OR n > {least} GROUP BY k",
        f"SELECT s, n FROM t WHERE n >= {least} AND s IS NOT NULL",
        "SELECT COUNT(*) AS a, COUNT(DISTINCT k) AS b, SUM(n * 2 - k) AS c FROM t",
        "SELECT k, n, CASE WHEN n IS NULL THEN -1 WHEN n < k THEN 0 ELSE n END AS e FROM t",
    ):
        same(three.sql(sql, t=table).rows(), db.execute(sql).fetchall())


@given(rows=ROWS, least=st.integers(-1000, 1000))
def test_frames_give_what_polars_does(three: hw.Session, rows: list[Any], least: int) -> None:
    schema = {"k": pl.Int32, "n": pl.Int32, "s": pl.String}
    plain = pl.DataFrame(rows, schema=schema, orient="row")
    secret = three.frame(t=plain)
    col, pcol = hw.col, pl.col

    got = secret.filter((col("n") > least) | (col("k") == 2)).select("k", twice=col("n") * 2)
    wanted = plain.filter((pcol("n") > least) | (pcol("k") == 2)).select("k", twice=pcol("n") * 2)
    same(got.collect().rows(), wanted.rows())

    got = secret.filter(col("n").is_not_null()).group_by("k").agg(
        col("n").sum().alias("total"), col("n").mean().alias("mean"), hw.len(), high=col("n").max()
    )
    wanted = plain.filter(pcol("n").is_not_null()).group_by("k").agg(
        pcol("n").cast(pl.Int64).sum().alias("total"), pcol("n").mean().alias("mean"), pl.len(), high=pcol("n").max()
    )
    same(got.collect().rows(), wanted.rows())

    got = secret.with_columns(hw.when(col("n") > 0).then(1).otherwise(0).alias("up")).drop("s").unique()
    wanted = plain.with_columns(pl.when(pcol("n") > 0).then(1).otherwise(0).alias("up")).drop("s").unique()
    same(got.collect().rows(), wanted.rows())

    cities = pl.DataFrame({"id": [0, 1, 2, 3], "city": ["x", "y", "x", None]})
    other = three.frame(c=hw.of("bob", cities, key="id"))
    for how in ("inner", "left", "semi", "anti"):
        got = secret.join(other, left_on="k", right_on="id", how=how)
        wanted = plain.join(cities.with_columns(pcol("id").cast(pl.Int32)), left_on="k", right_on="id", how=how)
        assert got.columns == wanted.columns
        same(got.collect().rows(), wanted.rows())

    named = secret.rename({"n": "m"}).select("k", "m").filter(col("m").is_between(-50, 50))
    top = named.unique().sort("m", "k", descending=[True, False]).head(3).collect().rows()
    plain_top = (
        plain.rename({"n": "m"}).select("k", "m").filter(pcol("m").is_between(-50, 50))
        .unique().sort("m", "k", descending=[True, False]).head(3).rows()
    )
    assert top == plain_top


def test_frames_refuse_what_makes_no_sense(three: hw.Session) -> None:
    frame = three.frame(t={"n": [1, 2]})
    with pytest.raises(hw.UsageError, match="truth value"):
        bool(frame)
    with pytest.raises(hw.UsageError, match="truth value.*hw.when"):
        bool(hw.col("n") > 1)
    with pytest.raises(hw.UsageError, match="no column m"):
        frame.sort("m")
    with pytest.raises(hw.UsageError, match="no name"):
        frame.select(hw.lit(1))
    with pytest.raises(hw.UsageError, match="one table"):
        three.frame(a={"n": [1]}, b={"n": [1]})
    with pytest.raises(hw.UsageError, match="iterated"):
        list(hw.col("n"))


def test_two_sessions_do_not_mix_and_none_is_closed() -> None:
    with hw.local() as a:
        frame = a.frame(t={"n": [1]})
    with pytest.raises(hw.UsageError, match="closed"):
        frame.collect()
