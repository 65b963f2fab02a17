"""One sequencer between a host and two neighbours made of Python, each as slow, hasty or unsteady as a pace says."""
import collections
import dataclasses
import os
import random
import typing

from clocked import Clocked
from microcode import CORES, IN, Run, share

LANES = int(os.environ["PARAM_LANES"])
CONTEXTS = int(os.environ["PARAM_CONTEXTS"])
SLOTS = int(os.environ["PARAM_SLOTS"])
FLIGHT = int(os.environ["PARAM_FLIGHT"])
WORDS = CORES * LANES
BEAT = (1 << 128 * LANES) - 1


@dataclasses.dataclass
class Pace:
    """feed, drain, right: the chance that an input beat, a place for an output beat, a beat of the right neighbour is
    there in a cycle. ahead: the right neighbour sends what it has credits for, else only after the party's own row,
    `lag` cycles later. hold: cycles until the left neighbour gives a credit back."""

    feed: float = 1
    drain: float = 1
    right: float = 1
    ahead: bool = False
    lag: typing.Callable = lambda: 1
    hold: typing.Callable = lambda: 1


def beats(plane):
    """Beats of one plane."""
    return [plane >> 128 * LANES * c & BEAT for c in range(CORES)]


def pair_beats(own, next_):
    """Beats of a row of shares: {next, own} per lane."""
    out = []
    for c in range(CORES):
        beat = 0
        for n in range(LANES):
            at = 128 * (c * LANES + n)
            word = (own >> at) % (1 << 128) | (next_ >> at) % (1 << 128) << 128
            beat |= word << 256 * n
        out.append(beat)
    return out


