"""Parts of arrays by places in brackets, and choices by public places and masks."""

from __future__ import annotations

import builtins
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import elementwise as ew
from .array import Array, numpy_name
from .errors import ComputationError
from .language import (
    Literal_,
    array,
    broadcast_to,
    common_shape,
    normal_axis,
    operand,
    reshape_to,
    slice_of,
    together,
    transposed,
)
from .reductions import any as any_of
from .shapes import concatenate, expand_dims, known, moveaxis, picked, place_of, ravel, stack, take
from .types import Shape


@dataclass(frozen=True)
class Places:
    """Public places of an axis, along axes of their own."""

    flat: list[int]
    shape: tuple[int, ...]
    #: The length that the axis must have, if the places come from a mask.
    length: int | None = None

    def along(self, shape: Shape) -> list[int]:
        """The places, repeated to a shape."""
        made = []
        for at in itertools.product(*(range(int(dim)) for dim in shape)):
            place = 0
            for k, dim in zip(at[len(at) - len(self.shape) :], self.shape):
                place = place * dim + (k if dim > 1 else 0)
            made.append(self.flat[place])
        return made


def _parsed(item: Any) -> list[Any]:
    """An item in brackets: None, ``...``, a slice, secret places, or public places, of a mask several."""
    if item is None or item is Ellipsis or isinstance(item, slice):
        return [item]
    places = operand(item)
    if isinstance(places, Array):
        if not places.dtype.is_number:
            raise ComputationError(
                "rows by secret truth values, whose number would tell how many are true",
                "write hw.where(mask, x, 0), which keeps all rows",
            )
        return [places]
    if not places.flat and places.kind == "float":
        # An empty list has no type.
        return [Places([], (0,))]
    if places.kind == "float":
        raise IndexError("places are integers")
    dims = tuple(int(dim) for dim in places.shape)
    if places.kind != "bool":
        return [Places([int(place) for place in places.flat], dims)]
    if not dims:
        raise IndexError("a truth value is no place: write None and a slice")
    cells = itertools.product(*(range(dim) for dim in dims))
    true = [cell for cell, flag in zip(cells, places.flat) if flag]
    return [
        Places([cell[axis] for cell in true], (len(true),), dim) for axis, dim in enumerate(dims)
    ]


@numpy_name("__getitem__")
def getitem(a: Array, place: Any) -> Array:
    """Parts of an array by NumPy's rules: public numbers, slices, None, ..., lists of places and masks;
    or secret places along one axis."""
    given = place if isinstance(place, tuple) else (place,)
    items = [part for item in given for part in _parsed(item)]
    rank = len([item for item in items if item is not None and item is not Ellipsis])
    if rank > a.ndim:
        raise IndexError(f"{rank} places of an array with {a.ndim} axes")
    rest = [slice(None)] * (a.ndim - rank)
    many = [k for k, item in enumerate(items) if item is Ellipsis]
    if len(many) > 1:
        raise IndexError("two ... in one pair of brackets")
    at = many[0] if many else len(items)
    items[at : at + 1] = rest
    lists = [item for item in items if isinstance(item, Array) or _is_list(item)]
    if len(lists) > 1 and any(isinstance(item, Array) for item in lists):
        raise ComputationError(
            "secret places beside others", "take one axis after the other, as in x[:, places][rows]"
        )
    axis, value, chosen, where = 0, a, [], []
    for k, item in enumerate(items):
        if item is None:
            value = expand_dims(value, axis)
        elif isinstance(item, slice):
            value = _sliced(value, item, axis)
        elif not lists:
            value = _single(value, item.flat[0], axis)
            continue
        else:
            chosen.append((axis, item))
            where.append(k)
        axis += 1
    if not chosen:
        return value
    # The axes of lists that are not neighbours come first, as in NumPy.
    front = 0 if where[-1] - where[0] + 1 > len(where) else chosen[0][0]
    if isinstance(lists[0], Array):
        return _secret(value, chosen, front)
    return _listed(value, chosen, front)


