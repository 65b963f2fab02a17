"""The oracle of the AND benches: protocols.md §E on 128-bit words, shares as numbers."""
import functools
import os
import random

import model

BITS = 128
MASK = (1 << BITS) - 1
WORD = (1 << 64) - 1


def word():
    return random.getrandbits(BITS)


def words(count):
    return [word() for _ in range(count)]


def pack(values, bits=BITS):
    """Fields side by side, the first at the bottom."""
    return sum(value << (bits * i) for i, value in enumerate(values))


def unpack(value, count, bits=BITS):
    return [value >> (bits * i) & ((1 << bits) - 1) for i in range(count)]


@functools.cache
def prf(key, counter):
    """F_key(counter); with STANDIN in the environment, as hdl/tests/standin computes it."""
    if "STANDIN" not in os.environ:
        return model.prf(model.block(key), counter)
    first, *others = expand(key)
    state = counter ^ first
    for round_key in others:
        state = ((state << 7 & MASK | state >> 121) + state & MASK) ^ round_key
    return state


@functools.cache
def expand(key):
    return [model.vector(k) for k in model.expand_key(model.block(key))]


def round_keys(key):
    return pack(expand(key))


def step(counter, words):
    """The counter so many words later: only its low 64 bits count."""
    return counter & ~WORD | (counter + words) & WORD


def and_share(own_key, prev_key, counter, x, y):
    """z_i of share pairs x, y (own below next)."""
    x_own, x_next = unpack(x, 2)
    y_own, y_next = unpack(y, 2)
    return x_own & y_own ^ x_own & y_next ^ x_next & y_own ^ prf(own_key, counter) ^ prf(prev_key, counter)


def pair(shares, party):
    """What a party holds of three shares."""
    return pack([shares[party], shares[(party + 1) % 3]])
