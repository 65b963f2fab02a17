"""Functions of NumPy that are impossible here, with alternatives."""

from __future__ import annotations

from .array import REFUSED

_NAN = "numbers here are never NaN and never infinite, so the answer is known: leave it out"
for _name in ("isnan", "isinf", "isfinite", "isneginf", "isposinf"):
    REFUSED[_name] = _NAN

_PLAIN = {
    "nansum": "sum", "nanprod": "prod", "nanmean": "mean", "nanvar": "var", "nanstd": "std",
    "nanmax": "max", "nanmin": "min", "nanargmax": "argmax", "nanargmin": "argmin",
    "nanmedian": "median", "nancumsum": "cumsum", "nancumprod": "cumprod", "nan_to_num": "positive",
    "nanquantile": "quantile", "nanpercentile": "percentile",
}  # fmt: skip
for _name, _plain in _PLAIN.items():
    REFUSED[_name] = (
        f"numbers here are never NaN: write {_plain}, with where= for those to leave out"
    )

_COUNTS = "the shape of its result would tell of the data: keep all elements, as hw.where does"
for _name in ("unique", "nonzero", "flatnonzero", "argwhere", "trim_zeros", "union1d", "intersect1d",
              "setdiff1d", "setxor1d"):  # fmt: skip
    REFUSED[_name] = _COUNTS

_CHANGES = "an array of a computation does not change: write hw.where(mask, value, x), or join parts"
for _name in ("fill_diagonal", "put", "place", "putmask", "put_along_axis", "copyto"):
    REFUSED[_name] = _CHANGES
for _name in ("linalg.eig", "linalg.eigvals"):
    REFUSED[_name] = "eigenvalues may be complex: take eigh of a symmetric matrix"
REFUSED["linalg.qr"] = "a factor's signs depend on numbers that may be 0: take cholesky of x.T @ x"
REFUSED["linalg.matrix_rank"] = "it depends on which numbers count as 0: compare linalg.svdvals(x)"
REFUSED["linalg.cond"] = "of a singular matrix it is infinite: divide values of linalg.svdvals(x)"

REFUSED["frexp"] = "all numbers of a fixed type have one exponent: take log2"
REFUSED["spacing"] = "the distance of fixed numbers is always 2^-frac"
REFUSED["save"] = REFUSED["savez"] = "return the value to those who may learn it, and save it there"
