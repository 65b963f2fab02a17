"""Sums, extremes, means and scans along axes, by NumPy's names and rules."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from . import elementwise as ew
from .array import Array, count, graph, numpy_name
from .errors import ComputationError
from .functions import sqrt
from .language import (
    along,
    array,
    broadcast_to,
    cast,
    constant,
    constant_steps,
    free,
    infix,
    joined,
    length,
    node,
    normal_axis,
    reshape_to,
    slice_of,
    transposed,
)
from .shapes import concatenate, known, ravel
from .types import Scalar, bool_, fixed, i64, scalar_of, u64

Axis = Any


def axes_of(axis: Axis, rank: int) -> list[int]:
    """The axes that a caller names, the last first; all for None."""
    if axis is None:
        return list(range(rank))[::-1]
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    if rank == 0 and given is not axis and set(given) <= {0, -1}:
        # As in NumPy, a single element has an axis for this.
        return []
    axes = sorted((normal_axis(int(at), rank) for at in given), reverse=True)
    if len(set(axes)) < len(axes):
        raise ComputationError(f"axis {axes[0]} twice", "name each axis once")
    return axes


def kept(made: Array, shape: Any, axes: list[int], keepdims: bool) -> Array:
    """The result, with axes of length 1 in place of the reduced ones if the caller keeps them."""
    if not keepdims:
        return made
    return reshape_to(made, tuple(1 if at in axes else dim for at, dim in enumerate(shape)))


def _summed(scalar: Scalar) -> Scalar:
    """NumPy's type of a sum."""
    if scalar.kind == "fixed" or scalar.bits > 64:
        return scalar
    return i64 if scalar.signed or not scalar.is_number else u64


def _masked(a: Array, where: Any, other: Any) -> Array:
    return a if where is None or where is True else ew.where(where, a, other)


