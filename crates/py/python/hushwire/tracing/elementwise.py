"""Arithmetic, comparisons and choices, element by element, by NumPy's names and rules.

Integers wrap. NumPy's floating numbers are fixed numbers here. Products, quotients and conversions
are rounded towards −∞ to the bits behind the point. Integers of different types are converted to the
type that NumPy chooses, and an integer operand of a fixed number is converted to the fixed type.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .array import Array, graph, numpy_name
from .errors import ComputationError
from .language import (
    Literal_,
    Operand,
    aligned,
    array,
    as_bits_of,
    broadcast_to,
    cast,
    common_shape,
    constant,
    constant_steps,
    each,
    free,
    infix,
    node,
    operand,
    select,
    shifted,
    single,
    steps_of,
    together,
)
from .types import Scalar, bool_, fixed, i8, scalar_of, u8

HALF = Fraction(1, 2)


def pair(a: Any, b: Any) -> tuple[Array, Array]:
    """Two values of one type and shape, or of which one is a single element."""
    x, y = aligned(*together(a, b))
    return x, y


def to_real(value: Any) -> Array:
    """A fixed number as it is; others in the computation's type for real numbers."""
    own = operand(value)
    if isinstance(own, Array) and own.dtype.kind == "fixed":
        return own
    return cast(own, graph().real)


def to_bool(value: Any) -> Array:
    """Whether a value is not 0."""
    a = array(value)
    return a if a.dtype == bool_ else infix("!=", a, single(a, 0), bool_)


def as_number(a: Array) -> Array:
    """A truth value as 0 or 1, others as they are."""
    return a if a.dtype.is_number else cast(a, u8)


def has_functions(scalar: Scalar) -> bool:
    """Whether the language has functions such as `sqrt` and `divide` on a type."""
    return (
        scalar.kind == "fixed"
        and scalar.bits <= 64
        and 4 <= scalar.frac <= 32
        and scalar.bits >= scalar.frac + 8
    )


# Sums and products.


@numpy_name()
def add(x1: Any, x2: Any) -> Array:
    """x1 + x2; of truth values, or."""
    a, b = pair(x1, x2)
    return infix("+" if a.dtype.is_number else "|", a, b)


@numpy_name()
def subtract(x1: Any, x2: Any) -> Array:
    """x1 - x2."""
    a, b = pair(x1, x2)
    _numbers("subtract", a)
    return infix("-", a, b)


@numpy_name()
def multiply(x1: Any, x2: Any) -> Array:
    """x1 * x2; of truth values, and. A product with an integer or a public number is cheaper."""
    p, q = operand(x1), operand(x2)
    for one, other in ((p, q), (q, p)):
        if isinstance(one, Array) and one.dtype.kind == "fixed":
            if isinstance(other, Literal_) and other.kind in ("int", "float"):
                return _scaled(one, other)
            if isinstance(other, Array) and other.dtype.kind == "int":
                whole = fixed(one.dtype.bits, 0)
                a, b = aligned(one, cast(other, whole))
                return infix("*", a, b)
    a, b = pair(p, q)
    if not a.dtype.is_number:
        return infix("&", a, b)
    return product(a, b)


def product(a: Array, b: Array) -> Array:
    """The product of two numbers of one type in that type."""
    a, b = aligned(a, b)
    if a.dtype.frac == 0:
        return infix("*", a, b)
    shape = common_shape(a.shape, b.shape)
    return each("multiply", broadcast_to(a, shape), broadcast_to(b, shape))


def _scaled(a: Array, by: Literal_) -> Array:
    """A fixed number times public numbers, exactly if they are whole or a power of 2."""
    exact = [Fraction(number) for number in by.flat]
    most = max((builtins.abs(number) for number in exact), default=Fraction(0))
    bits, frac = a.dtype.bits, a.dtype.frac
    if len(exact) == 1 and not by.shape and exact[0].numerator == 1 and exact[0] < 1:
        power = exact[0].denominator.bit_length() - 1
        if exact[0].denominator == 1 << power and power < bits:
            return shifted(a, power)
    whole = int(most).bit_length()
    precise = builtins.min(frac + 16, 127 - bits - whole)
    places = 0
    while places < precise and any((number * (1 << places)).denominator != 1 for number in exact):
        places += 1
    if most >= 1 << (bits - 1) or precise < 0:
        raise OverflowError(f"a factor of {float(most)} does not fit {a.dtype}")
    if places == 0:
        factors = constant(fixed(bits, 0), exact, by.shape)
        x, y = aligned(a, factors)
        return infix("*", x, y)
    wide = bits + whole + places + 1
    steps = [round(number * (1 << places)) for number in exact]
    factors = constant_steps(fixed(wide, places), steps, by.shape)
    x, y = aligned(cast(a, fixed(wide, frac)), factors)
    made = infix("*", x, y, fixed(wide, frac + places))
    return cast(_rescaled(made, places), a.dtype)


