"""NumPy's functions on arrays of a computation, by NumPy's names.

    import hushwire.numpy as hnp

NumPy's own functions do the same when they are called on such arrays: `numpy.sqrt(x)` is
`hushwire.numpy.sqrt(x)`, and NumPy is not needed. What needs NaN, infinity, or a shape that tells of
the data is refused by name, with what to write instead: `REFUSED` lists it.
"""

from __future__ import annotations

import math

from ..tracing import refused as refused
from ..tracing.array import FUNCTIONS as FUNCTIONS
from ..tracing.array import REFUSED as REFUSED
from ..tracing.array import Array as Array
from ..tracing.compositions import (
    convolve as convolve,
)
from ..tracing.compositions import (
    correlate as correlate,
)
from ..tracing.compositions import (
    cross as cross,
)
from ..tracing.compositions import (
    digitize as digitize,
)
from ..tracing.compositions import (
    dstack as dstack,
)
from ..tracing.compositions import (
    einsum as einsum,
)
from ..tracing.compositions import (
    fliplr as fliplr,
)
from ..tracing.compositions import (
    flipud as flipud,
)
from ..tracing.compositions import (
    gradient as gradient,
)
from ..tracing.compositions import (
    interp as interp,
)
from ..tracing.compositions import (
    logspace as logspace,
)
from ..tracing.compositions import (
    rot90 as rot90,
)
from ..tracing.compositions import (
    sliding_window_view as sliding_window_view,
)
from ..tracing.compositions import (
    split as array_split,
)
from ..tracing.compositions import (
    split as split,
)
from ..tracing.compositions import (
    trapezoid as trapezoid,
)
from ..tracing.compositions import (
    trapezoid as trapz,
)
from ..tracing.compositions import (
    tri as tri,
)
from ..tracing.compositions import (
    vander as vander,
)
from ..tracing.elementwise import (
    abs as abs,
)
from ..tracing.elementwise import (
    abs as absolute,
)
from ..tracing.elementwise import (
    add as add,
)
from ..tracing.elementwise import (
    astype as astype,
)
from ..tracing.elementwise import (
    bitwise_and as bitwise_and,
)
from ..tracing.elementwise import (
    bitwise_or as bitwise_or,
)
from ..tracing.elementwise import (
    bitwise_xor as bitwise_xor,
)
from ..tracing.elementwise import (
    ceil as ceil,
)
from ..tracing.elementwise import (
    clip as clip,
)
from ..tracing.elementwise import (
    conj as conj,
)
from ..tracing.elementwise import (
    conj as conjugate,
)
from ..tracing.elementwise import (
    conj as real,
)
from ..tracing.elementwise import (
    copysign as copysign,
)
from ..tracing.elementwise import (
    divide as divide,
)
from ..tracing.elementwise import (
    divide as true_divide,
)
from ..tracing.elementwise import (
    divmod as divmod,
)
from ..tracing.elementwise import (
    equal as equal,
)
from ..tracing.elementwise import (
    fabs as fabs,
)
from ..tracing.elementwise import (
    floor as floor,
)
from ..tracing.elementwise import (
    floor_divide as floor_divide,
)
from ..tracing.elementwise import (
    fmod as fmod,
)
from ..tracing.elementwise import (
    greater as greater,
)
from ..tracing.elementwise import (
    greater_equal as greater_equal,
)
from ..tracing.elementwise import (
    heaviside as heaviside,
)
from ..tracing.elementwise import (
    imag as imag,
)
from ..tracing.elementwise import (
    invert as bitwise_invert,
)
from ..tracing.elementwise import (
    invert as bitwise_not,
)
from ..tracing.elementwise import (
    invert as invert,
)
from ..tracing.elementwise import (
    isclose as isclose,
)
from ..tracing.elementwise import (
    iscomplex as iscomplex,
)
from ..tracing.elementwise import (
    isreal as isreal,
)
from ..tracing.elementwise import (
    isrealobj as isrealobj,
)
from ..tracing.elementwise import (
    less as less,
)
from ..tracing.elementwise import (
    less_equal as less_equal,
)
from ..tracing.elementwise import (
    logical_and as logical_and,
)
from ..tracing.elementwise import (
    logical_not as logical_not,
)
from ..tracing.elementwise import (
    logical_or as logical_or,
)
from ..tracing.elementwise import (
    logical_xor as logical_xor,
)
from ..tracing.elementwise import (
    maximum as fmax,
)
from ..tracing.elementwise import (
    maximum as maximum,
)
from ..tracing.elementwise import (
    minimum as fmin,
)
from ..tracing.elementwise import (
    minimum as minimum,
)
from ..tracing.elementwise import (
    modf as modf,
)
from ..tracing.elementwise import (
    multiply as multiply,
)
from ..tracing.elementwise import (
    negative as negative,
)
from ..tracing.elementwise import (
    not_equal as not_equal,
)
from ..tracing.elementwise import (
    positive as positive,
)
from ..tracing.elementwise import (
    reciprocal as reciprocal,
)
from ..tracing.elementwise import (
    remainder as mod,
)
from ..tracing.elementwise import (
    remainder as remainder,
)
from ..tracing.elementwise import (
    rint as rint,
)
from ..tracing.elementwise import (
    round_ as around,
)
from ..tracing.elementwise import (
    round_ as round,
)
from ..tracing.elementwise import (
    select_ as select,
)
from ..tracing.elementwise import (
    sign as sign,
)
from ..tracing.elementwise import (
    signbit as signbit,
)
from ..tracing.elementwise import (
    square as square,
)
from ..tracing.elementwise import (
    subtract as subtract,
)
from ..tracing.elementwise import (
    trunc as fix,
)
from ..tracing.elementwise import (
    trunc as trunc,
)
from ..tracing.elementwise import (
    where as where,
)
from ..tracing.functions import (
    angle as angle,
)
from ..tracing.functions import (
    arccos as acos,
)
from ..tracing.functions import (
    arccos as arccos,
)
from ..tracing.functions import (
    arccosh as acosh,
)
from ..tracing.functions import (
    arccosh as arccosh,
)
from ..tracing.functions import (
    arcsin as arcsin,
)
from ..tracing.functions import (
    arcsin as asin,
)
from ..tracing.functions import (
    arcsinh as arcsinh,
)
from ..tracing.functions import (
    arcsinh as asinh,
)
from ..tracing.functions import (
    arctan as arctan,
)
from ..tracing.functions import (
    arctan as atan,
)
from ..tracing.functions import (
    arctan2 as arctan2,
)
from ..tracing.functions import (
    arctan2 as atan2,
)
from ..tracing.functions import (
    arctanh as arctanh,
)
from ..tracing.functions import (
    arctanh as atanh,
)
from ..tracing.functions import (
    cbrt as cbrt,
)
from ..tracing.functions import (
    cos as cos,
)
from ..tracing.functions import (
    cosh as cosh,
)
from ..tracing.functions import (
    deg2rad as deg2rad,
)
from ..tracing.functions import (
    deg2rad as radians,
)
from ..tracing.functions import (
    erf as erf,
)
from ..tracing.functions import (
    exp as exp,
)
from ..tracing.functions import (
    exp2 as exp2,
)
from ..tracing.functions import (
    expm1 as expm1,
)
from ..tracing.functions import (
    float_power as float_power,
)
from ..tracing.functions import (
    hypot as hypot,
)
from ..tracing.functions import (
    i0 as i0,
)
from ..tracing.functions import (
    log as log,
)
from ..tracing.functions import (
    log1p as log1p,
)
from ..tracing.functions import (
    log2 as log2,
)
from ..tracing.functions import (
    log10 as log10,
)
from ..tracing.functions import (
    logaddexp as logaddexp,
)
from ..tracing.functions import (
    logaddexp2 as logaddexp2,
)
from ..tracing.functions import (
    power as pow,
)
from ..tracing.functions import (
    power as power,
)
from ..tracing.functions import (
    rad2deg as degrees,
)
from ..tracing.functions import (
    rad2deg as rad2deg,
)
from ..tracing.functions import (
    relu as relu,
)
from ..tracing.functions import (
    sigmoid as sigmoid,
)
from ..tracing.functions import (
    sin as sin,
)
from ..tracing.functions import (
    sinc as sinc,
)
from ..tracing.functions import (
    sinh as sinh,
)
from ..tracing.functions import (
    softmax as softmax,
)
from ..tracing.functions import (
    softplus as softplus,
)
from ..tracing.functions import (
    sqrt as sqrt,
)
from ..tracing.functions import (
    tan as tan,
)
from ..tracing.functions import (
    tanh as tanh,
)
from ..tracing.integers import (
    bitwise_count as bitwise_count,
)
from ..tracing.integers import (
    gcd as gcd,
)
from ..tracing.integers import (
    lcm as lcm,
)
from ..tracing.integers import (
    ldexp as ldexp,
)
from ..tracing.integers import (
    left_shift as bitwise_left_shift,
)
from ..tracing.integers import (
    left_shift as left_shift,
)
from ..tracing.integers import (
    nextafter as nextafter,
)
from ..tracing.integers import (
    right_shift as bitwise_right_shift,
)
from ..tracing.integers import (
    right_shift as right_shift,
)
from ..tracing.linear import (
    corrcoef as corrcoef,
)
from ..tracing.linear import (
    cov as cov,
)
from ..tracing.linear import (
    dot as dot,
)
from ..tracing.linear import (
    inner as inner,
)
from ..tracing.linear import (
    kron as kron,
)
from ..tracing.linear import (
    matmul as matmul,
)
from ..tracing.linear import (
    outer as outer,
)
from ..tracing.linear import (
    polyval as polyval,
)
from ..tracing.linear import (
    tensordot as tensordot,
)
from ..tracing.linear import (
    trace as trace,
)
from ..tracing.linear import (
    vdot as vdot,
)
from ..tracing.reductions import (
    all as all,
)
from ..tracing.reductions import (
    allclose as allclose,
)
from ..tracing.reductions import (
    any as any,
)
from ..tracing.reductions import (
    argmax as argmax,
)
from ..tracing.reductions import (
    argmin as argmin,
)
from ..tracing.reductions import (
    array_equal as array_equal,
)
from ..tracing.reductions import (
    array_equiv as array_equiv,
)
from ..tracing.reductions import (
    average as average,
)
from ..tracing.reductions import (
    count_nonzero as count_nonzero,
)
from ..tracing.reductions import (
    cumprod as cumprod,
)
from ..tracing.reductions import (
    cumprod as cumulative_prod,
)
from ..tracing.reductions import (
    cumsum as cumsum,
)
from ..tracing.reductions import (
    cumsum as cumulative_sum,
)
from ..tracing.reductions import (
    diff as diff,
)
from ..tracing.reductions import (
    ediff1d as ediff1d,
)
from ..tracing.reductions import (
    max as amax,
)
from ..tracing.reductions import (
    max as max,
)
from ..tracing.reductions import (
    mean as mean,
)
from ..tracing.reductions import (
    min as amin,
)
from ..tracing.reductions import (
    min as min,
)
from ..tracing.reductions import (
    prod as prod,
)
from ..tracing.reductions import (
    ptp as ptp,
)
from ..tracing.reductions import (
    std as std,
)
from ..tracing.reductions import (
    sum as sum,
)
from ..tracing.reductions import (
    unwrap as unwrap,
)
from ..tracing.reductions import (
    var as var,
)
from ..tracing.shapes import (
    append as append,
)
from ..tracing.shapes import (
    arange as arange,
)
from ..tracing.shapes import (
    asarray as array,
)
from ..tracing.shapes import (
    asarray as asarray,
)
from ..tracing.shapes import (
    asarray as ascontiguousarray,
)
from ..tracing.shapes import (
    asarray as copy,
)
from ..tracing.shapes import (
    atleast_1d as atleast_1d,
)
from ..tracing.shapes import (
    atleast_2d as atleast_2d,
)
from ..tracing.shapes import (
    atleast_3d as atleast_3d,
)
from ..tracing.shapes import (
    broadcast_arrays as broadcast_arrays,
)
from ..tracing.shapes import (
    broadcast_to_ as broadcast_to,
)
from ..tracing.shapes import (
    column_stack as column_stack,
)
from ..tracing.shapes import (
    concatenate as concat,
)
from ..tracing.shapes import (
    concatenate as concatenate,
)
from ..tracing.shapes import (
    diag as diag,
)
from ..tracing.shapes import (
    diagonal as diagonal,
)
from ..tracing.shapes import (
    expand_dims as expand_dims,
)
from ..tracing.shapes import (
    eye as eye,
)
from ..tracing.shapes import (
    eye as identity,
)
from ..tracing.shapes import (
    flip as flip,
)
from ..tracing.shapes import (
    full as full,
)
from ..tracing.shapes import (
    full_like as full_like,
)
from ..tracing.shapes import (
    hstack as hstack,
)
from ..tracing.shapes import (
    linspace as linspace,
)
from ..tracing.shapes import (
    meshgrid as meshgrid,
)
from ..tracing.shapes import (
    moveaxis as moveaxis,
)
from ..tracing.shapes import (
    ndim as ndim,
)
from ..tracing.shapes import (
    ones as ones,
)
from ..tracing.shapes import (
    ones_like as ones_like,
)
from ..tracing.shapes import (
    pad as pad,
)
from ..tracing.shapes import (
    ravel as ravel,
)
from ..tracing.shapes import (
    repeat as repeat,
)
from ..tracing.shapes import (
    reshape as reshape,
)
from ..tracing.shapes import (
    roll as roll,
)
from ..tracing.shapes import (
    shape as shape,
)
from ..tracing.shapes import (
    size as size,
)
from ..tracing.shapes import (
    squeeze as squeeze,
)
from ..tracing.shapes import (
    stack as stack,
)
from ..tracing.shapes import (
    swapaxes as swapaxes,
)
from ..tracing.shapes import (
    take as take,
)
from ..tracing.shapes import (
    take_along_axis as take_along_axis,
)
from ..tracing.shapes import (
    tile as tile,
)
from ..tracing.shapes import (
    transpose as permute_dims,
)
from ..tracing.shapes import (
    transpose as transpose,
)
from ..tracing.shapes import (
    tril as tril,
)
from ..tracing.shapes import (
    triu as triu,
)
from ..tracing.shapes import (
    vstack as vstack,
)
from ..tracing.shapes import (
    zeros as zeros,
)
from ..tracing.shapes import (
    zeros_like as zeros_like,
)
from ..tracing.sorting import (
    argsort as argsort,
)
from ..tracing.sorting import (
    bincount as bincount,
)
from ..tracing.sorting import (
    histogram as histogram,
)
from ..tracing.sorting import (
    median as median,
)
from ..tracing.sorting import (
    partition as partition,
)
from ..tracing.sorting import (
    percentile as percentile,
)
from ..tracing.sorting import (
    quantile as quantile,
)
from ..tracing.sorting import (
    searchsorted as searchsorted,
)
from ..tracing.sorting import (
    sort as sort,
)
from ..tracing.sorting import (
    top_k as top_k,
)
from ..tracing.types import (
    bool_ as bool_,
)
from ..tracing.types import (
    i8 as int8,
)
from ..tracing.types import (
    i16 as int16,
)
from ..tracing.types import (
    i32 as int32,
)
from ..tracing.types import (
    i64 as int64,
)
from ..tracing.types import (
    u8 as uint8,
)
from ..tracing.types import (
    u16 as uint16,
)
from ..tracing.types import (
    u32 as uint32,
)
from ..tracing.types import (
    u64 as uint64,
)
from . import linalg as linalg

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "all", "allclose", "amax", "amin", "angle",
    "any", "append", "arange", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
    "arctanh", "argmax", "argmin", "argsort", "around", "array", "array_equal", "array_equiv",
    "array_split", "asarray", "ascontiguousarray", "asin", "asinh", "astype", "atan", "atan2",
    "atanh", "atleast_1d", "atleast_2d", "atleast_3d", "average", "bincount", "bitwise_and",
    "bitwise_count", "bitwise_invert", "bitwise_left_shift", "bitwise_not", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "broadcast_arrays", "broadcast_to", "cbrt", "ceil",
    "clip", "column_stack", "concat", "concatenate", "conj", "conjugate", "convolve", "copy",
    "copysign", "corrcoef", "correlate", "cos", "cosh", "count_nonzero", "cov", "cross",
    "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "deg2rad", "degrees", "diag",
    "diagonal", "diff", "digitize", "divide", "divmod", "dot", "dstack", "ediff1d", "einsum",
    "equal", "erf", "exp", "exp2", "expand_dims", "expm1", "eye", "fabs", "fix", "flip",
    "fliplr", "flipud", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod",
    "full", "full_like", "gcd", "gradient", "greater", "greater_equal", "heaviside",
    "histogram", "hstack", "hypot", "i0", "identity", "imag", "inner", "interp", "invert",
    "isclose", "iscomplex", "isreal", "isrealobj", "kron", "lcm", "ldexp", "left_shift",
    "less", "less_equal", "linspace", "log", "log10", "log1p", "log2", "logaddexp",
    "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "logspace",
    "matmul", "max", "maximum", "mean", "median", "meshgrid", "min", "minimum", "mod", "modf",
    "moveaxis", "multiply", "ndim", "negative", "nextafter", "not_equal", "ones", "ones_like",
    "outer", "pad", "partition", "percentile", "permute_dims", "polyval", "positive", "pow",
    "power", "prod", "ptp", "quantile", "rad2deg", "radians", "ravel", "real", "reciprocal",
    "relu", "remainder", "repeat", "reshape", "right_shift", "rint", "roll", "rot90", "round",
    "searchsorted", "select", "shape", "sigmoid", "sign", "signbit", "sin", "sinc", "sinh",
    "size", "sliding_window_view", "softmax", "softplus", "sort", "split", "sqrt", "square",
    "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "take", "take_along_axis",
    "tan", "tanh", "tensordot", "tile", "top_k", "trace", "transpose", "trapezoid", "trapz",
    "tri", "tril", "triu", "true_divide", "trunc", "unwrap", "vander", "var", "vdot",
    "vstack", "where", "zeros", "zeros_like", "FUNCTIONS", "REFUSED", "Array", "bool_", "e",
    "int8", "int16", "int32", "int64", "linalg", "newaxis", "pi", "uint8", "uint16", "uint32",
    "uint64",
]  # fmt: skip

pi: float = math.pi
e: float = math.e
newaxis: None = None


def __getattr__(name: str) -> None:
    if name in REFUSED:
        raise AttributeError(f"hushwire.numpy has no {name}: {REFUSED[name]}")
    raise AttributeError(f"hushwire.numpy has no {name}")
