"""Functions of real numbers on fixed numbers, by NumPy's names.

Errors are given in steps of the result's type, 2^-frac, plus an error relative to the result. They
hold if the result fits the type. `sqrt`, `exp`, `log`, `sin`, `cos`, `tanh` and
`divide` are functions of the language of computations (`docs/jobs.md`), within a step and 2^-(frac
+ 5) of the result. The others are made of them, and of Chebyshev series whose coefficients are in
`series.py`. They are computed with 8 more bits behind the point.

Where a function is not defined (the logarithm of 0, the root of -1) NumPy gives NaN or infinity,
and here the result is some number, the same in every protocol.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from . import elementwise as ew
from .array import Array, numpy_name
from .errors import ComputationError
from .integers import power_of, secret_power
from .language import (
    Literal_,
    array,
    broadcast_to,
    cast,
    common_shape,
    constant,
    constant_steps,
    each,
    free,
    infix,
    operand,
    select,
    shifted,
    single,
    together,
)
from .series import ARCSIN, ARCTAN, BESSEL_FAR, BESSEL_NEAR, LN_2, PI, PLACES, SINC
from .types import Scalar, bool_, fixed

TINY = PLACES


def real_of(value: Any) -> Array:
    """A number in a fixed type that has functions."""
    a = ew.to_real(value)
    if not ew.has_functions(a.dtype):
        raise ComputationError(
            f"a function of {a.dtype}",
            "it takes fixed numbers of at most 64 bits, 4 to 32 of them behind the point and 8 or more "
            "before it: convert it, as in x.astype(hw.fixed(64, 32))",
        )
    return free(a)


def reals(*values: Any) -> list[Array]:
    """Numbers of one fixed type that has functions, of one shape."""
    arrays = [ew.to_real(value) for value in values]
    shape = common_shape(*(a.shape for a in arrays))
    x = together(*arrays)
    return [broadcast_to(real_of(a), shape) for a in x]


def _number(scalar: Scalar, big: int) -> Array:
    """A constant that is given with PLACES bits behind the point."""
    return constant_steps(scalar, [round(Fraction(big, 1 << (PLACES - scalar.frac)))])


def _times(a: Array, by: Fraction) -> Array:
    return ew.multiply(a, Literal_([by], (), None, "float"))


_PI = Fraction(PI, 1 << PLACES)
_LN_2 = Fraction(LN_2, 1 << PLACES)


def _precise(a: Array, whole: int = 8) -> Array:
    """The number with 8 more bits behind the point and `whole` bits before it."""
    return cast(a, fixed(a.dtype.frac + 8 + whole, a.dtype.frac + 8))


def _back(a: Array, scalar: Scalar) -> Array:
    """The nearest number of a type with fewer bits behind the point."""
    half = single(a, 1 << (a.dtype.frac - scalar.frac - 1))
    return cast(infix("+", a, half), scalar)


def series(y: Array, coefficients: Sequence[int]) -> Array:
    """A Chebyshev series at y from -1 to 1, by Clenshaw's recurrence."""
    scalar = y.dtype
    small = 1 << (PLACES - scalar.frac - 1)
    terms = list(coefficients)
    while len(terms) > 2 and abs(terms[-1]) < small:
        terms.pop()
    double = infix("+", y, y)
    next_, after = _number(scalar, terms[-1]), single(y, 0)
    for term in reversed(terms[1:-1]):
        step = _number(scalar, term) - after
        next_, after = ew.product(double, next_) + step, next_
    return ew.product(y, next_) + (_number(scalar, terms[0]) - after)


# Roots, powers and logarithms.


def _simple(name: str, about: str) -> Callable[[Any], Array]:
    def function(x: Any) -> Array:
        return each(name, real_of(x))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = about
    return numpy_name(name)(function)


sqrt = _simple("sqrt", "The square root; 0 of a negative number.")
exp = _simple("exp", "e to the power of x; the greatest number where that does not fit.")
log = _simple("log", "The natural logarithm; the least number of 0 and of negative numbers.")
sin = _simple("sin", "The sine of an angle in radians.")
cos = _simple("cos", "The cosine of an angle in radians.")
tanh = _simple("tanh", "The hyperbolic tangent.")


