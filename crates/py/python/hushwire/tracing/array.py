"""Arrays of values that are not known yet: what a traced function computes with."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NoReturn, Optional, TypeVar, Union

from .errors import ComputationError
from .graph import Form, Graph, literal
from .types import Dim, Scalar, Shape, bool_, common, i64, integer, scalar_of

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions by NumPy's names, which NumPy's own functions find when they are called on arrays."""
REFUSED: dict[str, str] = {}
"""NumPy's functions that there cannot be, with the reason and what to write instead."""

CURRENT: contextvars.ContextVar[Optional[Graph]] = contextvars.ContextVar("hushwire_graph", default=None)


_Function = TypeVar("_Function", bound=Callable[..., Any])


def numpy_name(*names: str) -> Callable[[_Function], _Function]:
    """Makes a function known by these names of NumPy, or by its own."""

    def known(function: _Function) -> _Function:
        for name in names or (function.__name__,):
            FUNCTIONS[name] = function
        return function

    return known


def graph() -> Graph:
    """The graph of the function that is being traced."""
    current = CURRENT.get()
    if current is None:
        raise ComputationError(
            "there is no computation under way", "call this in a function under @hw.computation"
        )
    return current


class Array:
    """An array whose elements are not known while a function is traced.

    It has NumPy's operators, indexing by public places, and NumPy's functions, both as
    `numpy.sqrt(x)` and as `hushwire.numpy.sqrt(x)`. Its shape and type are public. It has no truth
    value, no elements and no text of them: these are nobody's before the run.
    """

    __slots__ = ("at", "_graph")
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, of: Graph, at: int) -> None:
        self._graph = of
        self.at = at

    # Facts that are public.

    @property
    def graph(self) -> Graph:
        """The computation that the array is part of."""
        return self._graph

    @property
    def dtype(self) -> Scalar:
        """The elements' type."""
        scalar = self._graph.nodes[self.at].scalar
        if scalar is None:
            raise ComputationError("an order has no elements", "permute rows by it")
        return scalar

    @property
    def shape(self) -> Shape:
        """The lengths of the axes: numbers, and names of lengths that a run tells."""
        return self._graph.nodes[self.at].shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, where no length is a name."""
        return count(self.shape)

    @property
    def sight(self) -> str:
        """Who may see the elements: "public", "secret", or the member who alone knows them."""
        return self._graph.nodes[self.at].sight

    def __repr__(self) -> str:
        dims = ", ".join(str(dim) for dim in self.shape)
        return f"<hushwire {self.dtype}{f'[{dims}]' if dims else ''}, {self.sight}>"

    def __len__(self) -> int:
        if not self.shape:
            raise ComputationError("a single element has no length", "take x.shape")
        if isinstance(self.shape[0], str):
            raise ComputationError(
                f"the length {self.shape[0]} is known in a run alone", "take functions of whole arrays"
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[place] for place in range(len(self)))

    # What a secret does not have.

    def __bool__(self) -> bool:
        raise ComputationError(
            "a secret has no truth value, so that no branch can tell it",
            "write hw.where(condition, a, b), and & | ~ for and, or, not",
        )

    def _no_number(self) -> NoReturn:
        raise ComputationError(
            "a secret is no number of Python", "return it to those who may learn it, and read it there"
        )

    def __int__(self) -> int:
        self._no_number()

    def __float__(self) -> float:
        self._no_number()

    def __complex__(self) -> complex:
        self._no_number()

    def __index__(self) -> int:
        raise ComputationError(
            "a secret is no place of an array, which all would see",
            "write hw.numpy.take(x, place), which reads every element",
        )

    def item(self) -> NoReturn:
        """There is none: it would show the element."""
        self._no_number()

    def tolist(self) -> NoReturn:
        """There is none: it would show the elements."""
        self._no_number()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ComputationError(
            "a secret is no array of NumPy", "NumPy's functions take it as it is; join several by stack"
        )

    def __reduce__(self) -> NoReturn:
        raise ComputationError("a value of a computation cannot be stored", "store the computation's text")

    def __setitem__(self, place: Any, value: Any) -> NoReturn:
        raise ComputationError(
            "an array of a computation does not change", "write hw.where(mask, value, x), or join parts"
        )

    # NumPy's functions on arrays.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = str(ufunc.__name__)
        if method == "reduce":
            name = {"add": "sum", "multiply": "prod", "maximum": "max", "minimum": "min",
                    "logical_and": "all", "logical_or": "any"}.get(name, f"{name}.reduce")  # fmt: skip
            kwargs.setdefault("axis", 0)
        elif method == "accumulate":
            name = {"add": "cumsum", "multiply": "cumprod"}.get(name, f"{name}.accumulate")
        elif method == "outer" and name == "multiply":
            name = "outer"
        elif method != "__call__":
            name = f"{name}.{method}"
        return call(name, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        module, name = str(function.__module__), str(function.__name__)
        return call(f"linalg.{name}" if module.endswith("linalg") else name, *args, **kwargs)

    # Operators.

    def __add__(self, other: Any) -> Array:
        return operate("add", self, other)

    def __radd__(self, other: Any) -> Array:
        return operate("add", other, self)

    def __sub__(self, other: Any) -> Array:
        return operate("subtract", self, other)

    def __rsub__(self, other: Any) -> Array:
        return operate("subtract", other, self)

    def __mul__(self, other: Any) -> Array:
        return operate("multiply", self, other)

    def __rmul__(self, other: Any) -> Array:
        return operate("multiply", other, self)

    def __truediv__(self, other: Any) -> Array:
        return operate("divide", self, other)

    def __rtruediv__(self, other: Any) -> Array:
        return operate("divide", other, self)

    def __floordiv__(self, other: Any) -> Array:
        return operate("floor_divide", self, other)

    def __rfloordiv__(self, other: Any) -> Array:
        return operate("floor_divide", other, self)

    def __mod__(self, other: Any) -> Array:
        return operate("remainder", self, other)

    def __rmod__(self, other: Any) -> Array:
        return operate("remainder", other, self)

    def __divmod__(self, other: Any) -> tuple[Array, Array]:
        return self // other, self % other

    def __pow__(self, other: Any) -> Array:
        return operate("power", self, other)

    def __rpow__(self, other: Any) -> Array:
        return operate("power", other, self)

    def __matmul__(self, other: Any) -> Array:
        return operate("matmul", self, other)

    def __rmatmul__(self, other: Any) -> Array:
        return operate("matmul", other, self)

    def __lshift__(self, other: Any) -> Array:
        return operate("left_shift", self, other)

    def __rlshift__(self, other: Any) -> Array:
        return operate("left_shift", other, self)

    def __rshift__(self, other: Any) -> Array:
        return operate("right_shift", self, other)

    def __rrshift__(self, other: Any) -> Array:
        return operate("right_shift", other, self)

    def __and__(self, other: Any) -> Array:
        return operate("bitwise_and", self, other)

    def __rand__(self, other: Any) -> Array:
        return operate("bitwise_and", other, self)

    def __or__(self, other: Any) -> Array:
        return operate("bitwise_or", self, other)

    def __ror__(self, other: Any) -> Array:
        return operate("bitwise_or", other, self)

    def __xor__(self, other: Any) -> Array:
        return operate("bitwise_xor", self, other)

    def __rxor__(self, other: Any) -> Array:
        return operate("bitwise_xor", other, self)

    def __eq__(self, other: Any) -> Array:  # type: ignore[override]
        return operate("equal", self, other)

    def __ne__(self, other: Any) -> Array:  # type: ignore[override]
        return operate("not_equal", self, other)

    def __lt__(self, other: Any) -> Array:
        return operate("less", self, other)

    def __le__(self, other: Any) -> Array:
        return operate("less_equal", self, other)

    def __gt__(self, other: Any) -> Array:
        return operate("greater", self, other)

    def __ge__(self, other: Any) -> Array:
        return operate("greater_equal", self, other)

    def __neg__(self) -> Array:
        return operate("negative", self)

    def __pos__(self) -> Array:
        return self

    def __abs__(self) -> Array:
        return operate("abs", self)

    def __invert__(self) -> Array:
        return operate("invert", self)

    def __round__(self, digits: int = 0) -> Array:
        return operate("round", self, digits)

    def __getitem__(self, place: Any) -> Array:
        return operate("__getitem__", self, place)

    # NumPy's methods; functions of these names say what they compute.

    @property
    def T(self) -> Array:
        """The transpose."""
        return operate("transpose", self)

    def astype(self, dtype: Any) -> Array:
        """The same numbers in another type, modulo its width; fractions are cut towards 0."""
        return operate("astype", self, dtype)

    def reshape(self, *shape: Any) -> Array:
        """The same elements along other axes."""
        return operate("reshape", self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Array:
        """All elements along one axis."""
        return operate("ravel", self)

    flatten = ravel

    def transpose(self, *axes: Any) -> Array:
        """Axes in this order; the reverse of their order by default."""
        order = axes[0] if len(axes) == 1 else axes or None
        return operate("transpose", self, order)

    def swapaxes(self, a: int, b: int) -> Array:
        """The array with two axes exchanged."""
        return operate("swapaxes", self, a, b)

    def squeeze(self, axis: Any = None) -> Array:
        """The array without axes of length 1."""
        return operate("squeeze", self, axis)

    def copy(self) -> Array:
        """The same array: arrays of a computation do not change."""
        return self

    def __getattr__(self, name: str) -> Any:
        if name in _METHODS:
            function = FUNCTIONS[name]
            return lambda *args, **kwargs: function(self, *args, **kwargs)
        hint = REFUSED.get(name, "there are NumPy's functions: see hushwire.numpy")
        raise AttributeError(f"an array of a computation has no {name!r}: {hint}")


_METHODS = {
    "sum", "prod", "mean", "std", "var", "min", "max", "ptp", "any", "all", "argmin", "argmax", "argsort",
    "sort", "cumsum", "cumprod", "dot", "clip", "round", "take", "repeat", "trace", "diagonal", "conj",
    "conjugate",
}  # fmt: skip


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """A function by NumPy's name."""
    if name in REFUSED:
        raise ComputationError(f"numpy.{name} is no function of a computation", REFUSED[name])
    if name not in FUNCTIONS:
        raise ComputationError(
            f"numpy.{name} is no function of a computation", "see hushwire.numpy for all that there are"
        )
    for option in [option for option, value in kwargs.items() if value is None or option == "casting"]:
        del kwargs[option]
    if "out" in kwargs:
        raise ComputationError("an array of a computation does not change", "take the result, without out=")
    return FUNCTIONS[name](*args, **kwargs)


