"""Functions by NumPy's names that are composed of other functions: sums over letters, splits, windows, integrals."""

from __future__ import annotations

import builtins
import string
from collections.abc import Sequence
from typing import Any

from . import elementwise as ew
from .array import FUNCTIONS, Array, numpy_name
from .errors import ComputationError
from .functions import exp, log
from .language import (
    array,
    broadcast_to,
    joined,
    normal_axis,
    reshape_to,
    slice_of,
    together,
    transposed,
)
from .linear import eigh, inv, matmul, solve, tensordot
from .reductions import axes_of, diff, folded, kept, sum
from .shapes import (
    arange,
    atleast_3d,
    concatenate,
    diagonal,
    eye,
    flip,
    known,
    linspace,
    moveaxis,
    pad,
    picked,
    ravel,
    stack,
    swapaxes,
)
from .sorting import searchsorted


@numpy_name()
def einsum(subscripts: str, *operands: Any, optimize: Any = False) -> Array:
    """Sums of products by letters of axes, as in "ij,jk->ik"; `...` stands for all other axes."""
    del optimize
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    letters = left.split(",")
    arrays = list(together(*operands))
    if len(letters) != len(arrays):
        raise ComputationError(f"einsum({subscripts!r})", "name the axes of each operand")
    letters, right = _without_dots(subscripts, letters, arrow, right, arrays)
    for k, (names, value) in enumerate(zip(letters, arrays)):
        if len(names) != value.ndim:
            raise ComputationError(f"einsum({subscripts!r})", "each axis has a letter")
        while len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            first, second = names.index(twice), names.rindex(twice)
            if value.shape[first] != value.shape[second]:
                raise ComputationError(f"einsum({subscripts!r})", "a letter has one length")
            value = diagonal(value, 0, first, second)
            names = "".join(name for at, name in enumerate(names) if at not in (first, second)) + twice
        letters[k], arrays[k] = names, value
    names, made = letters[0], arrays[0]
    for k in range(1, len(arrays)):
        later = set("".join(letters[k + 1 :])) | set(right)
        made, names = _contracted(made, names, arrays[k], letters[k], later)
    gone = [name for name in names if name not in right]
    made = sum(made, tuple(names.index(name) for name in gone)) if gone else made
    names = "".join(name for name in names if name in right)
    return transposed(made, [names.index(name) for name in right])


def _without_dots(
    subscripts: str, letters: list[str], arrow: str, right: str, arrays: list[Array]
) -> tuple[list[str], str]:
    """The letters of all axes, and of the result, with letters in place of ``...``."""
    free = [name for name in string.ascii_letters if name not in subscripts]
    ranks = [a.ndim - len(names) + 3 for names, a in zip(letters, arrays) if "..." in names]
    rank = builtins.max(ranks, default=0)
    if builtins.min(ranks, default=0) < 0 or "." in "".join(letters).replace("...", ""):
        raise ComputationError(f"einsum({subscripts!r})", "each axis has a letter, or is in ...")
    dots = "".join(free[:rank])
    plain = [
        names.replace("...", dots[rank - (a.ndim - len(names) + 3) :])
        for names, a in zip(letters, arrays)
    ]
    if arrow:
        return plain, right.replace("...", dots)
    every = "".join(letters).replace("...", "")
    once = sorted(name for name in set(every) if every.count(name) == 1)
    return plain, dots + "".join(once)


def _contracted(a: Array, of_a: str, b: Array, of_b: str, later: set[str]) -> tuple[Array, str]:
    """Contracts two operands to one: letters of both that are not needed later are summed."""
    both = [name for name in of_a if name in of_b]
    if builtins.all(name not in later for name in both):
        axes = [of_a.index(name) for name in both], [of_b.index(name) for name in both]
        rest = [name for name in of_a + of_b if name not in both]
        if both:
            return tensordot(a, b, axes), "".join(rest)
    names = "".join(dict.fromkeys(of_a + of_b))
    wide_a = _spread(a, of_a, names)
    wide_b = _spread(b, of_b, names)
    made = ew.multiply(wide_a, wide_b)
    gone = [name for name in both if name not in later]
    if gone:
        made = sum(made, tuple(names.index(name) for name in gone))
    return made, "".join(name for name in names if name not in gone)


