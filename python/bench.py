#!/usr/bin/env python3
"""What Python adds to a run: ratios in one run, and times as medians.

    python/bench.py [--quick] [--rows N] [--times N] [--json FILE]

| name | what |
|---|---|
| import | seconds of processor time that `import hushwire` takes in a fresh interpreter |
| arrow | bytes from a column of Arrow to the records that a session takes, in a second of processor time |
| shared | the same, until an owner outside three parties has the share that it sends in full |
| query | a query from a data frame beside the same in the library, fed with the same columns |
| result | a result of all rows as a frame, beside the run that makes it |
| job | milliseconds of a small job, and of a run on an open session |

`query` has two ratios. `ratio_same_run` is the time of a call from Python over the time that the
library took within it. `ratio` is the median of ratios of two runs, one behind the other: of a call
with its result, and of the library. What else the machine does changes both runs.
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

#: Columns whose conversion is measured: floats in steps of 2^-16, others as SQL holds them exactly.
COLUMNS: dict[str, Callable[[int], Any]] = {
    "int64": lambda rows: pa.array(np.arange(rows, dtype=np.int64)),
    "int64 with NULL": lambda rows: pa.array(np.arange(rows, dtype=np.int64), mask=np.arange(rows) % 7 == 0),
    "uint32": lambda rows: pa.array(np.arange(rows, dtype=np.uint32)),
    "date": lambda rows: pa.array((np.arange(rows) % 20_000).astype(np.int32), pa.date32()),
    "float64": lambda rows: pa.array(np.arange(rows) / 7),
    "float64 with NULL": lambda rows: pa.array(np.arange(rows) / 7, mask=np.arange(rows) % 7 == 0),
    "float32": lambda rows: pa.array((np.arange(rows) / 7).astype(np.float32)),
}


def seconds(of: Callable[[], object]) -> float:
    began = time.perf_counter()
    of()
    return time.perf_counter() - began


def processor(of: Callable[[], object]) -> float:
    """Seconds of processor time of this process."""
    began = time.process_time()
    of()
    return time.process_time() - began


def imported() -> float:
    program = "import time; t = time.process_time(); import hushwire; print(time.process_time() - t)"
    taken = [float(subprocess.check_output([sys.executable, "-c", program])) for _ in range(5)]
    return statistics.median(taken)


def conversion(rows: int, times: int, share: bool) -> dict[str, float]:
    """Bytes of a column that become a query's inputs, or shares of them, in a second."""
    found = {}
    with hw.local() as s:
        for name, make in COLUMNS.items():
            column = make(rows)
            types = {"n": hw.double(16)} if pa.types.is_floating(column.type) else {}
            table = hw.of("t", pa.table({"n": column}), columns=types)
            query = s.query("SELECT COUNT(n) AS s FROM t", t=table)
            width = column.type.bit_width // 8
            taken = [processor(lambda: query._native.convert(query._tables, share)) for _ in range(times)]
            found[name] = width * rows / statistics.median(taken)
    return found


def query(rows: int, times: int) -> dict[str, float]:
    """A sum of products over columns, from a data frame and by the library alone."""
    rng = np.random.default_rng(1)
    a, b = rng.integers(0, 2**31, size=(2, rows), dtype=np.int64)
    table = pa.table({"a": a, "b": b})
    sql = "SELECT SUM(a * b) AS s FROM t"
    planned, with_planning, library, same = [], [], [], []
    with hw.local() as s:
        ready = s.query(sql, t=table)
        # Memory that runs need is there afterwards.
        ready.run()

        def inner() -> float:
            began = time.perf_counter()
            library.append(ready._native.timed(s._native, ready._tables))
            same.append((time.perf_counter() - began) / library[-1])
            return library[-1]

        for _ in range(times):
            planned.append(seconds(ready.run) / inner())
            with_planning.append(seconds(lambda: s.sql(sql, t=table)) / inner())
    return {
        "library_seconds": statistics.median(library),
        "ratio_same_run": statistics.median(same),
        "ratio": statistics.median(planned),
        "ratio_with_planning": statistics.median(with_planning),
    }


def result(rows: int, times: int) -> dict[str, float]:
    """A result of many rows: the run, and its rows as a frame and as arrays."""
    table = pa.table({"n": np.arange(rows, dtype=np.int64)})
    runs, frames, arrays = [], [], []
    with hw.local() as s:
        ready = s.query("SELECT n, n > 5 AS big FROM t", t=table)
        for _ in range(times):
            made: list[hw.Result] = []
            runs.append(seconds(lambda: made.append(ready.run())))
            frames.append(seconds(made[0].arrow) / runs[-1])
            arrays.append(seconds(made[0].numpy) / runs[-1])
            assert made[0].arrow().num_rows == rows
    return {
        "run_seconds": statistics.median(runs),
        "arrow_ratio": statistics.median(frames),
        "numpy_ratio": statistics.median(arrays),
    }


def jobs(times: int) -> dict[str, float]:
    text = "computation c\nmembers a, b\ninput x: u32 from a\ninput y: u32 from b\noutput z = x > y to a"
    computation = hw.Computation(text)

    def whole() -> None:
        with hw.local() as s:
            s.run(computation, {"x": 1, "y": 2})

    with hw.local() as s:
        runs = [seconds(lambda: s.run(computation, {"x": 1, "y": 2})) for _ in range(5 * times)]
    sessions = [seconds(whole) for _ in range(2 * times)]
    return {
        "session_milliseconds": 1000 * statistics.median(sessions),
        "run_milliseconds": 1000 * statistics.median(runs),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What Python adds to a run.")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it runs")
    parser.add_argument("--rows", type=int, help="rows of columns: 1,000,000 by default")
    parser.add_argument("--times", type=int, help="runs of each: 7 by default")
    parser.add_argument("--json", metavar="FILE", help="write the figures there")
    args = parser.parse_args()
    rows = args.rows or (10**3 if args.quick else 10**6)
    times = args.times or (1 if args.quick else 7)
    figures: dict[str, Any] = {
        "machine": platform.processor() or platform.machine(),
        "python": platform.python_version(),
        "hushwire": hw.__version__,
        "rows": rows,
        "import_processor_seconds": imported(),
        "arrow_bytes_per_processor_second": conversion(rows, 3 * times, share=False),
        "shared_bytes_per_processor_second": conversion(rows, 3 * times, share=True),
        "query": query(rows, times),
        "result": result(rows, times),
        "job": jobs(times),
    }
    if args.json:
        with open(args.json, "w") as file:
            json.dump(figures, file, indent=2)
            file.write("\n")
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
