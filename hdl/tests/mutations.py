"""Faults put into the RTL, and the bench that must catch each: a check of the benches themselves.

A mutation replaces a text, which must stand exactly once in its file, in a copy of hdl/rtl. Swapping the two keys of a
party is not among them: the mask is the XOR of both streams, so that it changes nothing.
"""
import concurrent.futures
import dataclasses
import pathlib
import shutil
import tempfile
import time

import sequencer_mutations
from runner import ICARUS, RTL, TOOL, Bench, Result, cocotb_config, run_bench

STANDIN = ("hdl/tests/standin",)


def bench(name, top, module, case, params, standin=True):
    """One test of a bench, under Icarus, which compiles quickest."""
    env = {"TESTCASE": case, **({"STANDIN": "1"} if standin else {})}
    return Bench(name, top, module, params, ICARUS, STANDIN if standin else (), env)


LANE = bench("lane", "and_lane", "test_and_lane", "computes_the_share", {"LANE": 3})
LANE_II2 = bench("lane_ii2", "and_lane_ii2", "test_and_lane", "computes_the_share", {"LANE": 0})
PARTY = {"LANES": 2, "DEPTH": 8, "II2": 0}
PACE = bench("pace", "party", "test_party", "any_pace", PARTY)
KEYS = bench("keys", "party", "test_party", "keys_and_counters_change", PARTY)
WAITS = bench("waits", "party", "test_party", "waits_for_keys", PARTY)
LAST = bench("last", "party", "test_party", "stops_at_the_last_word", PARTY)
ERRORS = bench("errors", "party", "test_party", "neighbours_that_err_are_reported", PARTY)
RING = bench(
    "ring", "three_party", "test_three_party", "flows", {"LANES": 1, "DEPTH": 8, "LINK_LATENCY": 2, "II2": 0}
)
QUEUE = bench("queue", "fifo", "test_fifo", "keeps_order", {"WIDTH": 12, "DEPTH": 4})
DEPTH = bench("depth", "fifo", "test_fifo", "holds_its_depth", {"WIDTH": 12, "DEPTH": 4})
AES = bench("aes", "aes128_pipe", "test_aes", "published_vectors", {"COMPOSITE": 0}, standin=False)
EXPANSION = bench("expansion", "prf_keys", "test_prf_keys", "published_expansion", {}, standin=False)


@dataclasses.dataclass(frozen=True)
class Mutation:
    """What is wrong, where, and which bench sees it."""

    name: str
    file: str
    old: str
    new: str
    bench: Bench