def _spread(a: Array, own: str, names: str) -> Array:
    """The array with an axis for each letter; an axis that it lacks has length 1."""
    moved = transposed(a, [own.index(name) for name in names if name in own])
    dims = iter(moved.shape)
    return reshape_to(moved, tuple(next(dims) if name in own else 1 for name in names))


@numpy_name()
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of an array along an axis: a number of parts, which differ by one element at most, or the
    places where they begin."""
    value = array(ary)
    at = normal_axis(axis, value.ndim)
    n = known(value, at, "a split")
    if isinstance(indices_or_sections, int):
        parts = indices_or_sections
        size, more = divmod(n, parts)
        ends = [size * (k + 1) + builtins.min(k + 1, more) for k in range(parts)]
        starts = [0, *ends[:-1]]
    else:
        places = [int(place) for place in indices_or_sections]
        cuts = [builtins.min(place + n if place < 0 else place, n) for place in places]
        starts, ends = [0, *cuts], [*cuts, n]
    return [
        slice_of(value, start, builtins.max(start, end), at) for start, end in zip(starts, ends)
    ]


@numpy_name()
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Equal parts of an array along an axis, or parts that begin at places."""
    value = array(ary)
    n = known(value, normal_axis(axis, value.ndim), "a split")
    if isinstance(indices_or_sections, int) and n % indices_or_sections:
        raise ComputationError(
            f"{n} elements in {indices_or_sections} equal parts", "take array_split"
        )
    return array_split(value, indices_or_sections, axis)


@numpy_name()
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the second axis, or the only one."""
    value = array(ary)
    return split(value, indices_or_sections, 0 if value.ndim == 1 else 1)


@numpy_name()
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the first axis."""
    return split(ary, indices_or_sections, 0)


@numpy_name()
def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Parts along the third axis."""
    return split(ary, indices_or_sections, 2)


@numpy_name()
def dstack(tup: Any) -> Array:
    """Arrays joined along a third axis."""
    return concatenate([atleast_3d(a) for a in tup], 2)


@numpy_name()
def fliplr(m: Any) -> Array:
    """Columns in the reverse order."""
    return flip(m, 1)


@numpy_name()
def flipud(m: Any) -> Array:
    """Rows in the reverse order."""
    return flip(m, 0)


@numpy_name()
def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """A matrix turned by quarters against the clock, from the first of two axes to the second."""
    value = array(m)
    for _ in range(k % 4):
        value = flip(swapaxes(value, *axes), axes[0])
    return value


def _windows(a: Array, size: int) -> Array:
    """Rows of neighbours of a vector: each window of `size` elements."""
    n = known(a, 0, "windows")
    count = n - size + 1
    places = [row + k for row in range(count) for k in range(size)]
    return reshape_to(picked(a, places, 0), (count, size))


@numpy_name()
def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """The convolution of two vectors; modes are "full", "same" and "valid"."""
    x, y = (ravel(one) for one in together(a, v))
    if known(x, 0, "a convolution") < known(y, 0, "a convolution"):
        x, y = y, x
    n, m = known(x, 0, "a convolution"), known(y, 0, "a convolution")
    wide = pad(x, m - 1) if m > 1 else x
    full = matmul(_windows(wide, m), flip(y))
    if mode == "full":
        return full
    if mode == "valid":
        return slice_of(full, m - 1, n, 0)
    if mode == "same":
        return slice_of(full, (m - 1) // 2, (m - 1) // 2 + n, 0)
    raise ComputationError(
        f"a convolution of mode {mode!r}", 'modes are "full", "same" and "valid"'
    )


@numpy_name()
def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """The correlation of two vectors: a convolution with the second one reversed."""
    return convolve(a, flip(v), mode)


@numpy_name()
def cross(a: Any, b: Any) -> Array:
    """The cross product of vectors of three elements along the last axis."""
    x, y = together(a, b)
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ComputationError(
            "a cross product of other vectors than of three elements", "bring three"
        )
    turn, back = [1, 2, 0], [2, 0, 1]
    one = ew.multiply(picked(x, turn, -1), picked(y, back, -1))
    return ew.subtract(one, ew.multiply(picked(x, back, -1), picked(y, turn, -1)))


@numpy_name("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Array:
    """The integral by trapezoids, as a fixed number."""
    value = ew.to_real(y)
    at = normal_axis(axis, value.ndim)
    n = known(value, at, "an integral")
    if n < 2:
        return sum(ew.multiply(value, 0), at)
    middle = ew.multiply(slice_of(value, 1, n, at) + slice_of(value, 0, n - 1, at), 0.5)
    if x is None:
        return sum(ew.multiply(middle, dx), at)
    return sum(moveaxis(ew.multiply(moveaxis(middle, at, -1), diff(ew.to_real(x))), -1, at), at)


@numpy_name()
def gradient(f: Any, *varargs: float, axis: Any = None) -> Any:
    """Differences of neighbours on both sides: the derivative along an axis, or along each of several,
    in a tuple. Distances are public: one for all axes, or one for each."""
    value = ew.to_real(f)
    axes = axes_of(axis, value.ndim)[::-1]
    steps = list(varargs) or [1.0]
    if builtins.any(not isinstance(step, (int, float)) for step in steps):
        raise ComputationError("a gradient over coordinates", "give distances, as numbers")
    if len(steps) not in (1, len(axes)):
        raise ComputationError(f"{len(steps)} distances of {len(axes)} axes", "give one for each")
    made = [_slope(value, at, dx) for at, dx in zip(axes, steps * len(axes))]
    return made[0] if len(made) == 1 else tuple(made)


def _slope(value: Array, at: int, dx: float) -> Array:
    n = known(value, at, "a derivative")
    if n < 2:
        raise ComputationError("a derivative of fewer than two elements", "bring two at least")

    def part(start: int, stop: int) -> Array:
        return slice_of(value, start, stop, at)

    first = ew.multiply(part(1, 2) - part(0, 1), 1 / dx)
    last = ew.multiply(part(n - 1, n) - part(n - 2, n - 1), 1 / dx)
    if n == 2:
        return joined([first, last], at)
    inner = ew.multiply(part(2, n) - part(0, n - 2), 0.5 / dx)
    return joined([first, inner, last], at)


@numpy_name()
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The number of ascending edges at or below each element, or below it with right=True."""
    return searchsorted(bins, x, "left" if right else "right")


