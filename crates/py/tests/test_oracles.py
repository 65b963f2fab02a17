"""Every public function is named in a test that compares it with an oracle. A function without one
fails this test, so that every new function comes with a comparison."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("numpy")

import hushwire as hw
import hushwire.numpy as hnp

PLACE = Path(__file__).parent
#: Files whose tests compare arrays with NumPy, mpmath and the functions of Python's module math.
ARRAYS = ["corners.txt", "test_corners.py", "test_numpy.py", "test_arrays.py", "test_functions.py"]
#: Files whose tests compare tables, sessions and jobs with SQLite, polars, DuckDB, NumPy, OpenSSL's and
#: Python's own functions, ONNX Runtime and the command.
TABLES = ["test_frames.py", "test_queries.py", "test_tables.py", "test_jobs.py", "test_sessions.py"]
TABLES += ["test_connect.py", "test_service.py", "test_shown.py", "computations/test_tracing.py", "computations/test_corners.py"]


def words(files: list[str], under: str = "") -> set[str]:
    """The names that follow a point, or are in quotes, in these files."""
    found: set[str] = set()
    for name in files:
        text = (PLACE / under / name).read_text()
        found |= set(re.findall(r"(?:\.|\")((?:linalg\.)?\w+)", text))
        # Names in one text, which a test splits.
        for block in re.findall(r"\"([a-z0-9_ .]+)\"", text):
            found |= set(block.split())
    return found


def test_each_function_of_arrays_is_compared_with_numpy() -> None:
    named = words(ARRAYS, "computations")
    by_function: dict[int, list[str]] = {}
    for name, function in hnp.FUNCTIONS.items():
        if not name.startswith(("__", "ufunc.")):
            by_function.setdefault(id(function), []).append(name)
    for name in hnp.__all__:
        function = getattr(hnp, name)
        if inspect.isfunction(function) and id(function) not in by_function:
            by_function[id(function)] = [name]
    alone = [names for names in by_function.values() if not named.intersection(names)]
    assert not alone, f"no test compares {alone} with NumPy"
    assert len(by_function) > 200


def methods() -> list[tuple[str, str]]:
    """The public functions and methods of the package, with the name that a test calls."""
    found = [(f"hw.{name}", name) for name in hw.__all__ if inspect.isfunction(getattr(hw, name))]
    kinds: list[Any] = [hw.Session, hw.Query, hw.Result, hw.Frame, hw.GroupBy, hw.Expr, hw.Intersection, hw.Service]
    for kind in kinds:
        for name, one in vars(kind).items():
            if inspect.isfunction(one) and not name.startswith("_"):
                found.append((f"{kind.__name__}.{name}", name))
    return found


def test_each_function_of_the_package_is_called_by_a_test() -> None:
    named = words(TABLES)
    alone = [full for full, name in methods() if name not in named]
    assert not alone, f"no test compares {alone} with an oracle"
    assert len(methods()) > 100
