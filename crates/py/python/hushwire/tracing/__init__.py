"""Computations as Python functions: `@hw.computation` and what it traces.

types.py        types of values, owners, outputs
graph.py        the graph, and its text
array.py        arrays under construction, and the operations of the language
elementwise.py  arithmetic, comparisons, choices        integers.py   bits, gcd, secret shifts
functions.py    roots, exponentials, angles             series.py     their constants
shapes.py       shapes, joins, new arrays               indexing.py   parts by places and masks
reductions.py   sums, means, extremes                   sorting.py    sorts, medians, quantiles
linear.py       matrices                                compositions.py  what is made of all these
function.py     the decorator and the traced function   picture.py    pictures of operators
"""

from __future__ import annotations

from . import (
    compositions as compositions,
)
from . import (
    elementwise as elementwise,
)
from . import (
    functions as functions,
)
from . import (
    indexing as indexing,
)
from . import (
    integers as integers,
)
from . import (
    linear as linear,
)
from . import (
    reductions as reductions,
)
from . import (
    refused as refused,
)
from . import (
    shapes as shapes,
)
from . import (
    sorting as sorting,
)
from .array import Array
from .elementwise import where
from .errors import ComputationError
from .function import Computation, computation
from .types import (
    ArrayType,
    Out,
    Scalar,
    bool_,
    fixed,
    i8,
    i16,
    i32,
    i64,
    i128,
    integer,
    out,
    u8,
    u16,
    u32,
    u64,
    u128,
)

__all__ = [
    "Array", "ArrayType", "Computation", "ComputationError", "Out", "Scalar", "bool_", "computation",
    "fixed", "i8", "i16", "i32", "i64", "i128", "integer", "out", "u8", "u16", "u32", "u64", "u128", "where",
]  # fmt: skip