@numpy_name()
def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Array:
    """Piecewise linear interpolation between points with ascending xp, which are public or secret.
    Beyond them, the first and the last value, or `left` and `right`."""
    at, knots, values = (ew.to_real(part) for part in (x, xp, fp))
    n = known(knots, 0, "interpolation")
    slope = ew.divide(diff(values), diff(knots))
    made = broadcast_to(values[0], at.shape)
    for k in range(n - 1):
        above = ew.clip(at, knots[k], knots[k + 1]) - knots[k]
        made = made + ew.multiply(above, slope[k])
    if left is not None:
        made = ew.where(at < knots[0], left, made)
    return made if right is None else ew.where(at > knots[n - 1], right, made)


@numpy_name()
def polyfit(x: Any, y: Any, deg: int) -> Array:
    """The polynomial of least squares, the coefficient of the highest power first."""
    return lstsq(vander(ew.to_real(x), deg + 1), y)[0]


@numpy_name()
def logspace(start: float, stop: float, num: int = 50, base: float = 10.0) -> Array:
    """Public powers of a base at equal distances of the exponent."""
    exponents = linspace(start, stop, num)
    return exp(ew.multiply(exponents, log(ew.astype(float(base), exponents.dtype))))


@numpy_name()
def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """The powers of a vector's elements as columns, the highest first by default."""
    value = array(x)
    n = known(value, 0, "powers") if N is None else N
    powers = [broadcast_to(ew.astype(1, value.dtype), value.shape)]
    while len(powers) < n:
        powers.append(ew.multiply(powers[-1], value))
    return stack(powers if increasing else powers[::-1], 1)


#: Reductions and scans of NumPy's functions of two numbers that have names of their own.
_REDUCED = {
    "add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min", "fmax": "max", "fmin": "min",
    "logical_and": "all", "logical_or": "any",
}  # fmt: skip
_SCANNED = {"add": "cumsum", "multiply": "cumprod"}
#: The other functions, with their results for no elements; None if there is no result.
_FOLDED = {
    "bitwise_and": -1, "bitwise_or": 0, "bitwise_xor": 0, "logical_xor": 0, "gcd": 0, "lcm": 1,
    "hypot": 0, "logaddexp": None,
}  # fmt: skip


