"""Types of values in a computation: the element's type, the shape and the owner.

price: hw.u64["n"] @ "shop"              a column of the shop's, of n elements
rate:  hw.fixed(64, 32) @ "bank"         one number with 32 bits behind the point
table: hw.i32["n", 3].public             three columns that all know
age:   hw.u8["n"].within(0, 130) @ "ann" a promise, which makes later steps cheaper
"""

from __future__ import annotations

import keyword
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, Union

from .errors import ComputationError

Dim = Union[int, str]
"""The length of one axis: a number, or the name of a length that a run's values tell."""
Shape = tuple[Dim, ...]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TAKEN = {"true", "false", "fixed", "bits", "desc", "in", "bool", "place"}


def checked_name(name: str, what: str) -> str:
    """The name, if the text form allows it; other names are refused."""
    is_type = re.fullmatch(r"[iu][0-9]+", name) is not None
    if _NAME.fullmatch(name) is None or name in _TAKEN or is_type:
        raise ComputationError(
            f"{name!r} is no name of {what}",
            "write a letter, then letters, digits and underscores; names of types are taken",
        )
    return name


@dataclass(frozen=True)
class Scalar:
    """The type of one element: a truth value, an integer, or a fixed number.

    Integers wrap. A fixed number of `frac` bits behind the point is a multiple of 2**-frac.
    Indexing gives a shape, and `@` an owner.

    >>> import hushwire as hw
    >>> str(hw.u64), str(hw.fixed(32, 16))
    ('u64', 'fixed(32, 16)')
    """

    kind: Literal["bool", "int", "fixed", "bits"]
    bits: int
    signed: bool = False
    frac: int = 0

    def __post_init__(self) -> None:
        whole = self.kind == "bool" or 1 <= self.bits <= 128
        if not whole or not 0 <= self.frac <= self.bits:
            raise ComputationError(
                f"there is no number of {self.bits} bits with {self.frac} behind the point",
                "numbers have 1 to 128 bits, of which some are behind the point",
            )

    def __str__(self) -> str:
        if self.kind == "bool":
            return "bool"
        if self.kind == "bits":
            return f"bits({self.bits})"
        if self.kind == "fixed":
            return f"fixed({self.bits}, {self.frac})"
        return f"{'i' if self.signed else 'u'}{self.bits}"

    def __repr__(self) -> str:
        return f"hw.{self}" if self.kind != "bool" else "hw.bool_"

    def __getitem__(self, shape: Dim | Shape) -> ArrayType:
        return ArrayType(self, shape if isinstance(shape, tuple) else (shape,))

    def __matmul__(self, owner: str) -> ArrayType:
        return ArrayType(self, ()) @ owner

    def within(self, least: int | float, greatest: int | float) -> ArrayType:
        """One number that its owner promises to be within these ends, both included.

        >>> import hushwire as hw
        >>> (hw.u8.within(0, 130) @ "ann").promise
        (0, 130)
        """
        return ArrayType(self, ()).within(least, greatest)

    @property
    def public(self) -> ArrayType:
        """One number that all members know."""
        return ArrayType(self, ()).public

    @property
    def is_number(self) -> bool:
        """Whether arithmetic is defined on it."""
        return self.kind in ("int", "fixed")

    @property
    def least(self) -> int:
        """The least element, in steps of 2**-frac."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def greatest(self) -> int:
        """The greatest element, in steps of 2**-frac."""
        return (1 << (self.bits - 1 if self.signed else self.bits)) - 1

    def steps(self, number: int | float | bool | Fraction) -> int:
        """A number in steps of 2**-frac, rounded to the nearest step, and to the even one of two.

        Raises OverflowError if the type cannot hold it, and ComputationError if it is not a number.
        """
        if self.kind == "bool":
            if number not in (0, 1):
                raise ComputationError(f"{number} is no truth value", "write True or False")
            return int(number)
        try:
            exact = Fraction(number)
        except (ValueError, OverflowError):
            raise ComputationError(
                f"{number} is no number of a computation",
                "numbers are finite: there is neither NaN nor infinity",
            ) from None
        if self.kind == "int" and exact.denominator != 1:
            raise ComputationError(f"{number} is no integer", "take a fixed type, or round it")
        steps = round(exact * (1 << self.frac))
        if not self.least <= steps <= self.greatest:
            raise OverflowError(f"{number} does not fit {self}")
        return steps


@dataclass(frozen=True)
class ArrayType:
    """The type of an array: its element, shape and owner, and the owner's promise."""

    scalar: Scalar
    shape: Shape
    owner: str | None = None
    visibility: Literal["unset", "private", "public", "secret"] = "unset"
    promise: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        for dim in self.shape:
            if isinstance(dim, str):
                checked_name(dim, "a length")
            elif isinstance(dim, bool) or dim < 0:
                raise ComputationError(
                    f"an axis of length {dim}", "a length is 0 or more, or a name"
                )
        if len(self.shape) > 8:
            raise ComputationError(f"a value with {len(self.shape)} axes", "it has at most 8")

    def __matmul__(self, owner: str) -> ArrayType:
        return replace(self, owner=checked_name(owner, "a member"), visibility="private")

    @property
    def public(self) -> ArrayType:
        """The same type for values that all members know."""
        return replace(self, owner=None, visibility="public")

    def within(self, least: int | float, greatest: int | float) -> ArrayType:
        """The same type with a promise: elements lie within these ends, both included."""
        ends = (self.scalar.steps(least), self.scalar.steps(greatest))
        if not self.scalar.is_number or ends[0] > ends[1]:
            raise ComputationError(
                f"a promise from {least} to {greatest}", "the first is the lower number"
            )
        return replace(self, promise=ends)

    def __str__(self) -> str:
        dims = ", ".join(str(dim) for dim in self.shape)
        return f"{self.scalar}[{dims}]" if self.shape else str(self.scalar)


