"""sequencer: links, outputs, credits and counters against a model of three parties, under any pace of the others."""
import os
import random

import cocotb
from microcode import AND, CORES, END, IN, OUT, Instr, Program, generate, hand_made, plain
from seq_bench import CONTEXTS, FLIGHT, SLOTS, WORDS, Pace, Sequencer

SCALARS = int(os.environ["PARAM_SCALARS"])


def paces():
    """Name and pace: everybody ready, and each party slow or hasty in its turn."""
    return {
        "ready": Pace(),
        "ahead": Pace(ahead=True, hold=lambda: random.randint(1, 9)),
        "slow link": Pace(right=0.5, lag=lambda: random.randint(1, 90), hold=lambda: random.randint(1, 90)),
        "slow credits": Pace(ahead=True, hold=lambda: random.randint(50, 150)),
        "slow host": Pace(feed=0.2, drain=0.15, right=0.8, lag=lambda: random.randint(1, 20)),
        "unsteady": Pace(0.7, 0.6, 0.6, random.random() < 0.5, lambda: random.randint(1, 40), lambda: random.randint(1, 40)),
    }


def threads(rounds):
    """Threads for jobs: each some times, in random order."""
    order = list(range(CONTEXTS)) * rounds
    random.shuffle(order)
    return order


async def start(dut, party, pace=None):
    seq = Sequencer(dut, party, pace)
    await seq.reset()
    await seq.load_keys()
    return seq


@cocotb.test()
async def every_instruction(dut):
    """The hand-made programs, several batches a thread, party after party."""
    for number, (name, program) in enumerate(hand_made().items()):
        dut._log.info("program %s", name)
        seq = await start(dut, number % 3, paces()["ready" if number % 2 else "ahead"])
        await seq.load(program)
        for thread in threads(2):
            run = seq.batch(thread)
        # The model itself: its shares are those of the plain result.
        scalars, rows = ([a ^ b ^ c for a, b, c in shares] for shares in (seq.scalars, run.rows))
        opened = [a ^ b ^ c for (a, _), (b, _), (c, _) in zip(*run.out)]
        assert opened == plain(program, WORDS, scalars, rows)
        await seq.drain()


@cocotb.test()
async def any_pace(dut):
    """Generated programs while host and neighbours are slow, hasty or unsteady."""
    for number, (name, pace) in enumerate(paces().items()):
        dut._log.info("pace %s", name)
        seq = await start(dut, number % 3, pace)
        await seq.load(generate(random, random.choice([6, 12, SLOTS]), SCALARS, 30))
        for thread in threads(2):
            seq.batch(thread)
        await seq.drain()


@cocotb.test()
async def one_thread(dut):
    """A thread alone: its syncs and writes are all that keeps its instructions apart. Twice with the same counter
    modulo 2^64, which carries out of its low half; and a shorter program after a longer one."""
    seq = await start(dut, 2, Pace(ahead=True))
    for length in (40, 25):
        await seq.load(generate(random, 8, SCALARS, length))
        seq.batch(1, (5 << 96) + (1 << 64) - 2)
        seq.batch(1, (1 << 32) - 3)
        await seq.drain()


@cocotb.test()
async def quick(dut):
    """A little of everything: for the mutations, each of which has a simulator of its own to pay for."""
    seq = await start(dut, 1, Pace(0.8, 0.8, 0.8, True, hold=lambda: random.randint(1, 30)))
    await seq.load(hand_made()["products"])
    for thread in (2, 0, 3, 2, 1):
        seq.batch(thread)
    await seq.drain(1500)
    await seq.load(hand_made()["wide"])
    # Now it is credits that are wanting, then the right neighbour's words.
    for ahead, hold, lag in ((True, 90, 1), (False, 1, 90)):
        seq.pace = Pace(ahead=ahead, hold=lambda h=hold: h, lag=lambda w=lag: w)
        for thread in (0, 3):
            seq.batch(thread)
        await seq.drain(1500)


