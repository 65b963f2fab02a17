"""One party between two neighbours made of Python: shares, counters, keys, credits, and what it does when they err."""
import collections
import os
import random

import cocotb
from clocked import Clocked, Source
from shares import WORD, and_share, pack, step, word, words

LANES = int(os.environ["PARAM_LANES"])
DEPTH = int(os.environ["PARAM_DEPTH"])
II2 = int(os.environ["PARAM_II2"])
LATENCY = 24 if II2 else 23
SHARES = 128 * LANES


class Ring:
    """The party under test and its neighbours. The right one sends its share of beat n some cycles before or after
    the party's own is out, never more than DEPTH ahead; the left one gives credits back after some cycles."""

    def __init__(self, dut, skew, hold):
        self.bench, self.skew, self.hold = Clocked(dut), skew, hold
        self.own, self.prev = words(2)
        self.places = DEPTH  # at the party, for the right neighbour
        self.sent, self.came, self.out = [], [], []
        self.right, self.back = collections.deque(), collections.deque()
        self.issued, self.expected, self.counter = [], [], 0

    async def start(self):
        self.bench.set(
            key_valid=0, key_which=0, key=0, ctr_set=0, ctr_value=0, s_axis_tvalid=0, s_axis_tdata=0,
            m_axis_tready=0, tx_credit=0, rx_valid=0, rx_data=0,
        )
        await self.bench.reset()

    async def cycle(self, source=None, ready=True, **inputs):
        """One cycle of everything; further inputs as they come (key_*, ctr_*)."""
        bench = self.bench
        offered = source.offer() if source else None
        data = word() if offered is None else pack([pack(lane, 256) for lane in offered], 512)
        held = self.back and self.back[0] <= bench.now
        late = self.right and self.right[0] <= bench.now and self.places > 0
        share = random.getrandbits(SHARES)
        inputs = {"key_valid": 0, "ctr_set": 0, **inputs}
        bench.set(
            s_axis_tvalid=int(offered is not None), s_axis_tdata=data, m_axis_tready=int(ready),
            tx_credit=int(bool(held)), rx_valid=int(bool(late)), rx_data=share, **inputs,
        )
        await bench.settle()
        if held:
            self.back.popleft()
        if late:
            self.right.popleft()
            self.places -= 1
            self.came.append(share)
        self.places += bench.get("rx_credit")
        if offered is not None and bench.get("s_axis_tready"):
            source.taken()
            self.issued.append(bench.now)
            shares = [
                and_share(self.own, self.prev, step(self.counter, n), x, y) for n, (x, y) in enumerate(offered)
            ]
            self.expected.append(pack(shares))
            self.counter = step(self.counter, LANES)
            self.right.append(bench.now + LATENCY + self.skew())
        if inputs["ctr_set"]:
            self.counter = inputs["ctr_value"]
        if bench.get("tx_valid"):
            self.sent.append(bench.get("tx_data"))
            self.back.append(bench.now + self.hold())
            assert len(self.back) <= DEPTH, "more under way than the left neighbour has places"
        if ready and bench.get("m_axis_tvalid"):
            self.out.append((bench.now, bench.get("m_axis_tdata")))
        await bench.edge()

    async def load(self, which, key, source=None):
        """Loads a key, waiting for its turn."""
        for _ in range(100):
            self.bench.set(key_valid=1)
            await self.bench.settle()
            taken = self.bench.get("key_ready")
            await self.cycle(source, key_valid=1, key_which=which, key=key)
            if taken:
                break
        assert taken, "the key was not taken"
        if which == 0:
            self.own = key
        else:
            self.prev = key

    async def keys(self):
        await self.load(0, self.own)
        await self.load(1, self.prev)

    async def drain(self, source, eager=1.0):
        limit = self.bench.now + 100 + 60 * len(source.beats)
        while len(self.out) < len(self.issued) or not source.done():
            assert self.bench.now < limit, "beats are missing"
            await self.cycle(source, random.random() < eager)

    def check(self):
        """Every share sent is right and in order, and every product is the own share with the neighbour's."""
        assert self.sent == self.expected
        assert len(self.came) >= len(self.out) == len(self.expected)
        for own, right, (_, product) in zip(self.expected, self.came, self.out):
            for n in range(LANES):
                lane = slice(128 * n, 128 * n + 128)
                want = (own >> lane.start) % (1 << 128) | (right >> lane.start) % (1 << 128) << 128
                assert product >> (256 * n) & ((1 << 256) - 1) == want


def beats(count):
    """Beats of LANES pairs (x, y) of share pairs."""
    return [[(pack(words(2)), pack(words(2))) for _ in range(LANES)] for _ in range(count)]


