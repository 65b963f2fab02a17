"""and_lane against shares that a software party computed and sent (crates/hdl, example vectors).

The file: {"parties": [{"own", "prev"} of each], "ands": [{"counter", "parties": [{"x_own", "x_next", "y_own",
"y_next", "z"} of each]} ...]}, every value the 128-bit vector as a hexadecimal number.
"""
import json
import os
import pathlib

import cocotb
from shares import pack
from test_and_lane import feed, start

# The gates that are simulated: some from all over the file.
GATES = 60


@cocotb.test()
async def equals_the_software(dut):
    """Counters, keys, bytes and shares of software and hardware parties are the same."""
    vectors = json.loads((pathlib.Path(os.environ["VECTORS"]) / "and_lane.json").read_text())
    gates = vectors["ands"][:: max(1, len(vectors["ands"]) // GATES)]
    assert gates and len(vectors["parties"]) == 3
    for i, keys in enumerate(vectors["parties"]):
        bench = await start(dut, int(keys["own"], 16), int(keys["prev"], 16))
        items, expected = [], []
        for gate in gates:
            p = {name: int(value, 16) for name, value in gate["parties"][i].items()}
            items.append((int(gate["counter"], 16), pack([p["x_own"], p["x_next"]]), pack([p["y_own"], p["y_next"]])))
            expected.append(p["z"])
        _, out = await feed(bench, items, 0.1)
        assert [z for _, z in out] == expected, f"party {i}"