@numpy_name()
def cbrt(x: Any) -> Array:
    """The cube root, within a step and 2^-(frac - 2) of the result."""
    a = real_of(x)
    size = exp(_times(log(ew.abs(a)), Fraction(1, 3)))
    return ew.where(a == 0, 0, ew.where(a < 0, -size, size))


@numpy_name()
def exp2(x: Any) -> Array:
    """2 to the power of x; the error of `exp` at twice its size."""
    return exp(_times(real_of(x), _LN_2))


@numpy_name()
def expm1(x: Any) -> Array:
    """e to the power of x, minus 1."""
    return exp(x) - 1


@numpy_name()
def log1p(x: Any) -> Array:
    """The natural logarithm of 1 + x."""
    return log(real_of(x) + 1)


@numpy_name()
def log2(x: Any) -> Array:
    """The logarithm to base 2, within 3 steps."""
    return _times(log(x), 1 / _LN_2)


@numpy_name()
def log10(x: Any) -> Array:
    """The logarithm to base 10, within 2 steps."""
    return _times(log(x), Fraction(0.4342944819032518))


@numpy_name()
def logaddexp(x1: Any, x2: Any) -> Array:
    """The logarithm of e^x1 + e^x2, within 2 steps."""
    a, b = reals(x1, x2)
    return ew.maximum(a, b) + each("softplus", -ew.abs(a - b))


@numpy_name()
def logaddexp2(x1: Any, x2: Any) -> Array:
    """The logarithm to base 2 of 2^x1 + 2^x2, within 4 steps."""
    a, b = reals(x1, x2)
    return ew.maximum(a, b) + _times(each("softplus", -_times(ew.abs(a - b), _LN_2)), 1 / _LN_2)


@numpy_name("power", "pow")
def power(x1: Any, x2: Any) -> Array:
    """x1 to the power of x2. Integers wrap; a public whole exponent multiplies; others are
    e^(x2 log |x1|), relative to the result within |x2| 2^-(frac - 2), negative where x1 is negative
    and x2 odd."""
    exponent = operand(x2)
    if isinstance(exponent, Literal_) and not exponent.shape:
        return _public_power(x1, Fraction(exponent.flat[0]))
    base = operand(x1)
    kinds = [v.dtype if isinstance(v, Array) else v.scalar for v in (base, exponent)]
    weak = [v.kind for v in (base, exponent) if isinstance(v, Literal_)]
    whole = all(kind is None or kind.kind != "fixed" for kind in kinds) and "float" not in weak
    if whole:
        a, b = together(base, exponent)
        return secret_power(ew.as_number(a), ew.as_number(b))
    return float_power(base, exponent)


def _public_power(x1: Any, exponent: Fraction) -> Array:
    a = array(x1)
    if exponent == 0:
        return broadcast_to(constant(a.dtype, [1]), a.shape)
    if exponent.denominator == 1:
        if exponent < 0 and a.dtype.kind == "int":
            raise ComputationError(
                "an integer to a negative power", "NumPy refuses it, too: take a fixed type"
            )
        made = power_of(a, abs(int(exponent)))
        return made if exponent > 0 else ew.reciprocal(made)
    if exponent == Fraction(1, 2):
        return sqrt(a)
    return float_power(a, Literal_([exponent], (), None, "float"))


@numpy_name()
def float_power(x1: Any, x2: Any) -> Array:
    """x1 to the power of x2, as fixed numbers; see `power`."""
    a, b = reals(ew.to_real(x1), ew.to_real(x2))
    size = exp(ew.product(b, log(ew.abs(a))))
    odd = ew.equal(ew.remainder(b, 2), 1)
    signed = select(infix("&", a < 0, odd, bool_), -size, size)
    return ew.where(a == 0, cast(b == 0, a.dtype), signed)


@numpy_name()
def hypot(x1: Any, x2: Any) -> Array:
    """The length of a hypotenuse, within 3 steps and 2^-(frac - 1) of the result; no square is
    computed, so that it fits where the result does."""
    a, b = reals(x1, x2)
    a, b = ew.abs(a), ew.abs(b)
    high, low = ew.maximum(a, b), ew.minimum(a, b)
    slope = ew.where(high == 0, 0, ew.quotient(low, high))
    return ew.product(high, sqrt(ew.product(slope, slope) + 1))


