"""prf_keys: expansion against FIPS-197, the handshake, reloading, reset."""
import random

import cocotb
import model
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

EXPANSION = 10


async def start(dut):
    """Reset; every port changes at falling edges."""
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    dut.rst.value = 1
    dut.key_valid.value = 0
    dut.key.value = 0
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0
    await FallingEdge(dut.clk)


async def load(dut, key):
    """Hands a key over and waits until it is expanded; returns the cycles that took."""
    dut.key.value = model.vector(key)
    dut.key_valid.value = 1
    while int(dut.key_ready.value) == 0:
        await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.key_valid.value = 0
    # The port no longer matters.
    dut.key.value = random.getrandbits(128)
    cycles = 0
    while int(dut.loaded.value) == 0:
        assert int(dut.key_ready.value) == 0, "ready in the middle of an expansion"
        await FallingEdge(dut.clk)
        cycles += 1
    return cycles


@cocotb.test()
async def published_expansion(dut):
    """FIPS-197, appendix A.1: first and last words of the expansion, and all of it by the model."""
    await start(dut)
    assert int(dut.loaded.value) == 0 and int(dut.key_ready.value) == 1 and int(dut.round_keys.value) == 0
    key = bytes.fromhex("2b7e151628aed2a6abf7158809cf4f3c")
    assert await load(dut, key) == EXPANSION
    got = model.block(dut.round_keys.value, 176)
    # Round r is at byte 16r: the order of the standard's w[0]…w[43].
    assert got[:16] == key
    assert got[16:32].hex() == "a0fafe1788542cb123a339392a6c7605"
    assert got[160:].hex() == "d014f9a8c9ee2589e13f0cc8b6630ca6"
    assert got == b"".join(model.expand_key(key))


@cocotb.test()
async def reloaded(dut):
    """Key after key, at once or after a pause; the old one stays until the next is taken."""
    await start(dut)
    for turn in range(12):
        key = random.randbytes(16)
        assert await load(dut, key) == EXPANSION
        assert int(dut.key_ready.value) == 1
        for _ in range(random.choice([0, 0, 1, 5])):
            assert int(dut.loaded.value) == 1
            assert int(dut.round_keys.value) == model.round_keys_vector(key), f"key {turn}"
            await FallingEdge(dut.clk)
        assert int(dut.round_keys.value) == model.round_keys_vector(key), f"key {turn}"


@cocotb.test()
async def waits_its_turn(dut):
    """A key offered during an expansion is taken after it, and not before."""
    await start(dut)
    first, second = random.randbytes(16), random.randbytes(16)
    dut.key.value = model.vector(first)
    dut.key_valid.value = 1
    await FallingEdge(dut.clk)
    dut.key.value = model.vector(second)
    for _ in range(EXPANSION):
        assert int(dut.key_ready.value) == 0 and int(dut.loaded.value) == 0
        await FallingEdge(dut.clk)
    assert int(dut.loaded.value) == 1 and int(dut.key_ready.value) == 1
    assert int(dut.round_keys.value) == model.round_keys_vector(first)
    await FallingEdge(dut.clk)
    dut.key_valid.value = 0
    assert int(dut.loaded.value) == 0
    for _ in range(EXPANSION):
        await FallingEdge(dut.clk)
    assert int(dut.loaded.value) == 1
    assert int(dut.round_keys.value) == model.round_keys_vector(second)


@cocotb.test()
async def reset_forgets(dut):
    """Reset, at rest and in the middle of an expansion, leaves no key behind."""
    await start(dut)
    for pause in (0, 4, 9, 12):
        dut.key.value = random.getrandbits(128)
        dut.key_valid.value = 1
        await FallingEdge(dut.clk)
        dut.key_valid.value = 0
        for _ in range(pause):
            await FallingEdge(dut.clk)
        dut.rst.value = 1
        await FallingEdge(dut.clk)
        dut.rst.value = 0
        assert int(dut.loaded.value) == 0 and int(dut.round_keys.value) == 0
        key = random.randbytes(16)
        assert await load(dut, key) == EXPANSION
        assert int(dut.round_keys.value) == model.round_keys_vector(key)
