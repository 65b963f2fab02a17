"""Arrays under construction: shapes, places, broadcasting and types against NumPy, for shapes and
places that hypothesis draws."""

from __future__ import annotations

from typing import Any

import pytest

np = pytest.importorskip("numpy")
hypothesis = pytest.importorskip("hypothesis")
import hushwire as hw
import hushwire.numpy as hnp
from hushwire.tracing import Computation
from hypothesis import given, settings
from hypothesis import strategies as st

QUICK = settings(deadline=None)
SHAPES = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)


def evaluated(function: Any, **arrays: Any) -> Any:
    """The result of the function on arrays of i64, in the clear."""
    types = {name: hw.i64[np.shape(value)] @ "ann" for name, value in arrays.items()}
    return Computation.of(function, types, hw.out("ann"), name="f").evaluate(**arrays)


def numbers(shape: tuple[int, ...], seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(-50, 50, shape)


def same(found: Any, wanted: Any) -> None:
    assert np.shape(found) == np.shape(wanted)
    np.testing.assert_array_equal(found, wanted)


@st.composite
def places(draw: Any) -> tuple[tuple[int, ...], Any]:
    """A shape, and places of it: numbers, slices, None, an ellipsis, one list."""
    shape = draw(SHAPES)
    made: list[Any] = []
    lists = 0
    for dim in shape[: draw(st.integers(1, len(shape)))]:
        kind = draw(st.sampled_from(["number", "slice", "all", "list" if lists == 0 else "all"]))
        if kind == "number" and lists == 0:
            made.append(draw(st.integers(-dim, dim - 1)))
        elif kind == "slice":
            step = draw(st.sampled_from([1, 2, -1]))
            made.append(slice(draw(st.integers(-dim, dim)), draw(st.integers(-dim, dim)), step))
        elif kind == "list" and not any(isinstance(x, int) for x in made):
            lists += 1
            made.append(draw(st.lists(st.integers(-dim, dim - 1), min_size=1, max_size=3)))
        else:
            made.append(slice(None))
        if draw(st.booleans()):
            made.append(None)
    if lists == 0 and draw(st.booleans()) and len(shape) > 1:
        return shape, (Ellipsis, draw(st.integers(0, shape[-1] - 1)))
    return shape, tuple(made)


@QUICK
@given(places())
def test_places_are_those_of_numpy(case: tuple[tuple[int, ...], Any]) -> None:
    shape, place = case
    x = numbers(shape)
    wanted = x[place]
    if wanted.size == 0 or wanted.ndim > 8:
        return
    same(evaluated(lambda x: x[place], x=x), wanted)


@QUICK
@given(SHAPES, st.data())
def test_operands_are_repeated_as_in_numpy(shape: tuple[int, ...], data: Any) -> None:
    other = tuple(1 if data.draw(st.booleans()) else dim for dim in shape)
    other = other[data.draw(st.integers(0, len(shape) - 1)) :]
    x, y = numbers(shape), numbers(other, 1)
    same(evaluated(lambda x, y: x * y - y, x=x, y=y), x * y - y)
    same(evaluated(lambda x, y: hw.where(y > x, y, 3), x=x, y=y), np.where(y > x, y, 3))


@QUICK
@given(SHAPES, st.data())
def test_axes_are_those_of_numpy(shape: tuple[int, ...], data: Any) -> None:
    axes = data.draw(st.none() | st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple))
    keep = data.draw(st.booleans())
    x = numbers(shape)
    for name in ("sum", "min", "max", "any", "prod", "count_nonzero"):
        function = getattr(hnp, name)
        made = evaluated(lambda x: function(x, axis=axes, keepdims=keep), x=x)
        same(made, getattr(np, name)(x, axis=axes, keepdims=keep))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    for name in ("sort", "argsort", "cumsum", "flip", "argmax", "argmin"):
        more = {"kind": "stable"} if name == "argsort" else {}
        made = evaluated(lambda x: getattr(hnp, name)(x, axis=axis), x=x)
        same(made, getattr(np, name)(x, axis=axis, **more))