def _rescaled(a: Array, by: int) -> Array:
    scalar = fixed(a.dtype.bits, a.dtype.frac - by)
    return node("call", "rescale", (a,), scalar, a.shape, f", {by}")


def _numbers(name: str, a: Array) -> None:
    if not a.dtype.is_number:
        raise ComputationError(
            f"`{name}` of truth values",
            "NumPy refuses it, too: take logical_xor, logical_not or astype",
        )


@numpy_name()
def square(x: Any) -> Array:
    """x * x; of truth values as i8, as NumPy has it."""
    a = array(x)
    return cast(a, i8) if not a.dtype.is_number else product(a, a)


@numpy_name()
def negative(x: Any) -> Array:
    """-x; unsigned integers wrap."""
    a = array(x)
    _numbers("negative", a)
    return node("prefix", "-", (a,), a.dtype, a.shape)


@numpy_name()
def positive(x: Any) -> Array:
    """x."""
    a = array(x)
    _numbers("positive", a)
    return a


@numpy_name("abs", "absolute")
def abs(x: Any) -> Array:
    """The size of x; the size of the least integer is itself."""
    a = array(x)
    return each("abs", a) if a.dtype.signed else a


@numpy_name()
def fabs(x: Any) -> Array:
    """The size of x, as a fixed number."""
    return abs(to_real(x))


@numpy_name()
def sign(x: Any) -> Array:
    """-1, 0 or 1."""
    a = array(x)
    _numbers("sign", a)
    zero = single(a, 0)
    up = cast(infix(">", a, zero, bool_), a.dtype)
    return up if not a.dtype.signed else infix("-", up, cast(infix("<", a, zero, bool_), a.dtype))


@numpy_name()
def signbit(x: Any) -> Array:
    """Whether x is below 0: there is no -0."""
    a = array(x)
    return less(as_number(a), 0)


@numpy_name()
def copysign(x1: Any, x2: Any) -> Array:
    """The size of x1 with the sign of x2, as a fixed number."""
    a, b = aligned(abs(to_real(x1)), signbit(x2))
    return select(b, negative(a), a)


@numpy_name()
def heaviside(x1: Any, x2: Any) -> Array:
    """0 below 0, 1 above, x2 at 0, as a fixed number."""
    a, b = pair(to_real(x1), to_real(x2))
    return where(equal(a, 0), b, cast(greater(a, 0), a.dtype))


# Quotients.


@numpy_name("divide", "true_divide")
def divide(x1: Any, x2: Any) -> Array:
    """x1 / x2 as a fixed number. The error is at most a step and 2^-(frac + 5) of the quotient.
    A quotient by a public power of 2 is exact but for rounding towards −∞. Where the divisor is 0,
    the result is all bits set."""
    divisor = operand(x2)
    if isinstance(divisor, Literal_) and not divisor.shape:
        if divisor.flat[0] == 0:
            raise ComputationError(
                "a quotient by 0", "there is no infinity: divide by another number"
            )
        by = Literal_([1 / Fraction(divisor.flat[0])], (), None, "float")
        return multiply(to_real(x1), by)
    a, b = together(x1, divisor)
    real = graph().real
    if a.dtype.kind != "fixed":
        if a.dtype.kind == "int" and a.dtype.bits + (not a.dtype.signed) > real.bits - real.frac:
            wide = fixed(128 - real.frac, real.frac)
            x, y = aligned(cast(a, wide), cast(b, wide))
            return cast(infix("/", x, y), real)
        a, b = cast(a, real), cast(b, real)
    return quotient(a, b)


