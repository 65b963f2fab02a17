// round_robin: whatever is asked, at most one is granted, only one that asked, one if any asked, and the index is its.
`default_nettype none
module robin #(
    parameter int COUNT = 4
) (
    input wire logic             clk,
    input wire logic             rst,
    input wire logic             take,
    input wire logic [COUNT-1:0] request
);
  logic [COUNT-1:0] grant;
  logic [$clog2(COUNT)-1:0] index;
  logic any;
  round_robin #(.COUNT(COUNT)) choice (.clk, .rst, .request, .take, .grant, .index, .any);
  always_comb begin
    assert ((grant & (grant - 1'b1)) == '0);
    assert ((grant & ~request) == '0);
    assert (any == (request != '0));
    assert ((grant != '0) == any);
    if (any) assert (grant[index]);
  end
endmodule
`default_nettype wire
