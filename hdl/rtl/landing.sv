// Brings the right neighbour's words to the products they complete.
//
// Words of a thread come in order, CORES beats a row; they wait in a queue of FLIGHT rows of that thread (the RAMs are in
// the lanes) until this party's own half of the product is there. One row a frame lands.
//
//   issued     an AND of thread ctx with destination dest is issued
//   made       this party's own words of an AND of thread ctx: a row chosen in the next cycle is written no sooner than they
//   rx_*       a beat of the link from the right; rx_waddr says where in the queue it goes, in the next cycle
//   overflow   the right neighbour sent a row for which it had no credit; its beats are dropped
//   land       a row lands: its first word is read from rx_raddr in this cycle, the others follow, a cycle each; and it
//              is written to slot `dest` of thread `ctx` two cycles later
//   landed_*   the same, late enough that an instruction issued then sees the product; this is also the credit for the
//              right neighbour
`default_nettype none
module landing #(
    parameter int CORES    = 5,
    parameter int CONTEXTS = 16,
    parameter int FLIGHT   = 32,
    parameter int SLOTS    = 512
) (
    input  wire                                   clk,
    input  wire                                   rst,
    // The slot of the frame in which a row is chosen, so that it is written while no sum is.
    input  wire                                   choose,
    input  wire                                   issued,
    input  wire  [          $clog2(CONTEXTS)-1:0] issued_ctx,
    input  wire  [             $clog2(SLOTS)-1:0] issued_dest,
    input  wire                                   made,
    input  wire  [          $clog2(CONTEXTS)-1:0] made_ctx,
    input  wire                                   rx_valid,
    input  wire  [          $clog2(CONTEXTS)-1:0] rx_ctx,
    output logic [$clog2(CONTEXTS*FLIGHT*CORES)-1:0] rx_waddr,
    output logic [$clog2(CONTEXTS*FLIGHT*CORES)-1:0] rx_raddr,
    output logic                                  overflow,
    output logic                                  land,
    output logic [          $clog2(CONTEXTS)-1:0] ctx,
    output logic [             $clog2(SLOTS)-1:0] dest,
    output logic                                  landed,
    output logic [          $clog2(CONTEXTS)-1:0] landed_ctx
);
  localparam int CTX_BITS = $clog2(CONTEXTS);
  localparam int ROW_BITS = $clog2(FLIGHT);
  localparam int BEAT_BITS = $clog2(CORES);
  localparam int ADDR_BITS = $clog2(CONTEXTS * FLIGHT * CORES);
  localparam int COUNT_BITS = $clog2(FLIGHT + 1);

  // Rows are numbered alike in the queue of destinations and in that of words.
  logic [CONTEXTS*ROW_BITS-1:0] next_issued, next_landed, next_heard;
  logic [CONTEXTS*BEAT_BITS-1:0] next_beat;
  logic [CONTEXTS*COUNT_BITS-1:0] rows_made, rows_heard;
  logic [CONTEXTS-1:0] both, grant;
  logic [CTX_BITS-1:0] index;
  logic any;

  function automatic logic [ADDR_BITS-1:0] place(input logic [CTX_BITS-1:0] thread,
                                                 input logic [ROW_BITS-1:0] row,
                                                 input logic [BEAT_BITS-1:0] beat);
    place = ADDR_BITS'({thread, row}) * ADDR_BITS'(CORES) + ADDR_BITS'(beat);
  endfunction

  // Destinations.
  logic [$clog2(SLOTS)-1:0] dests[0:CONTEXTS*FLIGHT-1];
  always_ff @(posedge clk) if (issued) dests[{issued_ctx, next_issued[issued_ctx*ROW_BITS+:ROW_BITS]}] <= issued_dest;

  round_robin #(
      .COUNT(CONTEXTS)
  ) choice (
      .clk,
      .rst,
      .request(choose ? both : '0),
      .take(1'b1),
      .grant,
      .index,
      .any
  );

  assign overflow = rx_valid && rows_heard[rx_ctx*COUNT_BITS+:COUNT_BITS] == COUNT_BITS'(FLIGHT);
  wire heard = rx_valid && !overflow && next_beat[rx_ctx*BEAT_BITS+:BEAT_BITS] == BEAT_BITS'(CORES - 1);
  assign rx_waddr = place(rx_ctx, next_heard[rx_ctx*ROW_BITS+:ROW_BITS], next_beat[rx_ctx*BEAT_BITS+:BEAT_BITS]);

  for (genvar v = 0; v < CONTEXTS; v++) begin : g_ctx
    wire issued_here = issued && issued_ctx == CTX_BITS'(v);
    wire made_here = made && made_ctx == CTX_BITS'(v);
    wire rx_here = rx_valid && !overflow && rx_ctx == CTX_BITS'(v);
    wire heard_here = heard && rx_ctx == CTX_BITS'(v);
    assign both[v] = rows_made[v*COUNT_BITS+:COUNT_BITS] != '0 && rows_heard[v*COUNT_BITS+:COUNT_BITS] != '0;

    always_ff @(posedge clk) begin
      if (rst) begin
        next_issued[v*ROW_BITS+:ROW_BITS] <= '0;
        next_landed[v*ROW_BITS+:ROW_BITS] <= '0;
        next_heard[v*ROW_BITS+:ROW_BITS] <= '0;
        next_beat[v*BEAT_BITS+:BEAT_BITS] <= '0;
        rows_made[v*COUNT_BITS+:COUNT_BITS] <= '0;
        rows_heard[v*COUNT_BITS+:COUNT_BITS] <= '0;
      end else begin
        next_issued[v*ROW_BITS+:ROW_BITS] <= next_issued[v*ROW_BITS+:ROW_BITS] + ROW_BITS'(issued_here);
        next_landed[v*ROW_BITS+:ROW_BITS] <= next_landed[v*ROW_BITS+:ROW_BITS] + ROW_BITS'(grant[v]);
        next_heard[v*ROW_BITS+:ROW_BITS] <= next_heard[v*ROW_BITS+:ROW_BITS] + ROW_BITS'(heard_here);
        if (rx_here)
          next_beat[v*BEAT_BITS+:BEAT_BITS] <= heard ? '0 : next_beat[v*BEAT_BITS+:BEAT_BITS] + 1'b1;
        rows_made[v*COUNT_BITS+:COUNT_BITS] <= rows_made[v*COUNT_BITS+:COUNT_BITS]
            + COUNT_BITS'(made_here) - COUNT_BITS'(grant[v]);
        rows_heard[v*COUNT_BITS+:COUNT_BITS] <= rows_heard[v*COUNT_BITS+:COUNT_BITS]
            + COUNT_BITS'(heard_here) - COUNT_BITS'(grant[v]);
      end
    end
  end

  logic [BEAT_BITS-1:0] left;
  always_ff @(posedge clk) begin
    land <= any && !rst;
    ctx <= index;
    dest <= dests[{index, next_landed[index*ROW_BITS+:ROW_BITS]}];
    if (any) rx_raddr <= place(index, next_landed[index*ROW_BITS+:ROW_BITS], '0);
    else if (left != '0) rx_raddr <= rx_raddr + 1'b1;
    if (rst) left <= '0;
    else if (any) left <= BEAT_BITS'(CORES - 1);
    else if (left != '0) left <= left - 1'b1;
    landed <= land && !rst;
    landed_ctx <= ctx;
  end
endmodule
`default_nettype wire