@QUICK
@given(SHAPES, st.data())
def test_joins_and_moves_are_those_of_numpy(shape: tuple[int, ...], data: Any) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    order = data.draw(st.permutations(range(len(shape))))
    x, y = numbers(shape), numbers(shape, 1)
    for m in (lambda n, x, y: n.concatenate([x, y, x], axis=axis), lambda n, x, y: n.stack([x, y], axis=axis),
              lambda n, x, y: n.transpose(x, order), lambda n, x, y: n.roll(x, 2, axis),
              lambda n, x, y: n.repeat(x, 2, axis), lambda n, x, y: n.tile(x, (2, 1)),
              lambda n, x, y: n.moveaxis(x, axis, 0), lambda n, x, y: n.hstack([x, y]),
              lambda n, x, y: n.vstack([x, y]), lambda n, x, y: n.reshape(x, (-1,)),
              lambda n, x, y: n.expand_dims(x, axis), lambda n, x, y: n.take(x, [0, -1], axis=axis)):  # fmt: skip
        same(evaluated(lambda x, y: m(hnp, x, y), x=x, y=y), m(np, x, y))


def test_products_of_matrices() -> None:
    cases = [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 2)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((5, 2, 3), (5, 3, 2)),
    ]
    for a, b in cases:
        x, y = numbers(a), numbers(b, 1)
        same(evaluated(lambda x, y: x @ y, x=x, y=y), x @ y)
    x, y = numbers((2, 3, 4)), numbers((4, 3), 1)
    same(
        evaluated(lambda x, y: hnp.tensordot(x, y, ([1, 2], [1, 0])), x=x, y=y),
        np.tensordot(x, y, ([1, 2], [1, 0])),
    )
    same(evaluated(lambda x, y: hnp.inner(x, y.T), x=x, y=y), np.inner(x, y.T))
    same(
        evaluated(lambda x: hnp.diag(x) + hnp.trace(x), x=numbers((3, 3))),
        np.diag(numbers((3, 3))) + np.trace(numbers((3, 3))),
    )
    same(
        evaluated(lambda x: hnp.triu(x) - hnp.tril(x, -1), x=numbers((3, 4))),
        np.triu(numbers((3, 4))) - np.tril(numbers((3, 4)), -1),
    )
    v = numbers((3,))
    same(evaluated(lambda v: hnp.diag(v, 1), v=v), np.diag(v, 1))


def test_linear_algebra() -> None:
    real = hw.fixed(64, 32)
    rng = np.random.default_rng(3)
    a = rng.normal(size=(4, 4))
    spd = a @ a.T + np.eye(4)
    b = rng.normal(size=4)

    def function(a: Any, spd: Any, b: Any) -> dict[str, Any]:
        values, vectors = np.linalg.eigh(spd)
        return {
            "inverse": np.linalg.inv(spd), "solved": hnp.linalg.solve(a, b, pivot=True), "determinant": np.linalg.det(a),
            "root": np.linalg.cholesky(spd), "size": np.linalg.norm(b), "values": values,
            "again": vectors @ hnp.diag(values) @ vectors.T,
        }  # fmt: skip

    types = {"a": real[4, 4] @ "ann", "spd": real[4, 4] @ "ann", "b": real[4] @ "bob"}
    found = Computation.of(function, types, hw.out("ann"), name="f").evaluate(a=a, spd=spd, b=b)
    wanted = {
        "inverse": np.linalg.inv(spd), "solved": np.linalg.solve(a, b), "determinant": np.linalg.det(a),
        "root": np.linalg.cholesky(spd), "size": np.linalg.norm(b), "values": np.linalg.eigvalsh(spd), "again": spd,
    }  # fmt: skip
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, atol=1e-6, err_msg=name)
    # With an exchange of rows, a first pivot of 0 is allowed.
    swapped = np.array([[0.0, 1.0], [2.0, 1.0]])
    turned = Computation.of(
        lambda m: hnp.linalg.inv(m, pivot=True), {"m": real[2, 2] @ "ann"}, hw.out("ann"), name="f"
    )
    np.testing.assert_allclose(turned.evaluate(m=swapped), np.linalg.inv(swapped), atol=1e-8)