def quotient(a: Array, b: Array) -> Array:
    """The quotient of two fixed numbers of one type."""
    if not has_functions(a.dtype):
        x, y = aligned(a, b)
        return infix("/", x, y)
    shape = common_shape(a.shape, b.shape)
    return each("divide", broadcast_to(a, shape), broadcast_to(b, shape))


@numpy_name()
def reciprocal(x: Any) -> Array:
    """1 / x; of integers the whole part, as NumPy has it."""
    a = array(x)
    if a.dtype.kind == "int":
        return (
            cast(equal(a, 1), a.dtype) if not a.dtype.signed else where(less_equal(abs(a), 1), a, 0)
        )
    a = to_real(a)
    return each("reciprocal", a) if has_functions(a.dtype) else quotient(constant(a.dtype, [1]), a)


def _floored(x1: Any, x2: Any) -> tuple[Array, Array, Scalar]:
    """The quotient of two numbers' steps towards −∞ and the remainder, 0 where x2 is 0."""
    a, b = pair(x1, x2)
    a, b, scalar = as_number(a), as_number(b), a.dtype if a.dtype.is_number else u8
    if scalar.kind == "fixed":
        a, b = steps_of(a), steps_of(b)
    whole = free(infix("/", a, b))
    rest = free(infix("-", a, infix("*", whole, b)))
    if scalar.signed:
        low = infix("^", less(rest, 0), less(b, 0), bool_)
        off = infix("&", low, infix("!=", rest, single(rest, 0), bool_))
        whole = infix("-", whole, cast(off, whole.dtype))
        rest = infix("+", rest, select(off, b, single(b, 0)))
    fine = infix("!=", b, single(b, 0), bool_)
    return select(fine, whole, single(whole, 0)), select(fine, rest, single(rest, 0)), scalar


def _of_steps(steps: Array, scalar: Scalar) -> Array:
    return as_bits_of(steps, scalar) if scalar.kind == "fixed" else steps


@numpy_name()
def floor_divide(x1: Any, x2: Any) -> Array:
    """The quotient rounded towards −∞, exactly; 0 where x2 is 0."""
    whole, _, scalar = _floored(x1, x2)
    return cast(whole, scalar)


@numpy_name("remainder", "mod")
def remainder(x1: Any, x2: Any) -> Array:
    """The remainder with the divisor's sign, exactly; 0 where x2 is 0."""
    _, rest, scalar = _floored(x1, x2)
    return _of_steps(rest, scalar)


mod = remainder


@numpy_name()
def divmod(x1: Any, x2: Any) -> tuple[Array, Array]:
    """floor_divide and remainder."""
    whole, rest, scalar = _floored(x1, x2)
    return cast(whole, scalar), _of_steps(rest, scalar)


@numpy_name()
def fmod(x1: Any, x2: Any) -> Array:
    """The remainder with the dividend's sign, exactly; 0 where x2 is 0."""
    a, b = pair(x1, x2)
    a, b = as_number(a), as_number(b)
    rest = infix("%", a, b)
    return where(infix("!=", b, single(b, 0), bool_), rest, 0)


@numpy_name()
def modf(x: Any) -> tuple[Array, Array]:
    """The part behind the point and the whole part, both with the sign of x."""
    a = to_real(x)
    whole = trunc(a)
    return infix("-", a, whole), whole


# Comparisons.


def _compare(sign: str, x1: Any, x2: Any) -> Array:
    p, q = operand(x1), operand(x2)
    beyond = _beyond(sign, p, q)
    if beyond is not None:
        return beyond
    kinds = [value.dtype if isinstance(value, Array) else value.scalar for value in (p, q)]
    a, b = (_comparable(p, kinds), _comparable(q, kinds)) if _mixed(kinds) else together(p, q)
    if sign not in ("==", "!="):
        a, b = as_number(a), as_number(b)
    a, b = aligned(a, b)
    return infix(sign, a, b, bool_)


def _mixed(kinds: list[Scalar | None]) -> bool:
    return {kind.kind for kind in kinds if kind is not None} == {"int", "fixed"}


def _comparable(value: Operand, kinds: list[Scalar | None]) -> Array:
    """A number in a fixed type that holds an integer and a fixed number."""
    types = [kind for kind in kinds if kind is not None]
    frac = max(kind.frac for kind in types)
    whole = max(kind.bits - kind.frac + (not kind.signed) for kind in types)
    return cast(value, fixed(builtins.min(128, whole + frac), frac))


