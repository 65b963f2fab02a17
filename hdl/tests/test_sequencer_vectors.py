"""sequencer against a batch of three software parties: what each sent and got for `add:8` (crates/hdl, example
vectors, which says what is in the file). AES takes 127,000 cycles and is left to the simulators of hdl/sim."""
import json
import os
import pathlib

import cocotb
import microcode
from seq_bench import Pace, Sequencer


def plane(words):
    return sum(int(word, 16) << 128 * n for n, word in enumerate(words))


@cocotb.test()
async def equals_the_software(dut):
    """Counters, keys, scalars, shares and the words of all messages are the same, party by party."""
    vectors = pathlib.Path(os.environ["VECTORS"])
    circuits = json.loads((vectors / "sequencer.json").read_text())["circuits"]
    circuit = next(c for c in circuits if c["name"] == "add:8")
    parties = circuit["parties"]
    assert circuit["lanes"] == 1 and len(parties) == 3
    program = microcode.read(vectors / circuit["microcode"])

    def link(i):
        words = parties[i]["link"]
        return [plane(words[at : at + 5]) for at in range(0, len(words), 5)]

    for i, party in enumerate(parties):
        seq = Sequencer(dut, i, Pace())
        await seq.reset()
        for which, key in enumerate(("own", "prev")):
            await seq.load_key(which, int(party[key], 16).to_bytes(16, "little"))
        await seq.load(program)
        await seq.load_scalars([int(digit) for digit in party["scalars"]])
        rows, out = ([(plane(row["own"]), plane(row["next"])) for row in party[name]] for name in ("rows_in", "rows_out"))
        assert link(i) and out
        seq.expect(2, int(circuit["counter"], 16), rows, link((i + 1) % 3), link(i), out)
        await seq.drain()
