"""The benches: what `hdl/test` simulates. Add a line here to add one."""
from runner import ICARUS, Bench

BENCHES = [
    Bench("sbox_table", "sbox_table", "test_sbox"),
    Bench("sbox_composite", "sbox_composite", "test_sbox"),
    Bench("aes128_pipe", "aes128_pipe", "test_aes", {"COMPOSITE": 0}),
    # Verilator's C++ for 160 S-boxes of gates takes minutes to compile; the S-box itself runs under both.
    Bench("aes128_pipe_composite", "aes128_pipe", "test_aes", {"COMPOSITE": 1}, sims=ICARUS),
    Bench("prf_keys", "prf_keys", "test_prf_keys"),
    Bench("prf_ctr", "prf_ctr", "test_prf_ctr", {"LANE": 0}),
    Bench("prf_ctr_lane5", "prf_ctr", "test_prf_ctr", {"LANE": 5}),
]
