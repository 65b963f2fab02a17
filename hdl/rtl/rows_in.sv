// Input rows for the cores: a row is taken only when all of its beats are here, for the cores take them without a pause.
//
//   s_*       AXI4-Stream of beats
//   row       a whole row waits that nobody has taken; taken: it will be read
//   beat      a beat is read in this cycle: data
`default_nettype none
module rows_in #(
    parameter int WIDTH = 256,
    parameter int BEATS = 5
) (
    input  wire              clk,
    input  wire              rst,
    input  wire              s_valid,
    output logic             s_ready,
    input  wire  [WIDTH-1:0] s_data,
    output logic             row,
    input  wire              taken,
    input  wire              beat,
    output logic [WIDTH-1:0] data
);
  localparam int DEPTH = 32;
  localparam int BITS = $clog2(DEPTH);
  logic [WIDTH-1:0] memory[0:DEPTH-1];
  logic [BITS-1:0] head, tail;
  logic [BITS:0] held;
  logic [$clog2(BEATS)-1:0] part;
  logic [BITS:0] rows;

  wire push = s_valid && s_ready;
  wire whole = push && part == ($clog2(BEATS))'(BEATS - 1);
  assign s_ready = held != (BITS + 1)'(DEPTH);
  assign row = rows != '0;
  assign data = memory[head];

  always_ff @(posedge clk) begin
    if (push) memory[tail] <= s_data;
    if (rst) begin
      head <= '0;
      tail <= '0;
      held <= '0;
      part <= '0;
      rows <= '0;
    end else begin
      if (push) tail <= tail + 1'b1;
      if (push) part <= whole ? '0 : part + 1'b1;
      if (beat) head <= head + 1'b1;
      held <= held + (BITS + 1)'(push) - (BITS + 1)'(beat);
      rows <= rows + (BITS + 1)'(whole) - (BITS + 1)'(taken);
    end
  end
endmodule
`default_nettype wire
