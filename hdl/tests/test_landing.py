"""landing: rows land when both halves are there, in order, once, with the right words and destinations."""
import collections
import os
import random

import cocotb
from clocked import Clocked

CORES, CONTEXTS, FLIGHT, SLOTS = (int(os.environ[f"PARAM_{name}"]) for name in ("CORES", "CONTEXTS", "FLIGHT", "SLOTS"))


@cocotb.test()
async def lands_in_order(dut):
    """The queue's RAM is a dictionary here: written the cycle after a beat, read where rx_raddr points."""
    bench = Clocked(dut)
    bench.set(choose=0, issued=0, issued_ctx=0, issued_dest=0, made=0, made_ctx=0, rx_valid=0, rx_ctx=0)
    await bench.reset()
    ram, pending = {}, None
    made_at = collections.deque()
    issued, made, heard, landed = ([0] * CONTEXTS for _ in range(4))
    beats, dests = [0] * CONTEXTS, [collections.deque() for _ in range(CONTEXTS)]
    reading, credits = None, collections.deque()
    for cycle in range(1500):
        slot = cycle % CORES
        bench.set(choose=int(slot == 1), issued=0, made=0, rx_valid=0)
        thread = random.randrange(CONTEXTS)
        if slot == 1 and issued[thread] - landed[thread] < FLIGHT and random.random() < 0.8:
            dest = random.randrange(SLOTS)
            bench.set(issued=1, issued_ctx=thread, issued_dest=dest)
            issued[thread] += 1
            dests[thread].append(dest)
            made_at.append((cycle + 24, thread))
        if made_at and made_at[0][0] == cycle:
            _, made_thread = made_at.popleft()
            bench.set(made=1, made_ctx=made_thread)
        else:
            made_thread = None
        # The right neighbour may be ahead by FLIGHT rows, of any thread.
        thread = random.randrange(CONTEXTS)
        busy = (0.9, 0.25)[cycle // 400 % 2]
        if random.random() < busy and beats[thread] < CORES * (landed[thread] + FLIGHT):
            bench.set(rx_valid=1, rx_ctx=thread)
        else:
            thread = None
        await bench.settle()
        assert not bench.get("overflow")
        if bench.get("land"):
            assert slot == 2 and reading is None
            t = bench.get("ctx")
            assert made[t] > landed[t] and heard[t] > landed[t], "a row landed that was not whole"
            assert bench.get("dest") == dests[t].popleft()
            reading = (t, landed[t], 0)
            # `landed` says so in the next cycle; only then does it count for the neighbours.
            credits.append((cycle + 1, t))
        if reading:
            t, row, beat = reading
            assert ram[bench.get("rx_raddr")] == (t, row * CORES + beat), "another word was read"
            reading = (t, row, beat + 1) if beat + 1 < CORES else None
        if bench.get("landed"):
            assert credits.popleft() == (cycle, bench.get("landed_ctx"))
            landed[bench.get("landed_ctx")] += 1
        assert not credits or credits[0][0] > cycle
        if pending:
            ram[pending[0]] = pending[1]
        pending = None
        if thread is not None:
            pending = (bench.get("rx_waddr"), (thread, beats[thread]))
            beats[thread] += 1
            heard[thread] = beats[thread] // CORES
        if made_thread is not None:
            made[made_thread] += 1
        await bench.edge()
    assert min(landed) > 10


@cocotb.test()
async def reports_a_row_too_many(dut):
    """FLIGHT rows are taken; the beat after them is not."""
    bench = Clocked(dut)
    bench.set(choose=0, issued=0, issued_ctx=0, issued_dest=0, made=0, made_ctx=0, rx_valid=0, rx_ctx=0)
    await bench.reset()
    for _ in range(FLIGHT * CORES):
        bench.set(rx_valid=1, rx_ctx=2)
        await bench.settle()
        assert not bench.get("overflow")
        await bench.edge()
    await bench.settle()
    assert bench.get("overflow")
    bench.set(rx_ctx=1)
    await bench.settle()
    assert not bench.get("overflow")
