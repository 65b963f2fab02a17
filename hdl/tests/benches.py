"""The benches: what `hdl/test` simulates. Add a line here to add one."""
from runner import ICARUS, VERILATOR, Bench

# Ports whose width is computed with $clog2 are seen from Python only if everything is.
RANGES = ("--public-flat-rw",)


def flow(top, module, params):
    """A bench with the stand-in for AES: for what does not depend on the cipher."""
    name = "_".join([top, *(f"{key.lower()}{value}" for key, value in params.items())])
    return Bench(name, top, module, params, sims=ICARUS, dirs=("hdl/tests/standin",), env={"STANDIN": "1"})


def ring(lanes, depth, latency, ii2=0):
    """Parameters of three_party."""
    return {"LANES": lanes, "DEPTH": depth, "LINK_LATENCY": latency, "II2": ii2}


STANDIN = ("hdl/tests/standin",)
SEQUENCER = {"LANES": 1, "CONTEXTS": 4, "SLOTS": 64, "INSTRS": 256, "SCALARS": 8, "FLIGHT": 4}

BENCHES = [
    Bench("sbox_table", "sbox_table", "test_sbox"),
    Bench("sbox_composite", "sbox_composite", "test_sbox"),
    Bench("aes128_pipe", "aes128_pipe", "test_aes", {"COMPOSITE": 0}),
    # Verilator's C++ for 160 S-boxes of gates takes minutes to compile; the S-box itself runs under
    # both.
    Bench("aes128_pipe_composite", "aes128_pipe", "test_aes", {"COMPOSITE": 1}, sims=ICARUS),
    Bench("prf_keys", "prf_keys", "test_prf_keys"),
    Bench("prf_ctr", "prf_ctr", "test_prf_ctr", {"LANE": 0}),
    Bench("prf_ctr_lane5", "prf_ctr", "test_prf_ctr", {"LANE": 5}),
    Bench("fifo4", "fifo", "test_fifo", {"WIDTH": 12, "DEPTH": 4}, verilator=RANGES),
    Bench("fifo16", "fifo", "test_fifo", {"WIDTH": 130, "DEPTH": 16}, sims=ICARUS),
    Bench("and_lane", "and_lane", "test_and_lane", {"LANE": 0}),
    Bench("and_lane_lane3", "and_lane", "test_and_lane", {"LANE": 3}, sims=ICARUS),
    Bench("and_lane_ii2", "and_lane_ii2", "test_and_lane", {"LANE": 0}, sims=ICARUS),
    Bench("and_lane_ii2_lane2", "and_lane_ii2", "test_and_lane", {"LANE": 2}, sims=VERILATOR),
    Bench("party", "party", "test_party", {"LANES": 1, "DEPTH": 32, "II2": 0}, sims=ICARUS),
    Bench("three_party", "three_party", "test_three_party", ring(1, 32, 1), sims=VERILATOR),
    flow("party", "test_party", {"LANES": 2, "DEPTH": 8, "II2": 0}),
    flow("party", "test_party", {"LANES": 3, "DEPTH": 16, "II2": 1}),
    flow("three_party", "test_three_party", ring(1, 128, 50)),
    flow("three_party", "test_three_party", ring(2, 64, 3)),
    flow("three_party", "test_three_party", ring(3, 8, 3)),
    flow("three_party", "test_three_party", ring(2, 16, 1, ii2=1)),
    Bench("round_robin", "round_robin", "test_round_robin", {"COUNT": 16}, sims=ICARUS),
    Bench("rows_in", "rows_in", "test_rows", {"WIDTH": 16, "BEATS": 5}, sims=ICARUS),
    Bench("rows_out", "rows_out", "test_rows", {"WIDTH": 16, "TAG": 2, "BEATS": 5}, sims=ICARUS),
    Bench("core", "core", "test_core", {"DEPTH": 16}, sims=ICARUS),
    Bench("landing", "landing", "test_landing", {"CORES": 5, "CONTEXTS": 4, "FLIGHT": 4, "SLOTS": 64}, sims=ICARUS),
    Bench("sequencer", "sequencer", "test_sequencer", SEQUENCER, sims=VERILATOR, dirs=STANDIN, env={"STANDIN": "1"}),
    Bench(
        "sequencer_lanes2", "sequencer", "test_sequencer", {**SEQUENCER, "LANES": 2}, sims=ICARUS, dirs=STANDIN,
        env={"STANDIN": "1", "TESTCASE": "quick,one_thread"},
    ),
]
