"""NumPy's functions on arrays of a computation, by NumPy's names.

    import hushwire.numpy as hnp

NumPy's own functions do the same when they are called on such arrays: `numpy.sqrt(x)` is
`hushwire.numpy.sqrt(x)`, and NumPy is not needed. Functions that need NaN,
infinity, or a shape that depends on the data are refused by name, with an alternative. `REFUSED`
lists them.
"""

from __future__ import annotations

import math

from ..tracing import refused as refused
from ..tracing.array import FUNCTIONS as FUNCTIONS, REFUSED as REFUSED, Array as Array
from ..tracing.compositions import (
    array_split as array_split, convolve as convolve, correlate as correlate, cross as cross,
    digitize as digitize, dsplit as dsplit, dstack as dstack, einsum as einsum, fliplr as fliplr,
    flipud as flipud, gradient as gradient, hsplit as hsplit, interp as interp, logspace as logspace,
    polyfit as polyfit, rot90 as rot90, sliding_window_view as sliding_window_view, split as split,
    trapezoid as trapezoid, trapezoid as trapz, tri as tri, vander as vander, vsplit as vsplit,
)
from ..tracing.elementwise import (
    abs as abs, abs as absolute, add as add, astype as astype, bitwise_and as bitwise_and,
    bitwise_or as bitwise_or, bitwise_xor as bitwise_xor, ceil as ceil, clip as clip, conj as conj,
    conj as conjugate, conj as real, copysign as copysign, divide as divide, divide as true_divide,
    divmod as divmod, equal as equal, fabs as fabs, floor as floor, floor_divide as floor_divide,
    fmod as fmod, greater as greater, greater_equal as greater_equal, heaviside as heaviside, imag as imag,
    invert as bitwise_invert, invert as bitwise_not, invert as invert, isclose as isclose,
    iscomplex as iscomplex, isreal as isreal, isrealobj as isrealobj, less as less,
    less_equal as less_equal, logical_and as logical_and, logical_not as logical_not,
    logical_or as logical_or, logical_xor as logical_xor, maximum as fmax, maximum as maximum,
    minimum as fmin, minimum as minimum, modf as modf, multiply as multiply, negative as negative,
    not_equal as not_equal, positive as positive, reciprocal as reciprocal, remainder as mod,
    remainder as remainder, rint as rint, round_ as around, round_ as round, select_ as select,
    sign as sign, signbit as signbit, square as square, subtract as subtract, trunc as fix, trunc as trunc,
    where as where,
)
from ..tracing.functions import (
    angle as angle, arccos as acos, arccos as arccos, arccosh as acosh, arccosh as arccosh,
    arcsin as arcsin, arcsin as asin, arcsinh as arcsinh, arcsinh as asinh, arctan as arctan,
    arctan as atan, arctan2 as arctan2, arctan2 as atan2, arctanh as arctanh, arctanh as atanh,
    cbrt as cbrt, cos as cos, cosh as cosh, deg2rad as deg2rad, deg2rad as radians, erf as erf, exp as exp,
    exp2 as exp2, expm1 as expm1, float_power as float_power, hypot as hypot, i0 as i0, log as log,
    log1p as log1p, log2 as log2, log10 as log10, logaddexp as logaddexp, logaddexp2 as logaddexp2,
    power as pow, power as power, rad2deg as degrees, rad2deg as rad2deg, relu as relu, sigmoid as sigmoid,
    sin as sin, sinc as sinc, sinh as sinh, softmax as softmax, softplus as softplus, sqrt as sqrt,
    tan as tan, tanh as tanh,
)
from ..tracing.indexing import (
    apply_along_axis as apply_along_axis, choose as choose, compress as compress, delete as delete,
    extract as extract, insert as insert, isin as isin, piecewise as piecewise,
)
from ..tracing.integers import (
    bitwise_count as bitwise_count, gcd as gcd, lcm as lcm, ldexp as ldexp,
    left_shift as bitwise_left_shift, left_shift as left_shift, nextafter as nextafter,
    right_shift as bitwise_right_shift, right_shift as right_shift,
)
from ..tracing.linear import (
    corrcoef as corrcoef, cov as cov, dot as dot, inner as inner, kron as kron, matmul as matmul,
    outer as outer, polyval as polyval, tensordot as tensordot, trace as trace, vdot as vdot,
    vecdot as vecdot,
)
from ..tracing.reductions import (
    all as all, allclose as allclose, any as any, argmax as argmax, argmin as argmin,
    array_equal as array_equal, array_equiv as array_equiv, average as average,
    count_nonzero as count_nonzero, cumprod as cumprod, cumsum as cumsum,
    cumulative_prod as cumulative_prod, cumulative_sum as cumulative_sum, diff as diff,
    ediff1d as ediff1d, max as amax, max as max, mean as mean, min as amin, min as min, prod as prod,
    ptp as ptp, std as std, sum as sum, unwrap as unwrap, var as var,
)
from ..tracing.shapes import (
    append as append, arange as arange, asarray as array, asarray as asarray,
    asarray as ascontiguousarray, asarray as copy, atleast_1d as atleast_1d, atleast_2d as atleast_2d,
    atleast_3d as atleast_3d, block as block, broadcast_arrays as broadcast_arrays,
    broadcast_to_ as broadcast_to, column_stack as column_stack, concatenate as concat,
    concatenate as concatenate, diag as diag, diagonal as diagonal, expand_dims as expand_dims,
    eye as eye, eye as identity, flip as flip, full as full, full_like as full_like,
    geomspace as geomspace, hstack as hstack, linspace as linspace, matrix_transpose as matrix_transpose,
    meshgrid as meshgrid, moveaxis as moveaxis, ndim as ndim, ones as ones, ones_like as ones_like,
    pad as pad, ravel as ravel, repeat as repeat, reshape as reshape, roll as roll, rollaxis as rollaxis,
    shape as shape, size as size, squeeze as squeeze, stack as stack, swapaxes as swapaxes, take as take,
    take_along_axis as take_along_axis, tile as tile, transpose as permute_dims, transpose as transpose,
    tril as tril, triu as triu, unstack as unstack, vstack as vstack, zeros as zeros,
    zeros_like as zeros_like,
)
from ..tracing.sorting import (
    argpartition as argpartition, argsort as argsort, bincount as bincount, histogram as histogram,
    lexsort as lexsort, median as median, partition as partition, percentile as percentile,
    quantile as quantile, searchsorted as searchsorted, sort as sort, top_k as top_k,
)
from ..tracing.types import (
    bool_ as bool_, i8 as int8, i16 as int16, i32 as int32, i64 as int64, u8 as uint8, u16 as uint16,
    u32 as uint32, u64 as uint64,
)
from . import linalg as linalg

