"""Each function by NumPy's name against NumPy, on the shapes and types that SPU's tests try
(`jnp_testbase.py` names the functions): (4,) and (2, 3, 4), integers of 8 to 64 bits, truth values
and fixed numbers. Tolerances are in steps of the result's type, 2^-frac; integers are equal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

np = pytest.importorskip("numpy")

import hushwire as hw
import hushwire.numpy as hnp
from hushwire.tracing import Computation

SHAPES = [(4,), (2, 3, 4)]
INTS = {
    "i8": hw.i8,
    "u8": hw.u8,
    "i16": hw.i16,
    "u16": hw.u16,
    "i32": hw.i32,
    "u32": hw.u32,
    "i64": hw.i64,
    "u64": hw.u64,
}
FIXED = {"fixed64": hw.fixed(64, 32), "fixed32": hw.fixed(32, 16)}
TYPES = {**INTS, **FIXED, "bool": hw.bool_}


def draw(rng: Any, kind: str, shape: tuple[int, ...], domain: str) -> Any:
    """Elements of a type: small ones of both signs, unless the domain says otherwise."""
    if kind == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind in FIXED:
        low, high = {"any": (-10, 10), "positive": (0.1, 10), "small": (-1.5, 1.5), "unit": (-0.95, 0.95),
                     "from1": (1, 10), "nonzero": (0.5, 10), "angle": (-1.4, 1.4)}[domain]  # fmt: skip
        frac = FIXED[kind].frac
        numbers = np.round(rng.uniform(low, high, shape) * 2.0**frac) / 2.0**frac
        return numbers * rng.choice([-1, 1], shape) if domain == "nonzero" else numbers
    dtype = np.dtype(f"{'int' if kind[0] == 'i' else 'uint'}{kind[1:]}")
    if domain == "full":
        info = np.iinfo(dtype)
        numbers = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        numbers.flat[0], numbers.flat[1] = info.min, info.max
        return numbers
    low, high = {"any": (-100, 100), "positive": (1, 10), "small": (-1, 2), "unit": (0, 1),
                 "from1": (1, 10), "nonzero": (1, 10), "angle": (-1, 2), "bits": (0, 40), "few": (0, 5)}[domain]  # fmt: skip
    numbers = rng.integers(low if kind[0] == "i" else max(0, low), high, shape).astype(dtype)
    if domain == "nonzero" and kind[0] == "i":
        numbers *= rng.choice(np.array([-1, 1], dtype), shape)
    return numbers


@dataclass(frozen=True)
class Case:
    """A function of `nargs` arrays of the kinds b (bool), i (integers), f (fixed)."""

    name: str
    nargs: int = 1
    kinds: str = "if"
    domain: str = "any"
    real: bool = False
    """NumPy is asked on float64, since it has narrower floats for narrow integers."""
    steps: float = 0
    relative: float = 0
    call: Callable[..., Any] | None = None
    second: str | None = None
    integers: str | None = None
    """The domain of integers, where it is another."""

    def run(self, module: Any, *args: Any) -> Any:
        return self.call(module, *args) if self.call else getattr(module, self.name)(*args)


def real(
    name: str, domain: str = "any", steps: float = 2, relative: float = 1, **more: Any
) -> Case:
    return Case(name, domain=domain, real=True, steps=steps, relative=relative, **more)


ONE_TO_ONE = [
    Case("abs", kinds="bif", integers="full"),
    Case("add", 2, "bif", integers="full"),
    Case("ceil"),
    Case("conj"),
    *(Case(name, 2, "bif", integers=domain)
      for name in ("equal", "not_equal", "greater", "greater_equal", "less", "less_equal")
      for domain in ("small", "full")),
    real("exp", "small"),
    real("fabs", steps=0, relative=0),
    real("float_power", "positive", nargs=2, second="small", relative=4),
    Case("floor"),
    real("i0", "any", relative=16, steps=4, integers="positive"),
    real("ldexp", nargs=2, kinds="i", call=lambda m, x, y: m.ldexp(x, y if m is hnp else y.astype(int)), second="few"),
    real("log", "positive"),
    Case("logical_and", 2, "bif", "small"),
    Case("logical_not", 1, "bif", "small"),
    Case("logical_or", 2, "bif", "small"),
    Case("logical_xor", 2, "bif", "small"),
    Case("maximum", 2, "bif", integers="full"),
    Case("minimum", 2, "bif", integers="full"),
    Case("multiply", 2, "bif", steps=1, integers="full"),
    Case("square", 1, "bif", steps=1, integers="full"),
    Case("negative", integers="full"),
    Case("array_equal", 2, call=lambda m, x, y: m.array_equal(x, x)),
    Case("array_equal", 2, call=lambda m, x, y: m.array_equal(x, y)),
    Case("array_equiv", 2, call=lambda m, x, y: m.array_equiv(x, y[:1] * 0 + x)),
    Case("reciprocal", 1, "f", "nonzero", steps=2, relative=1),
    Case("subtract", 2, integers="full"),
    Case("signbit", integers="full", call=lambda m, x: m.signbit(x) if m is hnp else x < 0),
    Case("trunc"),
    *(real(name) for name in ("sin", "cos")),
    real("tan", "angle", relative=32, steps=8),
    real("sinh", "small"), real("cosh", "small"), real("tanh", "small"),
    real("arcsin", "unit"), real("arccos", "unit"), real("arctan"), real("arctan2", "any", nargs=2, steps=3),
    real("arcsinh", "any", steps=4), real("arccosh", "from1", steps=4, relative=2), real("arctanh", "unit", steps=3, relative=20),
]  # fmt: skip

COMPOUND = [
    real("angle", steps=1, call=lambda m, x: m.angle(x)),
    real("angle", steps=0, relative=0, call=lambda m, x: m.angle(x, deg=True)),
    Case("atleast_1d"), Case("atleast_2d"), Case("atleast_3d"),
    real("cbrt", steps=4, relative=4), Case("conjugate"),
    real("deg2rad", steps=1), real("rad2deg", steps=1, relative=2),
    real("divide", "nonzero", nargs=2, steps=2, relative=1),
    Case("divmod", 2, "if", "nonzero", call=lambda m, x, y: m.divmod(x, y)[0]),
    Case("divmod", 2, "if", "nonzero", call=lambda m, x, y: m.divmod(x, y)[1]),
    real("exp2", "small"), real("expm1", "small"), Case("fix"),
    Case("floor_divide", 2, "if", "nonzero", integers="small"), Case("floor_divide", 2, "i", "full"),
    Case("fmin", 2), Case("fmax", 2), Case("fmod", 2, "if", "nonzero"), Case("fmod", 2, "i", "full"),
    real("heaviside", nargs=2, steps=0, relative=0, integers="small"), real("hypot", nargs=2, steps=4, relative=2),
    Case("kron", 2, "if", "small", steps=1, call=lambda m, x, y: m.kron(x, y)),
    Case("outer", 2, "if", "small", steps=1),
    Case("imag"), Case("iscomplex"), Case("isreal"), Case("isrealobj"), Case("real"), Case("positive"),
    real("log2", "positive", steps=4), real("log10", "positive", steps=3), real("log1p", "positive"),
    real("logaddexp", nargs=2, steps=3, kinds="f"), real("logaddexp2", nargs=2, steps=6, kinds="f"),
    Case("polyval", 2, "if", "small", steps=8, call=lambda m, x, y: m.polyval(x.ravel()[:3], y)),
    Case("power", 2, "i", "few", second="few"), Case("power", 2, "i", "full", second="bits"),
    real("power", "positive", nargs=2, second="small", kinds="f", relative=4),
    Case("ravel", kinds="bif"), Case("remainder", 2, "if", "nonzero"), Case("remainder", 2, "i", "full"),
    Case("mod", 2, "if", "nonzero"),
    real("modf", steps=0, relative=0, call=lambda m, x: m.modf(x)[0]),
    real("modf", steps=0, relative=0, call=lambda m, x: m.modf(x)[1]),
    Case("rint", 1, "f"), Case("sign", 1, "if"), real("copysign", nargs=2, steps=0, relative=0),
    real("sinc", steps=2), real("sqrt", "positive"), Case("transpose", kinds="bif"),
    real("true_divide", "nonzero", nargs=2),
    Case("ediff1d", 3, "i", call=lambda m, x, y, z: m.ediff1d(x, y, z)),
    real("unwrap", kinds="f", steps=16), Case("isclose", 2, "bif", "small"),
    Case("gcd", 2, "i"), Case("gcd", 2, "i", "full", call=lambda m, x, y: m.gcd(x // 3, y // 5)),
    Case("lcm", 2, "i", "small"), Case("lcm", 2, "i", "few"),
]  # fmt: skip

BITWISE = [
    Case("bitwise_count", 1, "i", "full"),
    *(Case(name, 2, "bi", "full") for name in ("bitwise_and", "bitwise_or", "bitwise_xor")),
    Case("bitwise_not", 1, "bi", "full"), Case("invert", 1, "bi", "full"),
    Case("left_shift", 2, "i", "full", second="bits", call=lambda m, x, y: m.left_shift(x, y % 16)),
    Case("right_shift", 2, "i", "full", second="bits", call=lambda m, x, y: m.right_shift(x, y % 16)),
    Case("left_shift", 1, "i", "full", call=lambda m, x: m.left_shift(x, 3)),
    Case("right_shift", 1, "i", "full", call=lambda m, x: m.right_shift(x, 5)),
]  # fmt: skip

SORTS = [
    Case("sort", 1, "bif", integers="small"), Case("median", steps=1, call=lambda m, x: m.median(x, axis=-1)),
    Case("median", steps=1), Case("argsort", 1, "if", "small", call=lambda m, x: m.argsort(x, stable=True)),
    Case("top_k", call=lambda m, x: hnp.top_k(x, 2)[0] if m is hnp else np.flip(np.sort(x), -1)[..., :2]),
    Case("take", 1, "bif", call=lambda m, x: m.take(x, [3, 0, 1, 1])),
]  # fmt: skip

SUMS = ("sum", "prod", "mean", "max", "min", "var", "std", "ptp", "all", "any")


def reductions() -> list[Case]:
    cases = []
    for name in SUMS:
        for axis in (None, 0, -1, (0, -1)):
            for keep in (False, True):
                kinds = {"ptp": "if"}.get(name, "bif")
                spread = name in ("mean", "var", "std")

                def call(
                    m: Any, x: Any, name: str = name, axis: Any = axis, keep: bool = keep
                ) -> Any:
                    own = axis if not isinstance(axis, tuple) or x.ndim > 1 else 0
                    return getattr(m, name)(x, axis=own, keepdims=keep)

                domain = "small" if name in ("all", "any", "prod") else "any"
                cases.append(
                    Case(
                        name,
                        1,
                        kinds,
                        domain,
                        spread,
                        30 if spread or name == "prod" else 0,
                        2,
                        call,
                    )
                )
    for name in ("argmin", "argmax"):
        for axis in (None, 0, -1):
            call = lambda m, x, name=name, axis=axis: getattr(m, name)(x, axis=axis)  # noqa: E731
            cases.append(Case(name, 1, "bif", "small", call=call))
    cases.append(Case("prod", 1, "i", "full"))
    cases.append(Case("sum", 1, "i", "full"))
    cases.append(Case("sum", 1, "if", call=lambda m, x: m.sum(x, where=x > 0, initial=3)))
    cases.append(
        Case("mean", 1, "if", real=True, steps=4, call=lambda m, x: m.mean(x, where=x > -200))
    )
    cases.append(Case("max", 1, "if", call=lambda m, x: m.max(x, where=x > 0, initial=1)))
    cases.append(Case("cumsum", 1, "bif", call=lambda m, x: m.cumsum(x, axis=-1)))
    cases.append(
        Case("cumprod", 1, "if", "small", steps=40, call=lambda m, x: m.cumprod(x, axis=-1))
    )
    cases.append(Case("diff", 1, "bif", call=lambda m, x: m.diff(x)))
    return cases


CASES = [*ONE_TO_ONE, *COMPOUND, *BITWISE, *SORTS, *reductions()]


def kinds_of(case: Case) -> list[str]:
    names = {"b": ["bool"], "i": list(INTS), "f": list(FIXED)}
    return [name for letter in case.kinds for name in names[letter]]


def signature(case: Case, kind: str, shape: tuple[int, ...], seed: int) -> tuple[list[Any], Any]:
    rng = np.random.default_rng(seed)
    domain = case.integers if case.integers and kind in INTS else case.domain
    domains = [domain] + [case.second or domain] * (case.nargs - 1)
    return [draw(rng, kind, shape, d) for d in domains], rng


def one(case: Case, kind: str) -> Computation:
    """A computation of the function on both shapes."""
    types = {
        f"x{k}{n}": TYPES[kind][shape] @ "ann"
        for k, shape in enumerate(SHAPES)
        for n in range(case.nargs)
    }

    def function(**arrays: Any) -> dict[str, Any]:
        made = {}
        for k in range(len(SHAPES)):
            args = [arrays[f"x{k}{n}"] for n in range(case.nargs)]
            made[f"y{k}"] = case.run(hnp, *args)
        return {name: hnp.asarray(value) for name, value in made.items()}

    real_type = FIXED.get(kind, FIXED["fixed64"])
    return Computation.of(function, types, hw.out("bob"), name="function", real=real_type)


QUICK = ("i32", "u64", "fixed64", "bool")
KINDS = [pytest.param(kind, marks=() if kind in QUICK else pytest.mark.full) for kind in TYPES]


@pytest.mark.parametrize("kind", KINDS)
def test_functions_are_those_of_numpy(kind: str) -> None:
    wrong = []
    for number, case in enumerate(CASES):
        if kind not in kinds_of(case):
            continue
        inputs, expected = {}, {}
        for k, shape in enumerate(SHAPES):
            args, _ = signature(case, kind, shape, 1000 * number + k)
            inputs.update({f"x{k}{n}": arg for n, arg in enumerate(args)})
            plain = [
                arg.astype(np.float64) if case.real and arg.dtype != bool else arg for arg in args
            ]
            with np.errstate(all="ignore"):
                expected[f"y{k}"] = np.asarray(case.run(np, *plain))
        computation = one(case, kind)
        frac = computation.real.frac
        found = computation.evaluate(**inputs)
        for name, want in expected.items():
            got = np.asarray(found[name])
            where = f"{number} {case.name}({', '.join(str(v.tolist()) for v in inputs.values())}) {name}"
            if got.shape != want.shape:
                wrong.append(f"{where}: shape {got.shape}, not {want.shape}")
            elif want.dtype.kind in "biu" and not case.real:
                if got.dtype != want.dtype:
                    wrong.append(f"{where}: type {got.dtype}, not {want.dtype}")
                elif not np.array_equal(got, want):
                    wrong.append(f"{where}: {got.tolist()}, not {want.tolist()}")
            else:
                off = np.abs(got.astype(np.float64) - want.astype(np.float64)) * 2.0**frac
                allowed = (
                    case.steps
                    + case.relative * np.abs(want)
                    + 1e-9 * 2.0**frac * (frac > 16) * (case.steps > 0)
                )
                if not np.all(off <= allowed + 1e-6):
                    at = np.unravel_index(np.argmax(off - allowed), off.shape) if off.shape else ()
                    wrong.append(f"{where}: off by {off[at]:.3g} steps at {want[at]}")
    assert not wrong, "\n".join(wrong)


MAY_WRAP = {"polyval", "ediff1d", "diff"}
"""What promised ranges rightly refuse: it wraps for some numbers of these ranges."""


@pytest.mark.parametrize("kind", ["i32", "u64", "fixed64"])
def test_no_function_wraps_by_itself(kind: str) -> None:
    """With promised ranges, the library refuses operations that may wrap. No function has such an operation."""
    least, greatest = {"i32": (-100, 100), "u64": (0, 100), "fixed64": (-10, 10)}[kind]
    refused = []
    for case in CASES:
        domain = case.integers or case.domain
        if kind not in kinds_of(case) or domain in ("full", "few") or case.name in MAY_WRAP:
            continue
        types = {f"x{n}": TYPES[kind][4].within(least, greatest) @ "ann" for n in range(case.nargs)}

        def function(case: Case = case, **arrays: Any) -> Any:
            return hnp.asarray(case.run(hnp, *arrays.values()))

        try:
            assert Computation.of(function, types, hw.out("bob"), name="f").digest
        except hw.UsageError as error:
            refused.append(f"{case.name}: {error}")
    assert not refused, "\n".join(refused)
