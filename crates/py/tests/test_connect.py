"""Three processes that are one party each."""

from __future__ import annotations

import os
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Parties
from onnx_file import perceptron

import hushwire as hw
from hushwire import _exchange

#: Every party brings its own table, and learns the columns of the others from the session.
PROGRAM = """
import sys
import hushwire as hw

index, allow = int(sys.argv[1]), sys.argv[2:]
own = [
    {"pay": {"person": [1, 2, 3], "cents": [250, 100, 7]}},
    {"who": hw.of(None, {"id": [1, 2, 3], "city": ["Oslo", "Tartu", "Oslo"]}, key="id")},
    {},
][index]
sql = "SELECT city, SUM(cents) AS total FROM pay JOIN who ON person = id GROUP BY city ORDER BY city"
with hw.connect(f"party{index}.toml", allow=allow) as p:
    query = p.query(sql, tables=own, to="party2")
    print(query.digest)
    text = "computation c\\nmembers party0, party1\\ninput x: u8 from party0\\ninput y: u8 from party1\\noutput z = x > y to party1"
    print(p.digest_of(text))
    try:
        result = query.run()
        print(result.rows() if index == 2 else repr(result))
        print(sorted(p.run(text, [{"x": 5}, {"y": 3}, {}][index]).items()))
        print(sorted(map(repr, p.tables(**own).values())))
        joined = p.frame(pay=p.tables(**own)["pay"]).filter(hw.col("cents") > 50).select(hw.len())
        counted = joined.collect(to="party2")
        print(counted.rows() if index == 2 else "")
    except hw.PartyError as e:
        print(type(e).__name__, e)
"""


def test_three_processes_answer_a_query(parties: Parties) -> None:
    lines = parties(PROGRAM)
    assert len({tuple(line[:2]) for line in lines}) == 1, lines
    assert lines[2][2] == "[('Oslo', Decimal('257')), ('Tartu', Decimal('100'))]", lines
    assert "other members learn it" in lines[0][2]
    assert "True" in lines[1][3] and lines[0][3] == "[]", lines
    tables = [
        "<hushwire.Table of party0: 3 rows, person BIGINT NOT NULL, cents BIGINT NOT NULL>",
        "<hushwire.Table of party1: 3 rows, id BIGINT NOT NULL, city VARCHAR(8) NOT NULL>",
    ]
    assert [line[4] for line in lines] == [repr(tables)] * 3
    assert lines[2][5] == "[(2,)]", lines


def test_a_party_takes_part_in_what_it_allows(parties: Parties) -> None:
    none = "blake3:" + 64 * "0"
    refused = parties(PROGRAM, [], [none], [])
    # The party tells the columns of its tables, and then takes part in no query.
    assert len({line[0] for line in refused}) == 1, refused
    assert refused[1][2].startswith("Refused"), refused
    assert refused[0][2].startswith(("NetworkError", "Refused")), refused
    lines = parties(PROGRAM, [], refused[1][:2], [])
    assert "True" in lines[1][3], lines
    # The last query is different.
    assert lines[1][5].startswith("Refused"), lines


#: Each party declares a table by hand as well.
DECLARED = """
import sys
import hushwire as hw

index, columns = int(sys.argv[1]), sys.argv[2:]
pay = {"person": [1, 2, 3], "cents": [250, 100, 7]}
with hw.connect(f"party{index}.toml") as p:
    try:
        own = hw.of("party0", pay) if index == 0 else hw.of("party0", columns=columns, rows=3) if index == 1 else None
        result = p.sql("SELECT SUM(cents) AS total FROM pay", tables={"pay": own} if own else {}, to="party1")
        print(result.rows() if index == 1 else "none")
    except hw.PartyError as e:
        print(type(e).__name__, e.party, e)
"""


@pytest.mark.parametrize("cents", ["cents BIGINT NOT NULL", "cents INTEGER NOT NULL"])
def test_a_declaration_by_hand_is_compared(parties: Parties, cents: str) -> None:
    lines = parties(DECLARED, [], ["person BIGINT NOT NULL", cents], [])
    if "BIGINT" in cents:
        assert lines[1] == ["[(Decimal('357'),)]"], lines
    else:
        assert lines[1][0].startswith("Refused party 0") and "declared otherwise" in lines[1][0], lines
        assert lines[0][0].startswith(("NetworkError", "Refused")), lines


class Told:
    """A session whose parties tell these facts."""

    me = "party0"

    def __init__(self, *told: bytes) -> None:
        self.told = told

    def tell(self, text: str, told: object = None) -> list[bytes]:
        return [text.encode(), *self.told]


TABLE = '{"tables": {"t": {"columns": %s, "key": [], "rows": %s, "padded": %s}}}'


@pytest.mark.parametrize(
    "told",
    [
        b"",
        b"[1]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"tables": {"t": 3}}',
        (TABLE % ('["n INTEGER"]', "-1", "true")).encode(),
        (TABLE % ('["n INTEGER"]', "1e3", "true")).encode(),
        (TABLE % ('["n INTEGER"]', "true", "true")).encode(),
        (TABLE % ('["n INTEGER"]', "9" * 30, "true")).encode(),
        (TABLE % ("[7]", "1", "true")).encode(),
        (TABLE % ("[]", "1", "true")).encode(),
        (TABLE % ('["n INTEGER"]', "1", "0")).encode(),
    ],
)
def test_a_party_that_tells_nonsense_is_refused(told: bytes) -> None:
    session: Any = Told(b"{}", told)
    with pytest.raises(hw.Refused) as caught:
        _exchange.tables(session, {"mine": {"n": [1]}})
    assert caught.value.party == "party 2" and caught.value.remedy