def test_secret_places_and_counts() -> None:
    x, at = numbers((5, 3)), np.array([[4, 0], [2, 2]])
    same(evaluated(lambda x, at: hnp.take(x, at, axis=0), x=x, at=at), x[at])
    same(evaluated(lambda x, at: x[at], x=x, at=at), x[at])
    same(
        evaluated(lambda x, at: hnp.take_along_axis(x, at, axis=0), x=x, at=numbers((2, 3)) % 5),
        np.take_along_axis(x, numbers((2, 3)) % 5, 0),
    )
    few = np.array([1, 0, 3, 1, 1])
    same(evaluated(lambda x: hnp.bincount(x, minlength=5), x=few), np.bincount(few, minlength=5))
    same(
        evaluated(lambda x: hnp.bincount(x, weights=x, minlength=5), x=few),
        np.bincount(few, weights=few, minlength=5),
    )
    same(
        evaluated(lambda x: hnp.histogram(x, [0, 1, 2, 4])[0], x=few),
        np.histogram(few, [0, 1, 2, 4])[0],
    )
    edges = np.array([-10, 0, 10])
    same(
        evaluated(lambda x, e: hnp.searchsorted(e, x), x=few, e=edges), np.searchsorted(edges, few)
    )
    same(
        evaluated(lambda x: hnp.top_k(x, 3)[1], x=x[:, 0]), np.argsort(-x[:, 0], kind="stable")[:3]
    )
    fixed = Computation.of(
        lambda x, at: hnp.take(x, at),
        {"x": hw.fixed(64, 32)[5] @ "ann", "at": hw.u8[2] @ "bob"},
        hw.out("ann"),
        name="f",
    )
    same(fixed.evaluate(x=x[:, 0] / 4, at=np.array([3, 1], np.uint8)), x[[3, 1], 0] / 4)


