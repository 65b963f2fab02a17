"""Formal: flow control never loses, doubles or reorders a word (hdl/formal), by yosys' SAT solver and induction.

One cycle of induction is enough: the invariants in flow_check.sv are inductive, so what is proved holds for every
length of run and every behaviour of the two ends, at the sizes named. Faults put into the modules must break it.
"""
import pathlib
import shutil
import tempfile
import time

from runner import ROOT, RTL, Failure, Result, command, tried

FORMAL = ROOT / "hdl" / "formal"
SIZES = [(depth, latency) for depth in (2, 4) for latency in (1, 2)]
FILES = ["credit_tx.sv", "credit_rx.sv", "fifo.sv", "link_delay.sv"]
PROVED = "Induction step proven: SUCCESS!"
# A run from reset that breaks the statement; a proof that only did not go through is no such run.
BROKEN = "SAT temporal induction proof finished - model found for base case: FAIL!"
FAULTS = [
    ("credit counted twice", "credit_tx.sv", "BITS'(give && !excess)", "BITS'(give) + BITS'(give)"),
    ("word sent without a credit", "credit_tx.sv", "places != '0", "1'b1"),
    ("credit without a word", "credit_rx.sv", "!rst && out_valid && out_ready", "!rst && out_ready"),
    ("queue a word too short", "fifo.sv", "(BITS + 1)'(DEPTH)", "(BITS + 1)'(DEPTH - 1)"),
    ("queue reads the newest word", "fifo.sv", "mem[rd[BITS-1:0]]", "mem[wr[BITS-1:0] - 1'b1]"),
    ("word at the output overwritten", "fifo.sv", "(!out_valid || out_ready)", "1'b1"),
    ("word at the output given twice", "fifo.sv", "if (fetch) rd", "if (fetch && !pop) rd"),
]


def prove(rtl, depth, latency):
    """yosys' log of the proof."""
    sources = " ".join(str(rtl / file) for file in FILES)
    sizes = f"-set DEPTH {depth} -set LATENCY {latency}"
    inside = "w:tx.places w:rx.u_fifo.count w:rx.u_fifo.wr w:rx.u_fifo.rd w:rx.u_fifo.mem*"
    script = (
        f"read_verilog -sv {sources} {FORMAL / 'flow.sv'}; chparam {sizes} flow; hierarchy -top flow; "
        f"proc; flatten; opt_clean; memory_dff; memory_collect; memory_map; opt; expose {inside}; "
        f"read_verilog -sv -formal -DDEPTH{depth} {FORMAL / 'flow_check.sv'}; chparam {sizes} flow_check; "
        "hierarchy -check -top flow_check; proc; flatten; opt; "
        "sat -tempinduct -prove-asserts -seq 1 -maxsteps 20 flow_check"
    )
    return command(["yosys", "-p", script])


def flow_control():
    """Proves every size, then that each fault is found."""
    if not shutil.which("yosys"):
        return Result("flow_control", "skipped", "yosys is absent")
    start = time.monotonic()
    bad = []
    try:
        for depth, latency in SIZES:
            log = prove(RTL, depth, latency)
            if PROVED not in log:
                bad.append(f"DEPTH {depth}, LATENCY {latency}: not proved\n{log[-3000:]}")
        for name, file, old, new in tried(FAULTS):
            with tempfile.TemporaryDirectory() as directory:
                rtl = pathlib.Path(directory)
                for source in FILES:
                    shutil.copy(RTL / source, rtl)
                text = (rtl / file).read_text()
                if text.count(old) != 1:
                    bad.append(f"{name}: its text stands {text.count(old)} times in {file}")
                    continue
                (rtl / file).write_text(text.replace(old, new))
                if BROKEN not in (log := prove(rtl, 4, 1)):
                    bad.append(f"{name}: not found\n{log[-1500:]}")
    except Failure as failure:
        bad.append(str(failure))
    text = f"{len(SIZES)} sizes proved by induction, {len(tried(FAULTS))} faults found" if not bad else "not as it should be"
    status = "FAILED" if bad else "ok"
    return Result("flow_control", status, f"{text}, {time.monotonic() - start:.1f} s", "\n".join(bad))