def operate(name: str, *args: Any) -> Array:
    """A function that is there for sure, by NumPy's name."""
    made: Array = FUNCTIONS[name](*args)
    return made


def count(shape: Shape) -> int:
    """The number of elements of a shape without names."""
    total = 1
    for dim in shape:
        if isinstance(dim, str):
            raise ComputationError(
                f"the length {dim} is known in a run alone", "declare the length as a number for this"
            )
        total *= dim
    return total


# Constants.


class Literal_:
    """Public numbers whose type the values beside them decide."""

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
    return isinstance(value, (list, tuple)) and any(isinstance(v, Array) or _holds_arrays(v) for v in value)


def operand(value: Any) -> Operand:
    """An array as it is, public numbers as such; lists may hold both."""
    if isinstance(value, Array):
        if value.graph is not graph():
            raise ComputationError(
                "a value of one computation is used in another", "pass it to the function as an argument"
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
            raise ComputationError(f"{dtype} is no type of a computation", "bring integers, bools or floats")
        return Literal_(flat, shape, scalar_of(dtype, graph().real), "bool" if kind == "b" else "int")
    flat, shape = _flatten(value)
    if flat and all(isinstance(number, bool) for number in flat):
        return Literal_(flat, shape, bool_, "bool")
    if all(isinstance(number, int) for number in flat):
        return Literal_(flat, shape, i64 if shape else None, "int")
    if all(isinstance(number, (int, float, Fraction)) for number in flat):
        return Literal_(flat, shape, None, "float")
    raise ComputationError(
        f"{type(value).__name__} is no value of a computation", "bring arrays, numbers or lists of them"
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
    """Values as arrays of one type, which NumPy's rules give. Shapes stay."""
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
    return Array(of, of.add(form, name, tuple(arg.at for arg in args), scalar, shape, suffix, sight))


def infix(sign: str, a: Array, b: Array, scalar: Scalar | None = None) -> Array:
    """An operation between two values of one shape, or of which one is a single element."""
    return node("infix", sign, (a, b), scalar or a.dtype, a.shape or b.shape)


def select(condition: Array, yes: Array, no: Array) -> Array:
    """Where the condition is true the second, else the third."""
    return node("call", "select", (condition, yes, no), yes.dtype, condition.shape or yes.shape or no.shape)


def shifted(a: Array, by: int) -> Array:
    """Shifted towards the low end by so many bits, or towards the high end by −`by`."""
    return a if by == 0 else node("shift", ">>" if by > 0 else "<<", (a,), a.dtype, a.shape, str(abs(by)))


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
    return a if a.shape == shape else node("call", "reshape", (a,), a.dtype, shape, f", {_list(shape)}")


def broadcast_to(a: Array, shape: Shape) -> Array:
    """The array repeated to a shape, by NumPy's rules."""
    if a.shape == shape:
        return a
    fits = len(a.shape) <= len(shape)
    if not fits or any(own not in (1, dim) for own, dim in zip(a.shape[::-1], shape[::-1])):
        raise ComputationError(f"shapes {_list(a.shape)} and {_list(shape)} do not fit", "see NumPy's broadcasting")
    if a.shape:
        a = reshape_to(a, (1,) * (len(shape) - len(a.shape)) + a.shape)
    return a if a.shape == shape else node("call", "broadcast", (a,), a.dtype, shape, f", {_list(shape)}")


def common_shape(*shapes: Shape) -> Shape:
    """The shape to which all are repeated, by NumPy's rules."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = []
    for axis in range(rank):
        dims = [shape[axis - rank + len(shape)] for shape in shapes if axis - rank + len(shape) >= 0]
        longer = list(dict.fromkeys(dim for dim in dims if dim != 1))
        if len(longer) > 1:
            shown = " and ".join(_list(shape) for shape in shapes)
            raise ComputationError(f"shapes {shown} do not fit", "see NumPy's broadcasting")
        result.append(longer[0] if longer else 1)
    return tuple(result)


def aligned(*arrays: Array) -> list[Array]:
    """Arrays of one shape; single elements stay, as operations take them so."""
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
    """The value without what constants and promises tell of its range: results may wrap."""
    if not a.dtype.is_number:
        return a
    return node("call", "wrapping", (a,), a.dtype, a.shape)


def single(a: Array, steps: int) -> Array:
    """One public element of the array's type, in steps."""
    return constant_steps(a.dtype, [steps])


def normal_axis(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    if not -rank <= axis < rank:
        raise ComputationError(f"axis {axis} of an array with {rank} axes", f"axes are 0 to {rank - 1}")
    return axis % rank


def length(a: Array, axis: int) -> int | Array:
    """The length of an axis: a number, or a public u64 where a run tells it."""
    dim = a.shape[axis]
    if isinstance(dim, int):
        return dim
    ones = broadcast_to(constant_steps(integer(64, False), [1]), (dim,))
    return along("sum", ones, 0)


def _list(shape: Shape) -> str:
    return f"[{', '.join(str(dim) for dim in shape)}]"
