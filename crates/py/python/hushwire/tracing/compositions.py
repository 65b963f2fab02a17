"""Functions by NumPy's names that are made of others: sums over letters, splits, windows, integrals."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from . import elementwise as ew
from .array import Array, numpy_name
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
from .linear import eigh, matmul, solve, tensordot
from .reductions import diff, sum
from .shapes import (
    arange,
    atleast_3d,
    concatenate,
    eye,
    flip,
    known,
    linspace,
    moveaxis,
    pad,
    picked,
    stack,
    swapaxes,
)
from .sorting import searchsorted


@numpy_name()
def einsum(subscripts: str, *operands: Any) -> Array:
    """Sums of products by letters of axes, as in "ij,jk->ik"; each letter once in an operand."""
    left, arrow, right = subscripts.replace(" ", "").partition("->")
    letters = left.split(",")
    arrays = list(together(*operands))
    if "." in subscripts or len(letters) != len(arrays):
        raise ComputationError(
            f"einsum({subscripts!r})", "name each axis by a letter, an operand each"
        )
    for names, value in zip(letters, arrays):
        if len(names) != value.ndim or len(set(names)) != len(names):
            raise ComputationError(
                f"einsum({subscripts!r})", "each axis has a letter of its own within an operand"
            )
    if not arrow:
        all_names = "".join(letters)
        right = "".join(sorted(name for name in set(all_names) if all_names.count(name) == 1))
    names, made = letters[0], arrays[0]
    for k in range(1, len(arrays)):
        later = set("".join(letters[k + 1 :])) | set(right)
        made, names = _contracted(made, names, arrays[k], letters[k], later)
    gone = [name for name in names if name not in right]
    made = sum(made, tuple(names.index(name) for name in gone)) if gone else made
    names = "".join(name for name in names if name in right)
    return transposed(made, [names.index(name) for name in right])


def _contracted(a: Array, of_a: str, b: Array, of_b: str, later: set[str]) -> tuple[Array, str]:
    """Two operands as one: letters of both that nobody needs later are summed."""
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
    """The array with an axis for each letter, of length 1 where it has none."""
    moved = transposed(a, [own.index(name) for name in names if name in own])
    dims = iter(moved.shape)
    return reshape_to(moved, tuple(next(dims) if name in own else 1 for name in names))


@numpy_name("split", "array_split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Parts of an array along an axis: a number of parts, or the places where they begin."""
    value = array(ary)
    at = normal_axis(axis, value.ndim)
    n = known(value, at, "a split")
    if isinstance(indices_or_sections, int):
        parts = indices_or_sections
        size, more = divmod(n, parts)
        ends = [size * (k + 1) + builtins.min(k + 1, more) for k in range(parts)]
        starts = [0, *ends[:-1]]
    else:
        cuts = [builtins.min(int(place), n) for place in indices_or_sections]
        starts, ends = [0, *cuts], [*cuts, n]
    return [
        slice_of(value, start, builtins.max(start, end), at) for start, end in zip(starts, ends)
    ]


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
def rot90(m: Any, k: int = 1) -> Array:
    """A matrix turned by quarters against the clock."""
    value = array(m)
    for _ in range(k % 4):
        value = flip(swapaxes(value, 0, 1), 0)
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
    x, y = together(a, v)
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
    middle = ew.multiply(slice_of(value, 1, n, at) + slice_of(value, 0, n - 1, at), 0.5)
    if x is None:
        return sum(ew.multiply(middle, dx), at)
    return sum(moveaxis(ew.multiply(moveaxis(middle, at, -1), diff(ew.to_real(x))), -1, at), at)


@numpy_name()
def gradient(f: Any, dx: float = 1.0) -> Array:
    """Differences of neighbours on both sides, of a vector: the derivative."""
    value = ew.to_real(f)
    n = known(value, 0, "a derivative")
    inner = ew.multiply(slice_of(value, 2, n, 0) - slice_of(value, 0, n - 2, 0), 0.5 / dx)
    first = ew.multiply(slice_of(value, 1, 2, 0) - slice_of(value, 0, 1, 0), 1 / dx)
    last = ew.multiply(slice_of(value, n - 1, n, 0) - slice_of(value, n - 2, n - 1, 0), 1 / dx)
    return joined([first, inner, last], 0)


@numpy_name()
def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The number of ascending edges at or below each element, or below it with right=True."""
    return searchsorted(bins, x, "left" if right else "right")


@numpy_name()
def interp(x: Any, xp: Any, fp: Any) -> Array:
    """Piecewise linear interpolation between points with ascending xp, which are public or secret."""
    at, knots, values = (ew.to_real(part) for part in (x, xp, fp))
    n = known(knots, 0, "interpolation")
    slope = ew.divide(diff(values), diff(knots))
    made = broadcast_to(values[0], at.shape)
    for k in range(n - 1):
        above = ew.clip(at, knots[k], knots[k + 1]) - knots[k]
        made = made + ew.multiply(above, slope[k])
    return made


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


@numpy_name("maximum.accumulate")
def running_maximum(a: Any, axis: int = 0) -> Array:
    """The greatest of each element and all before it."""
    return _running(a, axis, ew.maximum)


@numpy_name("minimum.accumulate")
def running_minimum(a: Any, axis: int = 0) -> Array:
    """The least of each element and all before it."""
    return _running(a, axis, ew.minimum)


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
    """A square matrix multiplied with itself, n factors; n is 0 or more."""
    value = array(a)
    if n < 0:
        raise ComputationError("a negative power of a matrix", "invert it before")
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
