// Slot memory of one core and its sum unit: both shares of every slot of every thread, for one word of each plane.
//
//   cycle 0   raddr_a, raddr_b
//   cycle 2   a, b: what the slots hold, to the AND lane; with use_a, use_b, scalar the sum
//             or, with take_in, a word pair of input
//   cycle 3   sum: the result, to the output; written to sum_addr if sum_we
// Halves of a product are written each through its own RAM's write port, in cycles in which there is no sum:
//   own_we    this party's own half to own_addr;  next_we: the right neighbour's to next_addr
// One instruction a cycle; a write is seen by reads that begin a cycle later.
`default_nettype none
module core #(
    parameter int DEPTH = 8192
) (
    input  wire                      clk,
    input  wire  [$clog2(DEPTH)-1:0] raddr_a,
    input  wire  [$clog2(DEPTH)-1:0] raddr_b,
    output logic [            255:0] a,
    output logic [            255:0] b,
    input  wire                      use_a,
    input  wire                      use_b,
    input  wire  [              1:0] scalar,
    input  wire                      take_in,
    input  wire  [            255:0] in_pair,
    output logic [            255:0] sum,
    input  wire                      sum_we,
    input  wire  [$clog2(DEPTH)-1:0] sum_addr,
    input  wire                      own_we,
    input  wire  [$clog2(DEPTH)-1:0] own_addr,
    input  wire  [            127:0] own_word,
    input  wire                      next_we,
    input  wire  [$clog2(DEPTH)-1:0] next_addr,
    input  wire  [            127:0] next_word
);
  always_ff @(posedge clk) begin
    if (take_in) sum <= in_pair;
    else sum <= ({256{use_a}} & a) ^ ({256{use_b}} & b) ^ {{128{scalar[1]}}, {128{scalar[0]}}};
  end

  for (genvar h = 0; h < 2; h++) begin : g_half
    wire we = sum_we || (h == 0 ? own_we : next_we);
    wire [$clog2(DEPTH)-1:0] waddr = sum_we ? sum_addr : (h == 0) ? own_addr : next_addr;
    wire [127:0] wdata = sum_we ? sum[128*h+:128] : (h == 0) ? own_word : next_word;
    // Two reads a cycle: two copies.
    sdp_ram #(
        .WIDTH(128),
        .DEPTH(DEPTH)
    ) copy_a (
        .clk,
        .we,
        .waddr,
        .wdata,
        .raddr(raddr_a),
        .rdata(a[128*h+:128])
    );
    sdp_ram #(
        .WIDTH(128),
        .DEPTH(DEPTH)
    ) copy_b (
        .clk,
        .we,
        .waddr,
        .wdata,
        .raddr(raddr_b),
        .rdata(b[128*h+:128])
    );
  end
endmodule
`default_nettype wire