def _is_list(item: Any) -> bool:
    return isinstance(item, Places) and bool(item.shape)


def _single(a: Array, at: int, axis: int) -> Array:
    dim = a.shape[axis]
    if isinstance(dim, str):
        if at < 0:
            raise ComputationError(f"place {at} of an axis of length {dim}", "count from the front")
    else:
        at = place_of(at, dim)
    part = slice_of(a, at, at + 1, axis)
    return reshape_to(part, (*a.shape[:axis], *a.shape[axis + 1 :]))


def _secret(a: Array, chosen: list[tuple[int, Any]], front: int) -> Array:
    """The elements at secret places of one axis, and at single public places of others."""
    axis, places = next(pair for pair in chosen if isinstance(pair[1], Array))
    for at, item in reversed(chosen):
        if item is not places:
            a = _single(a, item.flat[0], at)
            axis -= at < axis
    made = take(a, places, axis)
    order = [at for at in range(made.ndim) if not axis <= at < axis + places.ndim]
    order[front:front] = range(axis, axis + places.ndim)
    return transposed(made, order)


def _listed(a: Array, chosen: list[tuple[int, Any]], front: int) -> Array:
    """The elements at public places of several axes, which are repeated to one shape."""
    shape = common_shape(*(places.shape for _, places in chosen))
    count = math.prod(int(dim) for dim in shape)
    linear, size = [0] * count, 1
    for axis, places in chosen:
        n = known(a, axis, "places")
        if places.length not in (None, n):
            raise IndexError(f"a mask of {places.length} for an axis of length {n}")
        flat = [place_of(place, n) for place in places.along(shape)]
        linear = [whole * n + place for whole, place in zip(linear, flat)]
        size *= n
    axes = [axis for axis, _ in chosen]
    if len(axes) == 1:
        made = picked(a, linear, axes[0])
        return reshape_to(made, (*a.shape[: axes[0]], *shape, *a.shape[axes[0] + 1 :]))
    rest = [axis for axis in range(a.ndim) if axis not in axes]
    moved = transposed(a, axes + rest)
    tail = moved.shape[len(axes) :]
    made = reshape_to(picked(reshape_to(moved, (size, *tail)), linear, 0), (*shape, *tail))
    order = list(range(len(shape), made.ndim))
    order[front:front] = range(len(shape))
    return transposed(made, order)


def _sliced(a: Array, item: slice, axis: int) -> Array:
    dim = a.shape[axis]
    if item == slice(None):
        return a
    if isinstance(dim, str):
        start, stop, step = item.start or 0, item.stop, item.step or 1
        if stop is None or stop < 0 or start < 0 or step != 1:
            raise ComputationError(
                f"a slice of an axis of length {dim}",
                "take 0:k or i:k, or declare the length as a number",
            )
        return slice_of(a, start, builtins.max(start, stop), axis)
    return picked(a, list(range(dim))[item], axis)


# Choices by public places and masks.


def _flags(name: str, condition: Any) -> list[bool]:
    """A public mask, or a refusal of a secret one."""
    mask = operand(condition)
    if isinstance(mask, Array):
        raise ComputationError(
            f"`{name}` by secret truth values, whose number would tell how many are true",
            "write hw.where(mask, x, 0), which keeps all elements",
        )
    return [bool(flag) for flag in mask.flat]


@numpy_name()
def compress(condition: Any, a: Any, axis: int | None = None) -> Array:
    """The parts along an axis where a public mask is true."""
    value = array(a)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    return picked(value, [k for k, flag in enumerate(_flags("compress", condition)) if flag], at)


@numpy_name()
def extract(condition: Any, arr: Any) -> Array:
    """The elements where a public mask is true."""
    return picked(ravel(arr), [k for k, flag in enumerate(_flags("extract", condition)) if flag], 0)


