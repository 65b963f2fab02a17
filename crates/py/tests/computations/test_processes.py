"""A traced function among three processes, of which each brings its own arrays alone."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("numpy")
from test_connect import place as place  # noqa: E402

PROGRAM = """
import sys
import hushwire as hw

@hw.computation
def risk(price: hw.u64["n"] @ "shop", amount: hw.u64["n"] @ "client") -> hw.out("client"):
    return (price * amount).sum()

index = int(sys.argv[1])
own = [{"price": [250, 1200]}, {"amount": [30, 4]}, {}][index]
with hw.connect(f"party{index}.toml") as party:
    print(risk(party, **own))
"""


def test_each_party_brings_its_own_arrays(place: Path) -> None:
    (place / "risk.py").write_text(PROGRAM)
    children = [
        subprocess.Popen(
            [sys.executable, "risk.py", str(index)], cwd=place, stdout=subprocess.PIPE, text=True
        )
        for index in range(3)
    ]
    told = [child.communicate(timeout=60)[0].strip() for child in children]
    assert told == ["None", "12300", "None"]
