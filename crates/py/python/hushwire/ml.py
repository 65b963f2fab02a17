"""Models in scikit-learn's style, fitted on columns of several owners, which nobody else sees.

    model = hw.ml.LogisticRegression().fit(session, {"bank": ages, "shop": amounts}, {"bank": labels})
    model.coef_, model.predict(rows)

The owners' columns are joined side by side, for the same rows in the same order. With
`split="rows"`, the owners have the same columns for different rows. All owners learn the model and
nothing else; `to` names others. Each model is a computation: `model.computation` has its text, its
picture and its price. Between real parties, each party brings its own matrix, and only the shapes
of the others' matrices.

Values should lie within about -10 to 10. An owner can scale its columns without the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import numpy as hnp
from .tracing import Array, Computation, ComputationError, Out, fixed, i64, out
from .tracing.types import REAL, ArrayType

_Matrix = Any


def _shape(value: Any) -> tuple[int, ...]:
    """The shape of a matrix, or the tuple in place of another member's matrix."""
    if isinstance(value, tuple) and all(isinstance(n, int) for n in value):
        return value
    own = getattr(value, "shape", None)
    if own is not None:
        return tuple(int(n) for n in own)
    shape: list[int] = []
    while isinstance(value, Sequence):
        shape.append(len(value))
        value = value[0] if value else None
    return tuple(shape)


def _brought(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not _is_shape(value)}


def _is_shape(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(n, int) for n in value)


class _Model:
    """The common part of all models: owners' matrices, one computation, and a result."""

    _labels = True

    def __init__(self, *, split: str = "columns", to: Sequence[str] | None = None) -> None:
        if split not in ("columns", "rows"):
            raise ComputationError(f"a split by {split!r}", 'write split="columns" or split="rows"')
        self.split = split
        self.to = None if to is None else tuple(to)
        self.computation: Computation | None = None

    def _fit(self, x: Array, y: Array | None) -> dict[str, Array]:
        raise NotImplementedError

    def _inputs(
        self, X: Mapping[str, _Matrix], y: Mapping[str, Any]
    ) -> dict[str, tuple[ArrayType, Any]]:
        if not X:
            raise ComputationError("no owner brings columns", 'write X={"bank": matrix, …}')
        inputs: dict[str, tuple[ArrayType, Any]] = {}
        for owner, matrix in X.items():
            shape = _shape(matrix)
            if len(shape) != 2:
                raise ComputationError(
                    f"the columns of {owner} have {len(shape)} axes", "bring rows by columns"
                )
            inputs[f"x_{owner}"] = (REAL[shape] @ owner, matrix)
        axis = 0 if self.split == "columns" else 1
        lengths = {_shape(matrix)[axis] for matrix in X.values()}
        if len(lengths) != 1:
            what = "rows" if axis == 0 else "columns"
            raise ComputationError(
                f"owners bring different numbers of {what}", f"bring as many {what} each"
            )
        for owner, labels in y.items():
            inputs[f"y_{owner}"] = (REAL[_shape(labels)] @ owner, labels)
        return inputs

    def trace(self, X: Mapping[str, _Matrix], y: Mapping[str, Any] | None = None) -> Computation:
        """The computation for matrices of these shapes; nothing runs."""
        for name, brought in (("X", X), ("y", {} if y is None else y)):
            if not isinstance(brought, Mapping):
                raise ComputationError(
                    f"{name} is a {type(brought).__name__} without an owner",
                    f'write {name}={{"bank": …}}',
                )
        inputs = self._inputs(X, y or {})
        if self._labels and not y:
            raise ComputationError("nobody brings labels", 'write y={"bank": labels}')
        owners = self.to or tuple(dict.fromkeys([*X, *(y or {})]))

        def fit(**arrays: Array) -> dict[str, Array]:
            parts = [arrays[f"x_{owner}"] for owner in X]
            axis = 1 if self.split == "columns" else 0
            x = hnp.concatenate(parts, axis)
            labels = [arrays[f"y_{owner}"] for owner in (y or {})]
            return self._fit(x, hnp.concatenate(labels, 0) if labels else None)

        types = {name: ty for name, (ty, _) in inputs.items()}
        learners: Out = out(*owners)
        return Computation.of(fit, types, learners, name=type(self).__name__)

    def _run(
        self,
        session: Any,
        X: Mapping[str, _Matrix],
        y: Mapping[str, Any] | None,
        options: dict[str, Any],
    ) -> Any:
        self.computation = self.trace(X, y)
        values = {name: value for name, (_, value) in self._inputs(X, y or {}).items()}
        return self.computation(session, **_brought(values), **options)


