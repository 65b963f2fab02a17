// Memory with one write and one read port, and a register behind the read: block or UltraRAM on an FPGA.
//
//   latency   2 cycles from raddr to rdata
//   interval  1
// A read sees what was written in cycles before it; of a write in the same cycle it may see either.
`default_nettype none
module sdp_ram #(
    parameter int WIDTH = 128,
    parameter int DEPTH = 512
) (
    input  wire                      clk,
    input  wire                      we,
    input  wire  [$clog2(DEPTH)-1:0] waddr,
    input  wire  [        WIDTH-1:0] wdata,
    input  wire  [$clog2(DEPTH)-1:0] raddr,
    output logic [        WIDTH-1:0] rdata
);
  logic [WIDTH-1:0] memory[0:DEPTH-1];
  logic [WIDTH-1:0] read;

  always_ff @(posedge clk) begin
    if (we) memory[waddr] <= wdata;
    read  <= memory[raddr];
    rdata <= read;
  end
endmodule
`default_nettype wire
