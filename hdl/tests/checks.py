"""Checks that are not cocotb benches: a name and a function that returns a Result each, in CHECKS."""
import shutil
import time

import model
import part_proofs
import sequencer_checks
from flow_proof import flow_control
from mutations import mutations
from runner import OUT, RTL, Bench, Failure, Result, command, run_bench


def sbox_equivalence():
    """Formal: both S-boxes are the same function (yosys, miter and SAT)."""
    if not shutil.which("yosys"):
        return Result("sbox_equivalence", "skipped", "yosys is absent")
    start = time.monotonic()
    script = (
        f"read_verilog -sv {RTL / 'sbox_table.sv'} {RTL / 'sbox_composite.sv'}; proc; memory; opt_clean; "
        "miter -equiv -flatten -make_outputs sbox_table sbox_composite miter; "
        "hierarchy -top miter; opt -full; sat -verify -prove trigger 0 -show-inputs -show-outputs miter"
    )
    try:
        log = command(["yosys", "-p", script])
    except Failure as failure:
        return Result("sbox_equivalence", "FAILED", "the S-boxes differ", str(failure))
    # The proof itself must have been run, not only the script have ended well.
    proved = "SAT proof finished - no model found: SUCCESS!" in log
    text = f"{'proved' if proved else 'not proved'}, {time.monotonic() - start:.1f} s"
    return Result("sbox_equivalence", "ok" if proved else "FAILED", text, log)


def model_against_openssl():
    """The oracle of the benches against openssl, and against FIPS-197 itself."""
    key = bytes(range(16))
    data = bytes(0x11 * i for i in range(16))
    fips = model.encrypt(key, data).hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"  # C.1
    blocks = b"".join(model.block(i * 0x0123456789ABCDEF0123456789ABCDEF % (1 << 128)) for i in range(64))
    key = model.encrypt(key, data)
    ours = b"".join(model.encrypt(key, blocks[i : i + 16]) for i in range(0, len(blocks), 16))
    theirs = model.openssl(key, blocks)
    if theirs is None:
        text = "FIPS-197 C.1; openssl is absent"
        return Result("model", "ok" if fips else "FAILED", text, "the model's AES is wrong on FIPS-197 C.1")
    good = fips and ours == theirs
    return Result("model", "ok" if good else "FAILED", "FIPS-197 C.1, 64 blocks by openssl", "the model's AES is wrong")


def rep3_vectors():
    """Both lanes against the shares that software parties computed, where somebody had them written."""
    vectors = OUT / "vectors"
    if not (vectors / "and_lane.json").is_file():
        remedy = f"cargo run -p hushwire-hdl --example vectors -- {vectors}"
        return Result("rep3_vectors", "skipped", f"{vectors}/and_lane.json is absent ({remedy})")
    env = {"VECTORS": str(vectors)}
    tops = ("and_lane", "and_lane_ii2")
    results = [
        run_bench(Bench(f"rep3_vectors_{top}", top, "test_rep3_vectors", {"LANE": 0}, env=env), "icarus")
        for top in tops
    ]
    worst = max(results, key=lambda r: ("ok", "skipped", "FAILED").index(r.status))
    return Result("rep3_vectors", worst.status, "; ".join(f"{t}: {r.text}" for t, r in zip(tops, results)), worst.log)


CHECKS = [
    ("model", model_against_openssl),
    ("sbox_equivalence", sbox_equivalence),
    ("flow_control", flow_control),
    *part_proofs.CHECKS,
    ("rep3_vectors", rep3_vectors),
    ("mutations", mutations),
    *sequencer_checks.CHECKS,
]
