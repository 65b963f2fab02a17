"""`@hw.computation`: a function on arrays, traced once, as a computation among owners."""

from __future__ import annotations

import inspect
import sys
import threading
import typing
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any, Protocol, overload

from hushwire.report import Report, table

from . import types as ty
from .array import CURRENT, Array, graph
from .errors import ComputationError
from .graph import Graph, name_value
from .language import array
from .types import ArrayType, Out, Scalar, checked_name


class Runs(Protocol):
    """An object that runs a computation: a session of `hw.local` or `hw.connect`."""

    def run(self, computation: Any, inputs: Mapping[str, Any], /) -> dict[str, Any]:
        """The outputs that this side learns, by name."""


class Computation:
    """A function as a computation, made by `@hw.computation`.

    A call with a session and values runs it: `risk(session, price=…, amount=…)`, with `progress=True`
    for a bar. A call with arrays in another computation makes it a part of that computation. `text`,
    `digest`, `cost` and `explain` run nothing.

    >>> import hushwire as hw
    >>> @hw.computation
    ... def bill(price: hw.u64["n"] @ "shop", amount: hw.u64["n"] @ "client") -> hw.out("client"):
    ...     total = (price * amount).sum()
    ...     return total
    >>> print(bill.text)
    computation bill
    members shop, client
    symbols n
    <BLANKLINE>
    input price: u64[n] from shop
    input amount: u64[n] from client
    <BLANKLINE>
    total = sum(price * amount)
    <BLANKLINE>
    output result = total to client
    <BLANKLINE>
    """

    def __init__(self, function: Callable[..., Any], name: str | None, real: Scalar) -> None:
        self.__wrapped__ = function
        self.__doc__ = function.__doc__
        self.__name__ = checked_name(name or function.__name__, "a computation")
        self.real = real
        self._types: dict[str, ArrayType] | None = None
        self._to: Any = None
        self._lock = threading.Lock()
        self._graph: Graph | None = None
        self._native: Any = None

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        inputs: Mapping[str, ArrayType],
        to: Any,
        *,
        name: str | None = None,
        real: Scalar = ty.REAL,
    ) -> Computation:
        """A computation whose types are given by a program instead of annotations.

        >>> import hushwire as hw
        >>> f = hw.tracing.Computation.of(lambda x: x.sum(), {"x": hw.u8[4] @ "ann"}, hw.out("bob"), name="f")
        >>> f
        <hushwire computation f(x: u8[4])>
        """
        made = cls(function, name, real)
        made._types, made._to = dict(inputs), to
        return made

    # The computation.

    @property
    def traced(self) -> Graph:
        """The graph of operations, made by one call of the function on arrays without elements."""
        with self._lock:
            if self._graph is None:
                self._graph = self._trace()
            return self._graph

    def _trace(self) -> Graph:
        of = Graph(self.__name__, self.real)
        token = CURRENT.set(of)
        try:
            types, to = self._signature()
            arguments = {}
            for name, kind in types.items():
                checked_name(name, "an input")
                sight = kind.owner or kind.visibility
                at = of.add("input", name, (), kind.scalar, kind.shape, sight=sight)
                of.inputs.append((name, kind))
                arguments[name] = Array(of, at)
            # Inputs come before constants.
            result, names = _with_names(self.__wrapped__, arguments)
            for output, value, learners in _outputs(result, to):
                of.outputs.append((output, array(value).at, learners))
            for name, value in names.items():
                if isinstance(value, Array) and value.graph is of:
                    name_value(of, value.at, name)
            return of
        finally:
            CURRENT.reset(token)

    def _signature(self) -> tuple[dict[str, ArrayType], Any]:
        if self._types is not None:
            return self._types, self._to
        signature = inspect.signature(self.__wrapped__, eval_str=True)
        types: dict[str, ArrayType] = {}
        for parameter in signature.parameters.values():
            if parameter.default is not parameter.empty:
                continue
            types[parameter.name] = _input_type(parameter.name, parameter.annotation)
        if signature.return_annotation is signature.empty:
            raise ComputationError(
                f"{self.__name__} does not say who learns its result", 'write -> hw.out("shop")'
            )
        return types, signature.return_annotation

    @property
    def text(self) -> str:
        """The computation in the language of `.hwc` files, which the command `hushwire` reads, too."""
        return self.traced.text()

    @property
    def native(self) -> Any:
        """The computation after the library has read and checked it."""
        if self._native is None:
            from .. import _native

            self._native = _native.Computation(self.text)
        return self._native

    @property
    def digest(self) -> str:
        """The digest on which parties agree. It does not depend on the names of values."""
        return str(self.native.digest)

    def explain(self) -> str:
        """A text about what each member brings and learns, and what all see during the run.

        >>> import hushwire as hw
        >>> @hw.computation
        ... def total(x: hw.u8["n"] @ "ann") -> hw.out("bob"):
        ...     return x.sum()
        >>> print(total.explain().splitlines()[1])
          ann brings x: u8[n] and learns nothing
        """
        return str(self.native.explain())

    def cost(self, protocol: str = "rep3", **lengths: int) -> Report:
        """The cost of a run for these lengths: rounds, bytes of the party that sends most, and forecast
        seconds. The default length is 1000.

        >>> import hushwire as hw
        >>> @hw.computation
        ... def total(x: hw.u8["n"] @ "ann", y: hw.u8["n"] @ "bob") -> hw.out("bob"):
        ...     return (x * y).sum()
        >>> sorted(total.cost(n=10**6))
        ['bytes_sent', 'rounds', 'seconds']
        """
        symbols = self.traced.symbols()
        unknown = [name for name in lengths if name not in symbols]
        if unknown:
            known = ", ".join(symbols) or "none"
            raise ComputationError(
                f"{self.__name__} has no length {unknown[0]}", f"its lengths: {known}"
            )
        given = {name: int(lengths.get(name, 1000)) for name in symbols}
        return Report(self.native.cost(given, protocol))

    # Runs.

    def __call__(self, *args: Any, **values: Any) -> Any:
        """Runs among the parties of a session; in another computation, becomes part of it."""
        if CURRENT.get() is not None:
            return self.__wrapped__(*args, **values)
        if not args or not hasattr(args[0], "run"):
            raise ComputationError(
                f"{self.__name__} without a session",
                "write f(session, name=values); f.evaluate(name=values) computes in the open",
            )
        inputs = [name for name, _ in self.traced.inputs]
        options = (
            {"progress": values.pop("progress")} if "progress" in values.keys() - inputs else {}
        )
        return self._result(args[0].run(self.native, self._bound(args[1:], values), **options))

    def evaluate(self, *args: Any, **values: Any) -> Any:
        """Computes in the clear on the values of all members, without parties, to test a computation.

        The result is equal, bit for bit, to that of the parties.

        >>> import hushwire as hw
        >>> @hw.computation
        ... def total(x: hw.u8["n"] @ "ann") -> hw.out("bob"):
        ...     return x.sum()
        >>> int(total.evaluate(x=[1, 2, 3]))
        6
        """
        from .. import _arrays

        bound = self._bound(args, values)
        found = self.native.evaluate(
            {name: _arrays.to_native(value) for name, value in bound.items()}
        )
        return self._result({name: _arrays.from_native(raw) for name, raw in found.items()})

    def _bound(self, args: tuple[Any, ...], values: dict[str, Any]) -> dict[str, Any]:
        names = [name for name, _ in self.traced.inputs]
        if len(args) > len(names):
            raise TypeError(f"{self.__name__} takes {len(names)} inputs, and {len(args)} are given")
        bound = dict(zip(names, args))
        for name, value in values.items():
            if name not in names:
                known = ", ".join(names)
                raise TypeError(f"{self.__name__} has no input {name}: there are {known}")
            if name in bound:
                raise TypeError(f"{self.__name__} has two values for {name}")
            bound[name] = value
        return bound

    def _result(self, found: Mapping[str, Any]) -> Any:
        names = [name for name, _, _ in self.traced.outputs]
        if names == ["result"]:
            return found.get("result")
        return Outputs({name: found[name] for name in names if name in found})

    # For people.

    def __repr__(self) -> str:
        inputs = ", ".join(f"{name}: {kind}" for name, kind in self.traced.inputs)
        return f"<hushwire computation {self.__name__}({inputs})>"

    def picture(self) -> str:
        """A picture of the operators in SVG, with who brings what, what is secret, and who learns what.

        >>> import hushwire as hw
        >>> @hw.computation
        ... def twice(x: hw.u8 @ "ann") -> hw.out("bob"):
        ...     return 2 * x
        >>> twice.picture()[:4]
        '<svg'
        """
        from .picture import svg

        return svg(self.traced)

    def _repr_html_(self) -> str:
        from .picture import page

        return page(self)


