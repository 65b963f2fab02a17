"""Linear algebra on arrays of a computation, by the names of `numpy.linalg`."""

from __future__ import annotations

from ..tracing.linear import (
    cholesky as cholesky,
    det as det,
    eigh as eigh,
    inv as inv,
    norm as norm,
    solve as solve,
)