__all__ = [
    "Array", "FUNCTIONS", "REFUSED", "abs", "absolute", "acos", "acosh", "add", "all", "allclose",
    "amax", "amin", "angle", "any", "append", "apply_along_axis", "arange", "arccos", "arccosh",
    "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argpartition",
    "argsort", "around", "array", "array_equal", "array_equiv", "array_split", "asarray",
    "ascontiguousarray", "asin", "asinh", "astype", "atan", "atan2", "atanh", "atleast_1d",
    "atleast_2d", "atleast_3d", "average", "bincount", "bitwise_and", "bitwise_count",
    "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "block", "bool_", "broadcast_arrays", "broadcast_to", "cbrt", "ceil", "choose",
    "clip", "column_stack", "compress", "concat", "concatenate", "conj", "conjugate", "convolve",
    "copy", "copysign", "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross",
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "delete",
    "diag", "diagonal", "diff", "digitize", "divide", "divmod", "dot", "dsplit", "dstack", "e",
    "ediff1d", "einsum", "equal", "erf", "exp", "exp2", "expand_dims", "expm1", "extract", "eye",
    "fabs", "fix", "flip", "fliplr", "flipud", "float_power", "floor", "floor_divide", "fmax",
    "fmin", "fmod", "full", "full_like", "gcd", "geomspace", "gradient", "greater", "greater_equal",
    "heaviside", "histogram", "hsplit", "hstack", "hypot", "i0", "identity", "imag", "inner",
    "insert", "int16", "int32", "int64", "int8", "interp", "invert", "isclose", "iscomplex", "isin",
    "isreal", "isrealobj", "kron", "lcm", "ldexp", "left_shift", "less", "less_equal", "lexsort",
    "linalg", "linspace", "log", "log10", "log1p", "log2", "logaddexp", "logaddexp2", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logspace", "matmul", "matrix_transpose", "max",
    "maximum", "mean", "median", "meshgrid", "min", "minimum", "mod", "modf", "moveaxis",
    "multiply", "ndim", "negative", "newaxis", "nextafter", "not_equal", "ones", "ones_like",
    "outer", "pad", "partition", "percentile", "permute_dims", "pi", "piecewise", "polyfit",
    "polyval", "positive", "pow", "power", "prod", "ptp", "quantile", "rad2deg", "radians", "ravel",
    "real", "reciprocal", "relu", "remainder", "repeat", "reshape", "right_shift", "rint", "roll",
    "rollaxis", "rot90", "round", "searchsorted", "select", "shape", "sigmoid", "sign", "signbit",
    "sin", "sinc", "sinh", "size", "sliding_window_view", "softmax", "softplus", "sort", "split",
    "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take",
    "take_along_axis", "tan", "tanh", "tensordot", "tile", "top_k", "trace", "transpose",
    "trapezoid", "trapz", "tri", "tril", "triu", "true_divide", "trunc", "uint16", "uint32",
    "uint64", "uint8", "unstack", "unwrap", "vander", "var", "vdot", "vecdot", "vsplit", "vstack",
    "where", "zeros", "zeros_like",
]  # fmt: skip

pi: float = math.pi
e: float = math.e
newaxis: None = None


def __getattr__(name: str) -> None:
    if name in REFUSED:
        raise AttributeError(f"hushwire.numpy has no {name}: {REFUSED[name]}")
    raise AttributeError(f"hushwire.numpy has no {name}")
