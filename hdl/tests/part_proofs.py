"""Formal: what the sequencer's parts promise (hdl/formal/*_check.sv), by yosys' SAT solver and induction.

As in flow_proof: the invariants are inductive, so what is proved holds for every length of run and everything that the
rest of the sequencer and the neighbours may do within the rules that the check states, at the sizes named. Faults put
into the modules must give a run from reset that breaks an assertion.
"""
import dataclasses
import pathlib
import shutil
import tempfile
import time

from flow_proof import BROKEN, FORMAL, PROVED
from runner import RTL, Failure, Result, command, tried

# Cycles in which a fault must show.
STEPS = 16


@dataclasses.dataclass(frozen=True)
class Proof:
    """module: of hdl/rtl, the top; its check is hdl/formal/<module>_check.sv. sizes: (parameters of the module,
    parameters of the check) each; faults are tried at the first. files: the module's sources. registers: made ports.
    memories: made ports, name to (places, bits). faults: (name, file, old text, new text)."""

    module: str
    sizes: tuple
    files: tuple
    registers: str
    faults: tuple
    memories: dict = dataclasses.field(default_factory=dict)


PROOFS = [
    Proof(
        "round_robin", tuple(({"COUNT": n}, {"COUNT": n}) for n in (4, 5, 16)), ("round_robin.sv",), "behind",
        (
            ("two are granted", "round_robin.sv", "from & (~from + 1'b1)", "from"),
            ("who did not ask", "round_robin.sv", "(later != '0) ? later : request", "(later != '0) ? later : '1"),
            ("index of another", "round_robin.sv", "index | ($clog2(COUNT))'(i)", "index | ($clog2(COUNT))'(i ^ 1)"),
            ("the lowest always", "round_robin.sv", "~(grant | (grant - 1'b1))", "'0"),
            ("the same once more", "round_robin.sv", "~(grant | (grant - 1'b1))", "~(grant - 1'b1)"),
        ),
    ),
    Proof(
        "ctx_state", tuple(({"FLIGHT": n, "INSTR_BITS": 4}, {"FLIGHT": n}) for n in (2, 4, 5)), ("ctx_state.sv",),
        "under_way credits active ready",
        (
            ("no look at credits", "ctx_state.sv", " && credits != '0", ""),
            ("no look at rows under way", "ctx_state.sv", " && under_way != COUNT_BITS'(FLIGHT)", ""),
            ("sync waits for nothing", "ctx_state.sv", "!(instr[60] && under_way != '0)", "1'b1"),
            ("credit counted twice", "ctx_state.sv", "COUNT_BITS'(credit && !excess)",
             "COUNT_BITS'({credit && !excess, 1'b0})"),
            ("a landing that a grant hides", "ctx_state.sv", "- COUNT_BITS'(landed)",
             "- COUNT_BITS'(landed && !grant)"),
            ("every instruction twice", "ctx_state.sv", "if (grant) ready <= 1'b0;", "if (start) ready <= 1'b0;"),
            ("idle with products under way", "ctx_state.sv", "!active && under_way == '0", "!active"),
        ),
    ),
    Proof(
        "landing", (({"CORES": 3, "CONTEXTS": 2, "FLIGHT": 2, "SLOTS": 8}, {"FLIGHT": 2}),),
        ("landing.sv", "round_robin.sv"),
        "next_issued next_landed next_heard next_beat rows_made rows_heard left",
        (
            ("a row lands before it is made", "landing.sv", "rows_made[v*COUNT_BITS+:COUNT_BITS] != '0 && ", ""),
            ("another row's destination", "landing.sv", "dest <= dests[{index, next_landed[index*ROW_BITS+:ROW_BITS]}]",
             "dest <= dests[{index, next_issued[index*ROW_BITS+:ROW_BITS]}]"),
        ),
        {"dests": (4, 3)},
    ),
    Proof(
        "rows_in", (({"WIDTH": 6, "BEATS": 5}, {}),), ("rows_in.sv",), "head tail held part rows",
        (
            ("a row counted before it is whole", "rows_in.sv", "(BEATS - 1);", "(BEATS - 2);"),
            ("the same beat again", "rows_in.sv", "if (beat) head", "if (beat && !push) head"),
        ),
        {"memory": (32, 6)},
    ),
    Proof(
        "rows_out", (({"WIDTH": 8, "TAG": 2, "BEATS": 5}, {}),), ("rows_out.sv",), "head tail kept filled row_tag",
        (
            ("room for a beat, not a row", "rows_out.sv", "(DEPTH - BEATS)", "(DEPTH - 1)"),
            ("a beat given before it is there", "rows_out.sv", "filled != '0", "kept != '0"),
            ("a place too few kept", "rows_out.sv", "(BITS + 1)'(BEATS) : '0)", "(BITS + 1)'(BEATS - 1) : '0)"),
            ("named like the row before", "rows_out.sv", "first ? tag : row_tag", "row_tag"),
        ),
        {"memory": (32, 8), "tags": (32, 2)},
    ),
]


