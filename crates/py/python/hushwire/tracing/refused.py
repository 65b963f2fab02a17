"""NumPy's functions that there cannot be, and what to write instead."""

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
for _name in ("unique", "nonzero", "flatnonzero", "argwhere", "extract", "compress", "delete", "trim_zeros",
              "union1d", "intersect1d", "setdiff1d", "setxor1d"):  # fmt: skip
    REFUSED[_name] = _COUNTS

REFUSED["frexp"] = "all numbers of a fixed type have one exponent: take log2"
REFUSED["spacing"] = "the distance of fixed numbers is always 2^-frac"
REFUSED["save"] = REFUSED["savez"] = "return the value to those who may learn it, and save it there"
