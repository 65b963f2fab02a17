#!/usr/bin/env python3
"""What Python adds to a run: ratios in one run, and times as medians.

    python/bench.py [--quick] [--json FILE]

| name | what |
|---|---|
| import | seconds from a fresh interpreter's start of `import hushwire` to its end |
| arrow-to-records | bytes a second from a column of 64-bit integers to what the library takes, one core |
| query | a query over 10^6 rows from Python beside the same in the library, fed with the same columns |
| job | milliseconds of a small job, and of a run on an open session |
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import hushwire as hw


def median(of: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        of()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


def imported() -> float:
    program = "import time; t = time.perf_counter(); import hushwire; print(time.perf_counter() - t)"
    seconds = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5)]
    return statistics.median(seconds)


def columns(rows: int) -> float:
    """Bytes of columns that become a query's inputs in a second."""
    table = pa.table({"n": np.arange(rows, dtype=np.int64)})
    with hw.local() as s:
        query = s.query("SELECT SUM(n) AS s FROM t", t=table)
        native = query._tables[0]
        seconds = median(lambda: query._native.convert([native]), 5)
    return 8 * rows / seconds


def query(rows: int, times: int) -> dict[str, float]:
    """A sum of products over columns, from a data frame and by the library alone."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2**31, size=(2, rows), dtype=np.int64)
    table = pa.table({"a": a, "b": b})
    with hw.local() as s:
        sql = "SELECT SUM(a * b) AS s FROM t"
        planned = s.query(sql, t=table)
        inner: list[float] = []
        outer = median(lambda: planned.run(), times)
        for _ in range(times):
            inner.append(planned._native.timed(s._native, planned._tables))
        whole = median(lambda: s.sql(sql, t=table), times)
    return {
        "python_seconds": outer,
        "library_seconds": statistics.median(inner),
        "with_planning_seconds": whole,
        "ratio": outer / statistics.median(inner),
    }


def jobs() -> dict[str, float]:
    text = "computation c\nmembers a, b\ninput x: u32 from a\ninput y: u32 from b\noutput z = x > y to a"
    computation = hw.Computation(text)

    def whole() -> None:
        with hw.local() as s:
            s.run(computation, {"x": 1, "y": 2})

    with hw.local() as s:
        run = median(lambda: s.run(computation, {"x": 1, "y": 2}), 50)
    return {"session_milliseconds": 1000 * median(whole, 20), "run_milliseconds": 1000 * run}


def main() -> None:
    parser = argparse.ArgumentParser(description="What Python adds to a run.")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    args = parser.parse_args()
    rows = 10**4 if args.quick else 10**6
    times = 1 if args.quick else 5
    figures: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "hushwire": hw.__version__,
        "rows": rows,
        "import_seconds": imported(),
        "arrow_to_records_bytes_per_second": columns(rows),
        "query": query(rows, times),
        "job": jobs(),
    }
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
