"""Corners of NumPy's rules: negative axes, axes kept, single elements, no elements, mixed types, steps
backwards, masks, several lists of places, options. Each line of corners.txt is a term whose oracle is
NumPy: `m` is NumPy or `hushwire.numpy`, the other letters are inputs."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy", minversion="2.1")

import hushwire as hw
import hushwire.numpy as hnp
from hushwire.tracing import Computation

RNG = np.random.default_rng(3)
REAL = hw.fixed(64, 32)
#: Inputs by name: their type, and their values.
INPUTS: dict[str, tuple[Any, Any]] = {
    "a": (hw.i32[2, 3, 4], RNG.integers(-50, 50, (2, 3, 4)).astype(np.int32)),
    "b": (hw.bool_[2, 3, 4], RNG.integers(0, 2, (2, 3, 4)).astype(bool)),
    "c": (hw.bool_[4], np.array([True, False, True, True])),
    "e": (REAL[0], np.zeros((0,))),
    "f": (REAL[2, 3, 4], np.round(RNG.uniform(-8, 8, (2, 3, 4)) * 2**20) / 2**20),
    "g": (REAL[4], np.array([1.5, -2.25, 0.5, 3.0])),
    "h": (REAL, np.float64(2.5)),
    "m33": (REAL[3, 3], np.array([[4.0, 1, 2], [1, 3, 0], [2, 0, 5]])),
    "n64": (hw.i64[4], np.array([-(2**40), 5, 7, 1])),
    "p16": (hw.i16[4], np.array([300, -300, 5, 0], np.int16)),
    "p64": (hw.u64[4], np.array([2**63, 5, 7, 1], np.uint64)),
    "q": (hw.i64[3, 4], RNG.integers(-9, 9, (3, 4))),
    "s": (hw.i32, np.int32(7)),
    "u": (hw.u8[4], np.array([200, 100, 50, 7], np.uint8)),
    "v": (hw.i32[4], np.array([5, -3, 8, 2], np.int32)),
    "w": (hw.i64[4], np.array([1, 0, 3, 2])),
    "z": (hw.i32[0], np.zeros((0,), np.int32)),
    "zz": (hw.i32[2, 0], np.zeros((2, 0), np.int32)),
}
#: The terms of each heading of corners.txt.
TERMS: dict[str, list[str]] = {}
for line in Path(__file__).with_name("corners.txt").read_text().splitlines()[1:]:
    if line.startswith("#"):
        TERMS[line[2:]] = []
    elif line:
        TERMS[list(TERMS)[-1]].append(line)

#: Terms that are refused, or have another result, and a part of the reason.
REFUSED = {
    "m.max(z)": "initial=",
    "m.mean(z)": "there is no NaN",
    "m.median(z)": "there is no NaN",
    "m.percentile(z, 5)": "there is no NaN",
    "m.where(c)": "would tell how many",
    "m.extract(v > 0, v)": "would tell how many",
    "v[v > 0]": "would tell how many",
    "q[w[:2], w[:2]]": "one axis after the other",
    "v[10]": "place 10 of an axis of length 4",
    "v[1.5]": "places are integers",
    "v[:, 0]": "2 places of an array with 1 axes",
    "v[True]": "a truth value is no place",
    "q[np.array([True, False])]": "a mask of 2 for an axis of length 3",
    "p64 > v": "no common integer",
    "p64 + n64": "no common integer",
    "c - c": "NumPy refuses it, too",
    "-c": "NumPy refuses it, too",
    "m.split(v, 3)": "array_split",
    "m.bincount(w)": "minlength=",
    "m.histogram(v)": "range=",
    "m.histogram(v, v)": "edges are not public",
    "m.repeat(v, w)": "result's shape would tell",
    "m.quantile(v, g[0])": "secret part",
    "m.quantile(v, 0.5, method='weibull')": "methods are",
    "m.quantile(v, 1.5)": "beyond the whole",
    "m.delete(v, w[0])": "secret places",
    "m.pad(v, 1, mode='median')": "modes are",
    "m.take(v, 1, mode='odd')": "modes are",
    "m.sort(v, order='x')": "fields",
    "m.gradient(q, [1, 2, 3], axis=0)": "distances",
    "v / 0": "there is no infinity",
    "max(v)": "no truth value",
    "any(c)": "no truth value",
    "v.item()": "no number of Python",
    "v.nbytes": "no 'nbytes'",
    "m.sum(a, 5)": "axis 5 of an array with 3 axes",
    "v + q.T": "do not fit",
    "m.stack([v, q])": "different shapes",
    "m.nanmean(g)": "never NaN",
    "m.isnan(g)": "never NaN",
    "m.unique(v)": "would tell of the data",
    "m.nonzero(v)": "would tell of the data",
    "m.fill_diagonal(m33, 0)": "does not change",
    "m.linalg.qr(m33)": "cholesky",
    "m.linalg.svd(m33)": "compute_uv=False",
    "m.linalg.norm(m33, 3)": "orders",
    "m.einsum('ij,jk', q)": "each operand",
    "np.percentile(v, 50, weights=w, method='inverted_cdf')": "here it has",
    "np.frexp(g)": "log2",
    "np.add(v, v, out=np.zeros(4))": "without out=",
    "np.subtract.reduce(v)": "there is reduce of",
    "np.fft.fft(g)": "no function of a computation",
    "m.sum(a, (1, 1))": "axis 1 twice",
    "m.mean(a, axis=(0, -3))": "axis 0 twice",
    "m.max(s, (0,))": "axis 0 of an array with 0 axes",
    "m.argmax(z)": "of no elements",
    "m.argmin(zz, axis=1)": "of no elements",
    "m.average(z, weights=z)": "of no elements",
    "m.diag(s)": "an array with 0 axes",
    "m.tril(s)": "an array with 0 axes",
    "m.bincount(g, minlength=4)": "vector of integers",
    "m.bincount(q, minlength=4)": "vector of integers",
    "m.take_along_axis(z, w, 0)": "an axis of length 0",
}


def used(term: str) -> list[str]:
    """The inputs of a term, which are words in it."""
    return sorted(INPUTS.keys() & set(compile(term, "term", "eval").co_names))


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (tuple, list)) else [value]


def computed(term: str) -> list[Any]:
    """The result of a computation for a term."""
    names = used(term)
    assert names, term

    def function(**values: Any) -> dict[str, Any]:
        made = eval(term, {"m": hnp, "np": np, **values})  # noqa: S307
        return {f"part{k}": part for k, part in enumerate(listed(made))}

    types = {name: INPUTS[name][0] @ "ann" for name in names}
    made = Computation.of(function, types, hw.out("bob"), name="f")
    return list(made.evaluate(**{name: INPUTS[name][1] for name in names}).values())


def difference(term: str) -> str | None:
    """How the results of a term differ from NumPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = {name: INPUTS[name][1] for name in INPUTS}
        wanted = listed(eval(term, {"m": np, "np": np, **values}))  # noqa: S307
    try:
        found = computed(term)
    except (ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
        return str(error)
    if len(found) != len(wanted):
        return f"{len(found)} results in place of {len(wanted)}"
    for one, other in zip(found, wanted):
        a, b = np.asarray(one), np.asarray(other)
        if a.shape != b.shape:
            return f"the shape {a.shape} in place of {b.shape}"
        if (a.dtype.kind == "f") != (b.dtype.kind == "f"):
            return f"the type {a.dtype} in place of {b.dtype}"
        if not np.allclose(a.astype(float), b.astype(float), rtol=1e-5, atol=1e-5):
            return f"{a.ravel()[:4]} in place of {b.ravel()[:4]}"
    return None


@pytest.mark.parametrize("heading", list(TERMS))
def test_terms_are_what_numpy_makes_of_them(heading: str) -> None:
    terms = TERMS[heading]
    wrong = [f"{term}: {told}" for term in terms if (told := difference(term)) is not None]
    assert not wrong, "\n".join(wrong)
    assert len(terms) > 20


def test_what_is_refused_says_why() -> None:
    silent = []
    for term, reason in REFUSED.items():
        try:
            computed(term)
        except (hw.ComputationError, IndexError, AttributeError) as error:
            if reason in str(error):
                continue
            silent.append(f"{term}: {error}")
        else:
            silent.append(f"{term}: it is not refused")
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize(("bits", "signed"), [(37, True), (37, False), (5, True), (100, False)])
def test_integers_of_any_width_wrap_as_pythons_do(bits: int, signed: bool) -> None:
    scalar = hw.integer(bits, signed)
    numbers = [0, 1, 2, (1 << (bits - 1)) - 1] + ([-1, -(1 << (bits - 1))] if signed else [(1 << bits) - 1])
    types = {"x": scalar[len(numbers)] @ "ann", "y": scalar @ "bob"}
    made = Computation.of(lambda x, y: {"sum": x + y, "product": x * y}, types, hw.out("bob"), name="f")
    found = made.evaluate(x=numbers, y=numbers[3])

    def wrapped(n: int) -> int:
        n %= 1 << bits
        return n - (1 << bits) if signed and n >> (bits - 1) else n

    assert [int(n) for n in found["sum"]] == [wrapped(n + numbers[3]) for n in numbers]
    assert [int(n) for n in found["product"]] == [wrapped(n * numbers[3]) for n in numbers]


def test_parts_keep_the_elements_types() -> None:
    for term in ("a[1:0]", "v[[]]", "p16[2:2]", "q[[0, 1], [1, 2]]", "u[w]", "c[::-2]", "z + z"):
        (name, *_) = used(term)
        assert computed(term)[0].dtype == INPUTS[name][1].dtype, term
