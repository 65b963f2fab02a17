"""Sorts, medians and the greatest elements. The order of secret elements is never revealed.

A vector is sorted by the engine's `order`, which is stable. Lanes of several axes are sorted
together by Batcher's network ("Sorting networks and their applications", 1968).
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from . import elementwise as ew
from .array import Array, count, numpy_name
from .errors import ComputationError
from .integers import one_hot
from .language import (
    array,
    broadcast_to,
    cast,
    constant_steps,
    each,
    infix,
    joined,
    node,
    normal_axis,
    operand,
    reshape_to,
    rows_at,
    shifted,
    slice_of,
    together,
    transposed,
)
from .language import length as length_of
from .reductions import axes_of, count_nonzero, diff, sum
from .shapes import known, linspace, moveaxis, picked, ravel, stack
from .types import Shape, fixed, i64, integer

PLACE = integer(64, False)


def order_of(*keys: Array, descending: bool = False) -> Array:
    """The order of rows by keys, the first the most significant."""
    shape = keys[0].shape
    return node("order", "order", keys, None, shape, ("-" if descending else "+") * len(keys))


def permuted(a: Array, order: Array) -> Array:
    """Rows in an order."""
    return node("call", "permute", (a, order), a.dtype, a.shape)


def ordered_by(key: Array, rows: Array) -> tuple[Array, Array]:
    """A key in ascending order, and rows in the same order."""
    order = order_of(ew.as_number(key))
    return permuted(key, order), permuted(rows, order)


def _network(n: int) -> list[list[tuple[int, int]]]:
    """The layers of Batcher's network for n lanes: pairs of places that are compared."""
    layers = []
    p = 1
    while p < n:
        k = p
        while k >= 1:
            layer = []
            for j in range(k % p, n - k, 2 * k):
                for i in range(builtins.min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        layer.append((i + j, i + j + k))
            layers.append(layer)
            k //= 2
        p *= 2
    return layers


def _by_network(rows: Array, n: int) -> Array:
    """Sorted along the first axis."""
    for layer in _network(n):
        if not layer:
            continue
        low, high = [a for a, _ in layer], [b for _, b in layer]
        one, other = picked(rows, low, 0), picked(rows, high, 0)
        least = each("min", one, other, scalar=rows.dtype)
        # The other one of the two, without a second comparison, where sums are exact.
        most = each("max", one, other, scalar=rows.dtype)
        rest = [place for place in range(n) if place not in set(low) | set(high)]
        parts = [least, most] + ([picked(rows, rest, 0)] if rest else [])
        places = low + high + rest
        rows = picked(joined(parts, 0), [places.index(place) for place in range(n)], 0)
    return rows


@numpy_name()
def sort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """The elements in ascending order along an axis. Every kind of sort gives the same."""
    del kind, stable
    if order is not None:
        raise ComputationError("a sort by fields", "arrays have none: sort one, and permute others")
    value = array(a)
    if axis is None:
        value, axis = ravel(value), 0
    at = normal_axis(axis, value.ndim)
    scalar = value.dtype
    rows = moveaxis(ew.as_number(value), at, 0)
    if rows.ndim == 1:
        made = permuted(rows, order_of(rows))
    else:
        made = _by_network(rows, known(rows, 0, "a sort of several lanes"))
    return moveaxis(ew.astype(made, scalar), 0, at)


def _iota(a: Array) -> Array:
    """The numbers of a vector's rows."""
    dim = a.shape[0]
    if isinstance(dim, int):
        return (
            constant_steps(i64, list(range(dim)), (dim,))
            if dim
            else slice_of(cast(a, i64), 0, 0, 0)
        )
    ones = broadcast_to(constant_steps(i64, [1]), (dim,))
    counted = node("call", "prefix_sum", (ones,), i64, ones.shape)
    return infix("-", counted, constant_steps(i64, [1]))


@numpy_name()
def argsort(
    a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None
) -> Array:
    """The places of the elements in ascending order. Equal elements keep their order."""
    del kind, stable
    if order is not None:
        raise ComputationError("a sort by fields", "arrays have none: sort one, and permute others")
    value = ew.as_number(array(a))
    if axis is None:
        value, axis = ravel(value), 0
    at = normal_axis(axis, value.ndim)
    rows = moveaxis(value, at, -1)
    if rows.ndim == 1:
        return permuted(_iota(rows), order_of(rows))
    n = known(rows, rows.ndim - 1, "a sort of several lanes")
    lanes = reshape_to(rows, (count(rows.shape[:-1]), n))
    made = stack([permuted(_iota(lane), order_of(lane)) for lane in lanes])
    return moveaxis(reshape_to(made, rows.shape), -1, at)


@numpy_name()
def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """The places of all elements in ascending order, which are a partition as well."""
    del kth
    return argsort(a, axis)


@numpy_name()
def lexsort(keys: Any) -> Array:
    """The places of rows in the order of several vectors, the last the most significant."""
    columns = [ew.as_number(array(key)) for key in keys]
    if any(key.ndim != 1 for key in columns):
        raise ComputationError("`lexsort` of keys with several axes", "bring vectors")
    return permuted(_iota(columns[0]), order_of(*reversed(columns)))


def _middle(value: Array, at: int, first: int, second: int) -> tuple[Array, Array]:
    low, high = slice_of(value, first, first + 1, at), slice_of(value, second, second + 1, at)
    shape = value.shape[:at] + value.shape[at + 1 :]
    return reshape_to(low, shape), reshape_to(high, shape)


def _lanes(a: Any, axis: Any) -> tuple[Array, int, Shape]:
    """The array with one axis for all that are reduced, that axis, and the shape that keeps them."""
    value = array(a)
    axes = axes_of(axis, value.ndim)
    shape = tuple(1 if at in axes else dim for at, dim in enumerate(value.shape))
    if len(axes) == 1:
        return value, axes[0], shape
    if len(axes) == value.ndim:
        return ravel(value), 0, shape
    rest = [at for at in range(value.ndim) if at not in axes]
    moved = transposed(value, rest + sorted(axes))
    size = count(tuple(value.shape[at] for at in axes))
    return reshape_to(moved, (*moved.shape[: len(rest)], size)), len(rest), shape


@numpy_name()
def median(a: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The middle element, or the mean of the two in the middle, as a fixed number."""
    flat, at, shape = _lanes(a, axis)
    rows = sort(flat, at)
    n = rows.shape[at]
    if isinstance(n, int):
        if n == 0:
            raise ComputationError(
                "the median of no elements", "bring one at least; there is no NaN"
            )
        low, high = _middle(rows, at, (n - 1) // 2, n // 2)
    else:
        low, high = _public_middle(rows)
    made = _half_way(low, high)
    return reshape_to(made, shape) if keepdims else made


def _half_way(low: Array, high: Array) -> Array:
    """The mean of two numbers, as a fixed number."""
    if low.dtype.kind == "fixed":
        wide = fixed(low.dtype.bits + 1, low.dtype.frac)
        return cast(shifted(infix("+", cast(low, wide), cast(high, wide)), 1), low.dtype)
    return shifted(ew.to_real(low) + ew.to_real(high), 1)


def _public_middle(rows: Array) -> tuple[Array, Array]:
    if rows.ndim != 1:
        raise ComputationError("medians of several lanes", "declare the length as a number")
    n = length_of(rows, 0)
    assert isinstance(n, Array)
    two = constant_steps(PLACE, [2])
    low = infix("/", infix("-", n, constant_steps(PLACE, [1])), two)
    high = infix("/", n, two)
    return (
        reshape_to(rows_at(rows, reshape_to(low, (1,))), ()),
        reshape_to(rows_at(rows, reshape_to(high, (1,))), ()),
    )


_METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@numpy_name()
def quantile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Array:
    """The element below which a part q of all lies, by linear interpolation, as a fixed number. Several
    parts q, which are public, make the first axes of the result. Methods are NumPy's "linear",
    "lower", "higher", "midpoint" and "nearest"."""
    return _quantiles(a, q, 1.0, axis, method, keepdims)


@numpy_name()
def percentile(
    a: Any, q: Any, axis: Any = None, *, method: str = "linear", keepdims: bool = False
) -> Array:
    """The quantile for q per cent."""
    return _quantiles(a, q, 100.0, axis, method, keepdims)


def _quantiles(a: Any, q: Any, whole: float, axis: Any, method: str, keepdims: bool) -> Array:
    parts = operand(q)
    if isinstance(parts, Array):
        raise ComputationError("a quantile of a secret part", "give the part as a number")
    if method not in _METHODS:
        raise ComputationError(f"quantiles by {method!r}", f"methods are {', '.join(_METHODS)}")
    if any(not 0 <= part <= whole for part in parts.flat):
        raise ComputationError("a part beyond the whole", f"parts are 0 to {whole:g}")
    flat, at, shape = _lanes(a, axis)
    rows = sort(flat, at)
    most = known(rows, at, "a quantile") - 1
    if most < 0:
        raise ComputationError("a quantile of no elements", "bring one at least; there is no NaN")
    made = [_quantile(rows, at, float(part) / whole * most, method) for part in parts.flat]
    if keepdims:
        made = [reshape_to(one, shape) for one in made]
    if not parts.shape:
        return made[0]
    return reshape_to(stack(made), (*parts.shape, *made[0].shape))


def _quantile(rows: Array, at: int, place: float, method: str) -> Array:
    """The element of sorted lanes at a place, which may lie between two."""
    below, above = math.floor(place), math.ceil(place)
    if method in ("lower", "higher", "nearest"):
        one = {"lower": below, "higher": above, "nearest": round(place)}[method]
        return _middle(rows, at, one, one)[0]
    low, high = _middle(rows, at, below, above)
    if method == "midpoint":
        return _half_way(low, high)
    a, b = ew.to_real(low), ew.to_real(high)
    return a if below == above else a + ew.multiply(b - a, place - below)


def top_k(x: Any, k: int) -> tuple[Array, Array]:
    """The k greatest elements along the last axis, the greatest first, and their places.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def best(x: hw.u8[4] @ "ann") -> (hw.out("bob", name="value"), hw.out("bob", name="at")):
    ...     return hw.numpy.top_k(x, 2)
    >>> found = best.evaluate(x=[3, 9, 1, 7])
    >>> [int(n) for n in found.value], [int(n) for n in found.at]
    ([9, 7], [1, 3])
    """
    value = array(x)
    n = known(value, value.ndim - 1, "top_k") if value.ndim > 1 or k else 0
    lanes = [value] if value.ndim == 1 else list(reshape_to(value, (count(value.shape[:-1]), n)))
    values, places = [], []
    for lane in lanes:
        order = order_of(ew.as_number(lane), descending=True)
        values.append(slice_of(permuted(lane, order), 0, k, 0))
        places.append(slice_of(permuted(_iota(lane), order), 0, k, 0))
    if value.ndim == 1:
        return values[0], places[0]
    shape = (*value.shape[:-1], k)
    return reshape_to(stack(values), shape), reshape_to(stack(places), shape)


@numpy_name()
def partition(a: Any, kth: int, axis: int | None = -1) -> Array:
    """All elements in ascending order, which is a partition as well."""
    del kth
    return sort(a, axis)


@numpy_name()
def searchsorted(a: Any, v: Any, side: str = "left") -> Array:
    """How many elements of a sorted vector lie below each number, or are at most it."""
    edges, numbers = together(a, v)
    column = reshape_to(numbers, (*numbers.shape, 1))

    below = ew.less(edges, column) if side == "left" else ew.less_equal(edges, column)
    return sum(below, axis=-1)


@numpy_name()
def bincount(x: Any, weights: Any = None, minlength: int = 0) -> Array:
    """How often each number below `minlength` is there, or the sum of its weights: the length is
    public, and so `minlength` must be given. Other numbers are not counted."""
    if minlength <= 0:
        raise ComputationError(
            "`bincount` without a length, which would tell the greatest number", "give minlength="
        )

    value = array(x)
    if value.ndim != 1 or value.dtype.kind == "fixed":
        raise ComputationError("`bincount` of something else than a vector of integers", "bring one")
    hot = one_hot(ew.as_number(value), minlength)
    if weights is None:
        return sum(hot, axis=0)
    by = array(weights)
    return sum(ew.where(hot, reshape_to(by, (*by.shape, 1)), 0), axis=0)


@numpy_name()
def histogram(a: Any, bins: Any = 10, range: Any = None, density: bool = False) -> tuple[Array, Array]:
    """How many elements lie between public edges; of the last pair, both ends count. The edges, or a
    number of bins and their range, are given: others would tell the least and the greatest element."""
    value = array(a)
    if isinstance(bins, int):
        if range is None:
            raise ComputationError(
                "a histogram without a range, which would tell the least and the greatest element",
                "give range=(low, high), or the edges as a list",
            )
        edges = linspace(range[0], range[1], bins + 1)
    else:
        edges = array(bins)
    if edges.ndim != 1 or edges.sight != "public":
        raise ComputationError(
            "a histogram whose edges are not public",
            "give edges as a list: others would tell of the data",
        )
    value, edges = together(value, edges)
    flat = ravel(value)

    n = known(edges, 0, "edges")
    column = reshape_to(flat, (*flat.shape, 1))
    under = count_nonzero(column < edges, axis=0)
    at_most = count_nonzero(flat <= edges[n - 1])
    ends = (
        joined([slice_of(under, 1, n - 1, 0), reshape_to(at_most, (1,))], 0)
        if n > 2
        else at_most.reshape(1)
    )
    found = ends - slice_of(under, 0, n - 1, 0)
    if density:
        widths = ew.to_real(diff(edges))
        return ew.divide(found, ew.multiply(sum(found), widths)), edges
    return found, edges
