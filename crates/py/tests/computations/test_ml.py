"""Models in scikit-learn's style against plain code, and against scikit-learn where it is installed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

np = pytest.importorskip("numpy")

import hushwire as hw
from hushwire import _arrays
from hushwire.tracing import ComputationError


class InTheOpen:
    """Replaces a session, and computes with the evaluator, which gives the same bits as the parties."""

    def run(self, computation: Any, inputs: Mapping[str, Any], /) -> dict[str, Any]:
        raw = computation.evaluate(
            {name: _arrays.to_native(value) for name, value in inputs.items()}
        )
        return {name: _arrays.from_native(value) for name, value in raw.items()}


RNG = np.random.default_rng(11)
LEFT, RIGHT = RNG.normal(size=(50, 2)), RNG.normal(size=(50, 1))
BOTH = np.hstack([LEFT, RIGHT])
TARGET = BOTH @ [1.0, -2.0, 0.5] + 3 + RNG.normal(0, 0.2, 50)
LABEL = (BOTH @ [1.0, -2.0, 0.5] + RNG.normal(0, 1, 50) > 0).astype(float)


def test_least_squares_are_exact() -> None:
    model = hw.ml.LinearRegression().fit(InTheOpen(), {"ann": LEFT, "bob": RIGHT}, {"bob": TARGET})
    wanted = np.linalg.lstsq(np.column_stack([BOTH, np.ones(50)]), TARGET, rcond=None)[0]
    np.testing.assert_allclose([*model.coef_, model.intercept_], wanted, atol=1e-7)
    np.testing.assert_allclose(model.predict(BOTH), BOTH @ wanted[:3] + wanted[3], atol=1e-6)
    again = hw.ml.LinearRegression(split="rows", to=["ann"])
    again.fit(
        InTheOpen(), {"ann": BOTH[:20], "bob": BOTH[20:]}, {"ann": TARGET[:20], "bob": TARGET[20:]}
    )
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-7)
    assert again.computation is not None
    assert {out.to for _, _, out in again.computation.traced.outputs} == {("ann",)}


def test_a_ridge_is_that_of_scikit_learn() -> None:
    model = hw.ml.LinearRegression(alpha=5).fit(InTheOpen(), {"ann": BOTH}, {"ann": TARGET})
    centred, level = BOTH - BOTH.mean(0), TARGET - TARGET.mean()
    wanted = np.linalg.solve(centred.T @ centred + 5 * np.eye(3), centred.T @ level)
    np.testing.assert_allclose(model.coef_, wanted, atol=1e-7)


def test_logistic_regression_reaches_the_optimum() -> None:
    model = hw.ml.LogisticRegression(max_iter=40)
    model.fit(InTheOpen(), {"ann": LEFT, "bob": RIGHT}, {"ann": LABEL})
    x, weights = np.column_stack([BOTH, np.ones(50)]), np.zeros(4)
    ridge = np.array([1, 1, 1, 0.0])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-x @ weights))
        curve = (x.T * (chance * (1 - chance))) @ x + np.diag(ridge)
        weights += np.linalg.solve(curve, x.T @ (LABEL - chance) - ridge * weights)
    np.testing.assert_allclose([*model.coef_, model.intercept_], weights, atol=5e-3)
    assert (model.predict(BOTH) == (x @ weights > 0)).mean() > 0.97
    linear = pytest.importorskip("sklearn.linear_model")
    theirs = linear.LogisticRegression(tol=1e-8, max_iter=1000).fit(BOTH, LABEL)
    np.testing.assert_allclose(model.coef_, theirs.coef_[0], atol=5e-3)


def test_k_means_are_lloyds() -> None:
    centres = np.array([[0.0, 0, 0], [4, 4, 0], [0, 5, 5]])
    x = centres[np.arange(45) % 3] + RNG.normal(0, 0.5, (45, 3))
    model = hw.ml.KMeans(3, max_iter=4, init=[0, 1, 2])
    model.fit(InTheOpen(), {"ann": x[:, :1], "bob": x[:, 1:]})
    found = x[:3]
    for _ in range(4):
        near = ((x[:, None] - found[None]) ** 2).sum(-1).argmin(1)
        found = np.array([x[near == k].mean(0) for k in range(3)])
    np.testing.assert_allclose(model.cluster_centers_, found, atol=1e-6)
    assert list(model.counts_) == [15, 15, 15]
    np.testing.assert_array_equal(model.predict(x), near)


def test_a_shape_stands_for_another_members_columns() -> None:
    model = hw.ml.LinearRegression()
    ours = model.trace({"ann": LEFT, "bob": (50, 1)}, {"bob": (50,)})
    assert ours.text == model.trace({"ann": (50, 2), "bob": RIGHT}, {"bob": TARGET}).text


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: hw.ml.LinearRegression().fit(s, {}, {"ann": TARGET}), "no owner"),
        (lambda s: hw.ml.LinearRegression().fit(s, LEFT, {"ann": TARGET}), "X is a ndarray without an owner"),
        (lambda s: hw.ml.LinearRegression().fit(s, {"ann": LEFT}, TARGET), "y is a ndarray without an owner"),
        (lambda s: hw.ml.LinearRegression().fit(s, {"ann": LEFT}, {}), "labels"),
        (
            lambda s: hw.ml.LinearRegression().fit(
                s, {"ann": LEFT, "bob": RIGHT[:9]}, {"ann": TARGET}
            ),
            "rows",
        ),
        (lambda s: hw.ml.LinearRegression().fit(s, {"ann": TARGET}, {"ann": TARGET}), "axes"),
        (lambda s: hw.ml.KMeans(3, init=[0]).fit(s, {"ann": LEFT}), "clusters"),
        (lambda s: hw.ml.KMeans(split="diagonals"), "split"),
    ],
)
def test_what_does_not_fit_is_refused(call: Any, words: str) -> None:
    with pytest.raises(ComputationError, match=words):
        call(InTheOpen())


def test_three_parties_fit_a_model() -> None:
    data = {"ann": LEFT[:12], "bob": RIGHT[:12]}
    in_the_open = hw.ml.LinearRegression().fit(InTheOpen(), data, {"bob": TARGET[:12]})
    with hw.local(parties=3) as session:
        model = hw.ml.LinearRegression().fit(session, data, {"bob": TARGET[:12]})
    assert list(model.coef_) == list(in_the_open.coef_)
