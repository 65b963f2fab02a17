"""Three parties and their links: every product right and in order at every party, at any pace of any of them."""
import os
import random

import cocotb
from clocked import Clocked, Source
from shares import and_share, pack, pair, step, unpack, word, words

LANES = int(os.environ["PARAM_LANES"])
DEPTH = int(os.environ["PARAM_DEPTH"])
LINK = int(os.environ["PARAM_LINK_LATENCY"])
II2 = int(os.environ["PARAM_II2"])
LATENCY = (26 if II2 else 25) + LINK
INTERVAL = 2 if II2 else 1
# The paces are (how often a party offers a beat, how often it takes one), for each party.
EVEN = [(1, 1)] * 3
PACES = [[(0.5, 0.7), (0.8, 0.5), (0.9, 0.9)], [(1, 1), (0.9, 0.25), (1, 1)], [(0.2, 1), (1, 0.8), (1, 1)]]


async def start(dut, keys, first):
    bench = Clocked(dut)
    bench.set(
        key_valid=0, key_which=0, key=0, ctr_set=0, ctr_value=0, s_axis_tvalid=0, s_axis_tdata=0, m_axis_tready=0
    )
    await bench.reset()
    bench.set(ctr_set=0b111, ctr_value=pack([first] * 3))
    for which, of in ((0, keys), (1, [keys[p - 1] for p in range(3)])):
        bench.set(key_valid=0b111, key_which=0b111 * which, key=pack(of))
        await bench.settle()
        assert bench.get("key_ready") == 0b111
        await bench.edge()
    bench.set(key_valid=0, ctr_set=0)
    return bench


async def run(bench, xs, ys, pace):
    """Feeds the products of shared words [beat][lane][party]; returns when beats were taken, and what left and when."""
    def beat(p, xs, ys):
        return pack([pack([pair(x, p), pair(y, p)], 256) for x, y in zip(xs, ys)], 512)

    sources = [Source([beat(p, x, y) for x, y in zip(xs, ys)], pace[p][0]) for p in range(3)]
    issued, out = [[], [], []], [[], [], []]
    limit = bench.now + 30 * (len(xs) + LINK) + 200
    while any(len(o) < len(xs) for o in out):
        assert bench.now < limit, f"beats are missing: {[len(o) for o in out]} of {len(xs)}"
        offers = [s.offer() for s in sources]
        ready = [random.random() < pace[p][1] for p in range(3)]
        noise = random.getrandbits(512 * LANES)
        bench.set(
            s_axis_tvalid=pack([o is not None for o in offers], 1),
            s_axis_tdata=pack([noise if o is None else o for o in offers], 512 * LANES),
            m_axis_tready=pack(ready, 1),
        )
        await bench.settle()
        assert bench.get("link_error") == 0
        taken, valid = bench.get("s_axis_tready"), bench.get("m_axis_tvalid")
        data = unpack(bench.get("m_axis_tdata"), 3, 256 * LANES) if valid else None
        for p in range(3):
            if offers[p] is not None and taken >> p & 1:
                issued[p].append(bench.now)
                sources[p].taken()
            if ready[p] and valid >> p & 1:
                out[p].append((bench.now, data[p]))
        await bench.edge()
    return issued, out


async def check(dut, count, pace):
    keys, first = words(3), word() & ~0xFFFFFFFF | (1 << 32) - 2
    bench = await start(dut, keys, first)
    xs, ys = ([[words(3) for _ in range(LANES)] for _ in range(count)] for _ in range(2))
    issued, out = await run(bench, xs, ys, pace)
    for _ in range(DEPTH + LINK):
        bench.set(s_axis_tvalid=0, m_axis_tready=0b111)
        await bench.settle()
        assert bench.get("m_axis_tvalid") == 0, "more beats than went in"
        await bench.edge()
    for b in range(count):
        products = [unpack(out[p][b][1], LANES, 256) for p in range(3)]
        for n in range(LANES):
            x, y, counter = xs[b][n], ys[b][n], step(first, b * LANES + n)
            own, held = zip(*(unpack(products[p][n], 2) for p in range(3)))
            assert own[0] ^ own[1] ^ own[2] == (x[0] ^ x[1] ^ x[2]) & (y[0] ^ y[1] ^ y[2])
            assert all(held[p] == own[(p + 1) % 3] for p in range(3)), "neighbours hold the same shares"
            # That masks cancel says nothing of their being fresh: the shares themselves.
            assert own[0] == and_share(keys[0], keys[2], counter, pair(x, 0), pair(y, 0))
    return issued, out


@cocotb.test()
async def flows(dut):
    """Nobody holds back: the interval and the latency of party's header, from the depth on that it asks for."""
    enough = 14 + LINK if II2 else 27 + 2 * LINK
    issued, out = await check(dut, DEPTH + 20, EVEN)
    for p in range(3):
        gaps = [b - a for a, b in zip(issued[p], issued[p][1:])]
        assert (max(gaps) == INTERVAL) == (DEPTH >= enough)
        assert {left - came for came, (left, _) in zip(issued[p], out[p])} == {LATENCY}


@cocotb.test()
async def any_pace(dut):
    """Idles and backpressure, different at each party."""
    for pace in PACES:
        await check(dut, 24 + DEPTH // 4, pace)
