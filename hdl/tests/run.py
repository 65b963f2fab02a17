"""`hdl/test`: lint, benches and formal checks, two at a time, one line each."""
import concurrent.futures
import os
import shutil
import sys
import time

import checks
import runner
from benches import BENCHES
from runner import OUT, RTL, Failure, Result, command, modules, run_bench

# Lines of a failed check's output that are shown; the whole is in its build directory.
SHOWN = 40


def lint():
    """Every module that no other instantiates, with all below it, then every parameter set that a bench uses, without
    a warning."""
    if not shutil.which("verilator"):
        return Result("lint", "skipped", "verilator is absent")
    files = sorted(RTL.glob("*.sv"))
    used = {other.stem for file in files for other in modules(file.stem, [RTL])[1:]}
    tops = [(file.stem, ()) for file in files if file.stem not in used]
    tops += [(b.top, tuple(sorted(b.params.items()))) for b in BENCHES if b.params and not b.dirs]
    tops = list(dict.fromkeys(tops))
    bad = []
    for top, params in tops:
        argv = ["verilator", "--lint-only", "-Wall", "--top-module", top, *(f"-G{k}={v}" for k, v in params)]
        try:
            output = command(argv + modules(top, [RTL]))
            if output.strip():
                bad.append(output)
        except Failure as failure:
            bad.append(str(failure))
    return Result("lint", "FAILED" if bad else "ok", f"{len(tops)} tops, {len(bad)} with warnings", "\n".join(bad))


# Faults put into the RTL, each of which takes a simulation: thorough, and slow.
THOROUGH = ("mutations",)


def jobs(quick=False):
    """Name and function of everything, the long ones first. `quick`: no faults in the RTL, and each bench under one
    simulator."""
    todo = [("lint", lint)]
    todo += [(name, check) for name, check in checks.CHECKS if not (quick and name in THOROUGH)]
    for bench in BENCHES:
        sims = bench.sims[:1] if quick else bench.sims
        todo += [(f"{bench.name} ({sim})", lambda b=bench, s=sim: run_bench(b, s)) for sim in sims]
    return todo


def main(words):
    todo = jobs(quick=words == ["--quick"])
    if words == ["--quick"]:
        runner.QUICK, words = True, []
    if words == ["--list"]:
        print("\n".join(name for name, _ in todo))
        return 0
    if words:
        todo = [(name, job) for name, job in todo if any(word in name for word in words)]
        if not todo:
            print(f"no check is named like {' or '.join(words)} (hdl/test --list)", file=sys.stderr)
            return 2
    os.makedirs(OUT / "build", exist_ok=True)
    start = time.monotonic()
    count = {"ok": 0, "FAILED": 0, "skipped": 0}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for future in concurrent.futures.as_completed([pool.submit(job) for _, job in todo]):
            result = future.result()
            count[result.status] += 1
            print(f"{result.status:8}{result.name}: {result.text}", flush=True)
            if result.status == "FAILED":
                print("\n".join("    " + line for line in result.log.splitlines()[-SHOWN:]), flush=True)
    seconds = time.monotonic() - start
    print(f"hdl/test: {count['ok']} passed, {count['FAILED']} failed, {count['skipped']} skipped, {seconds:.0f} s")
    return 1 if count["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