class Sequencer:
    """The device under test as party `party`."""

    def __init__(self, dut, party, pace=None):
        self.bench, self.party, self.pace = Clocked(dut), party, pace or Pace()
        self.driven = {}
        self.keys = [random.randbytes(16) for _ in range(3)]

    def set(self, **inputs):
        """Sets inputs; what does not change costs nothing."""
        for name, value in inputs.items():
            if self.driven.get(name) != value:
                self.driven[name] = value
                self.bench.set(**{name: value})

    def get(self, name):
        return self.bench.get(name)

    async def reset(self):
        """Longer than the longest pipeline without a reset; forgets all that was under way."""
        self.set(
            rst=1, key_valid=0, key_which=0, key=0, mc_we=0, mc_addr=0, mc_data=0, sc_we=0, sc_addr=0, sc_data=0,
            rows_in=0, job_valid=0, job_ctx=0, job_counter=0, in_tvalid=0, in_tdata=0, out_tready=0, tx_credit=0,
            tx_credit_ctx=0, rx_valid=0, rx_data=0, rx_ctx=0,
        )
        for _ in range(64):
            await self.bench.settle()
            await self.bench.edge()
        self.set(rst=0)

        def queues():
            return [collections.deque() for _ in range(CONTEXTS)]

        self.jobs, self.input = collections.deque(), collections.deque()
        self.right, self.sent, self.out = queues(), queues(), queues()
        # When the right neighbour may send each of a thread's rows, and how many it has begun; rows
        # that it has credits for, and beats of the one begun.
        self.release, self.begun = [[] for _ in range(CONTEXTS)], [0] * CONTEXTS
        self.places, self.part = [FLIGHT] * CONTEXTS, [0] * CONTEXTS
        # Rows of this party without a credit yet; credits to come: (cycle, thread).
        self.unpaid, self.credits = [0] * CONTEXTS, []
        self.tx_row, self.tx_left, self.out_row, self.out_left, self.stalled = 0, 0, 0, 0, None
        self.issued, self.words_sent, self.error = 0, 0, 0

    async def edges(self, count):
        for _ in range(count):
            await self.bench.settle()
            await self.bench.edge()

    async def load_key(self, which, key):
        self.set(key_valid=1, key_which=which, key=int.from_bytes(key, "little"))
        for _ in range(200):
            await self.bench.settle()
            taken = self.get("key_ready")
            await self.bench.edge()
            if taken:
                break
        assert taken, "the key was not taken"
        self.set(key_valid=0)

    async def load_keys(self):
        await self.load_key(0, self.keys[self.party])
        await self.load_key(1, self.keys[self.party - 1])

    async def load(self, program):
        """Microcode and random scalars."""
        self.program = program
        self.scalars = [[0, 0, 0]] + [[random.getrandbits(1) for _ in range(3)] for _ in range(program.scalars - 1)]
        for address, instr in enumerate(program.code):
            self.set(mc_we=1, mc_addr=address, mc_data=instr.word())
            await self.edges(1)
        self.set(mc_we=0)
        right = (self.party + 1) % 3
        await self.load_scalars([shares[self.party] | shares[right] << 1 for shares in self.scalars])
        self.set(rows_in=program.count(IN))

    async def load_scalars(self, pairs):
        for address, pair in enumerate(pairs):
            self.set(sc_we=1, sc_addr=address, sc_data=pair)
            await self.edges(1)
        self.set(sc_we=0)

    def batch(self, thread, first=None):
        """Queues a batch of the program on random shares."""
        bits = 128 * WORDS
        rows = [share(random.getrandbits(bits), bits) for _ in range(self.program.count(IN))]
        if first is None:
            first = random.getrandbits(64) << 64 | random.getrandbits(60) << 3
        run = Run(self.program, WORDS, self.keys, first, self.scalars, rows)
        i, right = self.party, (self.party + 1) % 3
        self.expect(thread, first, [(r[i], r[right]) for r in rows], run.link[right], run.link[i], run.out[i])
        return run

    def expect(self, thread, first, rows, right, sent, out):
        """Queues a batch: its input, what the right neighbour sends, what must be sent and come out."""
        self.jobs.append((thread, first))
        for own, next_ in rows:
            self.input.extend(pair_beats(own, next_))
        for plane in right:
            self.right[thread].extend(beats(plane))
        for plane in sent:
            self.sent[thread].extend(beats(plane))
        for own, next_ in out:
            self.out[thread].extend(pair_beats(own, next_))

    def offer(self):
        """Inputs of the next cycle."""
        now, pace = self.bench.now, self.pace
        if self.jobs:
            self.set(job_valid=1, job_ctx=self.jobs[0][0], job_counter=self.jobs[0][1])
        else:
            self.set(job_valid=0)
        # A beat once offered stays.
        if not self.driven["in_tvalid"] and self.input and random.random() < pace.feed:
            self.set(in_tvalid=1, in_tdata=self.input[0])
        self.set(out_tready=int(random.random() < pace.drain))

        self.set(rx_valid=0)
        if random.random() < pace.right:
            may = [t for t in range(CONTEXTS) if self.right[t] and (self.part[t] or self.may_begin(t))]
            if may:
                thread = random.choice(may)
                if self.part[thread] == 0:
                    self.places[thread] -= 1
                    self.begun[thread] += 1
                self.part[thread] = (self.part[thread] + 1) % CORES
                self.set(rx_valid=1, rx_ctx=thread, rx_data=self.right[thread].popleft())

        due = [n for n, (when, _) in enumerate(self.credits) if when <= now]
        self.set(tx_credit=int(bool(due)))
        if due:
            _, thread = self.credits.pop(random.choice(due))
            self.unpaid[thread] -= 1
            self.set(tx_credit_ctx=thread)

    def may_begin(self, thread):
        own = self.release[thread][self.begun[thread] :][:1]
        return self.places[thread] > 0 and (self.pace.ahead or bool(own) and own[0] <= self.bench.now)

    async def cycle(self):
        """One cycle of everything; every word that comes is checked."""
        self.offer()
        await self.bench.settle()
        taken = self.driven["job_valid"] and self.get("job_ready")
        fed = self.driven["in_tvalid"] and self.get("in_tready")
        self.look()
        await self.bench.edge()
        if taken:
            self.jobs.popleft()
        if fed:
            self.input.popleft()
            self.set(in_tvalid=0)

    def look(self):
        now = self.bench.now
        self.error = self.get("link_error")
        self.issued += self.get("issued")
        if self.get("rx_credit"):
            self.places[self.get("rx_credit_ctx")] += 1
        valid = self.get("tx_valid")
        assert valid or not self.tx_left, "a row of the link has a pause"
        if valid:
            thread = self.get("tx_ctx")
            if self.tx_left == 0:
                self.tx_row, self.tx_left = thread, CORES
                self.unpaid[thread] += 1
                assert self.unpaid[thread] <= FLIGHT, "more rows than the left neighbour has room for"
            assert thread == self.tx_row, "a row of the link has two threads"
            assert self.sent[thread], "a word too many on the link"
            assert self.get("tx_data") == self.sent[thread].popleft(), f"a wrong word on the link, thread {thread}"
            self.words_sent += 1
            self.tx_left -= 1
            if self.tx_left == 0:
                self.credits.append((now + self.pace.hold(), thread))
                self.release[thread].append(now + self.pace.lag())
        beat = (self.get("out_ctx"), self.get("out_tdata")) if self.get("out_tvalid") else None
        assert self.stalled is None or beat == self.stalled, "an output beat changed before it was taken"
        self.stalled = None if self.driven["out_tready"] else beat
        if beat and self.driven["out_tready"]:
            thread, data = beat
            self.out_row, self.out_left = (self.out_row, self.out_left) if self.out_left else (thread, CORES)
            assert thread == self.out_row, "an output row has two threads"
            self.out_left -= 1
            assert self.out[thread], "an output beat too many"
            assert data == self.out[thread].popleft(), f"wrong output, thread {thread}"

    def done(self):
        return not (self.jobs or self.input or any(self.sent) or any(self.out) or any(self.right) or self.credits)

    async def drain(self, limit=20000):
        """Runs until all that was queued has come, and a while longer, in which nothing more may come."""
        end = self.bench.now + limit
        while not (self.done() and self.get("idle") == (1 << CONTEXTS) - 1):
            assert self.bench.now < end, "something is missing"
            await self.cycle()
            assert not self.error, "an error of the link without cause"
        for _ in range(40):
            await self.cycle()
        assert self.words_sent == CORES * self.issued