MUTATIONS = [
    Mutation("a term of the product dropped", "share_product.sv", " ^ (x_next & y_own)", "", LANE),
    Mutation("shares of x swapped", "share_product.sv", "{x_next, x_own} = x", "{x_own, x_next} = x", LANE),
    Mutation("one key for both streams", "and_lane.sv", ".round_keys(rk_prev)", ".round_keys(rk_own)", LANE),
    Mutation("half of the mask missing", "and_lane.sv", "delayed ^ f_own ^ f_prev", "delayed ^ f_own", LANE),
    Mutation("lane not in one stream's counter", "and_lane.sv", ".LANE(LANE)) u_prev", ".LANE(0)) u_prev", LANE),
    Mutation("product a cycle late", "and_lane.sv", ".CYCLES(PRF)", ".CYCLES(PRF + 1)", LANE),
    Mutation("carry out of the counter's word", "prf_ctr.sv",
             "{in_counter[127:64], in_counter[63:0] + 64'(LANE)}", "in_counter + 128'(LANE)", LANE),
    Mutation("round keys chosen at the wrong stage", "and_lane_ii2.sv", "turn[1+2*r]", "turn[1+r]", LANE_II2),
    Mutation("second counter not held", "and_lane_ii2.sv", "second ? held : in_counter", "in_counter", LANE_II2),
    Mutation("counter not advanced", "party.sv", "counter[63:0] + 64'(LANES)", "counter[63:0]", PACE),
    Mutation("counter's step wrong", "party.sv", "counter[63:0] + 64'(LANES)", "counter[63:0] + 64'd1", PACE),
    Mutation("counter's carry lost", "party.sv",
             "counter[63:0] <= counter[63:0] + 64'(LANES)", "counter[31:0] <= counter[31:0] + 32'(LANES)", KEYS),
    Mutation("shard not set", "party.sv", "counter <= ctr_value", "counter <= {64'd0, ctr_value[63:0]}", KEYS),
    Mutation("one beat too many at the last word", "party.sv", ">= -64'(LANES)", "> -64'(LANES)", LAST),
    Mutation("z_own and z_next swapped", "party.sv",
             "{next[128*n +: 128], own[128*n +: 128]}", "{own[128*n +: 128], next[128*n +: 128]}", PACE),
    Mutation("one key loads both", "party_keys.sv", ".key_valid(take && key_which)", ".key_valid(take)", KEYS),
    Mutation("key taken under blocks in flight", "party_keys.sv", "quiet && (", "(", KEYS),
    Mutation("beats go on while a key comes", "party.sv", "!key_valid && ", "", KEYS),
    Mutation("beats before the second key", "party.sv", "loaded_own && loaded_prev", "loaded_own", WAITS),
    Mutation("no place kept for the own share", "party.sv", "left_place && own_place", "left_place", PACE),
    Mutation("no place kept at the neighbour", "party.sv", "left_place && own_place", "own_place", PACE),
    Mutation("error not kept", "party.sv", "link_error <= 1'b1", "link_error <= 1'b0", ERRORS),
    Mutation("excess credits not seen", "party.sv", "left_excess || own_excess", "own_excess", ERRORS),
    Mutation("ring turned the wrong way", "three_party.sv", "RIGHT = (p + 1) % 3", "RIGHT = (p + 2) % 3", RING),
    Mutation("credit counted twice", "credit_tx.sv",
             "BITS'(give && !excess)", "{{BITS-2{1'b0}}, give && !excess, 1'b0}", PACE),
    Mutation("credit not returned", "credit_rx.sv",
             "out_valid && out_ready;", "out_valid && out_ready && out_data[0];", PACE),
    Mutation("queue a word too short", "fifo.sv", "(BITS + 1)'(DEPTH)", "(BITS + 1)'(DEPTH - 1)", DEPTH),
    Mutation("queue a word too long", "fifo.sv", "(BITS + 1)'(DEPTH)", "(BITS + 1)'(DEPTH + 1)", DEPTH),
    Mutation("queue reads the newest word", "fifo.sv", "mem[rd[BITS-1:0]]", "mem[wr[BITS-1:0] - 1'b1]", QUEUE),
    Mutation("queue overwrites the word at its output", "fifo.sv", "(!out_valid || out_ready)", "1'b1", QUEUE),
    Mutation("round constants wrong", "prf_keys.sv", "8'h1b", "8'h1d", EXPANSION),
    Mutation("ShiftRows the wrong way", "aes_round.sv", "(c + r) % 4", "(c + 4 - r) % 4", AES),
    Mutation("MixColumns' matrix wrong", "aes_mix_add.sv", "double_of(a0 ^ a1) ^ a1", "double_of(a0 ^ a1) ^ a0", AES),
    Mutation("one entry of the S-box wrong", "sbox_table.sv", "8'h50: out = 8'h53", "8'h50: out = 8'h52", AES),
    *(Mutation(*fault) for fault in sequencer_mutations.MUTATIONS),
]


def try_one(mutation, work):
    """None if the bench caught the mutation, else what went wrong."""
    rtl = work / "rtl"
    shutil.copytree(RTL, rtl)
    text = (rtl / mutation.file).read_text()
    if text.count(mutation.old) != 1:
        return f"{mutation.name}: its text stands {text.count(mutation.old)} times in {mutation.file}"
    (rtl / mutation.file).write_text(text.replace(mutation.old, mutation.new))
    result = run_bench(mutation.bench, "icarus", rtl, work)
    # A mutant that does not build shows nothing of the bench.
    if result.status != "FAILED" or "1 failed" not in result.text:
        return f"{mutation.name}: {mutation.bench.name} says {result.status}: {result.text}\n{result.log[-1500:]}"
    return None


def mutations():
    """Every mutation is caught, and the benches that catch them pass on the sources as they are."""
    if not shutil.which(TOOL["icarus"]) or cocotb_config() is None:
        return Result("mutations", "skipped", "iverilog or cocotb is absent")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, concurrent.futures.ThreadPoolExecutor(2) as pool:
        work = pathlib.Path(directory)
        benches = {m.bench.name: m.bench for m in MUTATIONS}.values()
        sound = [pool.submit(run_bench, b, "icarus", RTL, work / "sound") for b in benches]
        tried = [pool.submit(try_one, m, work / f"m{i}") for i, m in enumerate(MUTATIONS)]
        sound = [future.result() for future in sound]
        bad = [f"without a fault, {r.name}: {r.text}\n{r.log[-1500:]}" for r in sound if r.status != "ok"]
        bad += [text for text in (future.result() for future in tried) if text]
    text = f"{len(MUTATIONS)} faults, {len(MUTATIONS) - len(bad)} caught, {time.monotonic() - start:.1f} s"
    return Result("mutations", "FAILED" if bad else "ok", text, "\n".join(bad))
