"""Public numbers, and the operations of the language of computations on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Union

from .array import Array, count, graph, operate
from .errors import ComputationError
from .graph import Form, literal
from .types import Dim, Scalar, Shape, bool_, common, i64, integer, scalar_of

# Constants.


class Literal_:
    """Public numbers whose type follows from the other operand."""

    def __init__(self, flat: list[Any], shape: Shape, scalar: Scalar | None, kind: str) -> None:
        self.flat = flat
        self.shape = shape
        self.scalar = scalar
        self.kind = kind

    def to(self, scalar: Scalar) -> Array:
        """The numbers as elements of a type."""
        return constant(scalar, self.flat, self.shape)


Operand = Union[Array, Literal_]


def _flatten(value: Any) -> tuple[list[Any], Shape]:
    if isinstance(value, (list, tuple)):
        parts = [_flatten(part) for part in value]
        shapes = {shape for _, shape in parts}
        if len(shapes) > 1:
            raise ComputationError("rows of different lengths", "bring as many numbers in each row")
        inner = shapes.pop() if shapes else ()
        return [number for flat, _ in parts for number in flat], (len(parts), *inner)
    return [value], ()


def _holds_arrays(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(
        isinstance(v, Array) or _holds_arrays(v) for v in value
    )


def operand(value: Any) -> Operand:
    """An array unchanged, or public numbers as a literal; lists may contain both."""
    if isinstance(value, Array):
        if value.graph is not graph():
            raise ComputationError(
                "a value of one computation is used in another",
                "pass it to the function as an argument",
            )
        return value
    if isinstance(value, Literal_):
        return value
    if _holds_arrays(value):
        return operate("stack", value)
    dtype = getattr(value, "dtype", None)
    if dtype is not None and hasattr(value, "tolist"):
        flat, shape = _flatten(value.tolist())
        kind = str(dtype.kind)
        if kind == "f":
            return Literal_(flat, shape, None, "float")
        if kind not in "biu":
            raise ComputationError(
                f"{dtype} is no type of a computation", "bring integers, bools or floats"
            )
        return Literal_(
            flat, shape, scalar_of(dtype, graph().real), "bool" if kind == "b" else "int"
        )
    flat, shape = _flatten(value)
    if flat and all(isinstance(number, bool) for number in flat):
        return Literal_(flat, shape, bool_, "bool")
    if all(isinstance(number, int) for number in flat):
        return Literal_(flat, shape, i64 if shape else None, "int")
    if all(isinstance(number, (int, float, Fraction)) for number in flat):
        return Literal_(flat, shape, None, "float")
    raise ComputationError(
        f"{type(value).__name__} is no value of a computation",
        "bring arrays, numbers or lists of them",
    )


def constant(scalar: Scalar, numbers: Sequence[Any], shape: Shape = ()) -> Array:
    """Public elements of a type."""
    return constant_steps(scalar, [scalar.steps(number) for number in numbers], shape)


def constant_steps(scalar: Scalar, steps: Sequence[int], shape: Shape = ()) -> Array:
    """Public elements of a type, in steps of 2**-frac."""
    if not shape:
        return node("const", literal(scalar, steps[0]), (), scalar, ())
    if len(set(steps)) == 1 and len(steps) > 1:
        return broadcast_to(constant_steps(scalar, steps[:1]), shape)
    shown = ", ".join(literal(scalar, step) for step in steps)
    return node("const", f"[{shown}]", (), scalar, shape)


def together(*values: Any) -> list[Array]:
    """Values as arrays of one type by NumPy's rules. Shapes stay."""
    operands = [operand(value) for value in values]
    scalar: Scalar | None = None
    floats = False
    for value in operands:
        own = value.dtype if isinstance(value, Array) else value.scalar
        floats |= isinstance(value, Literal_) and value.kind == "float"
        if own is not None:
            scalar = own if scalar is None else common(scalar, own)
    if floats and (scalar is None or scalar.kind != "fixed"):
        scalar = graph().real
    ints = any(isinstance(value, Literal_) and value.kind == "int" for value in operands)
    if scalar is None or (not scalar.is_number and ints):
        scalar = i64
    return [cast(value, scalar) for value in operands]


def array(value: Any) -> Array:
    """A value as an array, in its own type."""
    return together(value)[0]


def cast(value: Operand, scalar: Scalar) -> Array:
    """Numbers in another type, modulo its width; fractions are rounded towards −∞."""
    if isinstance(value, Literal_):
        return value.to(scalar)
    if value.dtype == scalar:
        return value
    return node("call", "cast", (value,), scalar, value.shape, f", {scalar}")


def as_bits_of(value: Array, scalar: Scalar) -> Array:
    """The same bits as another type of the same width."""
    bits = Scalar("bits", value.dtype.bits)
    return cast(cast(value, bits), scalar)


def steps_of(value: Array) -> Array:
    """A fixed number's steps, as an integer."""
    return as_bits_of(value, integer(value.dtype.bits))


# Operations of the language.


def node(
    form: Form,
    name: str,
    args: Sequence[Array],
    scalar: Scalar | None,
    shape: Shape,
    suffix: str = "",
    sight: str | None = None,
) -> Array:
    """One operation of the language."""
    of = args[0].graph if args else graph()
    return Array(
        of, of.add(form, name, tuple(arg.at for arg in args), scalar, shape, suffix, sight)
    )


