// Chooses one request a cycle, beginning behind the one chosen last.
//
//   request  one bit each; grant has at most one of them, in the same cycle
//   take     the grant is used: the next choice begins behind it
`default_nettype none
module round_robin #(
    parameter int COUNT = 16
) (
    input  wire                      clk,
    input  wire                      rst,
    input  wire  [        COUNT-1:0] request,
    input  wire                      take,
    output logic [        COUNT-1:0] grant,
    output logic [$clog2(COUNT)-1:0] index,
    output logic                     any
);
  // Ones from the bit behind the last grant on.
  logic [COUNT-1:0] behind;
  logic [COUNT-1:0] later;

  assign any   = |request;
  assign later = request & behind;

  always_comb begin
    logic [COUNT-1:0] from;
    from  = (later != '0) ? later : request;
    // The lowest bit alone.
    grant = from & (~from + 1'b1);
    index = '0;
    for (int i = 0; i < COUNT; i++) if (grant[i]) index = index | ($clog2(COUNT))'(i);
  end

  always_ff @(posedge clk) begin
    if (rst) behind <= '0;
    else if (take && any) behind <= ~(grant | (grant - 1'b1));
  end
endmodule
`default_nettype wire
