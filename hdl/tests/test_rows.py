"""rows_in and rows_out: beats in order, none lost or doubled, rows only when whole, no row without room."""
import os
import random

import cocotb
from clocked import Clocked

BEATS = int(os.environ["PARAM_BEATS"])
WIDTH = int(os.environ["PARAM_WIDTH"])
OUT = "PARAM_TAG" in os.environ
PACES = ((1, 1), (0.3, 1), (1, 0.2), (0.6, 0.6))
DEPTH = 32


@cocotb.test(skip=OUT)
async def rows_go_in(dut):
    """Rows are taken like the sequencer does: at most one in BEATS cycles, and read a few cycles later without a pause."""
    bench = Clocked(dut)
    bench.set(s_valid=0, s_data=0, taken=0, beat=0)
    await bench.reset()
    for busy, eager in PACES:
        inside, since, reads, whole = [], BEATS, [], 0
        pushed = popped = promised = 0
        for cycle in range(400):
            beat = bool(reads) and reads[0] == cycle
            bench.set(s_valid=int(random.random() < busy), s_data=random.getrandbits(WIDTH), beat=int(beat), taken=0)
            await bench.settle()
            whole = pushed // BEATS - promised
            assert bench.get("row") == (whole > 0), f"{whole} rows"
            assert bench.get("s_ready") == (pushed - popped < DEPTH)
            if beat:
                reads.pop(0)
                popped += 1
                assert bench.get("data") == inside.pop(0)
            since += 1
            if whole > 0 and since >= BEATS and random.random() < eager:
                bench.set(taken=1)
                since, promised = 0, promised + 1
                reads += range(cycle + 3, cycle + 3 + BEATS)
            if bench.get("s_valid") and bench.get("s_ready"):
                pushed += 1
                inside.append(bench.get("s_data"))
            await bench.edge()
        assert pushed >= DEPTH and promised > 5
        await bench.reset()


@cocotb.test(skip=not OUT)
async def rows_come_out(dut):
    """Rows of random tags, made a few cycles after they were promised, and only where there is room."""
    bench = Clocked(dut)
    bench.set(taken=0, beat=0, first=0, data=0, tag=0, m_ready=0)
    await bench.reset()
    for busy, eager in PACES:
        inside, since, made, kept, rows = [], BEATS, {}, 0, 0
        for cycle in range(400):
            data, tag = random.getrandbits(WIDTH), random.getrandbits(2)
            first, row_tag = made.pop(cycle, (False, None))
            row_tag = tag if first else row_tag
            if first:
                made.update({cycle + n: (False, tag) for n in range(1, BEATS)})
            beat = row_tag is not None
            bench.set(beat=int(beat), first=int(first), data=data, tag=tag, m_ready=int(random.random() < eager), taken=0)
            await bench.settle()
            assert bench.get("room") == (kept + BEATS <= DEPTH), f"{kept} places kept"
            assert bench.get("m_valid") == bool(inside)
            since += 1
            if bench.get("room") and since >= BEATS and random.random() < busy:
                bench.set(taken=1)
                since, kept, rows = 0, kept + BEATS, rows + 1
                made[cycle + 4] = (True, None)
            if inside and bench.get("m_ready"):
                kept -= 1
                assert (bench.get("m_data"), bench.get("m_tag")) == inside.pop(0)
            if beat:
                inside.append((data, row_tag))
                assert len(inside) <= DEPTH
            await bench.edge()
        assert rows > 10
        await bench.reset()
