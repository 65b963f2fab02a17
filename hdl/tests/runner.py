"""Builds and runs cocotb benches under Verilator and Icarus Verilog.

A bench is a top module, a Python test module and parameters; `hdl/tests/benches.py` lists them. Sources are found by
module name: the top's file, then whatever it instantiates, in the bench's own directories and in hdl/rtl. Builds are
kept under target/hdl/build and made again when a source they use changes.
"""
import dataclasses
import functools
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
RTL = ROOT / "hdl" / "rtl"
TESTS = ROOT / "hdl" / "tests"
OUT = (ROOT / os.environ.get("CARGO_TARGET_DIR", "target")).resolve() / "hdl"

VERILATOR = ("verilator",)
ICARUS = ("icarus",)
BOTH = VERILATOR + ICARUS
TOOL = {"verilator": "verilator", "icarus": "iverilog"}
# Seconds after which a simulation counts as hung.
LIMIT = 600
# Whether what is slow because it is thorough is left out: `hdl/test --quick` sets it.
QUICK = False
# Light optimisation: these models run for seconds, so compiling them costs more than running them.
LIGHT = ["OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"]


def tried(faults):
    """The faults that a proof is tried on: one, in a quick run, shows that the proof can fail."""
    return faults[:1] if QUICK else faults


@dataclasses.dataclass(frozen=True)
class Bench:
    """name: of the build directory and the line printed. top: module to simulate. module: Python file with the tests.
    params: the top's parameters. sims: simulators to run it under. dirs: where to look for modules before hdl/rtl.
    env: more environment for the tests. verilator: more arguments for Verilator."""

    name: str
    top: str
    module: str
    params: dict = dataclasses.field(default_factory=dict)
    sims: tuple = BOTH
    dirs: tuple = ()
    env: dict = dataclasses.field(default_factory=dict)
    verilator: tuple = ()


@dataclasses.dataclass(frozen=True)
class Result:
    """Outcome of one bench under one simulator; `text` is a line, `log` what to show when it failed."""

    name: str
    status: str  # ok, FAILED or skipped
    text: str
    log: str = ""


class Failure(Exception):
    """A command that failed; the argument is what it printed."""


def command(argv, **kwargs):
    """Runs a command and returns its output; raises Failure with it."""
    done = subprocess.run(
        [str(a) for a in argv], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", **kwargs
    )
    if done.returncode != 0:
        raise Failure(f"$ {' '.join(map(str, argv))}\n{done.stdout}")
    return done.stdout


@functools.cache
def cocotb_config():
    """Directories of cocotb's libraries, or None where cocotb is absent."""
    try:
        import cocotb
        import find_libpython
    except ImportError:
        return None
    home = pathlib.Path(cocotb.__file__).parent
    return {"libs": home / "libs", "share": home / "share", "python": find_libpython.find_libpython()}


def modules(top, dirs):
    """Files of a module and of all it instantiates, found by name; the top's first."""
    known = {}
    for directory in reversed(dirs):
        known.update({file.stem: file for file in sorted(directory.glob("*.sv"))})
    found, todo = {}, [top]
    while todo:
        name = todo.pop()
        if name in known and name not in found:
            found[name] = known[name]
            # Instances look like `module #(` or `module name (`; comments name modules too.
            text = re.sub(r"//.*", "", known[name].read_text())
            todo += sorted(set(re.findall(r"^\s*(\w+)\s+(?:#|\w+\s*\()", text, re.MULTILINE)), reverse=True)
    if top not in found:
        raise Failure(f"no file {top}.sv in {', '.join(map(str, dirs))}")
    return list(found.values())


def digest(files, *more):
    """Hash of file contents and settings: the key of a build."""
    state = hashlib.sha256(repr(more).encode())
    for file in files:
        state.update(file.read_bytes())
    return state.hexdigest()


RUNTIME_LOCK = threading.Lock()


def build_verilator(bench, sources, build):
    """Verilates a bench; returns the command that runs it."""
    config = cocotb_config()
    # Only the top's ports are looked at from Python; to make all public would slow everything.
    names = re.findall(r"^\s*(?:input|output)\b(?:\[[^]]*\]|[^,;()[])*?(\w+)\s*,?\s*(?://.*)?$", sources[0].read_text(), re.MULTILINE)
    public = build / "public.vlt"
    lines = [f'public_flat_rw -module "{bench.top}" -var "{name}"' for name in names]
    public.write_text("\n".join(["`verilator_config", *lines, ""]))
    argv = ["verilator", "--cc", "--exe", "--vpi", "--prefix", "Vtop", "--top-module", bench.top, "-o", "sim"]
    argv += ["--timescale", "1ns/1ps", "--x-initial", "unique", "-Wno-fatal", "-Mdir", build]
    argv += ["-LDFLAGS", f"-Wl,-rpath,{config['libs']} -L{config['libs']} -lcocotbvpi_verilator"]
    argv += [f"-G{key}={value}" for key, value in bench.params.items()] + list(bench.verilator)
    command(argv + [public] + sources + [config["share"] / "lib" / "verilator" / "verilator.cpp"])
    # Verilator's own library is the same for all benches: compiled once, then copied.
    runtime = OUT / "build" / ("runtime-" + digest([], command(["verilator", "--version"]), LIGHT)[:16])
    make = ["make", "-s", "-C", build, "-f", "Vtop.mk", *LIGHT, "sim"]
    with RUNTIME_LOCK:
        if not runtime.exists():
            command(make)
            staging = runtime.with_suffix(f".{os.getpid()}")
            staging.mkdir()
            for file in build.glob("verilated*.o"):
                shutil.copy(file, staging)
            if not runtime.exists():
                staging.rename(runtime)
    for file in runtime.glob("*.o"):
        if not (build / file.name).exists():
            shutil.copy(file, build)
    command(make)
    # Every register starts at random, so that a missing reset shows.
    return [str(build / "sim"), "+verilator+rand+reset+2", "+verilator+seed+1"]