def _public_places(name: str, obj: Any, n: int) -> list[int]:
    """Places that a number, a slice, a list or a mask names."""
    if isinstance(obj, slice):
        return list(range(n))[obj]
    places = operand(obj)
    if isinstance(places, Array):
        raise ComputationError(f"`{name}` at secret places", "keep all elements, as hw.where does")
    if places.kind == "bool":
        return [k for k, flag in enumerate(places.flat) if flag]
    return [int(place) for place in places.flat]


@numpy_name()
def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """The array without the parts at public places."""
    value = array(arr)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    n = known(value, at, "`delete`")
    gone = {place_of(place, n) for place in _public_places("delete", obj, n)}
    return picked(value, [place for place in range(n) if place not in gone], at)


@numpy_name()
def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """The array with other elements before public places."""
    value, more = array(arr), array(values)
    value, at = (ravel(value), 0) if axis is None else (value, normal_axis(axis, value.ndim))
    n = known(value, at, "`insert`")
    before = [place + n if place < 0 else place for place in _public_places("insert", obj, n)]
    if any(not 0 <= place <= n for place in before):
        raise IndexError(f"a place beyond an axis of length {n}")
    single = not isinstance(obj, (list, tuple, slice)) and not getattr(obj, "shape", ())
    more = reshape_to(more, (1,) * (value.ndim - more.ndim) + more.shape)
    if single:
        more = moveaxis(more, 0, at)
        before = before * known(more, at, "`insert`")
    more = ew.astype(more, value.dtype)
    more = broadcast_to(more, (*value.shape[:at], len(before), *value.shape[at + 1 :]))
    order = []
    for place in range(n + 1):
        order += [n + k for k, one in enumerate(before) if one == place]
        order += [place] if place < n else []
    return picked(concatenate([value, more], at), order, at)


@numpy_name()
def choose(a: Any, choices: Any) -> Array:
    """For each element, the choice with that number, which may be secret. A number that no choice
    has takes the first choice."""
    which = array(a)
    options = together(*choices)
    made = options[0]
    for k, option in enumerate(options[1:], 1):
        made = ew.where(ew.equal(which, k), option, made)
    return broadcast_to(made, common_shape(which.shape, *(option.shape for option in options)))


@numpy_name()
def isin(element: Any, test_elements: Any, *, invert: bool = False) -> Array:
    """Whether each element is among others, each of which it is compared with."""
    value, others = together(element, test_elements)
    column = reshape_to(value, (*value.shape, 1))
    found = any_of(ew.equal(column, ravel(others)), axis=-1)
    return ew.logical_not(found) if invert else found


@numpy_name()
def piecewise(x: Any, condlist: Any, funclist: Sequence[Any]) -> Array:
    """The values of functions of x, or numbers, where conditions are true. Where several are true,
    the last one counts."""
    value = array(x)
    conditions, functions = list(condlist), list(funclist)

    def of(function: Any) -> Any:
        return function(value) if callable(function) else function

    made = of(functions.pop()) if len(functions) == len(conditions) + 1 else 0
    for condition, function in zip(conditions, functions):
        made = ew.where(condition, of(function), made)
    return broadcast_to(ew.astype(made, value.dtype), value.shape)


@numpy_name()
def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Array:
    """A function of each lane along an axis."""
    value = array(arr)
    at = normal_axis(axis, value.ndim)
    lanes = moveaxis(value, at, -1)
    lead = tuple(known(lanes, k, "lanes") for k in range(lanes.ndim - 1))
    flat = reshape_to(lanes, (math.prod(lead), lanes.shape[-1]))
    made = stack([array(func1d(lane, *args, **kwargs)) for lane in flat])
    rank = made.ndim - 1
    made = reshape_to(made, lead + made.shape[1:])
    order = list(range(len(lead)))
    order[at:at] = range(len(lead), len(lead) + rank)
    return transposed(made, order)
