"""Functions of integers and of their bits."""

from __future__ import annotations

from typing import Any

from .array import Array, numpy_name
from .elementwise import abs, equal, maximum, minimum, multiply, pair, to_real, where
from .errors import ComputationError
from .language import (
    Literal_,
    aligned,
    as_bits_of,
    broadcast_to,
    cast,
    common_shape,
    constant_steps,
    each,
    free,
    infix,
    node,
    operand,
    select,
    shifted,
    single,
    together,
)
from .types import Scalar, bool_, integer, u8


def _integers(name: str, *values: Any) -> list[Array]:
    arrays = together(*values)
    if arrays[0].dtype.kind != "int":
        raise ComputationError(
            f"`{name}` of {arrays[0].dtype}", "it takes integers, as NumPy's does"
        )
    return arrays


def bit(a: Array, at: int) -> Array:
    """One bit of an integer, the lowest first, as a truth value."""
    text = cast(a, Scalar("bits", a.dtype.bits))
    part = node("call", "part", (text,), Scalar("bits", 1), a.shape, f", {at}..{at + 1}")
    return cast(part, bool_)


def bits_below(a: Array, count: int) -> Array:
    """The lowest `count` bits of an integer, as an unsigned integer."""
    text = cast(a, Scalar("bits", a.dtype.bits))
    part = node("call", "part", (text,), Scalar("bits", count), a.shape, f", 0..{count}")
    return cast(part, integer(count, False))


def _shift(name: str, x1: Any, x2: Any) -> Array:
    right = name == "shift_right"
    by = operand(x2)
    if isinstance(by, Literal_) and not by.shape:
        (a,) = _integers(name, x1)
        places = int(by.flat[0])
        if places < 0:
            raise ComputationError(f"a shift by {places} bits", "shift the other way")
        if places >= a.dtype.bits:
            if not (right and a.dtype.signed):
                return broadcast_to(single(a, 0), a.shape)
            places = a.dtype.bits - 1
        return shifted(free(a), places if right else -places)
    a, amount = _integers(name, x1, by)
    bits = a.dtype.bits
    most = minimum(as_bits_of(amount, integer(bits, False)), bits) if bits > 7 else amount
    few = cast(most, integer(7, False))
    shape = common_shape(a.shape, few.shape)
    return each(name, broadcast_to(a, shape), broadcast_to(few, shape), scalar=a.dtype)


@numpy_name("left_shift", "bitwise_left_shift")
def left_shift(x1: Any, x2: Any) -> Array:
    """x1 shifted up by x2 bits, which may be secret; bits that leave are lost."""
    return _shift("shift_left", x1, x2)


@numpy_name("right_shift", "bitwise_right_shift")
def right_shift(x1: Any, x2: Any) -> Array:
    """x1 shifted down by x2 bits, which may be secret; copies of the sign follow."""
    return _shift("shift_right", x1, x2)


