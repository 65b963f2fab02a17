"""Microcode in Python: words, programs for the benches, and what three parties make of one.

Words as in crates/hdl/src/microcode. A plane is a number of 128·words bits, word w at bits [128w+127:128w]; shares
are triples of planes whose XOR is the value; party i holds shares i (own) and i + 1 (next), keys i (own) and i − 1.
"""
import os
import random
import typing

import model
import shares

END, LIN, AND, IN, OUT = range(5)
CORES = 5


class Instr(typing.NamedTuple):
    """One instruction; an operand that is None is not used."""

    op: int
    d: int = 0
    a: typing.Optional[int] = None
    b: typing.Optional[int] = None
    s: int = 0
    sync: bool = False

    def word(self):
        flags = (self.a is not None) << 59 | (self.b is not None) << 58
        return self.op << 61 | self.sync << 60 | flags | self.s << 40 | (self.a or 0) << 26 | (self.b or 0) << 13 | self.d


def instr_of(word):
    """The instruction of a word."""
    op, flags = word >> 61, word >> 58 & 3
    a, b = word >> 26 & 0x1FFF, word >> 13 & 0x1FFF
    instr = Instr(op, word & 0x1FFF, a if flags & 2 else None, b if flags & 1 else None, word >> 40 & 0xFFFF, bool(word >> 60 & 1))
    assert instr.word() == word, "a word with more in it than an instruction"
    return instr


class Program(typing.NamedTuple):
    code: list
    scalars: int  # how many, scalar 0 included

    def count(self, op):
        return sum(instr.op == op for instr in self.code)


def read(path):
    """A microcode file."""
    lines = path.read_text().splitlines()
    scalars = next(int(line.split()[2]) for line in lines if line.startswith("// scalars "))
    return Program([instr_of(int(line, 16)) for line in lines if not line.startswith("//")], scalars)


