"""Random chains of the methods of lazy frames, against polars."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hushwire as hw
from test_queries import ROWS, same

#: A method with its arguments, and its name in the chain.
Verb = tuple[str, Any]

NUMBERS = ("k", "n")
TEXTS = ("s",)


class Both:
    """A lazy frame, and the polars frame with the expected rows. Columns are of numbers or of texts."""

    def __init__(self, secret: hw.Frame, plain: pl.DataFrame) -> None:
        self.secret, self.plain = secret, plain

    def numbers(self) -> list[str]:
        return [name for name, ty in self.plain.schema.items() if ty.is_integer()]

    def texts(self) -> list[str]:
        return [name for name, ty in self.plain.schema.items() if ty == pl.String]


def apply(both: Both, verb: str, at: int, c: int) -> Both:
    """Applies one method to an existing column."""
    numbers, texts = both.numbers(), both.texts()
    n = numbers[at % len(numbers)] if numbers else None
    m = numbers[(at + 1) % len(numbers)] if numbers else None
    t = texts[at % len(texts)] if texts else None
    s, p, h, q = both.secret, both.plain, hw.col, pl.col
    if verb == "filter" and n and m:
        return Both(
            s.filter((h(n) > c) | (h(m) == c % 5), ~(h(n) == 3)), p.filter((q(n) > c) | (q(m) == c % 5), ~(q(n) == 3))
        )
    if verb == "in" and n:
        return Both(s.filter(h(n).is_in([1, 2, c])), p.filter(q(n).is_in([1, 2, c])))
    if verb == "text" and t:
        return Both(
            s.filter(h(t).str.starts_with("c") | h(t).is_null()), p.filter(q(t).str.starts_with("c") | q(t).is_null())
        )
    if verb == "upper" and t:
        return Both(
            s.with_columns(h(t).str.to_uppercase(), long=h(t).str.len_chars()),
            p.with_columns(q(t).str.to_uppercase(), long=q(t).str.len_chars().cast(pl.Int64)),
        )
    if verb == "arithmetic" and n and m:
        return Both(
            s.with_columns((h(n) * 2 - h(m) + c).alias(n), more=-h(m)),
            p.with_columns((q(n) * 2 - q(m) + c).alias(n), more=-q(m)),
        )
    if verb == "when" and n:
        return Both(
            s.with_columns(size=hw.when(h(n) > c).then(2).when(h(n).is_null()).then(h(n)).otherwise(0)),
            p.with_columns(size=pl.when(q(n) > c).then(2).when(q(n).is_null()).then(q(n)).otherwise(0).cast(pl.Int64)),
        )
    if verb == "fill" and n:
        return Both(
            s.with_columns(h(n).fill_null(c).abs().alias(n)),
            p.with_columns(q(n).fill_null(c).abs().alias(n)),
        )
    if verb == "rename" and n:
        return Both(s.rename({n: f"{n}_"}), p.rename({n: f"{n}_"}))
    if verb == "drop" and len(p.columns) > 2:
        return Both(s.drop(p.columns[0]), p.drop(p.columns[0]))
    if verb == "select" and n:
        kept = [n, *texts]
        return Both(s.select(kept, one=1), p.select(kept + [pl.lit(1).cast(pl.Int64).alias("one")]))
    if verb == "unique":
        return Both(s.unique(), p.unique())
    if verb == "head":
        # Rows that are equal in all columns may be taken in any order.
        return Both(s.sort(*p.columns).head(3), p.sort(p.columns, nulls_last=False).head(3))
    if verb == "group" and n and m:
        key = t or m
        if key == n:
            return both
        kept = s.group_by(key).agg(h(n).max().alias("high"), h(n).min().alias("low"), hw.len(), known=h(n).count())
        made = p.group_by(key).agg(
            q(n).max().alias("high"),
            q(n).min().alias("low"),
            pl.len().cast(pl.Int64),
            known=q(n).count().cast(pl.Int64),
        )
        return Both(kept, made)
    if verb == "over" and n and t:
        return Both(s.with_columns(top=h(n).max().over(t)), p.with_columns(top=q(n).max().over(t)))
    return both


VERBS = ["filter", "in", "text", "upper", "arithmetic", "when", "fill", "rename", "drop", "select", "unique"]
VERBS += ["head", "group", "over"]
CHAIN = st.lists(
    st.tuples(st.sampled_from(VERBS), st.integers(0, 3), st.integers(-5, 5)), min_size=1, max_size=4
)


@settings(max_examples=settings().max_examples * 2)
@given(rows=ROWS, chain=CHAIN)
def test_chains_of_verbs_give_what_polars_does(three: hw.Session, rows: list[Any], chain: list[Any]) -> None:
    plain = pl.DataFrame(rows, schema={"k": pl.Int64, "n": pl.Int64, "s": pl.String}, orient="row")
    both = Both(three.frame(t=plain), plain)
    for verb, at, c in chain:
        both = apply(both, verb, at, c)
    assert both.secret.columns == both.plain.columns
    same(both.secret.collect().rows(), both.plain.rows())


@pytest.mark.parametrize("how", ["inner", "left", "semi", "anti"])
def test_joins_of_chains(three: hw.Session, how: str) -> None:
    orders = pl.DataFrame({"k": [1, 2, 2, 9, None], "n": [5, 6, 7, 8, 9]})
    who = pl.DataFrame({"k": [1, 2, 3], "n": [10, 20, 30], "name": ["ann", None, "eve"]})
    secret = three.frame(o=orders).filter(hw.col("n") < 9).with_columns(hw.col("n") + 1)
    other = three.frame(w=hw.of("bob", who, key="k")).filter(hw.col("n") > 10)
    got = secret.join(other, on="k", how=how).collect()
    plain = orders.filter(pl.col("n") < 9).with_columns(pl.col("n") + 1)
    wanted = plain.join(who.filter(pl.col("n") > 10), on="k", how=how)
    assert got.columns == wanted.columns
    same(got.rows(), wanted.rows())


TABLE = {"k": [1, 2, 2, None, 5], "n": [10, None, -3, 4, 5], "s": ["a", "b", None, "b", "c"]}
OTHER = {"k": [1, 2, 9], "m": [7, 8, None]}


def verbs(t: Any, c: Any) -> dict[str, Any]:
    """The same methods of both libraries; rows are sorted where their order matters."""
    known = t.drop_nulls("n")
    plain = t.select("k", "n")
    return {
        "remove": t.remove(c("n") > 4),
        "without NULL": t.drop_nulls(),
        "without NULL in two columns": t.drop_nulls(["k", "s"]),
        "zeros": plain.fill_null(0),
        "slice": known.sort("n").slice(1, 2),
        "slice of the first": known.sort("n").head(3).slice(1, 5),
        "slice that is filtered": known.sort("n").slice(1, 2).filter(c("n") > 4),
        "slice of none": known.sort("n").head(1).slice(3, 2),
        "greatest": known.top_k(2, by="n"),
        "least": known.bottom_k(3, by="n"),
        "pipe": t.pipe(lambda f, least: f.filter(c("n") > least), 4),
        "clip": t.select("k", x=c("n").clip(0, 5), y=c("n").clip(0)),
        "sign": t.select("k", x=c("n").sign(), y=c("n").pow(2), z=c("n").neg()),
        "names": t.select("k", x=c("n").add(1).mul(2).sub(c("k")), y=c("n").eq(4).or_(c("n").gt(5)).not_()),
        "comparisons": t.select("k", a=c("n").lt(4), b=c("n").le(4), d=c("n").ge(4).and_(c("n").ne(5))),
        "quotients": t.select("k", x=c("n").truediv(4)),
        "limit": known.sort("n").limit(2),
        "powers": t.select("k", x=c("n").clip(0, 5).exp(), y=c("n").clip(1).log()),
        "NULL": t.select(c("n").null_count()),
        **{name: getattr(plain, name)() for name in ("sum", "mean", "min", "max", "median", "count", "null_count")},
    }


def test_each_verb_gives_what_polars_does(three: hw.Session) -> None:
    plain = pl.DataFrame(TABLE)
    found, wanted = verbs(three.frame(t=plain), hw.col), verbs(plain, pl.col)
    for name, frame in found.items():
        assert frame.columns == wanted[name].columns, name
        same(frame.collect().rows(), wanted[name].rows())
    n = found["sum"].collect()
    assert n.shape == (1, 2)
    numbers = three.frame(t=plain).select("n")
    assert float(numbers.std().collect().item()) == pytest.approx(plain["n"].std(), rel=1e-4)
    assert float(numbers.var().collect().item()) == pytest.approx(plain["n"].var(), rel=1e-4)
    assert three.frame(t=plain).select("s").n_unique().collect().item() == 3
    got = three.frame(t=plain).select(hw.col("n").quantile(0.3)).collect().item()
    assert float(got) == pytest.approx(plain["n"].quantile(0.3, interpolation="linear"))


@pytest.mark.parametrize("how", ["inner", "left", "right", "full", "semi", "anti", "cross"])
def test_every_join_gives_what_polars_does(three: hw.Session, how: str) -> None:
    table, other = pl.DataFrame(TABLE), pl.DataFrame(OTHER)
    on = None if how == "cross" else "k"
    secret = three.frame(t=table).join(three.frame(u=hw.of("bob", other, key="k")), on=on, how=how)
    wanted = table.join(other, on=on, how=how)
    assert secret.columns == wanted.columns
    same(secret.collect(join_bound=15 if how == "cross" else None).rows(), wanted.rows())


def test_joins_that_make_no_sense(three: hw.Session) -> None:
    a, b = three.frame(a={"k": [1]}), three.frame(b={"k": [1]})
    with pytest.raises(hw.UsageError, match="cross join has no keys"):
        a.join(b, on="k", how="cross")
    with pytest.raises(hw.UsageError, match="no join is called outer"):
        a.join(b, on="k", how="outer")
    with pytest.raises(hw.UsageError, match="counted from the end"):
        a.slice(-1, 2)


def test_null_is_neither_the_greatest_nor_the_least(three: hw.Session) -> None:
    values = [10, None, -5, 7, None]
    frame, t = pl.DataFrame({"v": values}), three.frame(t=pl.DataFrame({"v": values}))
    for k in (1, 2, 4):
        assert t.top_k(k, by="v").collect()["v"] == frame.top_k(k, by="v").sort("v", descending=True, nulls_last=True)["v"].to_list()
        assert t.bottom_k(k, by="v").collect()["v"] == frame.bottom_k(k, by="v").sort("v", nulls_last=True)["v"].to_list()
    for down in (False, True):
        for last in (False, True):
            wanted = frame.sort("v", descending=down, nulls_last=last)["v"].to_list()
            assert t.sort("v", descending=down, nulls_last=last).collect()["v"] == wanted


@pytest.mark.parametrize("value", [float("nan"), float("inf"), decimal.Decimal("NaN")])
def test_what_is_no_number_is_no_literal(three: hw.Session, value: Any) -> None:
    t = three.frame(t={"v": [1, 2]})
    with pytest.raises(hw.UsageError, match="no values of a column"):
        t.filter(hw.col("v") == value)
    with pytest.raises(hw.UsageError, match="called by a text"):
        hw.col(5)  # type: ignore[arg-type]


def test_moments_of_a_zone_are_those_of_utc(three: hw.Session) -> None:
    zone = datetime.timezone(datetime.timedelta(hours=3))
    moment = datetime.datetime(2024, 3, 1, 1, 30, tzinfo=zone)
    t = three.frame(t=pl.DataFrame({"at": [moment, moment.replace(hour=5)]}))
    assert t.filter(hw.col("at") <= moment).collect().rows() == [(datetime.datetime(2024, 2, 29, 22, 30),)]