@dataclass(frozen=True)
class Out:
    """The members that learn an output."""

    to: tuple[str, ...]
    name: str | None = None


def out(*to: str, name: str | None = None) -> Out:
    """Names the members that learn a result: `-> hw.out("shop", "client")`.

    A function with several results names them for each, in a tuple, or in a dictionary by name.

    >>> import hushwire as hw
    >>> hw.out("shop", name="total").to
    ('shop',)
    """
    if not to:
        raise ComputationError(
            "an output that nobody learns", 'name one member at least: hw.out("shop")'
        )
    for member in to:
        checked_name(member, "a member")
    return Out(to, None if name is None else checked_name(name, "an output"))


def integer(bits: int, signed: bool = True) -> Scalar:
    """An integer of 1 to 128 bits.

    >>> import hushwire as hw
    >>> hw.integer(37, signed=False)
    hw.u37
    """
    return Scalar("int", bits, signed)


def fixed(bits: int, frac: int) -> Scalar:
    """A number of `bits` bits with a sign, `frac` of them behind the point.

    >>> import hushwire as hw
    >>> hw.fixed(64, 32)["n"] @ "bank"
    ArrayType(scalar=hw.fixed(64, 32), shape=('n',), owner='bank', visibility='private', promise=None)
    """
    return Scalar("fixed", bits, True, frac)


bool_ = Scalar("bool", 1)
i8, i16, i32, i64, i128 = (Scalar("int", bits, True) for bits in (8, 16, 32, 64, 128))
u8, u16, u32, u64, u128 = (Scalar("int", bits) for bits in (8, 16, 32, 64, 128))
REAL = fixed(64, 32)
"""The type of results that NumPy gives as floating numbers, where a computation names no other."""

_NUMPY = {
    **{f"int{bits}": integer(bits) for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": integer(bits, False) for bits in (8, 16, 32, 64)},
    "bool": bool_,
    "bool_": bool_,
    "int": i64,
}


def scalar_of(dtype: object, real: Scalar) -> Scalar:
    """The type that a caller names: one of these types, or NumPy's or Python's name of it."""
    if isinstance(dtype, Scalar):
        return dtype
    name = str(getattr(dtype, "name", getattr(dtype, "__name__", dtype)))
    if name.startswith("float"):
        return real
    if name not in _NUMPY:
        raise ComputationError(
            f"{name} is no type of a computation", "write hw.i64, hw.fixed(64, 32), …"
        )
    return _NUMPY[name]


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type of a result of two types, as NumPy has it for integers and truth values."""
    if a == b:
        return a
    if not b.is_number:
        return a
    if not a.is_number:
        return b
    if a.kind == b.kind == "fixed":
        frac = max(a.frac, b.frac)
        return fixed(min(128, max(a.bits - a.frac, b.bits - b.frac) + frac), frac)
    if "fixed" in (a.kind, b.kind):
        return a if a.kind == "fixed" else b
    if a.signed == b.signed:
        return a if a.bits >= b.bits else b
    signed, unsigned = (a, b) if a.signed else (b, a)
    bits = max(signed.bits, unsigned.bits + 1)
    bits = next((size for size in (8, 16, 32, 64) if size >= bits), bits)
    if bits > 64 and signed.bits <= 64 and unsigned.bits <= 64:
        raise ComputationError(
            f"{a} and {b} have no common integer of 64 bits",
            "convert one, as in x.astype(hw.i64); NumPy takes floating numbers here",
        )
    return integer(bits)


def is_reserved(name: str) -> bool:
    """Whether a name cannot be a value's name in text."""
    is_type = re.fullmatch(r"[iu][0-9]+", name) is not None
    return _NAME.fullmatch(name) is None or name in _TAKEN or is_type or keyword.iskeyword(name)
