"""core: sums, input, and writes of both halves against a model of the slot memory."""
import os
import random

import cocotb
from clocked import Clocked

DEPTH = int(os.environ["PARAM_DEPTH"])
HALF = (1 << 128) - 1


@cocotb.test()
async def reads_sums_and_writes(dut):
    """Random reads and writes every cycle: what is read comes two cycles later, its sum after one more, and may be
    written then; halves of products are written when no sum is, and a sum goes before them."""
    bench = Clocked(dut)
    memory = {}  # what is known of it
    reads, total = [(None, None), (None, None)], None
    for _ in range(800):
        a, b = reads.pop(0)
        use_a, use_b, own_scalar, next_scalar, take = (random.getrandbits(1) for _ in range(5))
        # Until slots are known, input fills them.
        take |= (use_a and a is None) or (use_b and b is None)
        pair, own, other = random.getrandbits(256), random.getrandbits(128), random.getrandbits(128)
        sum_we, own_we, next_we = (int(random.random() < p) for p in (0.5, 0.3, 0.3))
        sum_we = int(sum_we and total is not None)
        slots = [random.randrange(DEPTH) for _ in range(3)]
        written = {slot for slot, we in zip(slots, (sum_we, own_we, next_we)) if we}
        # A read may see either value of a write in the same cycle.
        port_a, port_b = (random.choice([slot for slot in range(DEPTH) if slot not in written]) for _ in range(2))
        bench.set(
            raddr_a=port_a, raddr_b=port_b, use_a=use_a, use_b=use_b, scalar=own_scalar | next_scalar << 1,
            take_in=int(take), in_pair=pair, sum_we=sum_we, sum_addr=slots[0], own_we=own_we, own_addr=slots[1],
            own_word=own, next_we=next_we, next_addr=slots[2], next_word=other,
        )
        await bench.settle()
        assert a is None or bench.get("a") == a
        assert b is None or bench.get("b") == b
        assert total is None or bench.get("sum") == total
        reads.append((memory.get(port_a), memory.get(port_b)))
        if sum_we:
            memory[slots[0]] = total
        else:
            if own_we and slots[1] in memory:
                memory[slots[1]] = memory[slots[1]] >> 128 << 128 | own
            if next_we and slots[2] in memory:
                memory[slots[2]] = memory[slots[2]] & HALF | other << 128
        total = (a if use_a else 0) ^ (b if use_b else 0) if not take else pair
        if not take:
            total ^= own_scalar * HALF | next_scalar * HALF << 128
        await bench.edge()
    assert len(memory) == DEPTH
