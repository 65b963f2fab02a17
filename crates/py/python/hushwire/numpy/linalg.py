"""Linear algebra on arrays of a computation, by the names of `numpy.linalg`."""

from __future__ import annotations

from ..tracing.array import REFUSED
from ..tracing.compositions import (
    eigvalsh as eigvalsh,
)
from ..tracing.compositions import (
    lstsq as lstsq,
)
from ..tracing.compositions import (
    matrix_power as matrix_power,
)
from ..tracing.compositions import (
    multi_dot as multi_dot,
)
from ..tracing.linear import (
    cholesky as cholesky,
)
from ..tracing.linear import (
    det as det,
)
from ..tracing.linear import (
    eigh as eigh,
)
from ..tracing.linear import (
    inv as inv,
)
from ..tracing.linear import (
    norm as norm,
)
from ..tracing.linear import (
    solve as solve,
)
from ..tracing.linear import (
    pinv as pinv,
)
from ..tracing.linear import (
    slogdet as slogdet,
)
from ..tracing.linear import (
    svd as svd,
)
from ..tracing.linear import (
    svdvals as svdvals,
)
from ..tracing.linear import (
    trace as trace,
)


def __getattr__(name: str) -> None:
    reason = REFUSED.get(f"linalg.{name}")
    raise AttributeError(f"hushwire.numpy.linalg has no {name}{f': {reason}' if reason else ''}")
