"""Faults put into the sequencer and its parts, and the bench that must catch each: (name, file, old, new, bench)."""
from runner import ICARUS, Bench

PARAMS = {"LANES": 1, "CONTEXTS": 4, "SLOTS": 64, "INSTRS": 256, "SCALARS": 8, "FLIGHT": 4}


def _bench(case, lanes=1):
    env = {"TESTCASE": case, "STANDIN": "1"}
    params = {**PARAMS, "LANES": lanes}
    return Bench(f"sequencer_{case}_{lanes}", "sequencer", "test_sequencer", params, ICARUS, ("hdl/tests/standin",), env)


QUICK = _bench("quick")
LANES = _bench("quick", 2)
ROW = _bench("a_row_too_many_is_reported")
CREDIT = _bench("a_credit_too_many_is_reported")
KEYS = _bench("key_and_job_at_once")
ROBIN = Bench("round_robin", "round_robin", "test_round_robin", {"COUNT": 5}, ICARUS)
ROWS_IN = Bench("rows_in", "rows_in", "test_rows", {"WIDTH": 16, "BEATS": 5}, ICARUS)
ROWS_OUT = Bench("rows_out", "rows_out", "test_rows", {"WIDTH": 16, "TAG": 2, "BEATS": 5}, ICARUS)
LANDING = Bench("landing", "landing", "test_landing", {"CORES": 5, "CONTEXTS": 4, "FLIGHT": 4, "SLOTS": 64}, ICARUS)

MUTATIONS = [
    ("own half of a product a cycle late", "sequencer.sv", "- (MADE - SUM) % CORES) % CORES;",
     "- (MADE - SUM) % CORES) % CORES + 1;", QUICK),
    ("a core as early as the one before", "skew.sv", "assign out = {late, in};",
     "assign out = COPIES == 1 ? {late, in} : {late[WIDTH*(COPIES-2)-1:0], late[WIDTH-1:0], in};", QUICK),
    ("counter's step of one row of one lane", "issue.sv", "STEP = CORES * LANES", "STEP = CORES", LANES),
    ("counter the same for all cores", "issue.sv", "counter[63:0] + 64'(LANES)}", "counter[63:0]}", QUICK),
    ("rows land while sums are written", "sequencer.sv", ".choose(slot == 1)", ".choose(slot == 2)", QUICK),
    ("sync waits for nothing", "ctx_state.sv", "!(instr[60] && under_way != '0)", "1'b1", QUICK),
    ("credit counted twice", "ctx_state.sv", "COUNT_BITS'(credit && !excess)", "COUNT_BITS'({credit && !excess, 1'b0})",
     QUICK),
    ("no look at credits", "ctx_state.sv", " && credits != '0", "", QUICK),
    ("no look at rows under way", "ctx_state.sv", " && under_way != COUNT_BITS'(FLIGHT)", "", QUICK),
    ("output rows named like the one before", "rows_out.sv", "first ? tag : row_tag", "row_tag", QUICK),
    ("scalar's shares swapped", "core.sv", "{{128{scalar[1]}}, {128{scalar[0]}}}", "{{128{scalar[0]}}, {128{scalar[1]}}}",
     QUICK),
    ("halves of a product swapped", "core.sv", "(h == 0) ? own_word : next_word", "(h == 1) ? own_word : next_word", QUICK),
    ("a row lands before it is made", "landing.sv", "rows_made[v*COUNT_BITS+:COUNT_BITS] != '0 && ", "", LANDING),
    ("words of a row out of step", "landing.sv", "rx_raddr <= rx_raddr + 1'b1;", "rx_raddr <= rx_raddr;", QUICK),
    ("a link's thread a row late", "sequencer.sv", "if (made_now) tx_ctx", "if (made) tx_ctx", QUICK),
    ("too many rows not seen", "landing.sv", "== COUNT_BITS'(FLIGHT);", "== COUNT_BITS'(FLIGHT + 1);", ROW),
    ("too many credits not seen", "sequencer.sv", "(link_error || overflow || excess)", "(link_error || overflow)", CREDIT),
    ("ANDs go on after an error", "issue.sv", "and_slot && !halt", "and_slot", ROW),
    ("a job takes a key that is no longer there", "sequencer.sv", "keys_loaded && !(key_valid && key_ready)", "keys_loaded",
     KEYS),
    ("job in the middle of another's input", "issue.sv", " && in_left == '0", "", QUICK),
    ("the same request over and over", "round_robin.sv", "~(grant | (grant - 1'b1))", "'0", ROBIN),
    ("rows counted before they are whole", "rows_in.sv", "(BEATS - 1);", "(BEATS - 2);", ROWS_IN),
    ("room for a beat, not a row", "rows_out.sv", "(DEPTH - BEATS)", "(DEPTH - 1)", ROWS_OUT),
]