@cocotb.test()
async def waits_for_keys(dut):
    """Nothing is computed with a key that has not come, be it the one or the other."""
    ring = Ring(dut, lambda: 1, lambda: 1)
    await ring.start()
    source = Source(beats(3), 1)
    for _ in range(20):
        await ring.cycle(source)
    await ring.load(0, ring.own, source)
    for _ in range(20):
        await ring.cycle(source)
    assert not ring.issued
    await ring.load(1, ring.prev, source)
    await ring.drain(source)
    ring.check()


@cocotb.test()
async def any_pace(dut):
    """Idles, backpressure and neighbours before or behind, one run after the other on a counter that goes on."""
    # How often a beat is offered and taken; how late the right neighbour's share and the left one's
    # credit may be.
    paces = [(1, 1, 1, 60), (0.5, 0.6, 9, 9), (0.9, 0.3, 40, 1), (0.3, 0.9, 3, 40)]
    ring = Ring(dut, lambda: random.randint(-4, late), lambda: random.randint(1, hold))
    await ring.start()
    await ring.keys()
    for busy, eager, late, hold in paces:
        await ring.drain(Source(beats(25), busy), eager)
    ring.check()


@cocotb.test()
async def keeps_its_interval(dut):
    """With DEPTH ≥ the round trip and nobody holding back, a beat every cycle (II2: every second)."""
    ring = Ring(dut, lambda: 1, lambda: 1)
    await ring.start()
    await ring.keys()
    await ring.drain(Source(beats(70), 1))
    ring.check()
    gaps = {b - a for a, b in zip(ring.issued, ring.issued[1:])}
    if DEPTH >= (15 if II2 else 29):
        assert gaps == {2 if II2 else 1}
        assert {out - issue for issue, (out, _) in zip(ring.issued, ring.out)} == {LATENCY + 3}


@cocotb.test()
async def keys_and_counters_change(dut):
    """A key waits until the lanes are empty, and beats wait for the key; the counter can be set at any beat."""
    ring = Ring(dut, lambda: random.randint(-2, 6), lambda: 2)
    await ring.start()
    await ring.keys()
    source = Source(beats(60), 0.9)
    for at in range(120):
        if at in (20, 70):
            await ring.load(at == 70, word(), source)
        elif at in (7, 15, 50):
            value = {7: 5 << 96 | 9 << 64 | (1 << 32) - 2, 15: word() >> 1, 50: 0}[at]
            await ring.cycle(source, ctr_set=1, ctr_value=value)
        else:
            await ring.cycle(source)
    await ring.drain(source)
    ring.check()


@cocotb.test()
async def stops_at_the_last_word(dut):
    """A counter never comes round to words that have served; a new one lets beats go on."""
    ring = Ring(dut, lambda: 1, lambda: 1)
    await ring.start()
    await ring.keys()
    await ring.cycle(ctr_set=1, ctr_value=7 << 64 | WORD + 1 - 4 * LANES)
    source = Source(beats(8), 1)
    for _ in range(60):
        await ring.cycle(source)
    assert len(ring.issued) == 3 and len(ring.out) == 3
    await ring.cycle(source, ctr_set=1, ctr_value=8 << 64)
    await ring.drain(source)
    assert len(ring.issued) == 8
    ring.check()


async def error_after(dut, cycles, **inputs):
    """Whether the party reports an error after some cycles with these inputs; it must say so for good."""
    bench = Clocked(dut)
    bench.set(
        key_valid=0, key_which=0, key=0, ctr_set=0, ctr_value=0, s_axis_tvalid=1, s_axis_tdata=0,
        m_axis_tready=1, tx_credit=0, rx_valid=0, rx_data=0,
    )
    await bench.reset()
    for name, level in inputs.items():
        bench.set(**{name: level})
    for _ in range(cycles):
        await bench.settle()
        await bench.edge()
    bench.set(tx_credit=0, rx_valid=0)
    await bench.settle()
    first = bench.get("link_error")
    await bench.edge()
    await bench.settle()
    assert bench.get("link_error") == first
    assert not (first and (bench.get("s_axis_tready") or bench.get("m_axis_tvalid")))
    return bool(first)


@cocotb.test()
async def neighbours_that_err_are_reported(dut):
    """A share without a place, and a credit without a beat; what is allowed is not reported."""
    assert not await error_after(dut, 5)
    assert not await error_after(dut, DEPTH, rx_valid=1)
    assert await error_after(dut, DEPTH + 1, rx_valid=1)
    assert await error_after(dut, 1, tx_credit=1)
