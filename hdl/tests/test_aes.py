"""aes128_pipe: published vectors, one block per clock, the exact latency, random keys and blocks."""
import os
import random

import cocotb
import model
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

LATENCY = 21
# Blocks in a row: hundreds, but under Icarus, where gates of the composite S-boxes are slow, as
# many as are quick.
COMPOSITE = os.environ["PARAM_COMPOSITE"] == "1"
IN_A_ROW = (20 if COMPOSITE else 60) if "Icarus" in cocotb.SIM_NAME else 300

# (key, plaintext, ciphertext): FIPS-197 appendices B and C.1; SP 800-38A F.1.1 (ECB); the counter
# blocks and the output blocks of F.5.1 (CTR).
FIPS_B = ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32")
FIPS_C1 = ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a")
SP_KEY = "2b7e151628aed2a6abf7158809cf4f3c"
SP_ECB = [
    ("6bc1bee22e409f96e93d7e117393172a", "3ad77bb40d7a3660a89ecaf32466ef97"),
    ("ae2d8a571e03ac9c9eb76fac45af8e51", "f5d3d58503b9699de785895a96fdbaaf"),
    ("30c81c46a35ce411e5fbc1191a0a52ef", "43b1cd7f598ece23881b00e3ed030688"),
    ("f69f2445df4f9b17ad2b417be66c3710", "7b0c785e27e8ad3f8223207104725dd4"),
]
SP_CTR = [
    ("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff", "ec8cdf7398607cb0f2d21675ea9ea1e4"),
    ("f0f1f2f3f4f5f6f7f8f9fafbfcfdff00", "362b7c3c6773516318a077d7fc5073ae"),
    ("f0f1f2f3f4f5f6f7f8f9fafbfcfdff01", "6a2cc3787889374fbeb4c81b17ba6c44"),
    ("f0f1f2f3f4f5f6f7f8f9fafbfcfdff02", "e89c399ff0f198c6d40a31db156cabfe"),
]


async def stream(dut, key, blocks):
    """Puts one block in at each clock; returns what comes out LATENCY edges after each."""
    dut.round_keys.value = model.round_keys_vector(key)
    out = []
    for cycle in range(len(blocks) + LATENCY):
        dut.in_block.value = model.vector(blocks[cycle]) if cycle < len(blocks) else random.getrandbits(128)
        await FallingEdge(dut.clk)
        if cycle >= LATENCY - 1 and len(out) < len(blocks):
            out.append(model.block(dut.out_block.value))
    return out


async def start(dut):
    cocotb.start_soon(Clock(dut.clk, 2, "ns").start())
    await FallingEdge(dut.clk)


@cocotb.test()
async def published_vectors(dut):
    await start(dut)
    key, plain, cipher = FIPS_C1
    (got,) = await stream(dut, bytes.fromhex(key), [bytes.fromhex(plain)])
    assert got.hex() == cipher
    # Appendix B and SP 800-38A use one key: all in consecutive cycles.
    assert FIPS_B[0] == SP_KEY
    pairs = [FIPS_B[1:]] + SP_ECB + SP_CTR
    got = await stream(dut, bytes.fromhex(SP_KEY), [bytes.fromhex(plain) for plain, _ in pairs])
    assert [b.hex() for b in got] == [cipher for _, cipher in pairs]


@cocotb.test()
async def one_block_per_clock(dut):
    await start(dut)
    for count in (IN_A_ROW, IN_A_ROW // 4, 1):
        key = random.randbytes(16)
        blocks = [random.randbytes(16) for _ in range(count)]
        expected = [model.encrypt(key, b) for b in blocks]
        by_openssl = model.openssl(key, b"".join(blocks))
        assert by_openssl in (None, b"".join(expected))
        assert await stream(dut, key, blocks) == expected


@cocotb.test()
async def latency_is_exact(dut):
    """One marked block among equal ones comes out at the 21st edge, and at no other."""
    await start(dut)
    key, idle, marked = (random.randbytes(16) for _ in range(3))
    dut.round_keys.value = model.round_keys_vector(key)
    dut.in_block.value = model.vector(idle)
    for _ in range(LATENCY + 2):
        await FallingEdge(dut.clk)
    dut.in_block.value = model.vector(marked)
    seen = []
    for edge in range(1, 2 * LATENCY):
        await FallingEdge(dut.clk)
        dut.in_block.value = model.vector(idle)
        got = model.block(dut.out_block.value)
        if got == model.encrypt(key, marked):
            seen.append(edge)
        else:
            assert got == model.encrypt(key, idle)
    assert seen == [LATENCY]
