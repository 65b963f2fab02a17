"""Shapes, parts and joins of arrays. These functions cost no messages between parties, unless they
read secret places."""

from __future__ import annotations

import builtins
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from . import elementwise as ew
from .array import Array, count, numpy_name
from .array import graph as current
from .errors import ComputationError
from .integers import one_hot
from .language import (
    Literal_,
    array,
    broadcast_to,
    cast,
    common_shape,
    constant,
    constant_steps,
    joined,
    normal_axis,
    operand,
    reshape_to,
    rows_at,
    single,
    slice_of,
    together,
    transposed,
)
from .types import Dim, Scalar, Shape, i64, integer, scalar_of

PLACE = integer(64, False)


def known(a: Array, axis: int, what: str) -> int:
    """The length of an axis that must be a number."""
    dim = a.shape[axis]
    if isinstance(dim, str):
        raise ComputationError(
            f"{what} along an axis of length {dim}", "declare that length as a number"
        )
    return dim


def as_shape(shape: Any) -> Shape:
    """A shape from a length or several."""
    dims = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(dim if isinstance(dim, str) else int(dim) for dim in dims)


@numpy_name("reshape")
def reshape(a: Any, shape: Any) -> Array:
    """The same elements along other axes; one length may be -1."""
    value, dims = array(a), as_shape(shape)
    if -1 in dims:
        rest = [dim for dim in dims if dim != -1]
        own: list[Dim] = list(value.shape)
        for dim in [dim for dim in rest if isinstance(dim, str) and dim in own]:
            own.remove(dim)
            rest.remove(dim)
        if (
            len(own) == 1
            and isinstance(own[0], str)
            and math.prod(d for d in rest if isinstance(d, int)) == 1
        ):
            free: Dim = own[0]
        else:
            whole, part = count(tuple(own)), count(tuple(rest))
            free = whole // part if part else 0
        dims = tuple(free if dim == -1 else dim for dim in dims)
    if sorted(map(str, _names(dims))) != sorted(map(str, _names(value.shape))) or (
        _product(dims) != _product(value.shape)
    ):
        raise ComputationError(
            f"{list(value.shape)} as {list(dims)}", "a reshape keeps the number of elements"
        )
    return reshape_to(value, dims)


def _names(shape: Shape) -> list[Dim]:
    return [dim for dim in shape if isinstance(dim, str)]


def _product(shape: Shape) -> int:
    return math.prod(dim for dim in shape if isinstance(dim, int))


@numpy_name()
def ravel(a: Any) -> Array:
    """All elements along one axis."""
    value = array(a)
    if value.ndim == 1:
        return value
    names = _names(value.shape)
    if len(names) == 1 and _product(value.shape) == 1:
        return reshape_to(value, (names[0],))
    return reshape_to(value, (count(value.shape),))


@numpy_name("transpose", "permute_dims")
def transpose(a: Any, axes: Any = None) -> Array:
    """Axes in this order; the reverse of their order by default."""
    value = array(a)
    order = range(value.ndim)[::-1] if axes is None else [normal_axis(x, value.ndim) for x in axes]
    return transposed(value, list(order))


@numpy_name()
def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """The array with two axes exchanged."""
    value = array(a)
    order = list(range(value.ndim))
    one, other = normal_axis(axis1, value.ndim), normal_axis(axis2, value.ndim)
    order[one], order[other] = order[other], order[one]
    return transposed(value, order)


def _several(axis: Any) -> list[int]:
    return [int(at) for at in axis] if isinstance(axis, (tuple, list)) else [int(axis)]


@numpy_name()
def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """The array with one axis, or several, at other places."""
    value = array(a)
    sources = [normal_axis(at, value.ndim) for at in _several(source)]
    targets = [normal_axis(at, value.ndim) for at in _several(destination)]
    if len(sources) != len(targets):
        raise ComputationError("axes that are moved to fewer or more", "give a place for each")
    order = [at for at in range(value.ndim) if at not in sources]
    for to, at in sorted(zip(targets, sources)):
        order.insert(to, at)
    return transposed(value, order)


