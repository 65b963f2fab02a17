"""Random programs against NumPy: the types and numbers of every step are the same."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
pytest.importorskip("hypothesis")
import hushwire as hw
import hushwire.numpy as hnp
from hushwire.tracing import Computation
from hypothesis import given
from hypothesis import strategies as st

TYPES = {
    "int16": hw.i16,
    "uint16": hw.u16,
    "int32": hw.i32,
    "uint32": hw.u32,
    "int64": hw.i64,
    "bool": hw.bool_,
}
SHAPES = [(3,), (2, 3), (2, 1), ()]

UNARY = [
    ("square", {}), ("abs", {}), ("sign", {}), ("logical_not", {}), ("invert", {}), ("bitwise_count", {}),
    ("sum", {"axis": 0}), ("sum", {"axis": None, "keepdims": True}), ("max", {"axis": -1}), ("cumsum", {"axis": 0}),
    ("argmin", {"axis": 0}), ("sort", {"axis": -1}), ("flip", {"axis": 0}), ("any", {"axis": None}), ("prod", {"axis": 0}),
    ("negative", {}), ("ravel", {}), ("transpose", {}), ("atleast_2d", {}), ("diff", {}), ("signbit", {}),
]  # fmt: skip
BINARY = ["add", "subtract", "multiply", "floor_divide", "remainder", "minimum", "maximum", "equal", "less",
          "greater_equal", "bitwise_and", "bitwise_xor", "logical_or", "fmod", "not_equal"]  # fmt: skip


@st.composite
def programs(draw: Any) -> tuple[list[Any], list[tuple[Any, ...]]]:
    """Inputs, and steps that read inputs and earlier steps."""
    inputs = []
    for _ in range(draw(st.integers(1, 3))):
        dtype = np.dtype(draw(st.sampled_from(sorted(TYPES))))
        shape = draw(st.sampled_from(SHAPES))
        size = int(np.prod(shape))
        if dtype == bool:
            numbers = draw(st.lists(st.booleans(), min_size=size, max_size=size))
        else:
            info = np.iinfo(dtype)
            some = st.integers(info.min, info.max) | st.integers(max(info.min, -5), 5)
            numbers = draw(st.lists(some, min_size=size, max_size=size))
        inputs.append(np.array(numbers, dtype).reshape(shape))
    steps: list[tuple[Any, ...]] = []
    for k in range(draw(st.integers(1, 6))):
        known = st.integers(0, len(inputs) + k - 1)
        kind = draw(st.sampled_from(["unary", "binary", "number", "where", "astype"]))
        if kind == "unary":
            steps.append((kind, draw(st.sampled_from(UNARY)), draw(known)))
        elif kind == "binary":
            steps.append((kind, draw(st.sampled_from(BINARY)), draw(known), draw(known)))
        elif kind == "number":
            steps.append(
                (kind, draw(st.sampled_from(BINARY[:11])), draw(known), draw(st.integers(-9, 9)))
            )
        elif kind == "where":
            steps.append((kind, draw(known), draw(known), draw(known)))
        else:
            steps.append((kind, draw(st.sampled_from(sorted(TYPES))), draw(known)))
    return inputs, steps


def step(m: Any, values: list[Any], what: tuple[Any, ...]) -> Any:
    kind = what[0]
    if kind == "unary":
        (name, options), at = what[1:]
        return getattr(m, name)(values[at], **options)
    if kind == "binary":
        return getattr(m, what[1])(values[what[2]], values[what[3]])
    if kind == "number":
        return getattr(m, what[1])(values[what[2]], what[3])
    if kind == "where":
        return m.where(values[what[1]], values[what[2]], values[what[3]])
    return values[what[2]].astype(what[1])


@given(programs())
def test_programs_are_those_of_numpy(program: tuple[list[Any], list[tuple[Any, ...]]]) -> None:
    inputs, steps = program
    plain: list[Any] = list(inputs)
    fine: list[tuple[Any, ...]] = []
    with np.errstate(all="ignore"):
        for what in steps:
            renamed = what
            try:
                if (
                    what[0] == "unary"
                    and what[1][1].get("axis") is not None
                    and plain[what[2]].ndim == 0
                ):
                    raise IndexError(
                        "an axis of a single element, which NumPy has for some functions"
                    )
                value = np.asarray(step(np, plain, what))
            except (TypeError, ValueError, IndexError, OverflowError):
                # NumPy refuses the step, or the step reads one that was left out.
                value = plain[0]
                renamed = ("astype", str(plain[0].dtype), 0)
            if (
                value.dtype.kind == "f"
                or value.dtype in (np.int8, np.uint8, np.uint64)
                or value.size == 0
            ):
                value, renamed = plain[0], ("astype", str(plain[0].dtype), 0)
            plain.append(value)
            fine.append(renamed)

    def function(**arrays: Any) -> dict[str, Any]:
        values: list[Any] = list(arrays.values())
        for what in fine:
            values.append(hnp.asarray(step(hnp, values, what)))
        return {f"s{k}": value for k, value in enumerate(values[len(arrays) :])}

    types = {
        f"x{k}": TYPES[str(value.dtype)][value.shape] @ "ann" for k, value in enumerate(inputs)
    }
    computation = Computation.of(function, types, hw.out("bob"), name="program")
    found = computation.evaluate(**{f"x{k}": value for k, value in enumerate(inputs)})
    for k, wanted in enumerate(plain[len(inputs) :]):
        got = np.asarray(found[f"s{k}"])
        assert got.dtype == wanted.dtype, (fine, k)
        assert got.shape == wanted.shape, (fine, k)
        np.testing.assert_array_equal(got, wanted, err_msg=str((fine, k)))