def _beyond(sign: str, p: Operand, q: Operand) -> Array | None:
    """The answer if a public number is beyond all numbers of the other operand's type."""
    flip = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
    for one, other, told in ((p, q, sign), (q, p, flip.get(sign, sign))):
        if not (isinstance(one, Array) and isinstance(other, Literal_)) or other.shape:
            continue
        if not one.dtype.is_number or other.kind == "bool":
            continue
        steps = Fraction(other.flat[0]) * (1 << one.dtype.frac)
        above, below = steps > one.dtype.greatest, steps < one.dtype.least
        if above or below:
            truth = told == "!=" or (told in ("<", "<=") if above else told in (">", ">="))
            return broadcast_to(constant(bool_, [truth]), one.shape)
    return None


def _comparison(name: str, sign: str, about: str) -> Callable[[Any, Any], Array]:
    def compare(x1: Any, x2: Any) -> Array:
        return _compare(sign, x1, x2)

    compare.__name__ = compare.__qualname__ = name
    compare.__doc__ = f"Whether x1 is {about} x2."
    return numpy_name(name)(compare)


equal = _comparison("equal", "==", "equal to")
not_equal = _comparison("not_equal", "!=", "another number than")
less = _comparison("less", "<", "below")
less_equal = _comparison("less_equal", "<=", "at most")
greater = _comparison("greater", ">", "above")
greater_equal = _comparison("greater_equal", ">=", "at least")


@numpy_name("minimum", "fmin")
def minimum(x1: Any, x2: Any) -> Array:
    """The lesser of two."""
    a, b = pair(x1, x2)
    return each("min", a, b, scalar=a.dtype) if a.dtype.is_number else infix("&", a, b)


@numpy_name("maximum", "fmax")
def maximum(x1: Any, x2: Any) -> Array:
    """The greater of two."""
    a, b = pair(x1, x2)
    return each("max", a, b, scalar=a.dtype) if a.dtype.is_number else infix("|", a, b)


fmin, fmax = minimum, maximum


