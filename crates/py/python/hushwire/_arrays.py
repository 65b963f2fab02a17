"""Converts arrays for the native module and back, with or without NumPy."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any

from hushwire.errors import UsageError

#: Type string, shape and elements, in the form of ``__array_interface__``.
Array = tuple[str, tuple[int, ...], bytes]
#: Scalar, shape, elements.
Raw = tuple[str, list[int], bytes]


def _refused(cause: str, remedy: str) -> UsageError:
    return UsageError(step="reading an array", cause=cause, remedy=remedy)


def _numpy() -> Any:
    """The module NumPy, or None if it is not installed."""
    known = sys.modules.get("numpy")
    if known is not None:
        return known
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


class Floats:
    """Numbers that become floats of 4 bytes."""

    def __init__(self, value: Any) -> None:
        self.value = value


def of_floats(lengths: Sequence[int], data: bytes) -> Any:
    """An array of floats of 4 bytes, or nested lists of them."""
    numpy = _numpy()
    if numpy is not None:
        return numpy.frombuffer(data, dtype="<f4").reshape(lengths).copy()
    import array

    flat = array.array("f")
    flat.frombytes(data)
    if sys.byteorder == "big":
        flat.byteswap()
    return _nested(list(lengths), flat.tolist())


def to_native(value: Any) -> Array:
    """Convert a NumPy array, a number, a truth value, or nested lists of these.

    >>> to_native([1, 2])
    ('<i8', (2,), b'\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\x00\\x00\\x00\\x00\\x00\\x00')
    """
    if isinstance(value, Floats):
        import array

        shape, flat = _flat(value.value)
        return "<f4", shape, _little(array.array("f", [float(element) for element in flat]))
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        numpy = _numpy()
        if numpy is None:
            raise _refused("an array needs NumPy, which is not installed", "pip install numpy")
        if numpy.ma.is_masked(value):
            # Under a mask is a number that nobody means.
            raise _refused("the array has masked elements", "fill them, as by array.filled(0), or leave them out")
        made = numpy.asarray(value)
        if made.dtype == object:
            raise _refused("the array holds objects", "bring booleans, integers or floats")
        if made.dtype == numpy.float16:
            made = made.astype(numpy.float32)
        made = made.astype(made.dtype.newbyteorder("<"), copy=False)
        return made.dtype.str, tuple(made.shape), made.tobytes()
    shape, flat = _flat(value)
    return _packed(shape, flat)


def _flat(value: Any) -> tuple[tuple[int, ...], list[Any]]:
    if isinstance(value, (bool, int, float)):
        return (), [value]
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        kind = type(value).__name__
        raise _refused(f"{kind} is no array", "bring a NumPy array, numbers or lists of numbers")
    parts = [_flat(part) for part in value]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise _refused("the lists have different lengths", "bring lists that make an array")
    inner = shapes.pop() if shapes else ()
    return (len(parts), *inner), [element for _, flat in parts for element in flat]


def _packed(shape: tuple[int, ...], flat: list[Any]) -> Array:
    import array

    if flat and all(isinstance(element, bool) for element in flat):
        return "|b1", shape, bytes(flat)
    if any(isinstance(element, float) for element in flat):
        try:
            reals = [float(element) for element in flat]
        except OverflowError:
            raise _refused("an element is too large for a float", "bring integers alone") from None
        return "<f8", shape, _little(array.array("d", reals))
    for code, kind, size in (("q", "<i8", 8), ("Q", "<u8", 8)):
        try:
            return kind, shape, _little(array.array(code, flat))
        except OverflowError:
            continue
    size = 16
    try:
        return "<i16", shape, b"".join(n.to_bytes(size, "little", signed=True) for n in flat)
    except OverflowError:
        raise _refused("an element has more than 128 bits", "bring smaller numbers") from None


def _little(elements: Any) -> bytes:
    if sys.byteorder == "big":
        elements.byteswap()
    made: bytes = elements.tobytes()
    return made


def _form(scalar: str) -> tuple[str, int, float]:
    """The kind of a scalar, its number of bits, and the size of a step."""
    if scalar == "bool":
        return "b", 1, 1.0
    if scalar.startswith("fixed("):
        bits, frac = scalar[6:-1].split(",")
        return "i", int(bits), 2.0 ** -int(frac)
    if scalar.startswith("bits("):
        return "V", int(scalar[5:-1]), 1.0
    if scalar == "place":
        return "u", 64, 1.0
    return scalar[0], int(scalar[1:]), 1.0


def from_native(raw: Raw) -> Any:
    """Convert a raw array to a NumPy array, or to nested lists if NumPy is not installed.

    Fixed-point elements are floats. Integers of more than 64 bits are Python's integers.
    """
    scalar, shape, data = raw
    kind, bits, step = _form(scalar)
    count = 1
    for length in shape:
        count *= length
    size = len(data) // count if count else 1 << max(0, ((bits + 7) // 8 - 1).bit_length())
    numpy = _numpy()
    if kind == "V":
        flat: list[Any] = [bytes(data[i : i + size]) for i in range(0, len(data), size)]
    elif numpy is not None and size <= 8:
        code = "|b1" if kind == "b" else f"<{kind}{size}"
        made = numpy.frombuffer(data, dtype=code).reshape(shape)
        return made.astype(numpy.float64) * step if scalar.startswith("fixed(") else made.copy()
    else:
        pieces = (data[i : i + size] for i in range(0, len(data), size))
        flat = [int.from_bytes(piece, "little", signed=kind == "i") for piece in pieces]
        if kind == "b":
            flat = [bool(element) for element in flat]
        if scalar.startswith("fixed("):
            flat = [element * step for element in flat]
    if numpy is not None:
        made = numpy.empty(count, dtype=object)
        made[:] = flat
        return made.reshape(shape)
    return _nested(shape, flat)


def _nested(shape: Sequence[int], flat: list[Any]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nested(shape[1:], flat[i * step : (i + 1) * step]) for i in range(shape[0])]