def test_lengths_that_a_run_tells() -> None:
    real = hw.fixed(64, 32)

    def function(x: Any, k: Any) -> dict[str, Any]:
        return {
            "mean": x.mean(), "spread": x.std(), "sample": hnp.var(x, ddof=1), "middle": np.median(x), "sorted": np.sort(x),
            "order": np.argsort(k), "scan": np.cumsum(k), "first": x[0], "parts": x[1:3], "rows": x.reshape(-1, 1) * k[None, :2],
            "centred": x - x.mean(), "hits": (k > 0).sum(), "line": hnp.ravel(x[:, None]), "product": x @ x,
            "covariance": np.cov(np.stack([x, x])) if False else hnp.cov(x),
        }  # fmt: skip

    types = {"x": real["n"] @ "ann", "k": hw.i32["n"] @ "bob"}
    computation = Computation.of(function, types, hw.out("ann"), name="f")
    rng = np.random.default_rng(4)
    for n in (4, 7):
        x, k = rng.normal(size=n), rng.integers(-9, 9, n).astype(np.int32)
        found = computation.evaluate(x=x, k=k)
        wanted = {
            "mean": x.mean(), "spread": x.std(), "sample": x.var(ddof=1), "middle": np.median(x), "sorted": np.sort(x),
            "order": np.argsort(k, kind="stable"), "scan": np.cumsum(k), "first": x[0], "parts": x[1:3],
            "rows": x.reshape(-1, 1) * k[None, :2], "centred": x - x.mean(), "hits": (k > 0).sum(), "line": x,
            "product": x @ x, "covariance": np.cov(x),
        }  # fmt: skip
        for name, value in wanted.items():
            np.testing.assert_allclose(found[name], value, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("a", ["i16", "u16", "i32", "u32", "i64", "bool_"])
@pytest.mark.parametrize("b", ["i16", "u16", "i32", "u32", "i64", "bool_"])
def test_types_come_together_as_in_numpy(a: str, b: str) -> None:
    names = {
        "bool_": "bool",
        **{f"{s}{n}": f"{'u' if s == 'u' else ''}int{n}" for s in "iu" for n in (16, 32, 64)},
    }
    x, y = np.arange(2).astype(names[a]), np.ones(2, names[b])
    types = {"x": getattr(hw, a)[2] @ "ann", "y": getattr(hw, b)[2] @ "bob"}
    computation = Computation.of(
        lambda x, y: {"sum": x + y, "more": x * 3, "less": x <= y}, types, hw.out("ann"), name="f"
    )
    found = computation.evaluate(x=x, y=y)
    for name, wanted in {"sum": x + y, "more": x * 3, "less": x <= y}.items():
        assert found[name].dtype == wanted.dtype, name
        same(found[name], wanted)


def test_public_numbers_beyond_a_type_compare() -> None:
    x = np.array([0, 255], np.uint8)
    computation = Computation.of(
        lambda x: {"under": x < 300, "over": x > 300, "no": x == -1, "yes": x != -1, "back": 300 > x},
        {"x": hw.u8[2] @ "ann"}, hw.out("ann"), name="f",
    )  # fmt: skip
    found = computation.evaluate(x=x)
    for name, wanted in {
        "under": x < 300,
        "over": x > 300,
        "no": x == -1,
        "yes": x != -1,
        "back": 300 > x,
    }.items():
        same(found[name], wanted)


COMPOSED: list[tuple[Any, tuple[tuple[int, ...], ...]]] = [
    (lambda m, a, b: m.einsum("ij,jk->ik", a, b), ((2, 3), (3, 4))),
    (lambda m, a, b: m.einsum("ij,jk", a, b), ((2, 3), (3, 4))),
    (lambda m, a, b: m.einsum("bij,bjk->bik", a, b), ((2, 2, 3), (2, 3, 4))),
    (lambda m, a, b: m.einsum("i,j->ji", a, b), ((2,), (3,))),
    (lambda m, a, b: m.einsum("ij,ij->i", a, b), ((2, 3), (2, 3))),
    (lambda m, a, b: m.einsum("ijk->ki", a), ((2, 3, 4), (1,))),
    (lambda m, a, b: m.einsum("ij,j,jk->k", a, b, a.T), ((2, 3), (3,))),
    (lambda m, a, b: m.split(a, 2, axis=1)[1], ((3, 4), (1,))),
    (lambda m, a, b: m.array_split(a, 3)[0], ((7,), (1,))),
    (lambda m, a, b: m.split(a, [1, 5])[2], ((7,), (1,))),
    (lambda m, a, b: m.dstack([a, b]), ((2, 3), (2, 3))),
    (lambda m, a, b: m.rot90(a) + m.fliplr(m.rot90(a)) - m.flipud(m.rot90(a, 3)), ((2, 3), (1,))),
    (lambda m, a, b: m.convolve(a, b), ((6,), (3,))),
    (lambda m, a, b: m.convolve(a, b, "same"), ((6,), (4,))),
    (lambda m, a, b: m.convolve(a, b, "valid"), ((3,), (6,))),
    (lambda m, a, b: m.correlate(a, b), ((6,), (3,))),
    (lambda m, a, b: m.cross(a, b), ((4, 3), (4, 3))),
    (lambda m, a, b: m.digitize(a, [-20, 0, 20]), ((9,), (1,))),
    (lambda m, a, b: m.vander(a, 3), ((4,), (1,))),
    (lambda m, a, b: m.linalg.matrix_power(a, 5), ((3, 3), (1,))),
    (lambda m, a, b: m.linalg.multi_dot([a, b, a]), ((2, 3), (3, 2))),
    (
        lambda m, a, b: np.maximum.accumulate(a, axis=1) - np.minimum.accumulate(a, axis=1),
        ((2, 7), (1,)),
    ),
    (lambda m, a, b: m.tri(3, dtype=int) + a, ((3, 3), (1,))),
    (lambda m, a, b: m.pad(a, 2) + m.pad(a, [(1, 3), (2, 2)], constant_values=4), ((2, 3), (1,))),
    (lambda m, a, b: m.select([a > 9, a > 0], [a, b], 7), ((5,), (5,))),
    (lambda m, a, b: m.clip(a, -9, 20) + m.clip(b, b.min(), None), ((5,), (5,))),
    (lambda m, a, b: m.swapaxes(a, 0, 2), ((2, 3, 4), (1,))),
    (lambda m, a, b: m.squeeze(a[:, None], axis=1) + m.squeeze(b), ((4,), (1, 4))),
    (lambda m, a, b: m.broadcast_to(a, (2, 3)) - m.broadcast_arrays(b, a)[0], ((3,), (2, 3))),
    (lambda m, a, b: a + m.zeros_like(a) - m.ones_like(a) * m.full_like(a, 7), ((4,), (1,))),
    (lambda m, a, b: m.diagonal(a, 1), ((3, 4), (1,))),
    (lambda m, a, b: m.meshgrid(a, b)[0] * 3 + m.meshgrid(a, b)[1], ((3,), (4,))),
    (lambda m, a, b: m.meshgrid(a, b, indexing="ij")[1], ((3,), (4,))),
    (lambda m, a, b: m.vdot(a, b), ((2, 3), (2, 3))),
    (lambda m, a, b: m.sort(m.partition(a, 2)), ((7,), (1,))),
    (lambda m, a, b: m.allclose(a, a + 0), ((5,), (1,))),
]


@pytest.mark.parametrize("number", range(len(COMPOSED)))
def test_compositions_are_those_of_numpy(number: int) -> None:
    call, (a, b) = COMPOSED[number]
    x, y = numbers(a), numbers(b, 1)
    same(evaluated(lambda x, y: call(hnp, x, y), x=x, y=y), call(np, x, y))


def test_compositions_of_real_numbers() -> None:
    real = hw.fixed(64, 32)
    rng = np.random.default_rng(9)
    x, at = np.sort(rng.uniform(-3, 3, 6)), rng.uniform(-4, 4, 9)
    y, rows = rng.normal(size=6), rng.normal(size=(8, 3))

    def function(m: Any, x: Any, at: Any, y: Any, rows: Any) -> dict[str, Any]:
        return {
            "line": m.interp(at, x, y),
            "area": m.trapezoid(y, x),
            "even": m.trapezoid(y, dx=0.5),
            "slope": m.gradient(y, 0.25),
            "solved": m.linalg.lstsq(rows, rows[:, 0] * 2 + 1, rcond=None)[0],
            "values": m.linalg.eigvalsh(m.matmul(rows.T, rows)),
            "powers": m.logspace(0, 2, 5) * y[0],
            "spaced": m.linspace(-1, 2, 6) * x,
            "weighted": m.average(x, weights=y * y),
            "tenth": m.percentile(at, 10),
            "rounded": m.round(x, 2),
        }

    types = {
        "x": real[6] @ "ann",
        "at": real[9] @ "bob",
        "y": real[6] @ "ann",
        "rows": real[8, 3] @ "bob",
    }
    made = Computation.of(lambda **v: function(hnp, **v), types, hw.out("ann"), name="f")
    found = made.evaluate(x=x, at=at, y=y, rows=rows)
    for name, wanted in function(np, x, at, y, rows).items():
        np.testing.assert_allclose(found[name], wanted, atol=1e-6, err_msg=name)


def test_windows_of_a_vector() -> None:
    windows = np.lib.stride_tricks.sliding_window_view
    x = numbers((7,))
    same(evaluated(lambda x: hnp.sliding_window_view(x, 3), x=x), windows(x, 3))


def test_elements_under_a_mask_are_no_numbers() -> None:
    @hw.computation
    def twice(x: hw.u8["n"] @ "ann") -> hw.out("ann"):
        return x + x

    assert list(twice.evaluate(x=np.ma.array([1, 2], mask=[False, False]))) == [2, 4]
    with pytest.raises(hw.UsageError, match="masked") as caught:
        twice.evaluate(x=np.ma.array([1, 2], mask=[False, True]))
    assert "filled" in caught.value.remedy