def hand_made():
    """Programs that have every kind of instruction with every flag, by name."""
    return {
        "sums": Program(
            [
                Instr(IN, 3), Instr(IN, 9), Instr(LIN, 0), Instr(LIN, 1, s=2), Instr(LIN, 2, 3), Instr(LIN, 4, None, 9),
                Instr(LIN, 5, 3, 9), Instr(LIN, 6, 3, 9, 1), Instr(LIN, 7, 6, 6, 3), Instr(LIN, 3, 3, 1),
                *(Instr(OUT, a=slot, s=slot % 4) for slot in range(8)), Instr(OUT, s=1), Instr(OUT), Instr(END),
            ],
            4,
        ),
        "products": Program(
            [
                Instr(IN, 0), Instr(IN, 1), Instr(AND, 2, 0, 1), Instr(AND, 3, 0, 0), Instr(LIN, 4, 0, 1, 1),
                Instr(AND, 5, 4, 1, sync=True), Instr(AND, 6, 2, 3), Instr(LIN, 2, 2, 3, 2), Instr(OUT, a=5, sync=True),
                Instr(OUT, a=6, s=1), Instr(OUT, a=2), Instr(AND, 0, 6, 5), Instr(AND, 1, 5, 5),
                Instr(LIN, 0, 0, 1, sync=True), Instr(AND, 1, 0, 6), Instr(OUT, a=1, sync=True), Instr(OUT, a=0), Instr(END),
            ],
            3,
        ),
        # Nothing but scalars; and products whose only reader is nobody.
        "no_input": Program([Instr(OUT, s=1), Instr(OUT, s=2), Instr(LIN, 0, s=1), Instr(AND, 1, 0, 0), Instr(END)], 3),
        "no_and": Program([Instr(IN, 0), Instr(OUT, a=0, s=1), Instr(END)], 2),
        # A layer longer than the rows that may be under way, then a chain.
        "wide": Program(
            [
                Instr(IN, 0), Instr(IN, 1), *(Instr(AND, 2 + i, i % 2, (i // 2) % 2) for i in range(11)),
                Instr(LIN, 0, 12, 11, sync=True), *(Instr(AND, 20 + i, 2 + i, 3 + i) for i in range(7)),
                Instr(OUT, a=26, sync=True), *(Instr(OUT, a=20 + i) for i in range(6)), Instr(OUT, a=0), Instr(END),
            ],
            1,
        ),
        "chain": Program(
            [
                Instr(IN, 0), Instr(IN, 1), Instr(AND, 2, 0, 1),
                *(Instr(AND, 3 + i, 2 + i, i % 2, sync=True) for i in range(5)), Instr(OUT, a=7, sync=True), Instr(END),
            ],
            1,
        ),
    }


def generate(rng, slots, scalars, length):
    """A program that keeps the compiler's rules: from its AND to the next sync a product's slot is not named."""
    whole, under_way, code = [], [], []

    def put(op, operands=0, dest=False):
        nonlocal whole, under_way
        # A sync lets the products under way be named; before the end there must be one.
        sync = rng.random() < 0.1 or op == END
        if sync:
            whole, under_way = whole + under_way, []
        recent = whole[-6:] if rng.random() < 0.7 else whole
        chosen = [rng.choice(recent) for _ in range(operands)] if whole else []
        d = rng.choice([slot for slot in range(slots) if slot not in under_way]) if dest else 0
        return sync, [*chosen, None, None][:2], d

    for _ in range(rng.randrange(4)):
        _, _, d = put(IN, 0, True)
        code.append(Instr(IN, d))
        whole = [slot for slot in whole if slot != d] + [d]
    for _ in range(length):
        op = rng.choice([LIN, LIN, AND, AND, AND, OUT, IN])
        if op == AND and (not whole and not under_way or len(under_way) > slots // 2):
            op = LIN
        sync, (a, b), d = put(op, {LIN: rng.randrange(3), AND: 2, IN: 0, OUT: rng.randrange(2)}[op], op != OUT)
        if op == AND and a is None:  # all is under way
            whole, under_way, sync = under_way, [], True
            a, b = rng.choice(whole), rng.choice(whole)
        code.append(Instr(op, d, a, b, rng.randrange(scalars) if op in (LIN, OUT) else 0, sync))
        if op == LIN and a is not None and rng.random() < 0.5:  # either port alone
            code[-1] = code[-1]._replace(a=b, b=a)
        if op != OUT:
            whole = [slot for slot in whole if slot != d]
            (under_way if op == AND else whole).append(d)
    code += [Instr(OUT, a=slot, sync=n == 0) for n, slot in enumerate((whole + under_way)[-4:])]
    return Program(code + [Instr(OUT), Instr(END, sync=True)], scalars)


def prf_words(key, counters):
    """F_key of every counter: by openssl where there is one, for there are thousands."""
    if "STANDIN" in os.environ:
        return [shares.prf(model.vector(key), counter) for counter in counters]
    out = model.openssl(key, b"".join(model.block(counter) for counter in counters))
    if out is None:
        return [model.prf(key, counter) for counter in counters]
    return [model.vector(out[at : at + 16]) for at in range(0, len(out), 16)]


def share(value, bits):
    """Three random shares of a value."""
    first, second = random.getrandbits(bits), random.getrandbits(bits)
    return [first, second, value ^ first ^ second]


class Run:
    """A batch: what each of the three sends on the link and what it gets, from shares of scalars and of input rows.

    first: the PRF counter of word 0 of the first AND; the low 64 bits count on. link[i]: planes that party i sends;
    out[i]: pairs (own, next) of planes. A slot that is read while its product is under way raises KeyError."""

    def __init__(self, program, words, keys, first, scalars, rows):
        bits = 128 * words
        ones = (1 << bits) - 1
        high, low = first >> 64 << 64, first % (1 << 64)
        counters = [high | (low + n) % (1 << 64) for n in range(program.count(AND) * words)]
        masks = []
        for key in keys:
            each = prf_words(key, counters) if counters else []
            masks.append([sum(w << 128 * n for n, w in enumerate(each[at : at + words])) for at in range(0, len(each), words)])
        slots, under_way = {}, {}
        self.link, self.out, self.rows = [[], [], []], [[], [], []], rows
        ands, row = 0, iter(rows)
        for instr in program.code:
            if instr.sync:
                slots.update(under_way)
                under_way = {}
            if instr.op == END:
                break
            none = [0, 0, 0]
            a = none if instr.a is None else slots[instr.a]
            b = none if instr.b is None else slots[instr.b]
            if instr.op == AND:
                z = [
                    a[i] & b[i] ^ a[i] & b[(i + 1) % 3] ^ a[(i + 1) % 3] & b[i] ^ masks[i][ands] ^ masks[i - 1][ands]
                    for i in range(3)
                ]
                ands += 1
                for i in range(3):
                    self.link[i].append(z[i])
                slots.pop(instr.d, None)
                assert instr.d not in under_way, "two products for one slot"
                under_way[instr.d] = z
                continue
            if instr.op == IN:
                result = next(row)
            else:
                result = [x ^ y ^ (ones if s else 0) for x, y, s in zip(a, b, scalars[instr.s])]
            if instr.op == OUT:
                for i in range(3):
                    self.out[i].append((result[i], result[(i + 1) % 3]))
            else:
                assert instr.d not in under_way, "a slot is written while its product is under way"
                slots[instr.d] = result


def plain(program, words, scalars, rows):
    """The output planes of the same program on values instead of shares."""
    ones, slots, out, row = (1 << 128 * words) - 1, {}, [], iter(rows)
    for instr in program.code:
        a, b = slots.get(instr.a, 0), slots.get(instr.b, 0)
        if instr.op == END:
            break
        value = next(row) if instr.op == IN else a & b if instr.op == AND else a ^ b ^ (ones if scalars[instr.s] else 0)
        if instr.op == OUT:
            out.append(value)
        else:
            slots[instr.d] = value
    return out