@numpy_name()
def clip(
    a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Array:
    """Elements below the first become it, elements above the second become that."""
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    value = array(a)
    if low is not None:
        value = maximum(value, low)
    return value if high is None else minimum(value, high)


@numpy_name()
def where(condition: Any, x: Any = None, y: Any = None) -> Array:
    """x where the condition is true, else y: the choice that a secret allows.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def larger(x: hw.u8[2] @ "ann", y: hw.u8[2] @ "bob") -> hw.out("bob"):
    ...     return hw.where(x > y, x, y)
    >>> [int(n) for n in larger.evaluate(x=[1, 9], y=[5, 2])]
    [5, 9]
    """
    if x is None or y is None:
        raise ComputationError(
            "`where` without two choices, which would tell how many are true", "write where(c, a, b)"
        )
    a, b = together(x, y)
    truth, a, b = aligned(to_bool(condition), a, b)
    return select(truth, a, b)


@numpy_name("select")
def select_(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """The first choice whose condition is true, else the default."""
    made = default
    for condition, choice in zip(reversed(list(condlist)), reversed(list(choicelist))):
        made = where(condition, choice, made)
    return array(made)


@numpy_name()
def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Array:
    """Whether |a - b| <= atol + rtol |b|, as fixed numbers."""
    del equal_nan
    x, y = pair(to_real(a), to_real(b))
    return less_equal(abs(subtract(x, y)), add(multiply(abs(y), rtol), atol))


# Logic.


def _logic(name: str, sign: str, about: str) -> Callable[[Any, Any], Array]:
    def logic(x1: Any, x2: Any) -> Array:
        a, b = aligned(to_bool(x1), to_bool(x2))
        return infix(sign, a, b)

    logic.__name__ = logic.__qualname__ = name
    logic.__doc__ = f"Whether {about} is not 0."
    return numpy_name(name)(logic)


logical_and = _logic("logical_and", "&", "each of x1 and x2")
logical_or = _logic("logical_or", "|", "x1 or x2")
logical_xor = _logic("logical_xor", "^", "exactly one of x1 and x2")


@numpy_name()
def logical_not(x: Any) -> Array:
    """Whether x is 0."""
    return node("prefix", "!", (to_bool(x),), bool_, array(x).shape)


def _bitwise(name: str, sign: str, about: str) -> Callable[[Any, Any], Array]:
    def bitwise(x1: Any, x2: Any) -> Array:
        a, b = pair(x1, x2)
        if a.dtype.kind == "fixed":
            raise ComputationError(
                f"`{name}` of fixed numbers", "NumPy refuses it, too: take integers"
            )
        return infix(sign, a, b)

    bitwise.__name__ = bitwise.__qualname__ = name
    bitwise.__doc__ = f"Bit by bit, {about}."
    return numpy_name(name)(bitwise)


bitwise_and = _bitwise("bitwise_and", "&", "and")
bitwise_or = _bitwise("bitwise_or", "|", "or")
bitwise_xor = _bitwise("bitwise_xor", "^", "exclusive or")


@numpy_name("invert", "bitwise_not", "bitwise_invert")
def invert(x: Any) -> Array:
    """Each bit the other way."""
    a = array(x)
    if a.dtype.kind == "fixed":
        raise ComputationError("`invert` of fixed numbers", "NumPy refuses it, too: take integers")
    return node("prefix", "!", (a,), a.dtype, a.shape)


bitwise_not = invert


# Conversions and whole numbers.


@numpy_name()
def astype(x: Any, dtype: Any) -> Array:
    """Numbers in another type, modulo its width; fractions are cut towards 0, and a truth value is
    whether a number is not 0."""
    value = operand(x)
    to = scalar_of(dtype, graph().real)
    if isinstance(value, Literal_):
        return value.to(to)
    if to == bool_:
        return to_bool(value)
    if value.dtype.kind == "fixed" and to.kind == "int":
        value = trunc(value)
    return cast(value, to)


def _whole(name: str, x: Any) -> Array:
    a = array(x)
    if a.dtype.kind != "fixed":
        return a
    return each(name, a)


@numpy_name()
def floor(x: Any) -> Array:
    """The greatest whole number that is at most x; integers as they are."""
    return _whole("floor", x)


@numpy_name()
def ceil(x: Any) -> Array:
    """The least whole number that is at least x; integers as they are."""
    return _whole("ceil", x)


@numpy_name("trunc", "fix")
def trunc(x: Any) -> Array:
    """The whole number towards 0; integers as they are."""
    return _whole("truncate", x)


fix = trunc


@numpy_name()
def rint(x: Any) -> Array:
    """The nearest whole number, the even one of two."""
    return _whole("round_even", x)


@numpy_name("round", "around")
def round_(a: Any, decimals: int = 0) -> Array:
    """The nearest number with `decimals` digits behind the point, the even one of two."""
    value = array(a)
    if value.dtype.kind != "fixed":
        if decimals >= 0 or not value.dtype.is_number:
            return value
        # To the nearest multiple of the unit; of two, the even one.
        unit = 10**-decimals
        whole, rest = divmod(value, unit)
        odd = equal(remainder(whole, 2), 1)
        twice = add(rest, rest)
        up = logical_or(greater(twice, unit), logical_and(equal(twice, unit), odd))
        return multiply(add(whole, astype(up, value.dtype)), unit)
    if decimals == 0:
        return rint(value)
    power = Fraction(10) ** decimals
    by, back = (Literal_([factor], (), None, "float") for factor in (power, 1 / power))
    return multiply(rint(multiply(value, by)), back)


# Complex numbers, of which there are none.


@numpy_name("conj", "conjugate", "real")
def conj(x: Any) -> Array:
    """x: there are no complex numbers."""
    return array(x)


conjugate = real = conj


@numpy_name()
def imag(x: Any) -> Array:
    """0: there are no complex numbers."""
    a = array(x)
    return broadcast_to(single(a, 0), a.shape)


@numpy_name()
def iscomplex(x: Any) -> Array:
    """False: there are no complex numbers."""
    return broadcast_to(constant(bool_, [False]), array(x).shape)


@numpy_name()
def isreal(x: Any) -> Array:
    """True: there are no complex numbers."""
    return broadcast_to(constant(bool_, [True]), array(x).shape)


@numpy_name()
def isrealobj(x: Any) -> bool:
    """True: there are no complex numbers."""
    array(x)
    return True