def test_a_party_cannot_bring_the_table_of_another() -> None:
    declared = (TABLE % ('["n INTEGER"]', "1", "true")).encode()
    session: Any = Told(declared, b"{}")
    for mine in ({"n": [1]}, hw.of("party2")):
        with pytest.raises(hw.Refused, match="which party. brings, too"):
            _exchange.tables(session, {"t": mine})
    with pytest.raises(hw.UsageError, match="nobody brings table u"):
        _exchange.tables(session, {"u": hw.of("party1")})
    with pytest.raises(hw.UsageError, match="is party1's, and this process is party0"):
        _exchange.tables(session, {"u": hw.of("party1", {"n": [1]})})
    found = _exchange.tables(session, {"u": {"n": [1]}})
    assert found["t"].owner == "party1" and found["u"].owner == "party0"
    # A declaration cannot inject SQL.
    evil = (TABLE % ('["n INTEGER); DROP TABLE t; --"]', "1", "true")).encode()
    session = Told(evil, b"{}")
    with hw.local() as local, pytest.raises(hw.UsageError):
        local.query("SELECT n FROM t", tables=_exchange.tables(session, {}))


#: Intersections and a network on one session.
JOBS = """
import sys
import numpy as np
import hushwire as hw

index = int(sys.argv[1])
a, b = ["ann@x", " Bob@x", "eve@x"], {"key": ["bob@x", "dan@x", "eve@x"], "given": [5, 7, 11]}
x = np.array([[0.5, -1.0, 0.25, 2.0]], dtype="f4")
with hw.connect(f"party{index}.toml") as p:
    tables = [{"a": a}, {"b": b}, {}][index]
    found = p.psi(**tables, forms=["case"])
    print([sorted(one) for one in found.parties])
    print(found.size if index < 2 else "")
    found = p.psi(**tables, forms=["case"], reveal="sum:given,count", to=["party0"])
    print(found.sum if index == 0 else "")
    found = p.psi(**tables, forms=["case"], reveal="flags", to=["party1"])
    print(found.flags if index == 1 else "")
    y = p.run_onnx(*[["net.onnx"], [None, x], []][index])
    print(y if y is None else y.tolist())
    try:
        p.run_onnx(*[["net.onnx"], [None, x], [None, x]][index])
    except hw.PartyError as e:
        print(type(e).__name__, e)
"""


def test_intersections_and_networks_on_one_session(place: Path, parties: Parties) -> None:
    model, function = perceptron(np.random.default_rng(4))
    (place / "net.onnx").write_bytes(model)
    lines = parties(JOBS)
    assert [line[0] for line in lines] == ["[['size'], []]", "[[], ['size']]", "[[], []]"], lines
    assert [line[1] for line in lines] == ["2", "2", ""], lines
    assert lines[0][2] == "16" and lines[1][3] == "[True, False, True]", lines
    assert (lines[0][4], lines[2][4]) == ("None", "None"), lines
    wanted = function(np.array([[0.5, -1.0, 0.25, 2.0]], dtype="f4"))
    got = np.array([float(n) for n in re.findall(r"-?[0-9.]+(?:e-?[0-9]+)?", lines[1][4])])
    assert np.abs(got - wanted[0]).max() < 0.01
    assert lines[2][5].startswith("UsageError") and "party1's" in lines[2][5], lines
    assert lines[0][5].startswith("NetworkError"), lines


def test_a_party_must_say_who_learns_the_result(place: Path) -> None:
    with pytest.raises(hw.UsageError, match="no digest"):
        hw.connect(place / "party0.toml", allow=["nonsense"])


def test_a_doctor_looks_at_this_host_and_at_peers(place: Path) -> None:
    alone = hw.doctor(place / "party0.toml", seconds=1)
    verdicts = {(check["subject"].split(",")[0], check["check"]): check["verdict"] for check in alone["checks"]}
    assert alone["member"] == "party0" and alone["ok"] is False
    assert verdicts["party 0", "key"] == "ok"
    failed = [check for check in alone["checks"] if check["verdict"] == "fail"]
    assert {check["subject"][:7] for check in failed} == {"party 1", "party 2"}
    assert all(check["remedy"] for check in failed)
    assert "<table>" in alone._repr_html_() and "nobody listens" in alone._repr_html_()

    reports: dict[int, Any] = {}

    def look(index: int) -> None:
        reports[index] = hw.doctor(place / f"party{index}.toml")

    threads = [threading.Thread(target=look, args=(index,)) for index in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    for index in range(3):
        assert not [check for check in reports[index]["checks"] if check["verdict"] == "fail"], reports[index]


def test_a_doctor_says_what_is_wrong_with_a_file(place: Path) -> None:
    with pytest.raises(hw.FileError, match="absent.toml"):
        hw.doctor(place / "absent.toml")
    os.chmod(place / "party0.pem", 0o644)
    with pytest.raises(hw.Refused, match="0644.*chmod 600") as refused:
        hw.doctor(place / "party0.toml", seconds=1)
    assert refused.value.code == "HW0305"
    (place / "party0.toml").write_text("nonsense")
    with pytest.raises(hw.FileError, match="line 1") as caught:
        hw.doctor(place / "party0.toml", seconds=1)
    assert caught.value.cause and caught.value.remedy
    with pytest.raises(hw.UsageError):
        hw.doctor(place / "party0.toml", seconds=0)