def prove(proof, rtl, own, checks, how="-tempinduct"):
    """yosys' log of the proof at one size."""
    top, check = proof.module, f"{proof.module}_check"
    script = [f"read_verilog -sv {' '.join(str(rtl / file) for file in proof.files)}", chparam(own, top)]
    # Registers before anything is optimised away, for a fault may leave one without a use.
    script += [f"hierarchy -top {top}", f"rename -top {top}", "proc; flatten"]
    script += ["expose " + " ".join(f"w:{name}" for name in proof.registers.split())]
    script += ["opt_clean; memory_dff; memory_collect; memory_map; opt"]
    for name, (places, bits) in proof.memories.items():
        # Place 0 at the bottom.
        words = ",".join(f"\\{name}[{place}]" for place in reversed(range(places)))
        script += [f"add -output {name} {places * bits} {top}", f"cd {top}", f"connect -set {name} {words}", "cd"]
    script += [f"read_verilog -sv -formal {FORMAL / check}.sv", chparam(checks, check)]
    script += [f"hierarchy -check -top {check}", "proc; flatten; opt"]
    script += [f"sat {how} -prove-asserts -seq 1 -maxsteps {STEPS} {check}"]
    return command(["yosys", "-p", "; ".join(line for line in script if line)])


def chparam(params, module):
    return f"chparam {' '.join(f'-set {name} {value}' for name, value in params.items())} {module}" if params else ""


def faulty(proof, name, file, old, new):
    """None if a fault is found, else what went wrong."""
    with tempfile.TemporaryDirectory() as directory:
        rtl = pathlib.Path(directory)
        for source in proof.files:
            shutil.copy(RTL / source, rtl)
        text = (rtl / file).read_text()
        if text.count(old) != 1:
            return f"{name}: its text stands {text.count(old)} times in {file}"
        (rtl / file).write_text(text.replace(old, new))
        # Only runs from reset: whether a fault could be induced is of no interest, and slow to find
        # out.
        log = prove(proof, rtl, *proof.sizes[0], how="-tempinduct-baseonly")
        return None if BROKEN in log else f"{name}: not found\n{log[-1500:]}"


def run(proof):
    """Proves every size, then that each fault is found."""
    label = f"proof_{proof.module}"
    if not shutil.which("yosys"):
        return Result(label, "skipped", "yosys is absent")
    start = time.monotonic()
    bad = []
    try:
        for own, checks in proof.sizes:
            log = prove(proof, RTL, own, checks)
            if PROVED not in log:
                bad.append(f"{own}: not proved\n{log[-3000:]}")
        bad += [text for text in (faulty(proof, *fault) for fault in tried(proof.faults)) if text]
    except Failure as failure:
        bad.append(str(failure))
    text = f"{len(proof.sizes)} sizes proved by induction, {len(tried(proof.faults))} faults found"
    text = f"{'not as it should be' if bad else text}, {time.monotonic() - start:.1f} s"
    return Result(label, "FAILED" if bad else "ok", text, "\n".join(bad))


CHECKS = [(f"proof_{proof.module}", lambda proof=proof: run(proof)) for proof in PROOFS]
