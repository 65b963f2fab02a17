"""Products of matrices, inverses and decompositions, by NumPy's names.

Inverses are made by elimination without a choice of pivots, because a choice would reveal rows. This
needs regular leading submatrices, as in covariance matrices and matrices with a ridge. `pivot=True`
chooses the largest pivot obliviously, at a higher price.
"""

from __future__ import annotations

import builtins
import math
from typing import Any

from . import elementwise as ew
from .array import Array, count, numpy_name
from .errors import ComputationError
from .functions import hypot, log, power, real_of, sqrt
from .language import (
    aligned,
    along,
    array,
    broadcast_to,
    cast,
    common_shape,
    constant,
    infix,
    joined,
    node,
    normal_axis,
    reshape_to,
    single,
    slice_of,
    together,
    transposed,
)
from .reductions import _divided, _sizes, axes_of, max, mean, sum
from .reductions import min as least
from .shapes import concatenate, diagonal, eye, flip, known, picked, ravel, stack
from .sorting import ordered_by
from .types import Shape, bool_, fixed, i64, integer


def _matmul(a: Array, b: Array) -> Array:
    """The product of two values of one or two axes and of one type."""
    inner = (a.shape[-1], b.shape[0])
    if inner[0] != inner[1]:
        raise ComputationError(
            f"`matmul` of {list(a.shape)} and {list(b.shape)}",
            "the last axis of the first is as long as the first of the second",
        )
    shape: Shape = a.shape[:-1] + b.shape[1:]
    scalar = a.dtype
    if not scalar.is_number:
        return cast_bool(_matmul(cast(a, i64), cast(b, i64)))
    if scalar.frac == 0:
        return node("call", "matmul", (a, b), scalar, shape)
    bits = scalar.bits + scalar.frac + 1
    if bits > 127:
        raise ComputationError(
            f"`matmul` of {scalar}", "bits and those behind the point are below 127 together"
        )
    wide = fixed(bits, scalar.frac)
    made = node(
        "call", "matmul", (cast(a, wide), cast(b, wide)), fixed(bits, 2 * scalar.frac), shape
    )
    return cast(node("call", "rescale", (made,), wide, shape, f", {scalar.frac}"), scalar)


def cast_bool(a: Array) -> Array:
    """Whether numbers are not 0."""
    return infix("!=", a, single(a, 0), bool_)


@numpy_name()
def matmul(x1: Any, x2: Any) -> Array:
    """The product of matrices, also of stacks of them; rounded once towards −∞."""
    a, b = together(x1, x2)
    if a.ndim == 0 or b.ndim == 0:
        raise ComputationError("`matmul` of a single element", "write a * b")
    if a.ndim <= 2 and b.ndim <= 2:
        return _matmul(a, b)
    rows = a if a.ndim > 1 else reshape_to(a, (1, *a.shape))
    columns = b if b.ndim > 1 else reshape_to(b, (*b.shape, 1))

    lead = common_shape(rows.shape[:-2], columns.shape[:-2])
    n = count(lead)
    left = reshape_to(broadcast_to(rows, lead + rows.shape[-2:]), (n, *rows.shape[-2:]))
    right = reshape_to(broadcast_to(columns, lead + columns.shape[-2:]), (n, *columns.shape[-2:]))
    made = stack([_matmul(left[k], right[k]) for k in range(n)])
    shape = (
        lead
        + (rows.shape[-2:-1] if a.ndim > 1 else ())
        + (columns.shape[-1:] if b.ndim > 1 else ())
    )
    return reshape_to(made, shape)