@numpy_name()
def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """The array with one axis before another one."""
    value = array(a)
    at = normal_axis(axis, value.ndim)
    to = start + value.ndim if start < 0 else start
    return moveaxis(value, at, to - 1 if at < to else to)


@numpy_name()
def matrix_transpose(x: Any) -> Array:
    """The array with its last two axes exchanged."""
    return swapaxes(x, -1, -2)


@numpy_name()
def expand_dims(a: Any, axis: Any) -> Array:
    """The array with one more axis of length 1, or several."""
    value = array(a)
    axes = _several(axis)
    gone = {normal_axis(at, value.ndim + len(axes)) for at in axes}
    if len(gone) != len(axes):
        raise ComputationError("one axis twice", "name each new axis once")
    dims = iter(value.shape)
    rank = value.ndim + len(axes)
    return reshape_to(value, tuple(1 if at in gone else next(dims) for at in range(rank)))


@numpy_name()
def squeeze(a: Any, axis: Any = None) -> Array:
    """The array without axes of length 1."""
    value = array(a)
    axes = (
        range(value.ndim)
        if axis is None
        else (axis if isinstance(axis, (tuple, list)) else (axis,))
    )
    gone = {normal_axis(x, value.ndim) for x in axes}
    if axis is not None and any(value.shape[at] != 1 for at in gone):
        raise ComputationError(
            f"an axis of {list(value.shape)} is not of length 1", "squeeze axes of length 1"
        )
    return reshape_to(
        value, tuple(d for at, d in enumerate(value.shape) if at not in gone or d != 1)
    )


def _at_least(rank: int, arys: tuple[Any, ...]) -> Any:
    def one(value: Array) -> Array:
        shape = value.shape
        if rank == 3 and len(shape) == 2:
            return reshape_to(value, (*shape, 1))
        if rank == 3 and len(shape) == 1:
            return reshape_to(value, (1, *shape, 1))
        return reshape_to(value, (1,) * (rank - len(shape)) + shape)

    made = tuple(one(array(a)) for a in arys)
    return made[0] if len(made) == 1 else made


@numpy_name()
def atleast_1d(*arys: Any) -> Any:
    """Arrays of one axis at least."""
    return _at_least(1, arys)


@numpy_name()
def atleast_2d(*arys: Any) -> Any:
    """Arrays of two axes at least."""
    return _at_least(2, arys)


@numpy_name()
def atleast_3d(*arys: Any) -> Any:
    """Arrays of three axes at least."""
    return _at_least(3, arys)


@numpy_name("broadcast_to")
def broadcast_to_(a: Any, shape: Any) -> Array:
    """The array repeated to a shape."""
    return broadcast_to(array(a), as_shape(shape))


