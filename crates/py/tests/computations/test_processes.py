"""A traced function among three processes, each of which brings only its own arrays."""

from __future__ import annotations

import pytest
from conftest import Parties

pytest.importorskip("numpy")

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


def test_each_party_brings_its_own_arrays(parties: Parties) -> None:
    assert parties(PROGRAM) == [["None"], ["12300"], ["None"]]