def infix(sign: str, a: Array, b: Array, scalar: Scalar | None = None) -> Array:
    """An operation on two values of the same shape, or on a value and a single element."""
    return node("infix", sign, (a, b), scalar or a.dtype, a.shape or b.shape)


def select(condition: Array, yes: Array, no: Array) -> Array:
    """The second value where the condition is true, and the third elsewhere."""
    return node(
        "call", "select", (condition, yes, no), yes.dtype, condition.shape or yes.shape or no.shape
    )


def shifted(a: Array, by: int) -> Array:
    """Shifted towards the low end by `by` bits, or towards the high end by −`by`."""
    return (
        a
        if by == 0
        else node("shift", ">>" if by > 0 else "<<", (a,), a.dtype, a.shape, str(abs(by)))
    )


def each(name: str, *args: Array, scalar: Scalar | None = None) -> Array:
    """A function of single elements, by its name in the language."""
    shape: Shape = next((arg.shape for arg in args if arg.shape), ())
    return node("call", name, args, scalar or args[-1].dtype, shape)


def along(name: str, a: Array, axis: int, scalar: Scalar | None = None) -> Array:
    """A reduction of one axis, by its name in the language."""
    shape = a.shape[:axis] + a.shape[axis + 1 :]
    return node("call", name, (a,), scalar or a.dtype, shape, f", axis={axis}" if axis else "")


def reshape_to(a: Array, shape: Shape) -> Array:
    """The same elements along other axes."""
    return (
        a
        if a.shape == shape
        else node("call", "reshape", (a,), a.dtype, shape, f", {_list(shape)}")
    )


def broadcast_to(a: Array, shape: Shape) -> Array:
    """The array repeated to a shape, by NumPy's rules."""
    if a.shape == shape:
        return a
    fits = len(a.shape) <= len(shape)
    if not fits or any(own not in (1, dim) for own, dim in zip(a.shape[::-1], shape[::-1])):
        raise ComputationError(
            f"shapes {_list(a.shape)} and {_list(shape)} do not fit", "see NumPy's broadcasting"
        )
    if a.shape:
        a = reshape_to(a, (1,) * (len(shape) - len(a.shape)) + a.shape)
    return (
        a
        if a.shape == shape
        else node("call", "broadcast", (a,), a.dtype, shape, f", {_list(shape)}")
    )


def common_shape(*shapes: Shape) -> Shape:
    """The shape to which all are repeated, by NumPy's rules."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for axis in range(rank):
        dims = [
            shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0
        ]
        longer = list(dict.fromkeys(dim for dim in dims if dim != 1))
        if len(longer) > 1:
            shown = " and ".join(_list(shape) for shape in shapes)
            raise ComputationError(f"shapes {shown} do not fit", "see NumPy's broadcasting")
        result.append(longer[0] if longer else 1)
    return tuple(result)


def aligned(*arrays: Array) -> list[Array]:
    """Arrays of one shape. Single elements stay, because operations accept them."""
    shape = common_shape(*(a.shape for a in arrays))
    return [a if not a.shape else broadcast_to(a, shape) for a in arrays]


def transposed(a: Array, axes: Sequence[int]) -> Array:
    """Axes in this order."""
    if list(axes) == list(range(a.ndim)):
        return a
    shape = tuple(a.shape[axis] for axis in axes)
    return node("call", "transpose", (a,), a.dtype, shape, f", [{', '.join(map(str, axes))}]")


def slice_of(a: Array, start: int, stop: int, axis: int) -> Array:
    """Elements `start..stop` of an axis."""
    if start == 0 and stop == a.shape[axis]:
        return a
    shape = (*a.shape[:axis], stop - start, *a.shape[axis + 1 :])
    tail = f", axis={axis}" if axis else ""
    return node("call", "slice", (a,), a.dtype, shape, f", {start}..{stop}{tail}")


def rows_at(a: Array, places: Array) -> Array:
    """The rows at public places."""
    return node("call", "gather", (a, places), a.dtype, (places.shape[0], *a.shape[1:]))


def joined(arrays: Sequence[Array], axis: int) -> Array:
    """Arrays of one type joined along an axis."""
    if len(arrays) == 1:
        return arrays[0]
    total = sum(count(a.shape[axis : axis + 1]) for a in arrays)
    first = arrays[0]
    shape = (*first.shape[:axis], total, *first.shape[axis + 1 :])
    return node("call", "concat", arrays, first.dtype, shape, f", axis={axis}" if axis else "")


def free(a: Array) -> Array:
    """The value without the known range from constants and promises, so that results may wrap."""
    if not a.dtype.is_number:
        return a
    return node("call", "wrapping", (a,), a.dtype, a.shape)


def single(a: Array, steps: int) -> Array:
    """One public element of the array's type, in steps."""
    return constant_steps(a.dtype, [steps])


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise ComputationError(
            f"axis {axis} of an array with {rank} axes", f"axes are 0 to {rank - 1}"
        )
    return axis % rank


def length(a: Array, axis: int) -> int | Array:
    """The length of an axis: a number, or a public u64 if a run sets it."""
    dim = a.shape[axis]
    if isinstance(dim, int):
        return dim
    ones = broadcast_to(constant_steps(integer(64, False), [1]), (dim,))
    return along("sum", ones, 0)


def _list(shape: Shape) -> str:
    return f"[{', '.join(str(dim) for dim in shape)}]"
