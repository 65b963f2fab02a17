"""round_robin: one grant at a time, only to who asks, and nobody waits for more than the others."""
import os
import random

import cocotb
from clocked import Clocked

COUNT = int(os.environ["PARAM_COUNT"])


@cocotb.test()
async def grants_in_turn(dut):
    """Against the rule itself: the first request behind the last grant that was used."""
    bench = Clocked(dut)
    bench.set(request=0, take=0)
    await bench.reset()
    last, waits = COUNT - 1, [0] * COUNT
    for cycle in range(600):
        request = random.getrandbits(COUNT) if cycle % 200 < 150 else (1 << COUNT) - 1
        take = int(random.random() < 0.8)
        bench.set(request=request, take=take)
        await bench.settle()
        turn = [(last + 1 + n) % COUNT for n in range(COUNT)]
        chosen = next((n for n in turn if request >> n & 1), None)
        assert bench.get("any") == (chosen is not None)
        assert bench.get("grant") == (0 if chosen is None else 1 << chosen)
        assert chosen is None or bench.get("index") == chosen
        for n in range(COUNT):
            waits[n] = 0 if n == chosen or not request >> n & 1 else waits[n] + take
            assert waits[n] < COUNT
        if take and chosen is not None:
            last = chosen
        await bench.edge()
