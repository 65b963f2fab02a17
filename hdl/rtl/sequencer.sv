// A party's engine: runs a layered circuit on shares from microcode, many batches at a time.
//
// LANES lanes work in step. A lane has CORES cores, each with a slot memory of its own, and one AND lane that they feed in
// turn: core c executes what core 0 did c cycles before, so that one AND instruction every CORES cycles fills the lane.
// CONTEXTS threads run the same microcode on different batches and hide each other's latencies. A batch has
// 128·CORES·LANES instances; word c·LANES + n of a plane is that of core c in lane n. The words of a thread on the link, in
// order, are the messages of `CircuitBatch` (crates/rep3/src/circuit.rs), so that software may be any of the neighbours.
// Microcode: crates/circuit/src/microcode. Reset: 64 cycles at least, as long as pipelines without one.
//
//   key_*       PRF keys: which 0 = own (k_i), 1 = prev (k_{i−1}); from the host's session, for the same reasons as in
//               party.sv. Taken while all threads are idle; no job begins before both are there
//   mc_*, sc_*  microcode and scalars (bit 0 own share, bit 1 next), written while no job runs
//   rows_in     input rows of the program
//   job_*       a batch begins in thread job_ctx with first PRF counter job_counter
//   in_*        input rows in the order of jobs: CORES beats of LANES share pairs
//   out_*       output rows of any thread (out_ctx): CORES beats each, beats of one row together
//   tx_*        link to the left neighbour: LANES words and their thread; credits come back a row (CORES beats) at a time
//   rx_*        link from the right neighbour
//   link_error  a neighbour sent rows or credits beyond what flow control allows: nothing is issued until reset, for what
//               is out of step would give wrong shares silently
//   idle        threads without a job;  issued: an AND's row was issued;  working: any instruction was (statistics)
//   latency     an AND's row is on the link 26 to 30 cycles after its issue; products complete when the neighbour's have come
//   interval    1 AND of 128·LANES bits a cycle
`default_nettype none
module sequencer #(
    parameter int LANES    = 1,
    parameter int CONTEXTS = 16,
    parameter int SLOTS    = 512,
    parameter int INSTRS   = 32768,
    parameter int SCALARS  = 4096,
    parameter int FLIGHT   = 32
) (
    input  wire                         clk,
    input  wire                         rst,
    input  wire                         key_valid,
    output logic                        key_ready,
    input  wire                         key_which,
    input  wire  [               127:0] key,
    output logic                        keys_loaded,
    input  wire                         mc_we,
    input  wire  [  $clog2(INSTRS)-1:0] mc_addr,
    input  wire  [                63:0] mc_data,
    input  wire                         sc_we,
    input  wire  [ $clog2(SCALARS)-1:0] sc_addr,
    input  wire  [                 1:0] sc_data,
    input  wire  [                15:0] rows_in,
    input  wire                         job_valid,
    output logic                        job_ready,
    input  wire  [$clog2(CONTEXTS)-1:0] job_ctx,
    input  wire  [               127:0] job_counter,
    input  wire                         in_tvalid,
    output logic                        in_tready,
    input  wire  [       256*LANES-1:0] in_tdata,
    output logic                        out_tvalid,
    input  wire                         out_tready,
    output logic [       256*LANES-1:0] out_tdata,
    output logic [$clog2(CONTEXTS)-1:0] out_ctx,
    output logic                        tx_valid,
    output logic [       128*LANES-1:0] tx_data,
    output logic [$clog2(CONTEXTS)-1:0] tx_ctx,
    input  wire                         tx_credit,
    input  wire  [$clog2(CONTEXTS)-1:0] tx_credit_ctx,
    input  wire                         rx_valid,
    input  wire  [       128*LANES-1:0] rx_data,
    input  wire  [$clog2(CONTEXTS)-1:0] rx_ctx,
    output logic                        rx_credit,
    output logic [$clog2(CONTEXTS)-1:0] rx_credit_ctx,
    output logic                        link_error,
    output logic [        CONTEXTS-1:0] idle,
    output logic                        issued,
    output logic                        working
);
  localparam int CORES = 5;
  localparam int CTX = $clog2(CONTEXTS);
  localparam int SLOT = $clog2(SLOTS);
  localparam int ADDR = CTX + SLOT;
  localparam int QUEUE = CONTEXTS * FLIGHT * CORES;
  // From an AND's cycle 0 on: it is fed to the lane at 2, its words are made at 2 + 23, and written in the same slot of a
  // later frame in which a sum of its own slot would have been, 3 cycles in.
  localparam int FED = 2;
  localparam int MADE = FED + 23;
  localparam int SUM = 3;
  localparam int OWN_DELAY = (CORES - (MADE - SUM) % CORES) % CORES;

  // Keys.
  logic [1407:0] rk_own, rk_prev;
  logic [1:0] key_readys, loadeds;
  assign key_ready   = key_readys[key_which] && (&idle);
  assign keys_loaded = &loadeds;
  prf_keys own_keys (
      .clk,
      .rst,
      .key_valid(key_valid && key_ready && !key_which),
      .key_ready(key_readys[0]),
      .key,
      .loaded(loadeds[0]),
      .round_keys(rk_own)
  );
  prf_keys prev_keys (
      .clk,
      .rst,
      .key_valid(key_valid && key_ready && key_which),
      .key_ready(key_readys[1]),
      .key,
      .loaded(loadeds[1]),
      .round_keys(rk_prev)
  );

  // Instructions.
  logic [$clog2(CORES)-1:0] slot;
  logic t_lin, t_and, t_in, t_out;
  logic [CTX-1:0] t_ctx;
  logic [63:0] t_instr;
  logic [127:0] counter;
  logic in_ok, in_taken, out_ok, out_taken;
  logic landed;
  logic [CTX-1:0] landed_ctx;
  logic overflow, excess;
  always_ff @(posedge clk) link_error <= !rst && (link_error || overflow || excess);
  issue #(
      .LANES(LANES),
      .CORES(CORES),
      .CONTEXTS(CONTEXTS),
      .FLIGHT(FLIGHT),
      .INSTRS(INSTRS)
  ) issue (
      .clk,
      .rst,
      .mc_we,
      .mc_addr,
      .mc_data,
      .rows_in,
      .enable(keys_loaded && !(key_valid && key_ready)),
      .halt(link_error),
      .excess,
      .job_valid,
      .job_ready,
      .job_ctx,
      .job_counter,
      .idle,
      .in_ok,
      .in_taken,
      .out_ok,
      .out_taken,
      .landed,
      .landed_ctx,
      .credit(tx_credit),
      .credit_ctx(tx_credit_ctx),
      .slot,
      .t_lin,
      .t_and,
      .t_in,
      .t_out,
      .t_ctx,
      .t_instr,
      .counter
  );
  assign issued  = t_and;
  assign working = t_and || t_lin || t_in || t_out;
  wire [SLOT-1:0] t_a = t_instr[26+:SLOT];
  wire [SLOT-1:0] t_b = t_instr[13+:SLOT];
  wire [SLOT-1:0] t_d = t_instr[0+:SLOT];
  wire unused = &{1'b0, t_instr};

  logic [1:0] scalar2;
  sdp_ram #(
      .WIDTH(2),
      .DEPTH(SCALARS)
  ) scalars (
      .clk,
      .we(sc_we),
      .waddr(sc_addr),
      .wdata(sc_data),
      .raddr(t_instr[40+:$clog2(SCALARS)]),
      .rdata(scalar2)
  );

  // What steers core 0, cycle by cycle.
  logic and2, in2, use_a2, use_b2, we3, out3;
  logic [CTX-1:0] ctx3;
  logic [ADDR-1:0] addr3;
  delay #(
      .WIDTH (4),
      .CYCLES(2)
  ) to_2 (
      .clk,
      .in ({t_and, t_in, t_instr[59] && !t_in, t_instr[58] && !t_in}),
      .out({and2, in2, use_a2, use_b2})
  );
  delay #(
      .WIDTH (2 + CTX + ADDR),
      .CYCLES(SUM)
  ) to_3 (
      .clk,
      .in ({t_lin || t_in, t_out, t_ctx, t_ctx, t_d}),
      .out({we3, out3, ctx3, addr3})
  );
  logic made, own_we;
  logic [CTX-1:0] made_ctx, z_ctx;
  logic [ADDR-1:0] own_addr;
  delay #(
      .WIDTH (1 + CTX),
      .CYCLES(MADE - 1)
  ) to_made (
      .clk,
      .in ({t_and && !rst, t_ctx}),
      .out({made, made_ctx})
  );
  delay #(
      .WIDTH (1 + ADDR),
      .CYCLES(MADE + OWN_DELAY)
  ) to_own (
      .clk,
      .in ({t_and, t_ctx, t_d}),
      .out({own_we, own_addr})
  );

  // Products.
  logic land, next_we;
  logic [CTX-1:0] land_ctx;
  logic [SLOT-1:0] dest;
  logic [ADDR-1:0] next_addr;
  logic [$clog2(QUEUE)-1:0] rx_waddr, rx_raddr;
  landing #(
      .CORES(CORES),
      .CONTEXTS(CONTEXTS),
      .FLIGHT(FLIGHT),
      .SLOTS(SLOTS)
  ) landing (
      .clk,
      .rst,
      .choose(slot == 1),
      .issued(t_and),
      .issued_ctx(t_ctx),
      .issued_dest(t_d),
      .made,
      .made_ctx,
      .rx_valid,
      .rx_ctx,
      .rx_waddr,
      .rx_raddr,
      .overflow,
      .land,
      .ctx(land_ctx),
      .dest,
      .landed,
      .landed_ctx
  );
  assign rx_credit = landed;
  assign rx_credit_ctx = landed_ctx;
  delay #(
      .WIDTH (1 + ADDR),
      .CYCLES(2)
  ) to_next (
      .clk,
      .in ({land, land_ctx, dest}),
      .out({next_we, next_addr})
  );

  // The same for every core in turn.
  logic [CORES*2*ADDR-1:0] ctl0;
  logic [CORES*6-1:0] ctl2;
  logic [CORES*(1+ADDR)-1:0] ctl3, ctl_own, ctl_next;
  logic [CORES-1:0] in_now, out_now;
  skew #(
      .WIDTH (2 * ADDR),
      .COPIES(CORES)
  ) skew_0 (
      .clk,
      .in ({t_ctx, t_a, t_ctx, t_b}),
      .out(ctl0)
  );
  skew #(
      .WIDTH (6),
      .COPIES(CORES)
  ) skew_2 (
      .clk,
      .in ({and2, in2, use_a2, use_b2, scalar2}),
      .out(ctl2)
  );
  skew #(
      .WIDTH (1 + ADDR),
      .COPIES(CORES)
  ) skew_3 (
      .clk,
      .in ({we3, addr3}),
      .out(ctl3)
  );
  skew #(
      .WIDTH (1 + ADDR),
      .COPIES(CORES)
  ) skew_own (
      .clk,
      .in ({own_we, own_addr}),
      .out(ctl_own)
  );
  skew #(
      .WIDTH (1 + ADDR),
      .COPIES(CORES)
  ) skew_next (
      .clk,
      .in ({next_we, next_addr}),
      .out(ctl_next)
  );
  skew #(
      .WIDTH (1),
      .COPIES(CORES)
  ) skew_in (
      .clk,
      .in (in2),
      .out(in_now)
  );
  skew #(
      .WIDTH (1),
      .COPIES(CORES)
  ) skew_out (
      .clk,
      .in (out3),
      .out(out_now)
  );

  // Rows in and out.
  logic [256*LANES-1:0] in_row, out_row;
  rows_in #(
      .WIDTH(256 * LANES),
      .BEATS(CORES)
  ) rows_in_i (
      .clk,
      .rst,
      .s_valid(in_tvalid),
      .s_ready(in_tready),
      .s_data(in_tdata),
      .row(in_ok),
      .taken(in_taken),
      .beat(|in_now),
      .data(in_row)
  );
  rows_out #(
      .WIDTH(256 * LANES),
      .TAG  (CTX),
      .BEATS(CORES)
  ) rows_out_i (
      .clk,
      .rst,
      .room(out_ok),
      .taken(out_taken),
      .beat(|out_now),
      .first(out_now[0]),
      .data(out_row),
      .tag(ctx3),
      .m_valid(out_tvalid),
      .m_ready(out_tready),
      .m_data(out_tdata),
      .m_tag(out_ctx)
  );

  // Lanes.
  logic [LANES-1:0] z_valid;
  logic [128*LANES-1:0] z;
  // A beat from the link rests a cycle while its place is looked up.
  logic rx_beat;
  logic [128*LANES-1:0] rx_words;
  logic [$clog2(QUEUE)-1:0] rx_place;
  for (genvar n = 0; n < LANES; n++) begin : g_lane
    logic [CORES*256-1:0] sums;
    lane #(
        .LANE(n),
        .CORES(CORES),
        .DEPTH(2 ** ADDR),
        .QUEUE(QUEUE),
        .OWN_DELAY(OWN_DELAY)
    ) lane (
        .clk,
        .rst,
        .rk_own,
        .rk_prev,
        .ctl0,
        .ctl2,
        .ctl3,
        .ctl_own,
        .ctl_next,
        .counter,
        .in_pair(in_row[256*n+:256]),
        .rx_valid(rx_beat),
        .rx_waddr(rx_place),
        .rx_word(rx_words[128*n+:128]),
        .rx_raddr,
        .z_valid(z_valid[n]),
        .z(z[128*n+:128]),
        .sums
    );
    // A vector of its own: blocks that read one another's parts of a vector would wake each other without end.
    logic [255:0] made_row;
    always_comb begin
      made_row = '0;
      for (int c = 0; c < CORES; c++) made_row = made_row | ({256{out_now[c]}} & sums[256*c+:256]);
    end
    assign out_row[256*n+:256] = made_row;
  end

  // The link.
  always_ff @(posedge clk) begin
    rx_beat  <= rx_valid && !rst;
    rx_words <= rx_data;
    rx_place <= rx_waddr;
    tx_valid <= (|z_valid) && !rst;  // all lanes alike
    tx_data  <= z;
    z_ctx    <= made_ctx;
  end
  // The thread of a row's first beat holds for the others: ANDs are issued CORES cycles apart.
  logic made_now;
  always_ff @(posedge clk) begin
    made_now <= made;
    if (made_now) tx_ctx <= z_ctx;
  end
endmodule
`default_nettype wire
