// A value some cycles later: a shift register without reset, which maps to SRLs.
//
//   latency   CYCLES (0: a wire)
`default_nettype none
module delay #(
    parameter int WIDTH  = 1,
    parameter int CYCLES = 1
) (
    input  wire              clk,
    input  wire  [WIDTH-1:0] in,
    output logic [WIDTH-1:0] out
);
  if (CYCLES == 0) begin : g_wire
    assign out = in;
    wire unused = &{1'b0, clk};
  end else begin : g_shift
    logic [WIDTH*CYCLES-1:0] stages;
    always_ff @(posedge clk) stages <= (WIDTH * CYCLES)'({stages, in});
    assign out = stages[WIDTH*CYCLES-1-:WIDTH];
  end
endmodule
`default_nettype wire