class LinearRegression(_Model):
    """Least squares with an intercept, and a ridge if `alpha` is not 0.

    The normal equations are solved by elimination: `coef_` and `intercept_` are exact to about
    2^-30 times the condition of the columns' covariance.

    >>> import hushwire as hw
    >>> X = {"ann": [[0.0], [1.0], [2.0]], "bob": [[1.0], [0.0], [1.0]]}
    >>> with hw.local(parties=3) as s:
    ...     model = hw.ml.LinearRegression().fit(s, X, {"bob": [1.0, 2.0, 5.0]})
    >>> [round(float(c), 3) for c in model.coef_]
    [2.0, 1.0]
    """

    coef_: Any
    intercept_: float

    def __init__(
        self, alpha: float = 0.0, *, split: str = "columns", to: Sequence[str] | None = None
    ) -> None:
        super().__init__(split=split, to=to)
        self.alpha = alpha

    def _fit(self, x: Array, y: Array | None) -> dict[str, Array]:
        assert y is not None
        n, d = x.shape
        assert isinstance(n, int) and isinstance(d, int)
        centre, level = x.mean(axis=0), y.mean()
        columns, rest = x - centre, y - level
        gram = hnp.matmul(columns.T, columns) / n + hnp.eye(d) * (self.alpha / n)
        slope = hnp.linalg.solve(gram, hnp.matmul(columns.T, rest) / n)
        return {"coef": slope, "intercept": level - hnp.dot(centre, slope)}

    def fit(
        self, session: Any, X: Mapping[str, _Matrix], y: Mapping[str, Any], **options: Any
    ) -> LinearRegression:
        """Fits on the owners' columns and targets; `progress=True` shows how far it is."""
        found = self._run(session, X, y, options)
        self.coef_, self.intercept_ = found.get("coef"), found.get("intercept")
        return self

    def predict(self, X: Any) -> Any:
        """The values of rows, computed in the clear from the model and the rows."""
        import numpy

        return numpy.asarray(X, dtype=float) @ numpy.asarray(self.coef_) + float(self.intercept_)


class LogisticRegression(_Model):
    """Logistic regression of labels 0 and 1, with an intercept and a ridge of 1 / C.

    Each of `max_iter` steps is a Newton step with the bound X^T X / 4 in place of the Hessian.
    The bound is inverted once, and the likelihood grows with each step (D. Böhning, "Multinomial
    logistic regression algorithm", Ann. Inst. Statist. Math. 44, 1992).

    >>> import hushwire as hw
    >>> X = {"ann": [[-1.0], [0.0], [1.0], [2.0]]}
    >>> with hw.local(parties=3) as s:
    ...     model = hw.ml.LogisticRegression(max_iter=3).fit(s, X, {"bob": [0, 0, 1, 1]})
    >>> [int(label) for label in model.predict([[-2.0], [3.0]])]
    [0, 1]
    """

    coef_: Any
    intercept_: float

    def __init__(
        self,
        C: float = 1.0,
        max_iter: int = 20,
        *,
        split: str = "columns",
        to: Sequence[str] | None = None,
    ) -> None:
        super().__init__(split=split, to=to)
        self.C = C
        self.max_iter = max_iter

    def _fit(self, x: Array, y: Array | None) -> dict[str, Array]:
        assert y is not None
        n, d = x.shape
        assert isinstance(n, int) and isinstance(d, int)
        table = hnp.concatenate([x, hnp.ones((n, 1))], 1)
        # The ridge does not apply to the intercept.
        ridge = [1.0 / self.C / n] * d + [0.0]
        bound = hnp.matmul(table.T, table) / (4 * n) + hnp.diag(hnp.asarray(ridge))
        inverse = hnp.linalg.inv(bound)
        weights = hnp.zeros(d + 1)
        for _ in range(self.max_iter):
            chance = hnp.sigmoid(hnp.matmul(table, weights))
            slope = hnp.matmul(table.T, y - chance) / n - weights * hnp.asarray(ridge)
            weights = weights + hnp.matmul(inverse, slope)
        return {"coef": weights[:d], "intercept": weights[d]}

    def fit(
        self, session: Any, X: Mapping[str, _Matrix], y: Mapping[str, Any], **options: Any
    ) -> LogisticRegression:
        """Fits on the owners' columns and labels; `progress=True` shows how far it is."""
        found = self._run(session, X, y, options)
        self.coef_, self.intercept_ = found.get("coef"), found.get("intercept")
        return self

    def predict_proba(self, X: Any) -> Any:
        """The probability of label 1 for each row, computed in the clear from the model and the rows."""
        import numpy

        score = numpy.asarray(X, dtype=float) @ numpy.asarray(self.coef_) + float(self.intercept_)
        return 1 / (1 + numpy.exp(-score))

    def predict(self, X: Any) -> Any:
        """The more probable label of each row."""
        return (self.predict_proba(X) > 0.5).astype(int)


