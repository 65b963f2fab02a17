"""AES-128 from FIPS-197's definitions: the oracle of the benches.

Blocks and keys are bytes in the order of the standard. `vector` and `block` convert to and from the 128-bit vectors of
the hardware, byte k at bits [8k+7:8k].
"""
import functools
import shutil
import subprocess


def vector(data):
    """Bytes as the hardware's vector."""
    return int.from_bytes(data, "little")


def block(value, size=16):
    """The hardware's vector as bytes."""
    return int(value).to_bytes(size, "little")


def gf_mul(a, b):
    """Product in GF(2^8) modulo x^8 + x^4 + x^3 + x + 1 (4.2)."""
    product = 0
    while b:
        if b & 1:
            product ^= a
        a = (a << 1) ^ (0x11B if a & 0x80 else 0)
        b >>= 1
    return product


@functools.cache
def sub_byte(a):
    """The S-box (5.1.1): a^254, which is the inverse or 0, then the affine map."""
    inverse = 1
    for _ in range(254):
        inverse = gf_mul(inverse, a)
    out = 0x63
    for turn in range(5):
        out ^= ((inverse << turn) | (inverse >> (8 - turn))) & 0xFF
    return out


def expand_key(key):
    """The eleven round keys (5.2)."""
    words = [list(key[4 * i : 4 * i + 4]) for i in range(4)]
    rcon = 1
    for i in range(4, 44):
        last = words[i - 1]
        if i % 4 == 0:
            last = [sub_byte(b) for b in last[1:] + last[:1]]
            last[0] ^= rcon
            rcon = gf_mul(rcon, 2)
        words.append([a ^ b for a, b in zip(words[i - 4], last)])
    return [bytes(sum(words[4 * r : 4 * r + 4], [])) for r in range(11)]


def round_keys_vector(key):
    """All round keys as the hardware's 1408-bit vector: round r at [128r+127:128r]."""
    return vector(b"".join(expand_key(key)))


def encrypt_with(round_keys, data):
    """The cipher (5.1) under expanded keys."""
    state = [a ^ b for a, b in zip(data, round_keys[0])]
    for number, key in enumerate(round_keys[1:], 1):
        state = [sub_byte(b) for b in state]
        # Row r of column c comes from column c + r.
        state = [state[i % 4 + 4 * ((i // 4 + i % 4) % 4)] for i in range(16)]
        if number < 10:
            mixed = []
            for c in range(4):
                column = state[4 * c : 4 * c + 4]
                for r in range(4):
                    a, b, d, e = (column[(r + k) % 4] for k in range(4))
                    mixed.append(gf_mul(a, 2) ^ gf_mul(b, 3) ^ d ^ e)
            state = mixed
        state = [a ^ b for a, b in zip(state, key)]
    return bytes(state)


def encrypt(key, data):
    """One block under a key."""
    return encrypt_with(expand_key(key), data)


def prf(key, counter):
    """F_key of a 128-bit counter, as a vector: the counter's little-endian bytes, encrypted."""
    return vector(encrypt(key, block(counter)))


def openssl(key, data):
    """The same blocks by openssl's ECB mode, or None where openssl is absent."""
    if not shutil.which("openssl"):
        return None
    command = ["openssl", "enc", "-aes-128-ecb", "-nopad", "-K", key.hex()]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout
