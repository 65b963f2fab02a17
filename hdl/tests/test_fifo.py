"""fifo: nothing lost, doubled or reordered; the depth, the latency and the interval are what its header says."""
import os
import random

import cocotb
from clocked import Clocked

DEPTH = int(os.environ["PARAM_DEPTH"])
random.seed(7)


async def start(dut):
    bench = Clocked(dut)
    bench.set(in_valid=0, in_data=0, out_ready=0)
    await bench.reset()
    return bench


async def step(bench, valid, data, ready):
    """One cycle: (whether the word was taken, the word that left or None)."""
    bench.set(in_valid=int(valid), in_data=data, out_ready=int(ready))
    await bench.settle()
    taken = valid and bench.get("in_ready") == 1
    left = bench.get("out_data") if ready and bench.get("out_valid") else None
    await bench.edge()
    return taken, left


@cocotb.test()
async def keeps_order(dut):
    """Every mix of idle and backpressure, with the count checked against a model queue."""
    bench = await start(dut)
    width = len(dut.in_data)
    for busy, eager in ((1, 1), (0.5, 0.5), (0.9, 0.3), (0.3, 0.9)):
        inside = []
        for _ in range(400):
            data = random.getrandbits(width)
            assert bench.get("count") == len(inside)
            taken, left = await step(bench, random.random() < busy, data, random.random() < eager)
            if left is not None:
                assert inside and left == inside.pop(0)
            if taken:
                inside.append(data)
        while inside:
            assert bench.now < 3000, "words are missing"
            _, left = await step(bench, False, 0, True)
            assert left is None or left == inside.pop(0)


@cocotb.test()
async def holds_its_depth(dut):
    """Takes DEPTH words and no more while nobody reads, and a word again as soon as one has left."""
    bench = await start(dut)
    taken = [(await step(bench, True, n, False))[0] for n in range(DEPTH + 5)]
    assert taken == [True] * DEPTH + [False] * 5
    assert (await step(bench, True, 99, True)) == (False, 0)
    assert (await step(bench, True, DEPTH, False))[0]
    out = [(await step(bench, False, 0, True))[1] for _ in range(DEPTH + 3)]
    assert out == [*range(1, DEPTH + 1), None, None, None]


@cocotb.test()
async def flows(dut):
    """A word a cycle, two cycles after it went in."""
    bench = await start(dut)
    out = [(await step(bench, True, n, True))[1] for n in range(50)]
    assert out == [None, None, *range(48)]