@numpy_name()
def broadcast_arrays(*args: Any) -> tuple[Array, ...]:
    """Arrays repeated to the shape of all."""
    arrays = [array(a) for a in args]
    shape = common_shape(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


# Joins.


@numpy_name("concatenate", "concat")
def concatenate(arrays: Any, axis: int | None = 0) -> Array:
    """Arrays joined along an axis."""
    all_ = together(*arrays)
    if axis is None:
        all_, axis = [ravel(a) for a in all_], 0
    at = normal_axis(axis, all_[0].ndim)
    for a in all_:
        known(a, at, "a join")
    return joined(all_, at)


@numpy_name()
def stack(arrays: Any, axis: int = 0) -> Array:
    """Arrays of one shape joined along a new axis."""
    all_ = together(*arrays)
    if len({a.shape for a in all_}) != 1:
        raise ComputationError("`stack` of different shapes", "take arrays of one shape")
    return concatenate([expand_dims(a, axis) for a in all_], axis)


@numpy_name()
def vstack(tup: Any) -> Array:
    """Arrays joined along the first of two axes."""
    return concatenate([atleast_2d(a) for a in together(*tup)], 0)


@numpy_name()
def hstack(tup: Any) -> Array:
    """Arrays joined along the second axis, or the only one."""
    all_ = [atleast_1d(a) for a in together(*tup)]
    return concatenate(all_, 0 if all_[0].ndim == 1 else 1)


@numpy_name()
def column_stack(tup: Any) -> Array:
    """Vectors as the columns of a matrix."""
    return concatenate(
        [reshape_to(a, (*a.shape, 1)) if a.ndim == 1 else a for a in together(*tup)], 1
    )


@numpy_name()
def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Two arrays joined."""
    return concatenate([arr, values], axis)


def _pairs(given: Any, rank: int) -> list[tuple[Any, Any]]:
    """NumPy's forms of two numbers for each axis."""
    if not isinstance(given, (tuple, list)):
        return [(given, given)] * rank
    if not any(isinstance(one, (tuple, list)) for one in given):
        given = [given]
    pairs = [tuple(one) * (2 // len(one)) for one in given]
    return [(before, after) for before, after in (pairs * rank if len(pairs) == 1 else pairs)]


#: The place of an axis of length n that is repeated at place k, which may lie outside.
_MODES: dict[str, Callable[[int, int], int]] = {
    "edge": lambda k, n: builtins.min(builtins.max(k, 0), n - 1),
    "wrap": lambda k, n: k % n,
    "reflect": lambda k, n: n - 1 - builtins.abs(n - 1 - k % (2 * n - 2)) if n > 1 else 0,
    "symmetric": lambda k, n: builtins.min(k % (2 * n), 2 * n - 1 - k % (2 * n)),
}


@numpy_name()
def pad(a: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0) -> Array:
    """The array with elements before and after each axis: public ones, or its own by the modes "edge",
    "reflect", "symmetric" and "wrap"."""
    value = array(a)
    if mode != "constant" and mode not in _MODES:
        raise ComputationError(f"padding by {mode}", f'modes are "constant", {", ".join(_MODES)}')
    if not value.ndim:
        return value
    numbers = _pairs(constant_values, value.ndim)
    for axis, widths in enumerate(_pairs(pad_width, value.ndim)):
        before, after = (int(width) for width in widths)
        if mode != "constant":
            n = known(value, axis, "padding")
            value = picked(value, [_MODES[mode](k, n) for k in range(-before, n + after)], axis)
            continue
        parts = []
        for amount, number in zip((before, after), numbers[axis]):
            shape = (*value.shape[:axis], amount, *value.shape[axis + 1 :])
            parts.append(
                broadcast_to(constant(value.dtype, [number]), shape) if amount else None
            )
        value = concatenate([p for p in (parts[0], value, parts[1]) if p is not None], axis)
    return value


@numpy_name()
def block(arrays: Any) -> Array:
    """Arrays joined as nested lists have them: the innermost along the last axis."""

    def depth(of: Any) -> int:
        return 1 + depth(of[0]) if isinstance(of, (list, tuple)) else 0

    def leaves(of: Any) -> list[Array]:
        nested = isinstance(of, (list, tuple))
        return [leaf for one in of for leaf in leaves(one)] if nested else [array(of)]

    most = depth(arrays)
    rank = builtins.max(most, *(leaf.ndim for leaf in leaves(arrays)))

    def made(of: Any, level: int) -> Array:
        if isinstance(of, (list, tuple)):
            return concatenate([made(one, level + 1) for one in of], level - most)
        leaf = array(of)
        return reshape_to(leaf, (1,) * (rank - leaf.ndim) + leaf.shape)

    return made(arrays, 0)


@numpy_name()
def unstack(x: Any, *, axis: int = 0) -> tuple[Array, ...]:
    """The parts along an axis."""
    return tuple(moveaxis(array(x), axis, 0))


# New arrays of public numbers.


def _dtype(dtype: Any, default: Scalar) -> Scalar:
    return default if dtype is None else scalar_of(dtype, current().real)


@numpy_name()
def full(shape: Any, fill_value: Any, dtype: Any = None) -> Array:
    """One value everywhere."""
    value = array(fill_value)
    return broadcast_to(ew.astype(value, _dtype(dtype, value.dtype)), as_shape(shape))


@numpy_name()
def zeros(shape: Any, dtype: Any = None) -> Array:
    """Zeros, of the computation's type for real numbers by default."""
    return full(shape, 0, _dtype(dtype, current().real))


@numpy_name()
def ones(shape: Any, dtype: Any = None) -> Array:
    """Ones, of the computation's type for real numbers by default."""
    return full(shape, 1, _dtype(dtype, current().real))


@numpy_name()
def zeros_like(a: Any, dtype: Any = None) -> Array:
    """Zeros of an array's shape and type."""
    value = array(a)
    return full(value.shape, 0, _dtype(dtype, value.dtype))


@numpy_name()
def ones_like(a: Any, dtype: Any = None) -> Array:
    """Ones of an array's shape and type."""
    value = array(a)
    return full(value.shape, 1, _dtype(dtype, value.dtype))


@numpy_name()
def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Array:
    """One value in an array's shape and type."""
    value = array(a)
    return full(value.shape, fill_value, _dtype(dtype, value.dtype))


@numpy_name()
def arange(*args: Any, dtype: Any = None) -> Array:
    """Public numbers from a start below a stop."""
    start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
    first, last, by = Fraction(start), Fraction(stop), Fraction(step)
    n = builtins.max(0, math.ceil((last - first) / by))
    whole = builtins.all(isinstance(x, int) for x in args)
    return constant(
        _dtype(dtype, i64 if whole else current().real), [first + k * by for k in range(n)], (n,)
    )


@numpy_name()
def linspace(
    start: float, stop: float, num: int = 50, endpoint: bool = True, *, dtype: Any = None
) -> Array:
    """Public numbers at equal distances, by default with both ends."""
    first, last = Fraction(start), Fraction(stop)
    parts = builtins.max(1, num - 1 if endpoint else num)
    numbers: list[Any] = [first + (last - first) * k / parts for k in range(num)]
    scalar = _dtype(dtype, current().real)
    if scalar.kind == "int":
        numbers = [math.floor(number) for number in numbers]
    return constant(scalar, numbers, (num,))


@numpy_name()
def geomspace(start: float, stop: float, num: int = 50, endpoint: bool = True) -> Array:
    """Public numbers with equal quotients, by default with both ends."""
    parts = builtins.max(1, num - 1 if endpoint else num)
    numbers = [start * (stop / start) ** (k / parts) for k in range(num)]
    return constant(current().real, numbers, (num,))


@numpy_name("eye", "identity")
def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    """Ones on a diagonal, else zeros."""
    columns = N if M is None else M
    flat = [int(j - i == k) for i in range(N) for j in range(columns)]
    return constant(_dtype(dtype, current().real), flat, (N, columns))


identity = eye


# Parts.


@numpy_name()
def flip(a: Any, axis: Any = None) -> Array:
    """Elements of an axis, or of all, in the reverse order."""
    value = array(a)
    axes = (
        range(value.ndim)
        if axis is None
        else (axis if isinstance(axis, (tuple, list)) else (axis,))
    )
    for at in axes:
        value = picked(
            value, list(range(known(value, normal_axis(at, value.ndim), "a flip")))[::-1], at
        )
    return value


@numpy_name()
def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Elements moved along an axis, or along several. Elements that leave come in at the other end."""
    value = array(a)
    if axis is None:
        return reshape_to(roll(ravel(value), shift, 0), value.shape)
    axes, shifts = _several(axis), _several(shift)
    for one, by in zip(axes * len(shifts), shifts * len(axes)) if len(axes) != len(shifts) else zip(axes, shifts):
        at = normal_axis(one, value.ndim)
        n = known(value, at, "a roll")
        value = picked(value, [(place - by) % n for place in range(n)], at)
    return value


@numpy_name()
def repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    """Each element, `repeats` times: a public number, or one for each."""
    value = array(a)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    n, by = known(value, at, "a repeat"), operand(repeats)
    if isinstance(by, Array):
        raise ComputationError("secret repeats, which the result's shape would tell", "give numbers")
    times = [int(number) for number in by.flat]
    if len(times) not in (1, n):
        raise ComputationError(f"{len(times)} repeats of {n} elements", "give one, or one for each")
    every = times * n if len(times) == 1 else times
    return picked(value, [place for place, many in enumerate(every) for _ in range(many)], at)


@numpy_name()
def tile(a: Any, reps: Any) -> Array:
    """The array, repeated along each axis."""
    value = array(a)
    times = list(reps) if isinstance(reps, (tuple, list)) else [reps]
    rank = builtins.max(value.ndim, len(times))
    value = reshape_to(value, (1,) * (rank - value.ndim) + value.shape)
    for axis, n in enumerate([1] * (rank - len(times)) + times):
        value = concatenate([value] * n, axis)
    return value


def picked(a: Array, places: Sequence[int], axis: int) -> Array:
    """The elements of an axis at public places."""
    at = normal_axis(axis, a.ndim)
    if places and list(places) == list(range(places[0], places[0] + len(places))):
        return slice_of(a, places[0], places[0] + len(places), at)
    if not places:
        return slice_of(a, 0, 0, at)
    where = constant_steps(PLACE, list(places), (len(places),))
    if len(places) > 1 and len(set(places)) == 1:
        where = broadcast_to(constant_steps(PLACE, [places[0]]), (len(places),))
    return moveaxis(rows_at(moveaxis(a, at, 0), where), 0, at)


@numpy_name()
def take(a: Any, indices: Any, axis: int | None = None, *, mode: str = "raise") -> Array:
    """The elements at places. Secret places read every element, so that none is told; a secret place
    beyond the axis gives 0. Modes "wrap" and "clip" are NumPy's."""
    value, places = array(a), operand(indices)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    n = known(value, at, "take")
    if mode not in ("raise", "wrap", "clip"):
        raise ComputationError(f"take of mode {mode!r}", 'modes are "raise", "wrap" and "clip"')
    if isinstance(places, Array):
        if mode != "raise":
            within = ew.remainder(places, n) if mode == "wrap" else ew.clip(places, 0, n - 1)
            return take(value, within, at)
        hot = one_hot(ravel(places) if places.ndim > 1 else places, n)
        rows = moveaxis(value, at, 0)
        flat = reshape_to(rows, (n, count(rows.shape[1:])))
        from .linear import matmul

        ones = cast(hot, flat.dtype) if flat.dtype.kind != "fixed" else hot
        made = (
            matmul(ones, ew.as_number(flat)) if flat.dtype.kind != "fixed" else _chosen(hot, flat)
        )
        shape = (*places.shape, *rows.shape[1:])
        made = reshape_to(ew.astype(made, value.dtype), shape)
        return made if at == 0 else _axes_to(made, places.ndim, at)
    numbers = [int(place) for place in places.flat]
    if mode == "raise":
        numbers = [place_of(place, n) for place in numbers]
    else:
        numbers = [_MODES["wrap" if mode == "wrap" else "edge"](place, n) for place in numbers]
    made = picked(value, numbers, at)
    return reshape_to(made, (*value.shape[:at], *places.shape, *value.shape[at + 1 :]))


def _chosen(hot: Array, flat: Array) -> Array:
    """Rows of fixed numbers by truth values, one of them true: sums of choices."""
    from .reductions import sum

    wide = reshape_to(hot, (*hot.shape, 1))
    rows = reshape_to(flat, (1,) * (hot.ndim - 1) + flat.shape)
    return sum(ew.where(wide, rows, 0), axis=hot.ndim - 1)


def _axes_to(a: Array, rank: int, at: int) -> Array:
    order = list(range(rank, a.ndim))
    return transposed(a, order[:at] + list(range(rank)) + order[at:])


def place_of(place: int, n: int) -> int:
    """A place counted from the front."""
    if not -n <= place < n:
        raise IndexError(f"place {place} of an axis of length {n}")
    return place % n


@numpy_name()
def take_along_axis(arr: Any, indices: Any, axis: int = -1) -> Array:
    """For each lane along an axis, the elements at its own places, which may be secret."""
    value = array(arr)
    at = normal_axis(axis, value.ndim)
    n = known(value, at, "take_along_axis")
    lanes, places = moveaxis(value, at, -1), moveaxis(array(indices), at, -1)
    if n == 0 and 0 not in places.shape:
        raise ComputationError("places in an axis of length 0", "bring one element at least")
    hot = one_hot(places, n)
    from .reductions import sum

    rows = reshape_to(lanes, (*lanes.shape[:-1], 1, n))
    made = sum(ew.where(hot, rows, 0), axis=hot.ndim - 1)
    return moveaxis(ew.astype(made, value.dtype), -1, at)


# Diagonals and triangles.


@numpy_name()
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The elements of a matrix on a diagonal; of several matrices, along the last axis."""
    value = array(a)
    one, other = normal_axis(axis1, value.ndim), normal_axis(axis2, value.ndim)
    rows, columns = known(value, one, "a diagonal"), known(value, other, "a diagonal")
    places = [i * columns + i + offset for i in range(rows) if 0 <= i + offset < columns]
    rest = [at for at in range(value.ndim) if at not in (one, other)]
    moved = transposed(value, [one, other, *rest])
    return moveaxis(picked(reshape_to(moved, (rows * columns, *moved.shape[2:])), places, 0), 0, -1)


@numpy_name()
def diag(v: Any, k: int = 0) -> Array:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    value = array(v)
    if value.ndim == 2:
        return diagonal(value, k)
    normal_axis(0, value.ndim)
    n = known(value, 0, "a diagonal")
    size = n + builtins.abs(k)
    column = reshape_to(value, (n, 1))
    wide = pad(broadcast_to(column, (n, size)), [(builtins.max(-k, 0), builtins.max(k, 0)), (0, 0)])
    return ew.where([[j - i == k for j in range(size)] for i in range(size)], wide, 0)


def _triangle(m: Any, keep: Any) -> Array:
    value = array(m)
    normal_axis(0, value.ndim)
    if value.ndim == 1:
        # As in NumPy, a vector is each row of a square.
        n = known(value, 0, "a triangle")
        value = broadcast_to(value, (n, n))
    rows, columns = (
        known(value, -2 + value.ndim, "a triangle"),
        known(value, value.ndim - 1, "a triangle"),
    )
    mask = [[keep(i, j) for j in range(columns)] for i in range(rows)]
    return ew.where(mask, value, single(value, 0))


@numpy_name()
def triu(m: Any, k: int = 0) -> Array:
    """The elements on and above a diagonal, else 0."""
    return _triangle(m, lambda i, j: j - i >= k)


@numpy_name()
def tril(m: Any, k: int = 0) -> Array:
    """The elements on and below a diagonal, else 0."""
    return _triangle(m, lambda i, j: j - i <= k)


@numpy_name("shape")
def shape(a: Any) -> Shape:
    """The lengths of the axes."""
    return array(a).shape


@numpy_name("ndim")
def ndim(a: Any) -> int:
    """The number of axes."""
    return array(a).ndim


@numpy_name("size")
def size(a: Any) -> int:
    """The number of elements."""
    return array(a).size


@numpy_name("copy", "asarray", "array", "ascontiguousarray")
def asarray(a: Any, dtype: Any = None) -> Array:
    """A value as an array of the computation."""
    value = array(a)
    return value if dtype is None else ew.astype(value, dtype)


@numpy_name("meshgrid")
def meshgrid(*xi: Any, indexing: str = "xy") -> tuple[Array, ...]:
    """Coordinates of a grid."""
    arrays = [ravel(x) for x in xi]
    sizes = tuple(known(a, 0, "a grid") for a in arrays)
    made = []
    for k, a in enumerate(arrays):
        column = reshape_to(a, tuple(n if axis == k else 1 for axis, n in enumerate(sizes)))
        grid = broadcast_to(column, sizes)
        made.append(swapaxes(grid, 0, 1) if indexing == "xy" and len(arrays) > 1 else grid)
    return tuple(made)
