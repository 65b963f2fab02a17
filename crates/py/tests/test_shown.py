"""The output in notebooks and logs, and the documentation and example of each public function."""

from __future__ import annotations

import doctest
import inspect
import json
import logging
from html.parser import HTMLParser
from typing import Any

import pytest

import hushwire as hw
from hushwire import _logs
from hushwire.report import Report, Reports


class Checked(HTMLParser):
    """The texts of a page, and a check that all its tags are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def texts(shown: Any) -> str:
    page = Checked()
    page.feed(shown._repr_html_())
    page.close()
    assert not page.open
    return " ".join(page.texts)


ODD = "<script>alert('x')</script>"


def test_everything_that_a_notebook_shows_is_a_page(three: hw.Session) -> None:
    table = hw.of("alice", {"id": [1, 2], ODD: ["a", None]}, key="id", pad=5)
    assert "5 rows, some of them padding, key id" in texts(table) and ODD in texts(table)
    query = three.query(f"SELECT COUNT(*) AS n FROM t WHERE \"{ODD}\" = '<i>'", t=table)
    for shown in (query, query.explain()):
        assert "rounds" in texts(shown) and "<i>" not in shown._repr_html_()
    assert "bytes sent" not in texts(query.explain()) and "rounds" in texts(query.explain().cost)
    assert "0" in texts(query.run())
    frame = three.frame(t=table).filter(hw.col("id") > 1)
    assert "id" in texts(frame) and "WHERE" in texts(frame)
    assert "bytes sent" in texts(three.stats()) and "open" in texts(three)
    found = hw.psi(["a"], ["a", "b"])
    assert "party 0" in texts(found) and "size" in texts(found)
    found = hw.psi(["secret key"], ["secret key"], reveal="items")
    assert "1 in a list" in texts(found) and "secret" not in texts(found)


def test_reports_show_every_value() -> None:
    report = Report(ok=True, seconds=0.004, none=None, checks=[{"a": 1, "b": ODD}, {"a": 2.5, "c": [1, 2]}])
    shown = texts(report)
    for text in ("yes", "4 ms", ODD, "2.5", "1; 2", "checks"):
        assert text in shown, text
    assert json.loads(json.dumps(report)) == dict(report)
    assert texts(Reports([])) == ""
    assert "3.0 KiB" in texts(Reports([{"bytes_sent": 3072, "by": {"x": 1}}]))


def test_events_of_runs_are_log_records(three: hw.Session, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="hushwire")
    with hw.local() as session:
        session.sql("SELECT SUM(n) AS s FROM t", t={"n": [1, 2]})
    hw.psi(["a"], ["a"])
    assert caplog.records, "runs have events"
    for record in caplog.records:
        assert record.name == "hushwire.run" and record.levelno <= logging.INFO
        assert vars(record)["run"] in record.getMessage()
    caplog.clear()
    caplog.set_level(logging.WARNING, logger="hushwire")
    hw.psi(["a"], ["a"])
    assert not caplog.records


def test_lines_of_the_command_are_log_records(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(1, logger="hushwire")
    _logs.lines(
        '{"timestamp": "now", "level": "WARN", "message": "a%s", "name": "x", "code": "HW0301"}\n'
        'no JSON\n[]\n{"level": "LOUD", "message": "b"}\n{"level": "TRACE", "message": "c"}\n'
    )
    assert [(r.name, r.levelno, r.getMessage()) for r in caplog.records] == [
        ("hushwire.command", logging.WARNING, "a%s"),
        ("hushwire.command", 5, "c"),
    ]
    assert vars(caplog.records[0])["hushwire_code"] == "HW0301"
    caplog.clear()
    with pytest.raises(hw.FileError):
        hw.doctor("absent.toml")
    assert any(record.levelno == logging.ERROR for record in caplog.records)


def public() -> list[tuple[str, Any]]:
    """Functions of the package, and methods of its classes that have arguments besides the object."""
    found = []
    for name in hw.__all__:
        one = getattr(hw, name)
        if inspect.isfunction(one):
            found.append((name, one))
    for kind in (hw.Session, hw.Query, hw.Frame):
        for name, one in vars(kind).items():
            if inspect.isfunction(one) and not name.startswith("_"):
                found.append((f"{kind.__name__}.{name}", one))
    return found


#: Methods whose example is that of their class, and a method for another thread.
BESIDE = {"Session.close", "Session.cancel", "Query.run"}


@pytest.mark.parametrize(("name", "one"), public(), ids=[name for name, _ in public()])
def test_each_public_function_has_an_example(name: str, one: Any) -> None:
    if name in BESIDE:
        pytest.skip("the class has its example")
    examples = doctest.DocTestFinder(recurse=False).find(one, name)
    assert any(test.examples for test in examples), name