@numpy_name()
def bitwise_count(x: Any) -> Array:
    """The number of ones among the bits of |x|, as u8."""
    (a,) = _integers("bitwise_count", x)
    a = abs(a)
    counts = [cast(bit(a, at), u8) for at in range(a.dtype.bits)]
    while len(counts) > 1:
        odd = counts[len(counts) // 2 * 2 :]
        counts = [infix("+", one, other) for one, other in zip(counts[::2], counts[1::2])] + odd
    return counts[0]


def power_of(a: Array, exponent: int) -> Array:
    """The power of a with a public exponent of 1 or more."""
    made: Array | None = None
    while exponent:
        if exponent & 1:
            made = a if made is None else multiply(made, a)
        exponent >>= 1
        if exponent:
            a = multiply(a, a)
    if made is None:
        raise ComputationError("a power of 0 factors", "take ones")
    return made


def secret_power(a: Array, exponent: Array) -> Array:
    """a to the power of an integer, modulo the width; a negative exponent counts by its bits."""
    shape = common_shape(a.shape, exponent.shape)
    a, exponent = free(broadcast_to(a, shape)), broadcast_to(exponent, shape)
    made = select(bit(exponent, 0), a, single(a, 1))
    for at in range(1, exponent.dtype.bits):
        a = infix("*", a, a)
        made = select(bit(exponent, at), infix("*", made, a), made)
    return made


@numpy_name()
def gcd(x1: Any, x2: Any) -> Array:
    """The greatest common divisor: the binary algorithm, of as many steps as both have bits."""
    a, b = _integers("gcd", x1, x2)
    scalar, bits = a.dtype, a.dtype.bits
    shape = common_shape(a.shape, b.shape)
    wide = integer(bits, False)
    a, b = (free(as_bits_of(broadcast_to(abs(value), shape), wide)) for value in (a, b))
    scale = broadcast_to(constant_steps(wide, [1]), shape)
    for _ in range(2 * bits):
        odd_a, odd_b = bit(a, 0), bit(b, 0)
        both = infix("&", odd_a, odd_b)
        either = infix("|", odd_a, odd_b)
        low, high = each("min", a, b, scalar=wide), each("max", a, b, scalar=wide)
        # For two odd numbers, half their difference and the lesser one; else halves of even ones.
        first = select(both, infix("-", high, low), a)
        second = select(both, low, b)
        scale = select(either, scale, shifted(scale, -1))
        a = select(
            infix("&", odd_a, node("prefix", "!", (odd_b,), bool_, shape)), a, shifted(first, 1)
        )
        b = select(odd_b, second, shifted(b, 1))
    found = infix("*", each("max", a, b, scalar=wide), free(scale))
    return as_bits_of(found, scalar)


@numpy_name()
def lcm(x1: Any, x2: Any) -> Array:
    """The least common multiple, modulo the width; 0 if a number is 0."""
    a, b = _integers("lcm", x1, x2)
    a, b = aligned(abs(a), abs(b))
    divisor = gcd(a, b)
    safe = maximum(divisor, 1)
    return multiply(free(infix("/", a, safe)), b)


@numpy_name()
def ldexp(x1: Any, x2: Any) -> Array:
    """x1 times 2 to the power of x2, as a fixed number; it wraps if it does not fit."""
    a = to_real(x1)
    (exponent,) = _integers("ldexp", x2)
    most = a.dtype.bits
    up = minimum(maximum(exponent, 0), most) if exponent.dtype.bits > 7 else maximum(exponent, 0)
    shape = common_shape(a.shape, exponent.shape)
    a = broadcast_to(a, shape)
    few = integer(7, False)
    made = each("shift_left", a, broadcast_to(cast(up, few), shape), scalar=a.dtype)
    if not exponent.dtype.signed:
        return made
    down = (
        minimum(maximum(-exponent, 0), most) if exponent.dtype.bits > 7 else maximum(-exponent, 0)
    )
    return each("shift_right", made, broadcast_to(cast(down, few), shape), scalar=a.dtype)


@numpy_name()
def nextafter(x1: Any, x2: Any) -> Array:
    """The next number of x1's fixed type in the direction of x2."""
    a, b = pair(to_real(x1), to_real(x2))
    step = constant_steps(a.dtype, [1])
    moved = where(infix("<", a, b, bool_), infix("+", free(a), step), infix("-", free(a), step))
    return where(equal(a, b), a, moved)


def one_hot(places: Array, length: int) -> Array:
    """Truth values along a last axis of this length: where it is each place."""
    axis = constant_steps(places.dtype, list(range(length)), (length,))
    column = node(
        "call", "reshape", (places,), places.dtype, (*places.shape, 1), _suffix(places.shape)
    )
    a, b = aligned(column, axis)
    return infix("==", a, b, bool_)


def _suffix(shape: Any) -> str:
    return f", [{', '.join(str(dim) for dim in (*shape, 1))}]"
