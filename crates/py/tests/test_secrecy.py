"""No value of an input is in an exception, a repr, a pickle or a log."""

from __future__ import annotations

import logging
import pickle
import traceback
from typing import Any, Callable

import numpy as np
import polars as pl
import pytest

import hushwire as hw

#: Values that appear nowhere else.
NUMBER = 918_273_645
REAL = 91827.364551
TEXT = "Xanthippe-secret"
MARKS = [str(NUMBER), "91827.36", TEXT, "918_273_645", hex(NUMBER)[2:]]


def told(e: BaseException) -> str:
    parts = [str(e), repr(e), *map(str, e.args), "".join(traceback.format_exception_only(e))]
    parts.append(repr(pickle.loads(pickle.dumps(e)).args))
    parts += [repr(value) for value in vars(e).values()]
    cause = e.__cause__ or e.__context__
    return "\n".join(parts) + (told(cause) if cause is not None else "")


COMPUTE = "computation c\nmembers a\ninput x: {} from a\noutput y = x to a"

WRONG: dict[str, Callable[[hw.Session], Any]] = {
    "too wide": lambda s: s.run(COMPUTE.format("u8[2]"), {"x": [1, NUMBER]}),
    "negative": lambda s: s.run(COMPUTE.format("u32[2]"), {"x": [1, -NUMBER]}),
    "a float of integers": lambda s: s.run(COMPUTE.format("u32[2]"), {"x": [1, REAL]}),
    "a float that does not fit": lambda s: s.run(COMPUTE.format("fixed(16, 8)[1]"), {"x": [REAL]}),
    "a text": lambda s: s.run(COMPUTE.format("u8[1]"), {"x": TEXT}),
    "texts": lambda s: s.run(COMPUTE.format("u8[1]"), {"x": [TEXT]}),
    "an array of objects": lambda s: s.run(COMPUTE.format("u8[1]"), {"x": np.array([TEXT], dtype=object)}),
    "an array of texts": lambda s: s.run(COMPUTE.format("u8[1]"), {"x": np.array([TEXT])}),
    "another shape": lambda s: s.run(COMPUTE.format("u64[3]"), {"x": [NUMBER]}),
    "a column too wide": lambda s: s.sql(
        "SELECT SUM(n) AS s FROM t", t=hw.of("a", {"n": [1, NUMBER]}, columns={"n": "SMALLINT"})
    ),
    "a column of text": lambda s: s.sql(
        "SELECT MAX(n) AS s FROM t", t=hw.of("a", {"n": ["a", TEXT]}, columns={"n": "VARCHAR(4)"})
    ),
    "a column of another type": lambda s: s.sql(
        "SELECT SUM(n) AS s FROM t", t=hw.of("a", {"n": ["a", TEXT]}, columns={"n": "INTEGER"})
    ),
    "floats": lambda s: s.sql("SELECT SUM(n) AS s FROM t", t={"n": [REAL]}),
    "floats that do not fit": lambda s: s.sql(
        "SELECT SUM(n) AS s FROM t", t=hw.of("a", {"n": [REAL]}, columns={"n": "DECIMAL(3, 2)"})
    ),
    "several types": lambda s: s.sql("SELECT 1 AS s FROM t", t={"n": [NUMBER, TEXT]}),
    "a repeated key": lambda s: s.sql(
        "SELECT COUNT(*) AS c FROM t JOIN w ON a = id",
        t={"a": [NUMBER]},
        w=hw.of("b", {"id": [NUMBER, NUMBER]}, key="id"),
    ),
    "a repeated text": lambda s: s.sql(
        "SELECT COUNT(*) AS c FROM t JOIN w ON a = id",
        t={"a": [TEXT]},
        w=hw.of("b", {"id": [TEXT, TEXT]}, key="id"),
    ),
    "a query that is refused": lambda s: s.sql("SELECT nothing FROM t", t={"n": [NUMBER]}),
    "not ASCII": lambda s: s.sql(
        "SELECT SUBSTRING(t.n || u.m, 1, 2) AS p FROM t JOIN u ON t.k = u.k",
        t=hw.of("t", {"n": [TEXT + "é"], "k": [1]}, key="k"),
        u=hw.of("u", {"m": ["x"], "k": [1]}, key="k"),
    ),
    "no intersection": lambda s: hw.psi([TEXT, TEXT + "\0"], [TEXT], reveal="sum:n,count"),
    "no input of a network": lambda s: hw.run_onnx(b"no", [[REAL]]),
    "a key of AES": lambda s: hw.aes(b"x", key=TEXT.encode()[:15]),
    "a frame": lambda s: s.frame(t={"n": [TEXT]}).sort("m"),
}


@pytest.mark.parametrize("name", WRONG)
def test_exceptions_and_logs_have_no_values(
    three: hw.Session, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(Exception) as caught:
        WRONG[name](three)
    out, err = capfd.readouterr()
    text = "\n".join([told(caught.value), caplog.text, out, err])
    assert isinstance(caught.value, hw.PartyError), text
    found = [mark for mark in MARKS if mark in text]
    assert not found, text
    assert caught.value.step and caught.value.cause and caught.value.remedy


def test_reprs_and_logs_of_runs_have_no_values(
    three: hw.Session, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    frame = pl.DataFrame({"n": [NUMBER, 1], "t": [TEXT, "b"]})
    table = hw.of("a", frame)
    query = three.query("SELECT COUNT(*) AS c FROM t WHERE n > 3", t=table)
    lazy = three.frame(t=table).filter(hw.col("n") > 3)
    heard: list[hw.Progress] = []
    result = query.run(progress=heard.append)
    assert result.rows() == [(1,)]
    secrets = [table, table._data, query, query.explain(), lazy, lazy.explain(), three, result, heard]
    out, err = capfd.readouterr()
    html = [query._repr_html_(), query.explain()._repr_html_()]
    text = "\n".join([*map(repr, secrets), *map(str, secrets), *html, caplog.text, out, err])
    assert not [mark for mark in MARKS if mark in text]
    for secret in (table, result, table._data):
        with pytest.raises(Exception) as caught:
            pickle.dumps(secret)
        assert not [mark for mark in MARKS if mark in told(caught.value)]


def test_errors_are_pickled_whole() -> None:
    with pytest.raises(hw.PartyError) as caught:
        hw.Computation("nonsense")
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) is hw.UsageError
    for name in ("party", "step", "cause", "remedy", "code"):
        assert getattr(again, name) == getattr(caught.value, name)
    assert str(again) == str(caught.value)
    assert isinstance(again, ValueError)


def test_file_errors_are_errors_of_the_system(tmp_path: Any) -> None:
    with pytest.raises(OSError) as caught:
        hw.connect(tmp_path / "absent.toml")
    assert isinstance(caught.value, hw.FileError)
    assert "absent.toml" in str(caught.value) and caught.value.remedy