# Angles.


@numpy_name()
def tan(x: Any) -> Array:
    """The tangent of an angle in radians: the quotient of sine and cosine."""
    return ew.quotient(sin(x), cos(x))


@numpy_name("arctan", "atan")
def arctan(x: Any) -> Array:
    """The arc tangent in radians, within 3 steps."""
    a = real_of(x)
    return arctan2(a, broadcast_to(constant(a.dtype, [1]), a.shape))


@numpy_name("arctan2", "atan2")
def arctan2(x1: Any, x2: Any) -> Array:
    """The angle of the point (x2, x1) in radians, within 4 steps; 0 for the origin."""
    y, x = reals(x1, x2)
    size_y, size_x = ew.abs(y), ew.abs(x)
    high, low = ew.maximum(size_y, size_x), ew.minimum(size_y, size_x)
    slope = _precise(ew.where(high == 0, 0, ew.quotient(low, high)))
    square = ew.product(slope, slope)
    angle = ew.product(slope, series(infix("+", square, square) - 1, ARCTAN))
    angle = ew.where(size_y > size_x, _number(angle.dtype, PI // 2) - angle, angle)
    angle = ew.where(x < 0, _number(angle.dtype, PI) - angle, angle)
    return _back(ew.where(y < 0, -angle, angle), y.dtype)


def _arcsin_parts(x: Any) -> tuple[Array, Array, Array]:
    """The arc sine of |x| up to 1/2, else the arc cosine of |x|; whether it is the second; x."""
    a = real_of(x)
    size = ew.abs(a)
    far = size > ew.HALF
    root = sqrt(infix("+", (1 - size), (1 - size)))
    small = ew.where(far, shifted(_precise(root), 1), _precise(size))
    square = ew.product(small, small)
    angle = ew.product(small, series(shifted(square, -3) - 1, ARCSIN))
    return ew.where(far, infix("+", angle, angle), angle), far, a


@numpy_name("arcsin", "asin")
def arcsin(x: Any) -> Array:
    """The arc sine in radians, within 3 steps."""
    angle, far, a = _arcsin_parts(x)
    angle = ew.where(far, _number(angle.dtype, PI // 2) - angle, angle)
    return _back(ew.where(a < 0, -angle, angle), a.dtype)


@numpy_name("arccos", "acos")
def arccos(x: Any) -> Array:
    """The arc cosine in radians, within 3 steps."""
    angle, far, a = _arcsin_parts(x)
    quarter, half = _number(angle.dtype, PI // 2), _number(angle.dtype, PI)
    near = ew.where(a < 0, quarter + angle, quarter - angle)
    return _back(ew.where(far, ew.where(a < 0, half - angle, angle), near), a.dtype)


@numpy_name()
def sinh(x: Any) -> Array:
    """The hyperbolic sine."""
    a = real_of(x)
    return shifted(exp(a) - exp(-a), 1)


@numpy_name()
def cosh(x: Any) -> Array:
    """The hyperbolic cosine."""
    a = real_of(x)
    return shifted(exp(a) + exp(-a), 1)


@numpy_name("arcsinh", "asinh")
def arcsinh(x: Any) -> Array:
    """The inverse of the hyperbolic sine, within 5 steps."""
    a = real_of(x)
    size = ew.abs(a)
    made = log(size + hypot(size, broadcast_to(constant(a.dtype, [1]), a.shape)))
    return ew.where(a < 0, -made, made)


@numpy_name("arccosh", "acosh")
def arccosh(x: Any) -> Array:
    """The inverse of the hyperbolic cosine, for x from 1 on, within 4 steps."""
    a = real_of(x)
    return log(a + ew.product(sqrt(a - 1), sqrt(a + 1)))


@numpy_name("arctanh", "atanh")
def arctanh(x: Any) -> Array:
    """The inverse of the hyperbolic tangent, for x between -1 and 1, within 2 steps."""
    a = real_of(x)
    return shifted(log(a + 1) - log(1 - a), 1)


@numpy_name("deg2rad", "radians")
def deg2rad(x: Any) -> Array:
    """Degrees as radians."""
    return _times(ew.to_real(x), _PI / 180)


@numpy_name("rad2deg", "degrees")
def rad2deg(x: Any) -> Array:
    """Radians as degrees."""
    return _times(ew.to_real(x), 180 / _PI)


radians, degrees = deg2rad, rad2deg


@numpy_name()
def angle(z: Any, deg: bool = False) -> Array:
    """0, or a half turn for a negative number, as for a complex number."""
    a = array(z)
    below = ew.signbit(a)
    scalar = ew.to_real(a).dtype
    half = constant(scalar, [180]) if deg else _number(scalar, PI)
    return ew.where(below, half, 0)


@numpy_name()
def sinc(x: Any) -> Array:
    """sin(pi x) / (pi x), and 1 at 0, within 2 steps."""
    a = real_of(x)
    near = ew.abs(a) < ew.HALF
    small = _precise(ew.where(near, a, 0))
    square = ew.product(small, small)
    middle = _back(series(shifted(square, -3) - 1, SINC), a.dtype)
    turn = _times(a, _PI)
    return ew.where(near, middle, ew.quotient(sin(turn), ew.where(near, 1, turn)))


@numpy_name()
def i0(x: Any) -> Array:
    """The modified Bessel function of order 0, for results that fit: within 2 steps and 2^-(frac - 2) of
    the result."""
    a = ew.abs(real_of(x))
    near = a <= 8
    wide = _precise(a, a.dtype.bits - a.dtype.frac)
    inner = shifted(ew.where(near, wide, 0), 2) - 1
    outer = _times(ew.where(near, 8, wide) - 28, Fraction(1, 20))
    below, above = (_narrow(y) for y in (inner, outer))
    factor = cast(ew.where(near, series(below, BESSEL_NEAR), series(above, BESSEL_FAR)), wide.dtype)
    # e^x need not fit where the result does.
    root = cast(exp(shifted(a, 1)), wide.dtype)
    return _back(ew.product(ew.product(factor, root), root), a.dtype)


def _narrow(y: Array) -> Array:
    """A number from -1 to 1 in a type with only the necessary bits; other numbers wrap."""
    return cast(y, fixed(y.dtype.frac + 8, y.dtype.frac))


# Functions of neural networks and statistics that NumPy does not have.


def sigmoid(x: Any) -> Array:
    """1 / (1 + e^-x), within a step.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def f(x: hw.fixed(64, 32)[2] @ "ann") -> hw.out("bob"):
    ...     return hw.numpy.sigmoid(x)
    >>> [round(float(y), 3) for y in f.evaluate(x=[0.0, 2.0])]
    [0.5, 0.881]
    """
    return each("sigmoid", real_of(x))


def relu(x: Any) -> Array:
    """x, or 0 where it is negative.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def f(x: hw.fixed(64, 32)[2] @ "ann") -> hw.out("bob"):
    ...     return hw.numpy.relu(x)
    >>> [round(float(y), 3) for y in f.evaluate(x=[-1.0, 2.0])]
    [0.0, 2.0]
    """
    return ew.maximum(x, 0)


def erf(x: Any) -> Array:
    """The error function, within a step.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def f(x: hw.fixed(64, 32)[2] @ "ann") -> hw.out("bob"):
    ...     return hw.numpy.erf(x)
    >>> [round(float(y), 3) for y in f.evaluate(x=[0.0, 1.0])]
    [0.0, 0.843]
    """
    return each("erf", real_of(x))


def softplus(x: Any) -> Array:
    """The logarithm of 1 + e^x, within a step.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def f(x: hw.fixed(64, 32)[2] @ "ann") -> hw.out("bob"):
    ...     return hw.numpy.softplus(x)
    >>> [round(float(y), 3) for y in f.evaluate(x=[0.0, 2.0])]
    [0.693, 2.127]
    """
    return each("softplus", real_of(x))


def softmax(x: Any) -> Array:
    """e^x divided by the sum of all: of a vector, or of each row of a matrix.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def f(x: hw.fixed(64, 32)[2] @ "ann") -> hw.out("bob"):
    ...     return hw.numpy.softmax(x)
    >>> [round(float(y), 3) for y in f.evaluate(x=[0.0, 1.0])]
    [0.269, 0.731]
    """
    a = real_of(x)
    if a.ndim not in (1, 2):
        raise ComputationError(f"softmax of {a.ndim} axes", "bring a vector or a matrix")
    return each("softmax", a)
