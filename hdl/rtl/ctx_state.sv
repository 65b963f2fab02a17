// One hardware thread of the sequencer: where it is in the microcode, its next instruction, and what is under way.
//
//   start         begins the program at instruction 0; only when idle
//   fetch         address of the instruction that is to be read when `start` or `grant` is given
//   fetched       that instruction has come, 5 cycles later: so long is one thread's interval between instructions,
//                 and so long a write takes to be seen
//   wants_*       its next instruction is of that kind and may be issued now
//   grant         it is issued in this cycle
//   landed        one of its products is complete in memory
//   credit        the left neighbour has room for one more of its rows
//   excess        it gave more credits than it had been sent rows: it does not keep to the rules
//
// FLIGHT rows of products at most are under way, so that queues on both ends of a link never overflow.
`default_nettype none
module ctx_state #(
    parameter int FLIGHT     = 32,
    parameter int INSTR_BITS = 15
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire                   start,
    input  wire                   grant,
    input  wire                   fetched,
    input  wire  [          63:0] word,
    input  wire                   landed,
    input  wire                   credit,
    output logic [INSTR_BITS-1:0] fetch,
    output logic                  idle,
    output logic                  wants_and,
    output logic                  wants_lin,
    output logic                  wants_in,
    output logic                  wants_out,
    output logic                  wants_end,
    output logic                  excess,
    output logic [          63:0] instr
);
  localparam int COUNT_BITS = $clog2(FLIGHT + 1);
  localparam logic [2:0] END = 3'd0, LIN = 3'd1, AND = 3'd2, IN = 3'd3, OUT = 3'd4;

  logic active, ready;
  logic [INSTR_BITS-1:0] pc;
  logic [COUNT_BITS-1:0] under_way, credits;

  wire [2:0] op = instr[63:61];
  wire may = ready && !(instr[60] && under_way != '0);

  assign excess    = credit && credits == COUNT_BITS'(FLIGHT);
  assign fetch     = start ? '0 : pc;
  assign idle      = !active && under_way == '0;
  assign wants_and = may && op == AND && under_way != COUNT_BITS'(FLIGHT) && credits != '0;
  assign wants_lin = may && op == LIN;
  assign wants_in  = may && op == IN;
  assign wants_out = may && op == OUT;
  // What is no instruction ends the program.
  assign wants_end = may && (op == END || op > OUT);

  always_ff @(posedge clk) begin
    if (fetched) instr <= word;
    if (start) pc <= INSTR_BITS'(1);
    else if (grant) pc <= pc + 1'b1;

    if (rst) begin
      active    <= 1'b0;
      ready     <= 1'b0;
      under_way <= '0;
      credits   <= COUNT_BITS'(FLIGHT);
    end else begin
      if (start) active <= 1'b1;
      else if (grant && wants_end) active <= 1'b0;

      if (grant) ready <= 1'b0;
      else if (fetched) ready <= 1'b1;

      under_way <= under_way + COUNT_BITS'(grant && wants_and) - COUNT_BITS'(landed);
      credits   <= credits + COUNT_BITS'(credit && !excess) - COUNT_BITS'(grant && wants_and);
    end
  end
endmodule
`default_nettype wire