@numpy_name()
def sum(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The sum; of small integers and truth values in 64 bits."""
    value = array(a)
    scalar = _summed(value.dtype) if dtype is None else scalar_of(dtype, graph().real)
    made = _masked(
        cast(value, scalar) if value.dtype.kind != "fixed" else ew.astype(value, scalar), where, 0
    )
    axes = axes_of(axis, value.ndim)
    for at in axes:
        made = along("sum", made, at)
    made = kept(made, value.shape, axes, keepdims)
    return made if initial is None else made + initial


@numpy_name()
def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """How many elements are not 0."""
    return sum(ew.to_bool(a), axis, keepdims=keepdims)


def folded(
    value: Array, axes: list[int], join: Callable[[Array, Array], Array], empty: int
) -> Array:
    """Each axis joined by halves, in as many steps as its length has bits; of no elements, `empty`."""
    for at in axes:
        n = known(value, at, "a product")
        if n == 0:
            shape = value.shape[:at] + value.shape[at + 1 :]
            value = broadcast_to(constant(value.dtype, [empty]), shape)
            continue
        while n > 1:
            half = n // 2
            front = join(slice_of(value, 0, half, at), slice_of(value, half, 2 * half, at))
            if n % 2:
                first = join(slice_of(front, 0, 1, at), slice_of(value, n - 1, n, at))

                rest = slice_of(front, 1, half, at)
                front = joined([first, rest], at) if half > 1 else first
            value, n = front, half
        value = reshape_to(value, value.shape[:at] + value.shape[at + 1 :])
    return value


@numpy_name()
def prod(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = None,
) -> Array:
    """The product, in as many steps as a length has bits."""
    value = array(a)
    scalar = _summed(value.dtype) if dtype is None else scalar_of(dtype, graph().real)
    made = free(_masked(ew.astype(value, scalar), where, 1))
    axes = axes_of(axis, value.ndim)
    made = kept(folded(made, axes, ew.product, 1), value.shape, axes, keepdims)
    return made if initial is None else made * initial


def _extreme(name: str, other: str, about: str) -> Callable[..., Array]:
    def extreme(
        a: Any, axis: Axis = None, *, keepdims: bool = False, initial: Any = None, where: Any = None
    ) -> Array:
        value = array(a)
        least = name == "max"
        scalar = value.dtype
        if where is not None:
            if initial is None:
                raise ComputationError(
                    f"`{name}` where some are left out", "give initial=, as NumPy wants it"
                )
            value = ew.where(where, value, initial)
        axes = axes_of(axis, value.ndim)
        made = value
        if initial is not None and 0 in [value.shape[at] for at in axes]:
            shape = tuple(dim for at, dim in enumerate(value.shape) if at not in axes)
            made = broadcast_to(ew.astype(initial, value.dtype), shape)
            return kept(made, value.shape, axes, keepdims)
        if 0 in [value.shape[at] for at in axes]:
            raise ComputationError(f"the {name} of no elements", "give initial=, as NumPy wants it")
        for at in axes:
            if value.dtype.is_number:
                made = along(f"{name}_of", made, at)
            else:
                made = along("any" if least else "all", made, at)
        made = kept(made, value.shape, axes, keepdims)
        if initial is not None:
            made = (ew.maximum if least else ew.minimum)(made, initial)
        return cast(made, scalar)

    extreme.__name__ = extreme.__qualname__ = name
    extreme.__doc__ = about
    return numpy_name(name, other)(extreme)


max = _extreme("max", "amax", "The greatest element.")
min = _extreme("min", "amin", "The least element.")
amax, amin = max, min


@numpy_name()
def ptp(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The greatest element minus the least."""
    value = array(a)
    greatest = max(value, axis, keepdims=keepdims)
    # The range of a difference is not known to be positive.
    greatest = free(greatest) if greatest.dtype.is_number else greatest
    return ew.subtract(greatest, min(value, axis, keepdims=keepdims))


def _truths(name: str, about: str) -> Callable[..., Array]:
    def truths(a: Any, axis: Axis = None, *, keepdims: bool = False, where: Any = None) -> Array:
        value = _masked(ew.to_bool(a), where, name == "all")
        axes, made = axes_of(axis, value.ndim), value
        for at in axes:
            made = along(name, made, at)
        return kept(made, value.shape, axes, keepdims)

    truths.__name__ = truths.__qualname__ = name
    truths.__doc__ = about
    return numpy_name(name)(truths)


all = _truths("all", "Whether every element is not 0.")
any = _truths("any", "Whether some element is not 0.")


def _place(name: str, about: str) -> Callable[..., Array]:
    def place(a: Any, axis: int | None = None, *, keepdims: bool = False) -> Array:
        value = ew.as_number(array(a))
        flat = ravel(value) if axis is None else value
        if 0 in (flat.shape if axis is None else flat.shape[axis : axis + 1 or None]):
            raise ComputationError(f"`{name}` of no elements", "bring one at least")
        at = 0 if axis is None else normal_axis(axis, value.ndim)
        made = cast(along(name, flat, at, u64), i64)
        axes = list(range(value.ndim)) if axis is None else [at]
        return kept(made, value.shape, axes, keepdims)

    place.__name__ = place.__qualname__ = name
    place.__doc__ = about
    return numpy_name(name)(place)


argmax = _place("argmax", "The place of the greatest element, the first of several.")
argmin = _place("argmin", "The place of the least element, the first of several.")


# Means.


def _wide(value: Array) -> tuple[Array, Scalar]:
    """A number with room for sums of 2^31 elements, and the fixed type of the result."""
    scalar = value.dtype if value.dtype.kind == "fixed" else graph().real
    room = builtins.min(128, scalar.bits + 32)
    return cast(value, fixed(room, scalar.frac)), scalar


def _sizes(value: Array, axes: list[int]) -> int | Array:
    total: int | Array = 1
    for at in axes:
        n = length(value, at)
        total = n if total == 1 and isinstance(total, int) else n * total
    return total


def _divided(total: Array, by: int | Array, scalar: Scalar) -> Array:
    """A wide sum divided by a public number, as a number of the result's type."""
    if total.dtype.bits + total.dtype.frac > 128:
        total = cast(total, fixed(128 - total.dtype.frac, total.dtype.frac))
    if isinstance(by, int):
        if by <= 0:
            raise ComputationError("a mean of no elements", "bring one at least; there is no NaN")
        divisor = constant(total.dtype, [by])
    else:
        divisor = cast(by, total.dtype)
    return cast(infix("/", total, divisor), scalar)


@numpy_name()
def mean(
    a: Any, axis: Axis = None, dtype: Any = None, *, keepdims: bool = False, where: Any = None
) -> Array:
    """The mean, as a fixed number, within a step."""
    value = array(a) if dtype is None else ew.astype(a, dtype)
    return _mean(value, axis, keepdims, where, 0)


def _mean(value: Array, axis: Axis, keepdims: bool, where: Any, ddof: int) -> Array:
    wide, scalar = _wide(value)
    axes = axes_of(axis, value.ndim)
    if (where is None or where is True) and not ddof:
        return kept(cast(_plain_mean(wide, axes), scalar), value.shape, axes, keepdims)
    total = _masked(wide, where, 0)
    for at in axes:
        total = along("sum", total, at)
    if where is not None and where is not True:
        mask = broadcast_to(ew.to_bool(where), value.shape)
        n = sum(mask, tuple(axes)) - ddof
        made = cast(infix("/", *_same(total, n)), scalar)
    else:
        size = _sizes(value, axes)
        made = _divided(total, size - ddof if ddof else size, scalar)
    return kept(made, value.shape, axes, keepdims)


def _plain_mean(wide: Array, axes: list[int]) -> Array:
    """The mean along axes, which are brought together where their lengths are known."""
    dims = [wide.shape[at] for at in axes]
    if 0 in dims:
        raise ComputationError("a mean of no elements", "bring one at least; there is no NaN")
    if len(axes) > 1 and builtins.all(isinstance(dim, int) for dim in dims):
        rest = [at for at in range(wide.ndim) if at not in axes]
        moved = transposed(wide, rest + axes)
        wide = reshape_to(moved, (*(wide.shape[at] for at in rest), count(tuple(dims))))
        axes = [len(rest)]
    for at in axes:
        wide = along("mean", wide, at)
    return wide


def _same(total: Array, n: Array) -> tuple[Array, Array]:
    fit = (
        fixed(128 - total.dtype.frac, total.dtype.frac)
        if total.dtype.bits + total.dtype.frac > 128
        else total.dtype
    )
    return cast(total, fit), cast(n, fit)


@numpy_name()
def average(
    a: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean, or the weighted mean; with `returned` the sum of weights, too."""
    value = array(a)
    if weights is None:
        made = mean(value, axis, keepdims=keepdims)
        size: Any = 1
        for at in axes_of(axis, value.ndim):
            size = length(value, at) * size
        total = broadcast_to(ew.to_real(size), made.shape)
        return (made, total) if returned else made
    value, by = ew.to_real(value), ew.to_real(weights)
    if 0 in by.shape:
        raise ComputationError("a mean of no elements", "bring one at least; there is no NaN")
    if by.ndim == 1 and value.ndim > 1 and isinstance(axis, int):
        at = normal_axis(axis, value.ndim)
        by = reshape_to(by, tuple(by.shape[0] if k == at else 1 for k in range(value.ndim)))
    total = sum(broadcast_to(by, value.shape), axis, keepdims=keepdims)
    made = ew.divide(sum(value * by, axis, keepdims=keepdims), total)
    return (made, total) if returned else made


@numpy_name()
def var(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The mean of squared distances from the mean, within 3 steps for distances below 1, else in
    proportion to them."""
    value = ew.to_real(array(a) if dtype is None else ew.astype(a, dtype))
    distance = ew.subtract(value, _mean(value, axis, True, where, 0))
    return _mean(ew.square(distance), axis, keepdims, where, ddof)


@numpy_name()
def std(
    a: Any,
    axis: Axis = None,
    dtype: Any = None,
    *,
    ddof: int = 0,
    keepdims: bool = False,
    where: Any = None,
) -> Array:
    """The square root of `var`."""
    return sqrt(var(a, axis, dtype, ddof=ddof, keepdims=keepdims, where=where))


# Scans and differences.


def _lane(a: Any, axis: int | None, dtype: Any) -> tuple[Array, int]:
    """The elements that are scanned along an axis; all elements for None."""
    value = array(a)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    scalar = _summed(value.dtype) if dtype is None else scalar_of(dtype, graph().real)
    return ew.astype(value, scalar), at


def _begun(made: Array, at: int, first: int, asked: bool) -> Array:
    """A scan, with the value for no elements in front of it if requested."""
    if not asked:
        return made
    shape = (*made.shape[:at], 1, *made.shape[at + 1 :])
    return concatenate([broadcast_to(constant(made.dtype, [first]), shape), made], at)


@numpy_name()
def cumsum(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The sum of each element and all before it."""
    value, at = _lane(a, axis, dtype)
    return node(
        "call", "prefix_sum", (value,), value.dtype, value.shape, f", axis={at}" if at else ""
    )


@numpy_name()
def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The sum of each element and all before it; with `include_initial` 0 in front."""
    at = 0 if axis is None else normal_axis(axis, array(x).ndim)
    return _begun(cumsum(x, axis, dtype), at, 0, include_initial)


@numpy_name()
def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Array:
    """The product of each element and all before it, in as many steps as the length has bits."""
    value, at = _lane(a, axis, dtype)
    made = free(value)
    n, step = known(made, at, "a product"), 1

    while step < n:
        front = slice_of(made, 0, step, at)
        back = ew.product(slice_of(made, step, n, at), slice_of(made, 0, n - step, at))
        made, step = joined([front, back], at), 2 * step
    return made


@numpy_name()
def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """The product of each element and all before it; with `include_initial` 1 in front."""
    at = 0 if axis is None else normal_axis(axis, array(x).ndim)
    return _begun(cumprod(x, axis, dtype), at, 1, include_initial)


@numpy_name()
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """The differences of neighbours, n times."""
    value = array(a)
    at = normal_axis(axis, value.ndim)
    parts = []
    for part in (prepend, value, append):
        if part is None:
            continue
        made = array(part)
        if not made.ndim:
            made = broadcast_to(made, (*value.shape[:at], 1, *value.shape[at + 1 :]))
        parts.append(made)
    value = concatenate(parts, at) if len(parts) > 1 else value
    for _ in range(n):
        rows = known(value, at, "differences")
        if rows == 0:
            return value
        high, low = slice_of(value, 1, rows, at), slice_of(value, 0, rows - 1, at)
        value = ew.subtract(high, low) if value.dtype.is_number else ew.bitwise_xor(high, low)
    return value


@numpy_name()
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences of all neighbours, with elements before and after."""

    value = ravel(array(ary))
    parts = [diff(value)]
    if to_begin is not None:
        parts.insert(0, ravel(ew.astype(to_begin, value.dtype)))
    if to_end is not None:
        parts.append(ravel(ew.astype(to_end, value.dtype)))
    return concatenate(parts)


@numpy_name()
def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 6.283185307179586
) -> Array:
    """Angles without jumps of more than half a period, to which whole periods are added."""

    value = ew.to_real(p)
    at = normal_axis(axis, value.ndim)
    step = diff(value, 1, at)
    half = period / 2
    inner = ew.remainder(step + half, period) - half
    inner = ew.where((inner == -half) & (step > 0), half, inner)
    jump = ew.where(ew.abs(step) < (half if discont is None else discont), 0, inner - step)
    first = slice_of(value, 0, 1, at)
    rest = slice_of(value, 1, known(value, at, "angles"), at) + cumsum(jump, at)
    return concatenate([first, rest], at)


# Comparisons of whole arrays.


@numpy_name()
def array_equal(a1: Any, a2: Any) -> Any:
    """Whether both have one shape and equal elements."""
    a, b = array(a1), array(a2)
    return all(ew.equal(a, b)) if a.shape == b.shape else _false()


@numpy_name()
def array_equiv(a1: Any, a2: Any) -> Any:
    """Whether both have equal elements once they are repeated to one shape."""
    try:
        return all(ew.equal(a1, a2))
    except ComputationError:
        return _false()


def _false() -> Array:
    return constant_steps(bool_, [0])


@numpy_name()
def allclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Array:
    """Whether all elements are close."""
    return all(ew.isclose(a, b, rtol, atol))
