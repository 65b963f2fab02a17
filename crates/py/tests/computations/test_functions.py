"""Real functions within their documented errors, on 400 numbers of each domain, for three types; and
their constants, computed anew by mpmath."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

np = pytest.importorskip("numpy")

import hushwire as hw
import hushwire.numpy as hnp
from hushwire.tracing import Computation, series

TYPES = [hw.fixed(64, 32), hw.fixed(32, 16), hw.fixed(48, 20)]
COUNT = 400

Plain = Callable[[Any], Any]

# Name, domain, error in steps, and in 2^-frac of the result's size.
FUNCTIONS: list[tuple[str, float, float, float, float, Plain]] = [
    ("sqrt", 0, 1000, 1, 1 / 32, np.sqrt),
    ("exp", -10, 9, 1, 1 / 32, np.exp),
    ("log", 0.001, 1000, 2, 0, np.log),
    ("sin", -50, 50, 1, 0, np.sin),
    ("cos", -50, 50, 1, 0, np.cos),
    ("tanh", -5, 5, 2, 0, np.tanh),
    ("cbrt", -1000, 1000, 1, 4, np.cbrt),
    ("log2", 0.001, 1000, 3, 0, np.log2),
    ("log10", 0.001, 1000, 2, 0, np.log10),
    ("arctan", -30, 30, 3, 0, np.arctan),
    ("arcsin", -1, 1, 3, 0, np.arcsin),
    ("arccos", -1, 1, 3, 0, np.arccos),
    ("arcsinh", -100, 100, 5, 0, np.arcsinh),
    ("arccosh", 1, 100, 4, 0, np.arccosh),
    ("sinc", -4, 4, 2, 0, np.sinc),
    ("i0", -20, 20, 2, 4, np.i0),
    ("sigmoid", -20, 20, 2, 0, lambda x: 1 / (1 + np.exp(-x))),
    ("softplus", -20, 20, 1, 0, lambda x: np.logaddexp(0, x)),
    ("erf", -4, 4, 1, 0, np.vectorize(math.erf)),
    ("relu", -4, 4, 0, 0, lambda x: np.maximum(x, 0)),
    ("reciprocal", 0.01, 100, 1, 1 / 32, lambda x: 1 / x),
    ("square", -100, 100, 1, 0, np.square),
]


@pytest.mark.parametrize("scalar", TYPES, ids=str)
def test_errors_are_within_their_bounds(scalar: Any) -> None:
    rng = np.random.default_rng(7)
    steps = 2.0**scalar.frac
    values = {}
    for name, low, high, *_ in FUNCTIONS:
        x = np.round(rng.uniform(low, high, COUNT) * steps) / steps
        x[0], x[1] = np.ceil(low * steps) / steps, np.floor(high * steps) / steps
        # The ends of the ranges of series.
        x[2:6] = [v if low <= v <= high else x[0] for v in (0, 0.5, 0.5 - 1 / steps, 8)]
        values[f"x_{name}"] = x
    types = {name: scalar[COUNT] @ "ann" for name in values}
    compute = lambda **x: {f"y_{n}": getattr(hnp, n)(x[f"x_{n}"]) for n, *_ in FUNCTIONS}  # noqa: E731
    found = Computation.of(compute, types, hw.out("ann"), name="f", real=scalar).evaluate(**values)
    wrong = []
    for name, _, _, bound, relative, plain in FUNCTIONS:
        x = values[f"x_{name}"]
        with np.errstate(all="ignore"):
            wanted = plain(x)
        off = np.abs(found[f"y_{name}"] - wanted) * steps - relative * np.abs(wanted)
        defined = np.isfinite(wanted) & (np.abs(wanted) < 2.0 ** (scalar.bits - scalar.frac - 1))
        worst = np.argmax(np.where(defined, off, -np.inf))
        if off[worst] > bound:
            wrong.append(f"{name}({x[worst]}) is off by {off[worst]:.2f} steps, more than {bound}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("scalar", TYPES, ids=str)
def test_functions_of_two_numbers(scalar: Any) -> None:
    rng = np.random.default_rng(8)
    steps = 2.0**scalar.frac
    x, y = (np.round(rng.uniform(-30, 30, COUNT) * steps) / steps for _ in range(2))
    x[:4], y[:4] = [0, 0, 1, -1], [0, 1, 0, 0]

    def compute(x: Any, y: Any) -> dict[str, Any]:
        return {
            "angle": np.arctan2(y, x),
            "length": np.hypot(x, y),
            "sum": np.logaddexp(x, y),
            "two": np.logaddexp2(x, y),
            "rest": np.remainder(x, np.where(hnp.abs(y) < 0.5, 1, y)),
            "tail": np.fmod(x, 7),
            "next": np.nextafter(x, y),
        }

    types = {"x": scalar[COUNT] @ "ann", "y": scalar[COUNT] @ "bob"}
    found = Computation.of(compute, types, hw.out("ann"), name="f", real=scalar).evaluate(x=x, y=y)
    divisor = np.where(np.abs(y) < 0.5, 1, y)
    wanted = {
        "angle": (np.arctan2(y, x), 4, 0),
        "length": (np.hypot(x, y), 3, 2),
        "sum": (np.logaddexp(x, y), 2, 0),
        "two": (np.logaddexp2(x, y), 4, 0),
        "rest": (x - np.floor(x / divisor) * divisor, 1e-3, 0),
        "tail": (np.fmod(x, 7), 0, 0),
        "next": (x + np.sign(y - x) / steps, 0, 0),
    }
    for name, (value, bound, relative) in wanted.items():
        off = np.abs(found[name] - value) * steps - relative * np.abs(value)
        worst = np.argmax(off)
        assert off[worst] <= bound + 1e-3, f"{name}({x[worst]}, {y[worst]}): {off[worst]} steps"


@pytest.mark.parametrize("scalar", TYPES, ids=str)
def test_softmax_is_a_share_of_powers(scalar: Any) -> None:
    x = np.round(np.random.default_rng(5).uniform(-4, 4, (7, 5)) * 2**12) / 2**12
    types = {"x": scalar[7, 5] @ "ann"}
    made = Computation.of(lambda x: hnp.softmax(x), types, hw.out("ann"), name="f", real=scalar)
    powers = np.exp(x)
    wanted = powers / powers.sum(axis=1, keepdims=True)
    assert np.abs(made.evaluate(x=x) - wanted).max() * 2.0**scalar.frac <= 8


def test_constants_are_what_mpmath_computes() -> None:
    mp = pytest.importorskip("mpmath")
    mp.mp.dps = 50
    one = mp.mpf(2) ** series.PLACES
    assert series.PI == int(mp.nint(mp.pi * one))
    assert series.LN_2 == int(mp.nint(mp.log(2) * one))

    def ratio(f: Callable[[Any], Any], t: Any) -> Any:
        return f(t) / t if t else mp.mpf(1)

    tables: list[tuple[tuple[int, ...], Callable[[Any], Any]]] = [
        (series.ARCTAN, lambda y: ratio(mp.atan, mp.sqrt((y + 1) / 2))),
        (series.ARCSIN, lambda y: ratio(mp.asin, mp.sqrt((y + 1) / 8))),
        (series.SINC, lambda y: ratio(mp.sin, mp.pi * mp.sqrt((y + 1) / 8))),
        (series.BESSEL_NEAR, lambda y: mp.exp(-4 * (y + 1)) * mp.besseli(0, 4 * (y + 1))),
        (series.BESSEL_FAR, lambda y: mp.exp(-28 - 20 * y) * mp.besseli(0, 28 + 20 * y)),
    ]
    for coefficients, function in tables:
        for k in range(41):
            y = mp.mpf(k - 19) / 20 if k else mp.mpf(-0.99)
            if y > 1:
                continue
            value = sum(c * mp.chebyt(n, y) for n, c in enumerate(coefficients)) / one
            assert abs(value - function(y)) < mp.mpf(2) ** -43, (k, value)
