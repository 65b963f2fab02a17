"""and_lane and and_lane_ii2 against the formula of protocols.md §E; latency and interval as their headers say."""
import os
import random

import cocotb
from clocked import Clocked
from shares import WORD, and_share, pack, pair, round_keys, step, word, words

TOP = os.environ["TOPLEVEL"]
LANE = int(os.environ["PARAM_LANE"])
LATENCY, INTERVAL = {"and_lane": (23, 1), "and_lane_ii2": (24, 2)}[TOP]


async def start(dut, own, prev):
    bench = Clocked(dut)
    bench.set(in_valid=0, in_counter=0, x=0, y=0, rk_own=round_keys(own), rk_prev=round_keys(prev))
    await bench.reset()
    return bench


async def feed(bench, items, idle):
    """Issues items (counter, x, y), idle with the given chance a cycle; returns when, and what came out and when."""
    issued, out, begun = [], [], bench.now
    while len(out) < len(items) or bench.now < out[-1][0] + LATENCY + 3:
        assert bench.now < begun + 200 + 10 * len(items), "words are missing"
        valid = len(issued) < len(items) and random.random() >= idle
        # The inputs do not matter while they are not valid.
        counter, x, y = items[len(issued)] if valid else (word(), pack([word(), word()]), pack([word(), word()]))
        bench.set(in_valid=int(valid), in_counter=counter, x=x, y=y)
        await bench.settle()
        if valid and (TOP == "and_lane" or bench.get("in_ready")):
            issued.append(bench.now)
        if bench.get("out_valid"):
            out.append((bench.now, bench.get("z")))
        await bench.edge()
    assert len(out) == len(items), "more words than were issued"
    return issued, out


@cocotb.test()
async def computes_the_share(dut):
    """Words back to back, then with idles."""
    own, prev = words(2)
    bench = await start(dut, own, prev)
    for idle, count in ((0, 30), (0.4, 20)):
        items = [(word(), pack(words(2)), pack(words(2))) for _ in range(count)]
        items[0] = (3 << 64 | WORD, *items[0][1:])  # the lane is added to the word alone
        issued, out = await feed(bench, items, idle)
        for (counter, x, y), (_, z) in zip(items, out):
            assert z == and_share(own, prev, step(counter, LANE), x, y)
        assert [left - came for came, (left, _) in zip(issued, out)] == [LATENCY] * count, "latency"
        if idle == 0:
            assert all(b - a == INTERVAL for a, b in zip(issued, issued[1:])), "initiation interval"


@cocotb.test()
async def three_shares_are_the_product(dut):
    """What the lane computes as each of the three parties in turn XORs to x & y."""
    keys = words(3)
    xs, ys = ([words(3) for _ in range(6)] for _ in range(2))
    shares = []
    for i in range(3):
        bench = await start(dut, keys[i], keys[i - 1])
        items = [(n, pair(x, i), pair(y, i)) for n, (x, y) in enumerate(zip(xs, ys))]
        shares.append([z for _, z in (await feed(bench, items, 0))[1]])
    for x, y, a, b, c in zip(xs, ys, *shares):
        assert a ^ b ^ c == (x[0] ^ x[1] ^ x[2]) & (y[0] ^ y[1] ^ y[2])


@cocotb.test()
async def the_papers_shares_map_to_these(dut):
    """Shares (x_i, a_i) as in seed 004, mapped as and_lane's header says, give r_i = x_i·y_i ^ a_i·b_i ^ mask."""
    own, prev, v, w = words(4)
    x, y = words(2), words(2)
    x.append(x[0] ^ x[1])
    y.append(y[0] ^ y[1])
    for i in range(3):
        bench = await start(dut, own, prev)
        a, b = x[i - 1] ^ v, y[i - 1] ^ w
        _, out = await feed(bench, [(5, pack([x[i] ^ a, a]), pack([y[i] ^ b, b]))], 0)
        # The lane's mask is what it gives for shares of 0.
        mask = and_share(own, prev, step(5, LANE), 0, 0)
        assert out[0][1] == x[i] & y[i] ^ a & b ^ mask
