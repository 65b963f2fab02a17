// One value for a row of cores, each of which takes it a cycle later than the one before.
//
//   out   COPIES values side by side; number c is `in` c cycles late
`default_nettype none
module skew #(
    parameter int WIDTH  = 1,
    parameter int COPIES = 5
) (
    input  wire                      clk,
    input  wire  [       WIDTH-1:0]  in,
    output logic [WIDTH*COPIES-1:0] out
);
  logic [WIDTH*(COPIES-1)-1:0] late;
  always_ff @(posedge clk) late <= (WIDTH * (COPIES - 1))'({late, in});
  assign out = {late, in};
endmodule
`default_nettype wire
