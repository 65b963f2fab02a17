"""Secure multi-party computation: SQL, arrays and models on data that stays with its owners.

>>> import hushwire as hw
>>> with hw.local(parties=3) as s:
...     learnt = s.run('''computation richer
...         members alice, bob
...         input a: u32 from alice
...         input b: u32 from bob
...         output richer = a > b to alice, bob''', {"a": 5, "b": 3})
>>> bool(learnt["richer"])
True
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from hushwire._native import Computation, __version__
from hushwire.errors import (
    Cancelled,
    FileError,
    InternalError,
    NetworkError,
    PartyError,
    Refused,
    UsageError,
)
from hushwire.progress import Progress
from hushwire.query import Plan, Query
from hushwire.result import Result
from hushwire.session import Session, connect, local
from hushwire.tables import Table, double, of, parts

if TYPE_CHECKING:
    from hushwire.expr import Expr, col, len, lit, when
    from hushwire.frame import Frame, GroupBy
    from hushwire.jobs import Intersection, aes, doctor, job_digest, ot, psi, run_onnx
    from hushwire.service import Job, JobResult, Service

    # Computations
    from hushwire import ml, numpy, tracing
    from hushwire.tracing import (
        Array,
        ComputationError,
        bool_,
        computation,
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
        where,
    )

#: Names that are imported at their first use, and their modules. So the import of the package
#: itself takes a few milliseconds.
_LAZY: dict[str, str] = {
    "Expr": "hushwire.expr",
    "col": "hushwire.expr",
    "len": "hushwire.expr",
    "lit": "hushwire.expr",
    "when": "hushwire.expr",
    "Frame": "hushwire.frame",
    "GroupBy": "hushwire.frame",
    "Intersection": "hushwire.jobs",
    "aes": "hushwire.jobs",
    "doctor": "hushwire.jobs",
    "job_digest": "hushwire.jobs",
    "ot": "hushwire.jobs",
    "psi": "hushwire.jobs",
    "run_onnx": "hushwire.jobs",
    "Job": "hushwire.service",
    "JobResult": "hushwire.service",
    "Service": "hushwire.service",
    # Computations
    "Array": "hushwire.tracing",
    "ComputationError": "hushwire.tracing",
    "bool_": "hushwire.tracing",
    "computation": "hushwire.tracing",
    "fixed": "hushwire.tracing",
    "i8": "hushwire.tracing",
    "i16": "hushwire.tracing",
    "i32": "hushwire.tracing",
    "i64": "hushwire.tracing",
    "i128": "hushwire.tracing",
    "integer": "hushwire.tracing",
    "out": "hushwire.tracing",
    "u8": "hushwire.tracing",
    "u16": "hushwire.tracing",
    "u32": "hushwire.tracing",
    "u64": "hushwire.tracing",
    "u128": "hushwire.tracing",
    "where": "hushwire.tracing",
    "ml": "hushwire.ml",
    "numpy": "hushwire.numpy",
    "tracing": "hushwire.tracing",
}

__all__ = [
    "Cancelled",
    "Computation",
    "Expr",
    "FileError",
    "Frame",
    "GroupBy",
    "InternalError",
    "Intersection",
    "Job",
    "JobResult",
    "NetworkError",
    "PartyError",
    "Plan",
    "Progress",
    "Query",
    "Refused",
    "Result",
    "Service",
    "Session",
    "Table",
    "UsageError",
    "__version__",
    "aes",
    "col",
    "connect",
    "doctor",
    "double",
    "job_digest",
    "len",
    "lit",
    "local",
    "of",
    "ot",
    "parts",
    "psi",
    "run_onnx",
    "when",
    # Computations
    "Array",
    "ComputationError",
    "bool_",
    "computation",
    "fixed",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "integer",
    "out",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "where",
    "ml",
    "numpy",
    "tracing",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'hushwire' has no attribute {name!r}")
    found = importlib.import_module(module)
    # A name may be that of the module itself.
    return found if module == f"hushwire.{name}" else getattr(found, name)
