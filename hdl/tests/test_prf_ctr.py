"""prf_ctr: F_k of counter + LANE, carries within the word's 64 bits only, latency 22."""
import os
import random

import cocotb
import model
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

LATENCY = 22
LANE = int(os.environ["PARAM_LANE"])
WORD = (1 << 64) - 1


def shifted(counter):
    """The counter of this lane."""
    return counter & ~WORD | (counter + LANE) & WORD


async def stream(dut, key, counters):
    dut.round_keys.value = model.round_keys_vector(key)
    out = []
    for cycle in range(len(counters) + LATENCY - 1):
        dut.in_counter.value = counters[cycle] if cycle < len(counters) else random.getrandbits(128)
        await FallingEdge(dut.clk)
        if cycle >= LATENCY - 1:
            out.append(int(dut.out_word.value))
    return out


@cocotb.test()
async def counters(dut):
    """A run of consecutive counters, then random ones, one per clock."""
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    await FallingEdge(dut.clk)
    key = random.randbytes(16)
    first = 7 << 96 | 3 << 64 | 1000
    series = [first + i for i in range(50)] + [random.getrandbits(128) for _ in range(50)]
    assert await stream(dut, key, series) == [model.prf(key, shifted(c)) for c in series]


@cocotb.test()
async def carries(dut):
    """Carries run through the word and stop at its end: shard and lane stay."""
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    await FallingEdge(dut.clk)
    key = random.randbytes(16)
    high = 0x0123456789ABCDEF << 64
    words = [WORD, WORD - 1, WORD - 4, WORD - 5, 0xFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFE, 0x00FFFFFFFFFFFFFF, 0]
    series = [high | w for w in words] + [(1 << 128) - 1, (1 << 96) - 1]
    expected = [model.prf(key, shifted(c)) for c in series]
    assert await stream(dut, key, series) == expected


@cocotb.test()
async def block_bytes_are_the_counters(dut):
    """By openssl's bytes, where it is there: the block is the counter's little-endian bytes."""
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    await FallingEdge(dut.clk)
    key = bytes(range(16))
    counter = 2 << 96 | 5 << 64 | 9
    # word, lane and shard, each little-endian, in that order
    layout = (9 + LANE).to_bytes(8, "little") + (5).to_bytes(4, "little") + (2).to_bytes(4, "little")
    expected = model.openssl(key, layout) or model.encrypt(key, layout)
    (got,) = await stream(dut, key, [counter])
    assert model.block(got) == expected
