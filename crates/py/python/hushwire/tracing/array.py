"""Arrays of values that are not known yet, on which a traced function computes."""

from __future__ import annotations

import contextvars
import inspect
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, Optional, TypeVar

from .errors import ComputationError
from .graph import Graph
from .types import Scalar, Shape

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""Functions by NumPy's names, which NumPy's own functions find when they are called on arrays."""
REFUSED: dict[str, str] = {}
"""NumPy's functions that there cannot be, with the reason and what to write instead."""

CURRENT: contextvars.ContextVar[Optional[Graph]] = contextvars.ContextVar(
    "hushwire_graph", default=None
)


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
    value, no elements and no text of elements, because they are unknown before the run.
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
        """The lengths of the axes: numbers, and names of lengths that a run sets."""
        return self._graph.nodes[self.at].shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements, if no length is a name."""
        return count(self.shape)

    @property
    def sight(self) -> str:
        """Who may see the elements: "public", "secret", or the only member that knows them."""
        return self._graph.nodes[self.at].sight

    def __repr__(self) -> str:
        dims = ", ".join(str(dim) for dim in self.shape)
        return f"<hushwire {self.dtype}{f'[{dims}]' if dims else ''}, {self.sight}>"

    def __len__(self) -> int:
        if not self.shape:
            raise ComputationError("a single element has no length", "take x.shape")
        if isinstance(self.shape[0], str):
            raise ComputationError(
                f"the length {self.shape[0]} is known in a run alone",
                "take functions of whole arrays",
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Array]:
        return (self[place] for place in range(len(self)))

    # Attributes that a secret does not have.

    def __bool__(self) -> bool:
        raise ComputationError(
            "a secret has no truth value, so that no branch can tell it",
            "write hw.where(condition, a, b), and & | ~ for and, or, not",
        )

    def _no_number(self) -> NoReturn:
        raise ComputationError(
            "a secret is no number of Python",
            "return it to those who may learn it, and read it there",
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
        """Refused, because it would show the element."""
        self._no_number()

    def tolist(self) -> NoReturn:
        """Refused, because it would show the elements."""
        self._no_number()

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise ComputationError(
            "a secret is no array of NumPy",
            "NumPy's functions take it as it is; join several by stack",
        )

    def __reduce__(self) -> NoReturn:
        raise ComputationError(
            "a value of a computation cannot be stored", "store the computation's text"
        )

    def __setitem__(self, place: Any, value: Any) -> NoReturn:
        raise ComputationError(
            "an array of a computation does not change",
            "write hw.where(mask, value, x), or join parts",
        )

    # NumPy's functions on arrays.

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = str(ufunc.__name__)
        if method == "__call__":
            return call(name, *inputs, **kwargs)
        return call(f"ufunc.{method}", name, *inputs, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        del types
        module, name = str(function.__module__), str(function.__name__)
        return call(f"linalg.{name}" if "linalg" in module else name, *args, **kwargs)

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

    @property
    def mT(self) -> Array:
        """The array with its last two axes exchanged."""
        return operate("matrix_transpose", self)

    @property
    def real(self) -> Array:
        """The array itself, because there are no complex numbers."""
        return self

    @property
    def imag(self) -> Array:
        """Zeros, because there are no complex numbers."""
        return operate("imag", self)

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
    "conjugate", "argpartition", "partition", "searchsorted", "compress", "choose",
}  # fmt: skip


def call(name: str, *args: Any, **kwargs: Any) -> Any:
    """A function by NumPy's name."""
    if name in REFUSED:
        raise ComputationError(f"numpy.{name} is no function of a computation", REFUSED[name])
    if name not in FUNCTIONS:
        raise ComputationError(
            f"numpy.{name} is no function of a computation",
            "see hushwire.numpy for all that there are",
        )
    function = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters

    def is_idle(option: str, value: Any) -> bool:
        # None is what most options are by default, and a choice of its own for others, as for
        # `axis` of `sort`.
        default = parameters[option].default if option in parameters else None
        return option in ("casting", "subok", "like") or (
            value is None and default in (None, inspect.Parameter.empty)
        )

    for option in [option for option, value in kwargs.items() if is_idle(option, value)]:
        del kwargs[option]
    if "out" in kwargs:
        raise ComputationError(
            "an array of a computation does not change", "take the result, without out="
        )
    if "dtype" in kwargs and "dtype" not in parameters:
        # NumPy's functions of elements convert their operands.
        dtype = kwargs.pop("dtype")
        args = tuple(operate("astype", value, dtype) for value in args)
    try:
        inspect.signature(function).bind(*args, **kwargs)
    except TypeError as error:
        known = ", ".join(parameters)
        raise ComputationError(f"numpy.{name}: {error}", f"here it has {known}") from None
    return function(*args, **kwargs)


def operate(name: str, *args: Any) -> Array:
    """A function that certainly exists, by NumPy's name."""
    made: Array = FUNCTIONS[name](*args)
    return made


def count(shape: Shape) -> int:
    """The number of elements of a shape without names."""
    total = 1
    for dim in shape:
        if isinstance(dim, str):
            raise ComputationError(
                f"the length {dim} is known in a run alone",
                "declare the length as a number for this",
            )
        total *= dim
    return total