class KMeans(_Model):
    """Lloyd's algorithm for `n_clusters` centres, in `max_iter` steps.

    It begins with the rows at the public places `init`, by default evenly spread ones. A centre
    without rows stays where it is. Nobody learns which row is in which cluster.

    >>> import hushwire as hw
    >>> X = {"ann": [[0.0], [1.0], [8.0], [9.0]], "bob": [[0.0], [0.0], [5.0], [5.0]]}
    >>> with hw.local(parties=3) as s:
    ...     model = hw.ml.KMeans(2, max_iter=2).fit(s, X)
    >>> [[round(float(x), 3) for x in centre] for centre in model.cluster_centers_]
    [[0.5, 0.0], [8.5, 5.0]]
    """

    _labels = False
    cluster_centers_: Any
    counts_: Any

    def __init__(
        self,
        n_clusters: int = 3,
        max_iter: int = 10,
        *,
        init: Sequence[int] | None = None,
        split: str = "columns",
        to: Sequence[str] | None = None,
    ) -> None:
        super().__init__(split=split, to=to)
        self.n_clusters = n_clusters
        self.max_iter = max_iter
        self.init = init

    def _fit(self, x: Array, y: Array | None) -> dict[str, Array]:
        n, k = x.shape[0], self.n_clusters
        assert isinstance(n, int)
        places = list(self.init) if self.init is not None else [i * n // k for i in range(k)]
        if len(places) != k:
            raise ComputationError(f"{len(places)} places for {k} clusters", "give one for each")
        centres = hnp.take(x, places, axis=0)
        counts = hnp.zeros(k, i64)
        for _ in range(self.max_iter):
            nearest = _nearest(x, centres, k)
            counts = hnp.sum(nearest, axis=0)
            share = fixed(64, 32)
            totals = hnp.matmul(nearest.astype(share).T, x)
            size = hnp.maximum(counts, 1).astype(share)
            centres = hnp.where((counts > 0).reshape(k, 1), totals / size.reshape(k, 1), centres)
        return {"centers": centres, "counts": counts}

    def fit(self, session: Any, X: Mapping[str, _Matrix], y: Any = None, **options: Any) -> KMeans:
        """Finds the centres; `progress=True` shows how far it is."""
        del y
        found = self._run(session, X, None, options)
        self.cluster_centers_, self.counts_ = found.get("centers"), found.get("counts")
        return self

    def predict(self, X: Any) -> Any:
        """The nearest centre of each row, computed in the clear from the centres and the rows."""
        import numpy

        rows = numpy.asarray(X, dtype=float)[:, None, :]
        return ((rows - numpy.asarray(self.cluster_centers_)[None]) ** 2).sum(-1).argmin(1)


def _nearest(x: Array, centres: Array, k: int) -> Array:
    """Truth values, rows by centres, that mark the nearest centre. |x|^2 is the same for all centres."""
    sizes = hnp.sum(hnp.square(centres), axis=1)
    distance = sizes - 2 * hnp.matmul(x, centres.T)
    place = hnp.argmin(distance, axis=1)
    return place.reshape(*place.shape, 1) == hnp.arange(k)