def _operator(name: str, method: str, known_names: Any) -> Any:
    if name not in known_names:
        raise ComputationError(
            f"numpy.{name}.{method} is no function of a computation",
            f"there is {method} of {', '.join(sorted(known_names))}",
        )
    return FUNCTIONS[name]


@numpy_name("ufunc.reduce")
def reduce(name: str, a: Any, axis: Any = 0, *, dtype: Any = None, **options: Any) -> Array:
    """The elements along an axis, joined by a function of two numbers."""
    if name in _REDUCED:
        more = {} if dtype is None else {"dtype": dtype}
        made: Array = FUNCTIONS[_REDUCED[name]](a, axis=axis, **more, **options)
        return made
    join = _operator(name, "reduce", _FOLDED)
    value = ew.to_bool(a) if name.startswith("logical") else array(a)
    if name in ("hypot", "logaddexp"):
        value = ew.to_real(value)
    keepdims = bool(options.pop("keepdims", False))
    axes = axes_of(axis, value.ndim)
    empty = _FOLDED[name]
    if options or (empty is None and 0 in [value.shape[at] for at in axes]):
        raise ComputationError(f"numpy.{name}.reduce of this", "it has axis= and keepdims=")
    return kept(folded(value, axes, join, empty or 0), value.shape, axes, keepdims)


@numpy_name("ufunc.accumulate")
def accumulate(name: str, a: Any, axis: int = 0, dtype: Any = None) -> Array:
    """Each element joined with all before it by a function of two numbers."""
    value = array(a) if dtype is None else ew.astype(a, dtype)
    if name in _SCANNED:
        made: Array = FUNCTIONS[_SCANNED[name]](value, axis=axis)
        return made
    return _running(value, axis, _operator(name, "accumulate", _REDUCED | _FOLDED))


@numpy_name("ufunc.outer")
def outer_of(name: str, a: Any, b: Any) -> Array:
    """A function of each element of one with each of the other."""
    x, y = array(a), array(b)
    column = reshape_to(x, x.shape + (1,) * y.ndim)
    made: Array = _operator(name, "outer", FUNCTIONS)(column, y)
    return made


def _running(a: Any, axis: int, join: Any) -> Array:
    value = array(a)
    at = normal_axis(axis, value.ndim)
    n, step = known(value, at, "a scan"), 1
    while step < n:
        front = slice_of(value, 0, step, at)
        back = join(slice_of(value, step, n, at), slice_of(value, 0, n - step, at))
        value, step = joined([front, back], at), 2 * step
    return value


# Linear algebra.


@numpy_name("linalg.eigvalsh")
def eigvalsh(a: Any) -> Array:
    """Eigenvalues of a symmetric matrix, the least first; see `eigh`."""
    return eigh(a)[0]


@numpy_name("linalg.lstsq")
def lstsq(a: Any, b: Any, rcond: Any = None) -> tuple[Array]:
    """The solution of least squares, by the normal equations, alone in a tuple."""
    del rcond
    rows, right = together(ew.to_real(a), ew.to_real(b))
    turned = swapaxes(rows, 0, 1)
    return (solve(matmul(turned, rows), matmul(turned, right)),)


@numpy_name("linalg.matrix_power")
def matrix_power(a: Any, n: int) -> Array:
    """The product of n factors, each the square matrix, or its inverse if n is negative."""
    value = array(a)
    if n < 0:
        return matrix_power(inv(value), -n)
    made = eye(known(value, 0, "a power"), dtype=value.dtype)
    for bit in format(n, "b"):
        made = matmul(made, made)
        if bit == "1":
            made = matmul(made, value)
    return made


@numpy_name("linalg.multi_dot")
def multi_dot(arrays: Sequence[Any]) -> Array:
    """The product of several matrices, from the left."""
    made = array(arrays[0])
    for other in arrays[1:]:
        made = matmul(made, other)
    return made


@numpy_name("sliding_window_view")
def sliding_window_view(x: Any, window_shape: int) -> Array:
    """The windows of a vector, as rows."""
    return _windows(array(x), int(window_shape))


@numpy_name()
def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Public ones on and below a diagonal, else zeros."""
    columns = N if M is None else M
    rows = reshape_to(arange(N), (N, 1))
    return ew.astype(ew.less_equal(arange(columns), rows + k), dtype or eye(1).dtype)
