// Issues one instruction a cycle, of any thread, so that the AND lanes are fed all the time.
//
// A frame has CORES (5) cycles, as many as the cores take one after the other:
//   slot 0   an AND
//   slot 1   a sum (LIN) or an output row
//   slot 2   a sum or an input row
//   slot 3   a sum or the end of a program; or a new job
//   slot 4   a sum
// In slot 0 nothing else is issued, for then the cores' write ports take products. Input and output have one slot each,
// so that the rows of two threads never overlap.
//
//   job_*       begins the program in thread job_ctx with first counter job_counter, when that thread is idle and the
//               input of the job before is read; threads are named by the host, so that all parties name them alike.
//               Jobs are taken in order: one for a busy thread holds up those behind it
//   enable      jobs may begin; halt: nothing is issued any more
//   excess      the left neighbour gave a credit too many
//   rows_in     input rows of the program (a constant while jobs run)
//   in_ok       the cores' next input row is there; in_taken: it will be read
//   out_ok      there is room for an output row; out_taken: it will be filled
//   slot        which slot of the frame this cycle is
//   t_*         the instruction issued in the cycle before, for core 0
//   counter     the PRF's counter for the AND that core 0 feeds to the lane two cycles after t_and, then core 1's, …
// The counter of an AND's word is the job's first counter + (ANDs of the program before it)·CORES·LANES + word.
`default_nettype none
module issue #(
    parameter int LANES      = 1,
    parameter int CORES      = 5,
    parameter int CONTEXTS   = 16,
    parameter int FLIGHT     = 32,
    parameter int INSTRS     = 32768
) (
    input  wire                         clk,
    input  wire                         rst,
    // microcode
    input  wire                         mc_we,
    input  wire  [  $clog2(INSTRS)-1:0] mc_addr,
    input  wire  [                63:0] mc_data,
    input  wire  [                15:0] rows_in,
    // jobs
    input  wire                         enable,
    input  wire                         halt,
    output logic                        excess,
    input  wire                         job_valid,
    output logic                        job_ready,
    input  wire  [$clog2(CONTEXTS)-1:0] job_ctx,
    input  wire  [               127:0] job_counter,
    output logic [        CONTEXTS-1:0] idle,
    // resources
    input  wire                         in_ok,
    output logic                        in_taken,
    input  wire                         out_ok,
    output logic                        out_taken,
    input  wire                         landed,
    input  wire  [$clog2(CONTEXTS)-1:0] landed_ctx,
    input  wire                         credit,
    input  wire  [$clog2(CONTEXTS)-1:0] credit_ctx,
    // to the cores
    output logic [   $clog2(CORES)-1:0] slot,
    output logic                        t_lin,
    output logic                        t_and,
    output logic                        t_in,
    output logic                        t_out,
    output logic [$clog2(CONTEXTS)-1:0] t_ctx,
    output logic [                63:0] t_instr,
    output logic [               127:0] counter
);
  localparam int CTX_BITS = $clog2(CONTEXTS);
  localparam int SLOT_BITS = $clog2(CORES);
  localparam int ADDR_BITS = $clog2(INSTRS);
  localparam int STEP = CORES * LANES;

  always_ff @(posedge clk) begin
    if (rst) slot <= '0;
    else slot <= (slot == SLOT_BITS'(CORES - 1)) ? '0 : slot + 1'b1;
  end

  // Threads.
  logic [CONTEXTS-1:0] wants_and, wants_lin, wants_in, wants_out, wants_end;
  logic [CONTEXTS-1:0] grant, start, fetched, excesses;
  logic [CONTEXTS*64-1:0] instrs;
  logic [CONTEXTS*ADDR_BITS-1:0] fetches;
  logic [63:0] word;
  logic word_valid;
  logic [CTX_BITS-1:0] word_ctx;

  for (genvar v = 0; v < CONTEXTS; v++) begin : g_ctx
    assign fetched[v] = word_valid && word_ctx == CTX_BITS'(v);
    ctx_state #(
        .FLIGHT(FLIGHT),
        .INSTR_BITS(ADDR_BITS)
    ) state (
        .clk,
        .rst,
        .start(start[v]),
        .grant(grant[v]),
        .fetched(fetched[v]),
        .word,
        .landed(landed && landed_ctx == CTX_BITS'(v)),
        .credit(credit && credit_ctx == CTX_BITS'(v)),
        .fetch(fetches[v*ADDR_BITS+:ADDR_BITS]),
        .idle(idle[v]),
        .wants_and(wants_and[v]),
        .wants_lin(wants_lin[v]),
        .wants_in(wants_in[v]),
        .wants_out(wants_out[v]),
        .wants_end(wants_end[v]),
        .excess(excesses[v]),
        .instr(instrs[v*64+:64])
    );
  end

  assign excess = |excesses;

  // A new job reads its input before the next one may begin.
  logic [15:0] in_left;
  assign job_ready = enable && !halt && slot == SLOT_BITS'(3) && idle[job_ctx] && in_left == '0;
  wire job = job_valid && job_ready;
  always_comb begin
    start = '0;
    start[job_ctx] = job;
  end

  // The choice.
  logic [CONTEXTS-1:0] others, and_grant, other_grant;
  logic [CTX_BITS-1:0] and_index, other_index, index;
  logic and_any, other_any, any;
  wire and_slot = slot == '0;
  always_comb begin
    others = wants_lin;
    if (slot == SLOT_BITS'(1) && out_ok) others = others | wants_out;
    if (slot == SLOT_BITS'(2) && in_ok) others = others | wants_in;
    if (slot == SLOT_BITS'(3)) others = others | wants_end;
    if (and_slot || job || halt) others = '0;
  end

  round_robin #(
      .COUNT(CONTEXTS)
  ) and_choice (
      .clk,
      .rst,
      .request(and_slot && !halt ? wants_and : '0),
      .take(1'b1),
      .grant(and_grant),
      .index(and_index),
      .any(and_any)
  );
  round_robin #(
      .COUNT(CONTEXTS)
  ) other_choice (
      .clk,
      .rst,
      .request(others),
      .take(1'b1),
      .grant(other_grant),
      .index(other_index),
      .any(other_any)
  );
  // At most one of the two chooses.
  assign grant = and_grant | other_grant;
  assign index = and_index | other_index;
  assign any = and_any | other_any;
  assign in_taken = |(grant & wants_in);
  assign out_taken = |(grant & wants_out);

  always_ff @(posedge clk) begin
    if (rst) in_left <= '0;
    else if (job) in_left <= rows_in;
    else if (in_taken) in_left <= in_left - 1'b1;
  end

  // The next instruction of the thread that was chosen, or the first of the one that begins.
  logic [ADDR_BITS-1:0] addr;
  logic [63:0] read;
  logic [3:0] on_the_way;
  logic [4*CTX_BITS-1:0] for_ctx;
  wire [CTX_BITS-1:0] fetch_ctx = job ? job_ctx : index;
  always_ff @(posedge clk) begin
    addr <= fetches[fetch_ctx*ADDR_BITS+:ADDR_BITS];
    word <= read;
    for_ctx <= (4 * CTX_BITS)'({for_ctx, fetch_ctx});
    if (rst) on_the_way <= '0;
    else on_the_way <= {on_the_way[2:0], job || (any && !(|(grant & wants_end)))};
  end
  assign word_valid = on_the_way[3];
  assign word_ctx = for_ctx[4*CTX_BITS-1-:CTX_BITS];
  sdp_ram #(
      .WIDTH(64),
      .DEPTH(INSTRS)
  ) store (
      .clk,
      .we(mc_we),
      .waddr(mc_addr),
      .wdata(mc_data),
      .raddr(addr),
      .rdata(read)
  );

  // What was chosen.
  always_ff @(posedge clk) begin
    t_ctx   <= index;
    t_instr <= instrs[index*64+:64];
    if (rst) {t_lin, t_and, t_in, t_out} <= '0;
    else begin
      t_lin <= |(grant & wants_lin);
      t_and <= and_any;
      t_in  <= in_taken;
      t_out <= out_taken;
    end
  end

  // Counters: the upper half names shard and lane, the lower half counts words.
  logic [63:0] upper[0:CONTEXTS-1];
  logic [63:0] lower[0:CONTEXTS-1];
  logic [127:0] base;
  logic base_valid;
  wire [63:0] first = lower[t_ctx];
  always_ff @(posedge clk) begin
    if (job) upper[job_ctx] <= job_counter[127:64];
    if (job) lower[job_ctx] <= job_counter[63:0];
    else if (t_and) lower[t_ctx] <= first + 64'(STEP);
    base <= {upper[t_ctx], first};
    base_valid <= t_and;
    counter <= base_valid ? base : {counter[127:64], counter[63:0] + 64'(LANES)};
  end
endmodule
`default_nettype wire