def build_icarus(bench, sources, build):
    """Compiles a bench with Icarus; returns the command that runs it."""
    config = cocotb_config()
    settings = build / "settings.f"
    settings.write_text("+timescale+1ns/1ps\n")
    argv = ["iverilog", "-g2012", "-o", build / "sim.vvp", "-s", bench.top, "-f", settings]
    command(argv + [f"-P{bench.top}.{key}={value}" for key, value in bench.params.items()] + sources)
    return ["vvp", "-n", "-M", str(config["libs"]), "-m", "libcocotbvpi_icarus", str(build / "sim.vvp")]


def run_bench(bench, sim, rtl=RTL, build_root=None):
    """Builds and runs a bench under one simulator. `rtl` may be another directory with altered modules."""
    label = f"{bench.name} ({sim})"
    if not shutil.which(TOOL[sim]):
        return Result(label, "skipped", f"{TOOL[sim]} is absent")
    config = cocotb_config()
    if config is None:
        return Result(label, "skipped", "cocotb is absent (hdl/setup installs it)")
    if config["python"] is None:
        return Result(label, "skipped", "this Python has no shared library for simulators to load")
    start = time.monotonic()
    build = (build_root or OUT / "build") / f"{bench.name}-{sim}"
    try:
        sources = modules(bench.top, [ROOT / d for d in bench.dirs] + [rtl])
        run = build_if_stale(bench, sim, sources, build)
        tests, failed, log = simulate(bench, run, build)
    except Failure as failure:
        return Result(label, "FAILED", "did not build or run", str(failure))
    seconds = time.monotonic() - start
    text = f"{tests} tests, {failed} failed, {seconds:.1f} s"
    # A simulation that ends early leaves no tests behind, which must not pass for success.
    return Result(label, "ok" if tests > 0 and failed == 0 else "FAILED", text, log)


def build_if_stale(bench, sim, sources, build):
    """Builds unless the directory holds a build of the same sources; returns the command that runs it."""
    version = command([TOOL[sim], "--version" if sim == "verilator" else "-V"])
    settings = (version, bench.top, sorted(bench.params.items()), bench.verilator, LIGHT, str(cocotb_config()["libs"]))
    key = digest(sources + [pathlib.Path(__file__)], settings)
    stamp, argv = build / "stamp", build / "argv"
    if not (stamp.exists() and stamp.read_text() == key):
        shutil.rmtree(build, ignore_errors=True)
        build.mkdir(parents=True)
        make = build_verilator if sim == "verilator" else build_icarus
        argv.write_text("\n".join(make(bench, sources, build)))
        stamp.write_text(key)
    return argv.read_text().split("\n")


def simulate(bench, run, build):
    """Runs a built bench; returns its number of tests, of failures, and its log."""
    results = build / "results.xml"
    results.unlink(missing_ok=True)
    env = {
        **os.environ,
        "MODULE": bench.module,
        "TOPLEVEL": bench.top,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_RESULTS_FILE": str(results),
        "LIBPYTHON_LOC": cocotb_config()["python"],
        "VIRTUAL_ENV": sys.prefix,
        "PYTHONPATH": str(TESTS),
        "PYTHONDONTWRITEBYTECODE": "1",
        "RANDOM_SEED": os.environ.get("RANDOM_SEED", "1"),
        "COCOTB_ANSI_OUTPUT": "0",
        **{f"PARAM_{key}": str(value) for key, value in bench.params.items()},
        **bench.env,
    }
    log = build / "log"
    with log.open("w") as file:
        try:
            code = subprocess.run(run, cwd=build, env=env, stdout=file, stderr=file, timeout=LIMIT).returncode
        except subprocess.TimeoutExpired:
            raise Failure(f"{log.read_text(errors='replace')}\nno end after {LIMIT} s") from None
    tests = failed = 0
    if results.exists():
        for case in ElementTree.parse(results).iter("testcase"):
            if case.find("skipped") is None:
                tests += 1
                failed += case.find("failure") is not None or case.find("error") is not None
    if code != 0 and failed == 0:
        failed += 1
    return tests, failed, log.read_text(errors="replace")