@numpy_name()
def dot(a: Any, b: Any) -> Array:
    """NumPy's `dot`: the product of vectors or matrices, or of single elements."""
    x, y = together(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return ew.multiply(x, y)
    if y.ndim <= 2 and x.ndim <= 2:
        return _matmul(x, y)
    return tensordot(x, y, ([x.ndim - 1], [builtins.max(0, y.ndim - 2)]))


@numpy_name()
def vdot(a: Any, b: Any) -> Array:
    """The sum of products of all elements."""
    x, y = together(a, b)
    return _matmul(ravel(x), ravel(y))


@numpy_name()
def inner(a: Any, b: Any) -> Array:
    """The sums of products along the last axes."""
    x, y = together(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return ew.multiply(x, y)
    return tensordot(x, y, ([x.ndim - 1], [y.ndim - 1]))


@numpy_name()
def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """The sums of products along axes of both."""
    x, y = together(a, b)
    if isinstance(axes, int):
        of_x, of_y = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        of_x, of_y = ([at] if isinstance(at, int) else list(at) for at in axes)
        of_x = [normal_axis(at, x.ndim) for at in of_x]
        of_y = [normal_axis(at, y.ndim) for at in of_y]
    free_x = [at for at in range(x.ndim) if at not in of_x]
    free_y = [at for at in range(y.ndim) if at not in of_y]
    left, right = transposed(x, free_x + of_x), transposed(y, of_y + free_y)
    rows, columns = left.shape[: len(free_x)], right.shape[len(of_y) :]
    n = _flat(left.shape[len(free_x) :])
    made = _matmul(reshape_to(left, (_flat(rows), n)), reshape_to(right, (n, _flat(columns))))
    return reshape_to(made, rows + columns)


def _flat(shape: Shape) -> Any:
    names = [dim for dim in shape if isinstance(dim, str)]
    rest = math.prod(dim for dim in shape if isinstance(dim, int))
    if len(names) == 1 and rest == 1:
        return names[0]

    return count(shape)


@numpy_name()
def outer(a: Any, b: Any) -> Array:
    """The products of each element of one with each of the other."""
    x, y = ravel(array(a)), ravel(array(b))
    return ew.multiply(reshape_to(x, (*x.shape, 1)), reshape_to(y, (1, *y.shape)))


@numpy_name()
def kron(a: Any, b: Any) -> Array:
    """The Kronecker product."""
    x, y = together(a, b)
    rank = builtins.max(x.ndim, y.ndim)
    x = reshape_to(x, (1,) * (rank - x.ndim) + x.shape)
    y = reshape_to(y, (1,) * (rank - y.ndim) + y.shape)
    wide = tuple(dim for own in x.shape for dim in (own, 1))
    thin = tuple(dim for own in y.shape for dim in (1, own))
    made = ew.multiply(reshape_to(x, wide), reshape_to(y, thin))
    lengths = tuple(known(x, at, "kron") * known(y, at, "kron") for at in range(rank))
    return reshape_to(made, lengths)


@numpy_name()
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The sum of a matrix's diagonal."""
    return sum(diagonal(a, offset, axis1, axis2), -1)


@numpy_name()
def vecdot(x1: Any, x2: Any, *, axis: int = -1) -> Array:
    """The sums of products along an axis."""
    x, y = aligned(*together(x1, x2))
    return sum(ew.multiply(x, y), axis)


@numpy_name()
def polyval(p: Any, x: Any) -> Array:
    """A polynomial's value at x; the coefficient of the highest power first."""
    coefficients, at = array(p), array(x)
    made = broadcast_to(single(at, 0), at.shape)
    for k in range(known(coefficients, 0, "a polynomial")):
        made = ew.add(ew.multiply(made, at), coefficients[k])
    return made


# Inverses.


def _square(a: Any) -> tuple[Array, int]:
    value = real_of(a)
    if value.ndim != 2 or value.shape[0] != value.shape[1]:
        raise ComputationError(f"an inverse of {list(value.shape)}", "bring a square matrix")
    return value, known(value, 0, "an inverse")


def _exchanged(work: Array, k: int, n: int) -> tuple[Array, Array]:
    """The rows, with the row of the largest pivot at place k, and whether it was another row."""
    rest = slice_of(work, k, n, 0)
    sizes = ew.abs(rest[:, k])
    first = along("argmax", sizes, 0, integer(64, False))
    hot = ew.equal(first, ew.astype([row for row in range(n - k)], first.dtype))
    pivot = sum(ew.where(reshape_to(hot, (n - k, 1)), rest, 0), axis=0)
    others = ew.where(reshape_to(hot, (n - k, 1)), rest[0:1], rest)
    made = (
        joined([reshape_to(pivot, (1, *pivot.shape)), slice_of(others, 1, n - k, 0)], 0)
        if n - k > 1
        else rest
    )
    parts = [slice_of(work, 0, k, 0), made] if k else [made]
    return joined(parts, 0), ew.not_equal(first, 0)


def _eliminated(work: Array, n: int, pivot: bool) -> tuple[Array, list[Array], list[Array]]:
    """Gauss and Jordan's elimination of the first n columns; the pivots, and which were exchanged."""
    pivots, exchanged = [], []
    for k in range(n):
        if pivot and k + 1 < n:
            work, other = _exchanged(work, k, n)
            exchanged.append(other)
        head = work[k, k]
        pivots.append(head)
        row = ew.product(work[k], ew.reciprocal(head))
        column = reshape_to(work[:, k], (n, 1))
        below = ew.product(broadcast_to(column, work.shape), broadcast_to(row, work.shape))
        cleared = ew.subtract(work, below)
        flat = [[at == k for _ in range(1)] for at in range(n)]
        work = ew.where(flat, broadcast_to(row, work.shape), cleared)
    return work, pivots, exchanged


@numpy_name("linalg.solve")
def solve(a: Any, b: Any, *, pivot: bool = False) -> Array:
    """The solution x of a x = b. Its error is a few steps times the condition of a."""
    matrix, n = _square(a)
    right = cast(ew.to_real(b), matrix.dtype)
    columns = right if right.ndim == 2 else reshape_to(right, (n, 1))
    work, _, _ = _eliminated(concatenate([matrix, columns], 1), n, pivot)
    return reshape_to(slice_of(work, n, known(work, 1, "solve"), 1), right.shape)


@numpy_name("linalg.inv")
def inv(a: Any, *, pivot: bool = False) -> Array:
    """The inverse of a matrix; see `solve`."""
    matrix, n = _square(a)
    return solve(matrix, eye(n, dtype=matrix.dtype), pivot=pivot)


@numpy_name("linalg.det")
def det(a: Any, *, pivot: bool = True) -> Array:
    """The determinant."""
    matrix, n = _square(a)
    _, pivots, exchanged = _eliminated(matrix, n, pivot)
    made = pivots[0]
    for head in pivots[1:]:
        made = ew.product(made, head)
    if exchanged:
        odd = exchanged[0]
        for other in exchanged[1:]:
            odd = ew.logical_xor(odd, other)
        made = ew.where(odd, -made, made)
    return made


@numpy_name("linalg.cholesky")
def cholesky(a: Any) -> Array:
    """The lower triangle L of a positive matrix L L^T."""
    matrix, n = _square(a)
    columns: list[Array] = []
    for k in range(n):
        column = slice_of(matrix[:, k], k, n, 0)
        for other in columns:
            part = slice_of(other, k, n, 0)
            column = ew.subtract(column, ew.product(part, other[k]))
        head = sqrt(column[0])
        lower = ew.product(column, ew.reciprocal(head))
        lower = ew.where([True] + [False] * (n - k - 1), head, lower)
        zeros = ew.astype([0] * k, matrix.dtype) if k else None
        columns.append(lower if zeros is None else joined([zeros, lower], 0))
    return stack(columns, 1)


@numpy_name("linalg.slogdet")
def slogdet(a: Any) -> tuple[Array, Array]:
    """The sign of the determinant, and the logarithm of its size."""
    made = det(a)
    return ew.sign(made), log(ew.abs(made))


@numpy_name("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """The length of vectors, by default the Euclidean one; or the norm of matrices, by default
    Frobenius'. Orders are NumPy's."""
    value = real_of(x)
    axes = axes_of(axis, value.ndim)
    if ord is None:
        return sqrt(sum(ew.square(value), axis, keepdims=keepdims))
    if len(axes) == 2:
        named = axes[::-1] if axis is None else [normal_axis(int(at), value.ndim) for at in axis]
        rest = [at for at in range(value.ndim) if at not in axes]
        made = _matrix_norm(transposed(value, rest + named), ord)
    elif len(axes) == 1:
        made = _vector_norm(value, ord, axes[0])
    else:
        raise ComputationError(f"the norm of order {ord} of {len(axes)} axes", "name one or two axes")
    shape = tuple(1 if at in axes else dim for at, dim in enumerate(value.shape))
    return reshape_to(made, shape) if keepdims else made


def _order_of(ord: Any) -> float:
    try:
        return float(ord)
    except (TypeError, ValueError):
        raise ComputationError(f"the norm of order {ord}", "see NumPy's orders") from None


def _vector_norm(a: Array, ord: Any, axis: int) -> Array:
    order, sizes = _order_of(ord), ew.abs(a)
    if math.isinf(order):
        return max(sizes, axis) if order > 0 else least(sizes, axis)
    if order == 0:
        return ew.to_real(sum(ew.to_bool(sizes), axis))
    if order == 1:
        return sum(sizes, axis)
    if order == 2:
        return sqrt(sum(ew.square(a), axis))
    return power(sum(power(sizes, order), axis), 1 / order)


def _matrix_norm(a: Array, ord: Any) -> Array:
    """The norm of matrices in the last two axes."""
    if ord == "fro":
        return sqrt(sum(ew.square(a), (-2, -1)))
    if ord == "nuc" or _order_of(ord) in (2, -2):
        if a.ndim != 2:
            raise ComputationError("singular values of several matrices", "take one after the other")
        values = svdvals(a)
        return sum(values) if ord == "nuc" else values[0] if ord == 2 else values[-1]
    order = _order_of(ord)
    if builtins.abs(order) != 1 and not math.isinf(order):
        raise ComputationError(f"the norm of order {ord} of a matrix", "see NumPy's orders")
    sums = sum(ew.abs(a), -2 if builtins.abs(order) == 1 else -1)
    return max(sums, -1) if order > 0 else least(sums, -1)


@numpy_name("linalg.svdvals")
def svdvals(x: Any) -> Array:
    """The singular values of a matrix, the greatest first: roots of eigenvalues of the smaller product
    with its transpose, so that small ones are known to half of the bits."""
    value = real_of(x)
    turned = transposed(value, [1, 0])
    rows, columns = known(value, 0, "singular values"), known(value, 1, "singular values")
    square = _matmul(value, turned) if rows < columns else _matmul(turned, value)
    return sqrt(ew.maximum(flip(eigh(square)[0]), 0))


@numpy_name("linalg.svd")
def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True) -> Array:
    """The singular values of a matrix, with compute_uv=False: vectors are not computed."""
    del full_matrices
    if compute_uv:
        raise ComputationError(
            "singular vectors, whose signs no rule fixes", "take svd(a, compute_uv=False), or eigh"
        )
    return svdvals(a)


@numpy_name("linalg.pinv")
def pinv(a: Any) -> Array:
    """The pseudo-inverse of a matrix whose rows, or columns, are independent."""
    value = real_of(a)
    turned = transposed(value, [1, 0])
    if known(value, 0, "an inverse") < known(value, 1, "an inverse"):
        return _matmul(turned, inv(_matmul(value, turned)))
    return solve(_matmul(turned, value), turned)


@numpy_name("linalg.eigh")
def eigh(a: Any, sweeps: int | None = None) -> tuple[Array, Array]:
    """Eigenvalues, the least first, and eigenvectors of a symmetric matrix, as columns.

    Jacobi's rotations, n / 2 of them at once in the order of R. Brent and F. Luk ("The solution of
    singular-value and symmetric eigenvalue problems on multiprocessor arrays", 1985). By default
    there are 4 sweeps, and one more for each doubling of n beyond 4.
    """
    matrix, n = _square(a)
    if n == 1:
        return reshape_to(matrix, (1,)), eye(1, dtype=matrix.dtype)
    vectors = eye(n, dtype=matrix.dtype)
    times = 4 + builtins.max(0, (n - 1).bit_length() - 2) if sweeps is None else sweeps
    for _ in range(times):
        for pairs in _rounds(n):
            turn = _rotation(matrix, pairs, n)
            matrix = _matmul(transposed(turn, [1, 0]), _matmul(matrix, turn))
            vectors = _matmul(vectors, turn)
    values, rows = ordered_by(diagonal(matrix), transposed(vectors, [1, 0]))
    return values, transposed(rows, [1, 0])


def _rounds(n: int) -> list[list[tuple[int, int]]]:
    """All pairs of places below n, in rounds in which each place is in one pair at most."""
    size = n + n % 2
    ring = list(range(size))
    rounds = []
    for _ in range(size - 1):
        pairs = [(ring[k], ring[size - 1 - k]) for k in range(size // 2)]
        rounds.append([(builtins.min(p), builtins.max(p)) for p in pairs if builtins.max(p) < n])
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return rounds


def _rotation(matrix: Array, pairs: list[tuple[int, int]], n: int) -> Array:
    """The matrix that rotates each pair of columns so that their common element becomes 0."""
    flat = ravel(matrix)
    at_p, at_q, off = (
        picked(flat, [n * row + column for row, column in places], 0)
        for places in ([(p, p) for p, _ in pairs], [(q, q) for _, q in pairs], pairs)
    )
    gap, double = ew.subtract(at_q, at_p), off + off
    root = hypot(gap, double)
    # The tangent of the lesser angle: 2 o / (g + sign(g) sqrt(g^2 + 4 o^2)).
    under = ew.where(gap < 0, gap - root, gap + root)
    none = infix("==", off, single(off, 0), bool_)
    t = ew.where(none, 0, ew.quotient(double, ew.where(none, 1, under)))
    c = ew.reciprocal(sqrt(ew.square(t) + 1))
    s = ew.product(t, c)
    # Public numbers first: 0 and 1, then c, s and -s of each pair.
    many = len(pairs)
    elements = concatenate([ew.astype([0, 1], matrix.dtype), c, s, -s])
    places = [int(row == column) for row in range(n) for column in range(n)]
    for k, (p, q) in enumerate(pairs):
        places[n * p + p] = places[n * q + q] = 2 + k
        places[n * p + q], places[n * q + p] = 2 + many + k, 2 + 2 * many + k
    return reshape_to(picked(elements, places, 0), (n, n))


# Statistics of several columns.


def _variables(m: Any, y: Any, rowvar: bool) -> Array:
    """The variables of one or two arrays, as rows."""

    def rows(part: Any) -> Array:
        value = real_of(part)
        if value.ndim > 2:
            raise ComputationError("covariances of several tables", "bring two axes at most")
        if value.ndim == 1:
            return reshape_to(value, (1, *value.shape))
        return value if rowvar else transposed(value, [1, 0])

    return rows(m) if y is None else concatenate([rows(m), rows(y)], 0)


@numpy_name()
def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None) -> Array:
    """The covariances of variables, which are rows, or columns with rowvar=False."""
    value = _variables(m, y, rowvar)
    centred = ew.subtract(value, mean(value, 1, keepdims=True))

    total = _matmul(centred, transposed(centred, [1, 0]))
    size = _sizes(value, [1])
    wide = cast(total, fixed(96, total.dtype.frac))
    made = _divided(wide, size - (int(not bias) if ddof is None else ddof), total.dtype)
    return reshape_to(made, ()) if made.shape == (1, 1) else made


@numpy_name()
def corrcoef(x: Any, y: Any = None, rowvar: bool = True) -> Array:
    """The correlations of variables."""
    c = cov(x, y, rowvar)
    if not c.ndim:
        return constant(c.dtype, [1])
    scale = ew.reciprocal(sqrt(diagonal(c)))
    column = reshape_to(scale, (*scale.shape, 1))
    return ew.multiply(ew.multiply(c, column), reshape_to(scale, (1, *scale.shape)))
