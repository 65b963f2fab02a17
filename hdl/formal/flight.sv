// One thread's flow control as it stands in hdl/rtl (ctx_state) against neighbours that obey it: the left one gives
// credits for rows it was sent, the right one sends rows it has credits for, and a row lands when both halves are here.
// When any of that happens, and which instructions come, is arbitrary. Proved by induction.
`default_nettype none
module flight #(
    parameter int FLIGHT = 2
) (
    input wire logic        clk,
    input wire logic        grant,
    input wire logic        fetched,
    input wire logic [63:0] word,
    input wire logic        start,
    input wire logic        land,
    input wire logic        credit,
    input wire logic        row
);
  localparam int BITS = $clog2(FLIGHT + 1);
  logic started = 1'b0;
  always_ff @(posedge clk) started <= 1'b1;
  wire rst = !started;

  logic idle, wants_and, wants_lin, wants_in, wants_out, wants_end, excess;
  logic [3:0] fetch;
  logic [63:0] instr;
  logic [BITS-1:0] under_way, credits;
  // Rows at the left neighbour without a credit yet; rows of the right neighbour here; credits that it has.
  logic [BITS-1:0] out, heard, right;
  wire wants = wants_and || wants_lin || wants_in || wants_out || wants_end;
  wire lands = land && under_way != 0 && heard != 0;
  wire gives = credit && out != 0;
  wire comes = row && right != 0;

  ctx_state thread (
      .clk, .rst, .start(start && idle), .grant(grant && wants), .fetched, .word, .landed(lands), .credit(gives), .fetch,
      .idle, .wants_and, .wants_lin, .wants_in, .wants_out, .wants_end, .excess, .instr, .under_way, .credits
  );

  always_ff @(posedge clk) begin
    if (rst) begin
      out   <= '0;
      heard <= '0;
      right <= BITS'(FLIGHT);
    end else begin
      out   <= out + BITS'(grant && wants_and) - BITS'(gives);
      heard <= heard + BITS'(comes) - BITS'(lands);
      right <= right + BITS'(lands) - BITS'(comes);
    end
  end

  always_comb if (started) begin
    // What queues and destinations have room for.
    assert (under_way <= BITS'(FLIGHT));
    assert (heard <= BITS'(FLIGHT));
    assert (out <= BITS'(FLIGHT));
    // Every row is a credit here or a row there, and no obedient neighbour is blamed.
    assert ({1'b0, credits} + {1'b0, out} == (BITS + 1)'(FLIGHT));
    assert ({1'b0, right} + {1'b0, heard} == (BITS + 1)'(FLIGHT));
    assert (!excess);
    // A sync waits for all products.
    if (wants && instr[60]) assert (under_way == 0);
    if (wants_and) assert (credits != 0 && under_way != BITS'(FLIGHT));
  end
endmodule
`default_nettype wire