class Outputs(dict[str, Any]):
    """Results by name, also as attributes."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def _repr_html_(self) -> str:
        return table(["result", ""], ((name, repr(value)) for name, value in self.items()))


def _input_type(name: str, annotation: Any) -> ArrayType:
    if typing.get_origin(annotation) is typing.Annotated:
        found = [part for part in annotation.__metadata__ if isinstance(part, (ArrayType, Scalar))]
        annotation = found[0] if found else annotation
    if isinstance(annotation, Scalar):
        annotation = ArrayType(annotation, ())
    if not isinstance(annotation, ArrayType):
        raise ComputationError(
            f"the argument {name} has no type of a computation",
            f'write {name}: hw.u64["n"] @ "shop"',
        )
    if annotation.visibility == "unset":
        raise ComputationError(
            f"the argument {name}: {annotation} is nobody's", 'write @ "shop" behind it, or .public'
        )
    return annotation


def _outputs(result: Any, to: Any) -> list[tuple[str, Any, Out]]:
    """Names, values and learners of what a function returned."""
    if typing.get_origin(to) is typing.Annotated:
        to = next(part for part in to.__metadata__ if isinstance(part, (Out, dict, tuple, list)))
    if isinstance(to, Out):
        if isinstance(result, Mapping):
            return [(checked_name(name, "an output"), value, to) for name, value in result.items()]
        if isinstance(result, tuple):
            return [(f"result{k}", value, to) for k, value in enumerate(result)]
        return [(to.name or "result", result, to)]
    if isinstance(to, Mapping):
        if not isinstance(result, Mapping) or set(result) != set(to):
            raise ComputationError(
                "results have other names than the annotation behind `->`",
                "return a dict of these names",
            )
        return [(checked_name(name, "an output"), result[name], one) for name, one in to.items()]
    if isinstance(to, (tuple, list)):
        if not isinstance(result, (tuple, list)) or len(result) != len(to):
            raise ComputationError(
                "the number of results differs from the annotation behind `->`", "return as many"
            )
        return [
            (one.name or f"result{k}", value, one) for k, (one, value) in enumerate(zip(to, result))
        ]
    raise ComputationError(
        "the annotation behind `->` says nobody", 'write -> hw.out("shop", "client")'
    )


def _with_names(
    function: Callable[..., Any], arguments: dict[str, Array]
) -> tuple[Any, dict[str, Any]]:
    """The function's result, and local variables, which name values. The variables are those of the
    function and of other functions in its file, at their return. The function's own come first."""
    found: list[dict[str, Any]] = []
    file = getattr(getattr(function, "__code__", None), "co_filename", None)
    before = sys.getprofile()

    def seen(frame: FrameType, event: str, arg: Any) -> None:
        del arg
        if event == "return" and frame.f_code.co_filename == file:
            local = {n: v for n, v in frame.f_locals.items() if isinstance(v, Array)}
            if local:
                found.append(local)

    sys.setprofile(seen)
    try:
        result = function(**arguments)
    finally:
        sys.setprofile(before)
    names: dict[str, Any] = {}
    for local in reversed(found):
        for name, value in local.items():
            names.setdefault(name, value)
    return result, names


@overload
def computation(function: Callable[..., Any], /) -> Computation: ...
@overload
def computation(
    function: None = None, /, *, name: str | None = None, real: Scalar = ty.REAL
) -> Callable[[Callable[..., Any]], Computation]: ...
def computation(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    real: Scalar = ty.REAL,
) -> Computation | Callable[[Callable[..., Any]], Computation]:
    """Makes a function on arrays a computation among owners.

    Arguments are annotated with their type and owner, and the result with who learns it. All other
    numbers in the function, also defaults of arguments, are part of the computation, which all members
    read. So bring secret numbers as arguments. `real` is the type of results for which NumPy has
    floating numbers. By default it has 64 bits, 32 of them behind the point.

    >>> import hushwire as hw
    >>> @hw.computation(real=hw.fixed(32, 16))
    ... def mean(pay: hw.u32["n"] @ "ada") -> hw.out("bob"):
    ...     return pay.mean()
    >>> "fixed(64, 16)" in mean.text
    True
    """
    if function is None:
        return lambda inner: Computation(inner, name, real)
    return Computation(function, name, real)


def name(value: Array, text: str) -> Array:
    """Names a value for readers of the text, and returns it."""
    name_value(graph(), value.at, text)
    return value
