"""Three processes that are one party each."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

import hushwire as hw

PROGRAM = """
import sys
import hushwire as hw

index, allow = int(sys.argv[1]), sys.argv[2:]
pay = {"person": [1, 2, 3], "cents": [250, 100, 7]}
who = {"id": [1, 2, 3], "city": ["Oslo", "Tartu", "Oslo"]}
tables = {
    "pay": hw.of("party0", pay if index == 0 else None, columns=None if index == 0 else
                 ["person BIGINT NOT NULL", "cents BIGINT NOT NULL"], rows=3),
    "who": hw.of("party1", who if index == 1 else None, columns=None if index == 1 else
                 ["id BIGINT NOT NULL", "city VARCHAR(8) NOT NULL"], rows=3, key="id"),
}
sql = "SELECT city, SUM(cents) AS total FROM pay JOIN who ON person = id GROUP BY city ORDER BY city"
with hw.connect(f"party{index}.toml", allow=allow) as p:
    query = p.query(sql, tables=tables, to="party2")
    print(query.digest)
    try:
        result = query.run()
        print(result.rows() if index == 2 else repr(result))
        text = "computation c\\nmembers party0, party1\\ninput x: u8 from party0\\ninput y: u8 from party1\\noutput z = x > y to party1"
        print(sorted(p.run(text, [{"x": 5}, {"y": 3}, {}][index]).items()))
    except hw.PartyError as e:
        print(type(e).__name__, e)
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with the files of three parties."""
    command = [sys.executable, "-m", "hushwire"]
    pins, ports = [], []
    for index in range(3):
        subprocess.run(
            [*command, "keys", "init", "--name", f"party{index}"], cwd=tmp_path, check=True, capture_output=True
        )
        done = subprocess.run(
            [*command, "keys", "pin", f"party{index}.pem"], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        pins.append(next(word for word in done.stdout.split() if word.startswith("sha256:")))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            ports.append(free.getsockname()[1])
    for index in range(3):
        text = f'index = {index}\nlisten = "127.0.0.1:{ports[index]}"\nkey = "party{index}.pem"\n'
        for other in range(3):
            if other != index:
                text += f'[[peers]]\nindex = {other}\naddress = "127.0.0.1:{ports[other]}"\npin = "{pins[other]}"\n'
        (tmp_path / f"party{index}.toml").write_text(text)
    return tmp_path


def run(place: Path, allow: list[str]) -> list[list[str]]:
    """The lines that each party prints; party 1 allows these digests."""
    (place / "party.py").write_text(PROGRAM)
    children = [
        subprocess.Popen(
            [sys.executable, "party.py", str(index), *(allow if index == 1 else [])],
            cwd=place,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for index in range(3)
    ]
    return [child.communicate(timeout=120)[0].splitlines() for child in children]


def test_three_processes_answer_a_query(place: Path) -> None:
    lines = run(place, [])
    digests = {line[0] for line in lines}
    assert len(digests) == 1, lines
    assert lines[2][1] == "[('Oslo', Decimal('257')), ('Tartu', Decimal('100'))]", lines
    assert "other members learn it" in lines[0][1]
    assert "True" in lines[1][2] and lines[0][2] == "[]", lines


def test_a_party_takes_part_in_what_it_allows(place: Path) -> None:
    digest = run(place, ["blake3:" + 64 * "0"])
    assert digest[1][1].startswith("Refused"), digest
    assert digest[0][1].startswith(("NetworkError", "Refused")), digest


def test_a_party_must_say_who_learns_the_result(place: Path) -> None:
    with pytest.raises(hw.UsageError, match="no digest"):
        hw.connect(place / "party0.toml", allow=["nonsense"])