@cocotb.test()
async def waits_for_keys(dut):
    """No job begins before both keys are there, nor with a key that is being changed; no key is taken under a job."""
    seq = Sequencer(dut, 0, Pace())
    await seq.reset()
    await seq.load(hand_made()["products"])
    seq.batch(3)
    for which, key in ((0, seq.keys[0]), (1, seq.keys[2])):
        for _ in range(30):
            await seq.cycle()
        assert len(seq.jobs) == 1 and not seq.get("keys_loaded")
        await seq.load_key(which, key)
    await seq.drain()
    # While the job runs, and until its products have come, keys wait. The job offered with the key
    # waits for it.
    seq.batch(1)
    seq.keys[0], old = random.randbytes(16), seq.keys[0]
    seq.batch(2)
    while len(seq.jobs) == 2:
        await seq.cycle()
    waiting, taken = 0, False
    while not taken:
        seq.set(key_valid=1, key_which=0, key=int.from_bytes(seq.keys[0], "little"))
        job, seq.jobs = seq.jobs, type(seq.jobs)() if seq.out[1] else seq.jobs
        await seq.bench.settle()
        taken = seq.get("key_ready")
        assert not taken or seq.get("idle") == (1 << CONTEXTS) - 1
        await seq.cycle()
        seq.jobs = seq.jobs or job
        waiting += 1
    assert waiting > 100 and seq.keys[0] != old
    seq.set(key_valid=0)
    await seq.drain()


@cocotb.test()
async def key_and_job_at_once(dut):
    """A job offered in the very cycle in which a key is taken waits for that key."""
    seq = await start(dut, 0, Pace(ahead=True))
    await seq.load(Program([Instr(IN, 0), Instr(AND, 1, 0, 0), Instr(OUT, a=1, sync=True), Instr(END)], 1))
    while not seq.get("job_ready"):
        await seq.cycle()
        await seq.bench.settle()
    # Ready in this cycle of a frame, and so in that of the next.
    for _ in range(CORES):
        await seq.cycle()
    seq.keys[0] = random.randbytes(16)
    seq.batch(1)
    seq.set(key_valid=1, key_which=0, key=int.from_bytes(seq.keys[0], "little"))
    await seq.cycle()
    seq.set(key_valid=0)
    assert len(seq.jobs) == 1
    await seq.drain()


async def halted(seq):
    """After a breach: the error is there and stays, nothing is issued, and what still comes was issued before and is
    right (cycle() compares)."""
    for _ in range(3):
        await seq.cycle()
    assert seq.error, "the breach was not reported"
    issued = seq.issued
    for _ in range(150):
        await seq.cycle()
        assert seq.error and not seq.get("working") and not seq.get("job_ready")
    assert seq.issued == issued and seq.words_sent == CORES * issued
    assert any(seq.out), "the program was over before the breach"


async def before_a_breach(dut):
    """A batch half way."""
    seq = await start(dut, 1, Pace(hold=lambda: random.randint(1, 20)))
    await seq.load(hand_made()["wide"])
    seq.batch(0)
    for _ in range(120):
        await seq.cycle()
    return seq


async def recovers(seq):
    """After a reset all is as at the beginning; the program is still there."""
    seq.pace = Pace()
    await seq.reset()
    await seq.load_keys()
    seq.set(rows_in=seq.program.count(IN))
    for thread in (3, 0):
        seq.batch(thread)
    await seq.drain()


@cocotb.test()
async def a_row_too_many_is_reported(dut):
    """The right neighbour may be FLIGHT rows ahead, in a thread without a job too; a beat more stops everything."""
    seq = await start(dut, 1)
    await seq.load(hand_made()["wide"])
    for _ in range(FLIGHT * CORES):
        await rx(seq, 3)
        assert not seq.error
    seq.batch(0)
    for _ in range(100):
        await seq.cycle()
    seq.pace = Pace(right=0)
    await rx(seq, 3)
    seq.pace = Pace()
    await halted(seq)
    await recovers(seq)


@cocotb.test()
async def a_credit_too_many_is_reported(dut):
    """A credit for a row that was never sent; and credits for one that was, over and over."""
    for thread, count in ((3, 1), (0, FLIGHT + 3)):
        seq = await before_a_breach(dut)
        await credit(seq, thread, count)
        await halted(seq)
    await recovers(seq)


async def rx(seq, thread):
    """A cycle with a beat of the right neighbour that nobody asked for."""
    offer = seq.offer

    def more():
        offer()
        seq.set(rx_valid=1, rx_ctx=thread, rx_data=random.getrandbits(128))

    seq.offer = more
    await seq.cycle()
    seq.offer = offer


async def credit(seq, thread, count):
    """Cycles with a credit of the left neighbour that is not due."""
    offer = seq.offer

    def more():
        seq.credits = []
        offer()
        seq.unpaid[thread] -= 1
        seq.set(tx_credit=1, tx_credit_ctx=thread)

    seq.offer = more
    for _ in range(count):
        await seq.cycle()
    seq.offer = offer
