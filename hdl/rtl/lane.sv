// One lane: CORES cores that share an AND lane, and the queue of words from the right neighbour.
//
// Everything that steers it comes from the sequencer, the same for all lanes; vectors over cores have core c's part at
// [c], a cycle later than core c−1's.
//
//   ctl0        {a, b}: slots to read                               at cycle 0 of an instruction
//   ctl2        {and, in, use_a, use_b, scalar next, scalar own}    at cycle 2
//   ctl3        {write the sum, its slot}                           at cycle 3
//   ctl_own     {write the own half of a product, its slot}         when z has been made and delayed by OWN_DELAY
//   ctl_next    {write the neighbour's half, its slot}              2 cycles after rx_raddr
//   counter     at cycle 2 of an AND
//   z           the AND lane's words, 23 cycles after they are fed
//   sums        results of all cores at cycle 3
`default_nettype none
module lane #(
    parameter int LANE      = 0,
    parameter int CORES     = 5,
    parameter int DEPTH     = 8192,
    parameter int QUEUE     = 2560,
    parameter int OWN_DELAY = 3
) (
    input  wire                               clk,
    input  wire                               rst,
    input  wire  [                    1407:0] rk_own,
    input  wire  [                    1407:0] rk_prev,
    input  wire  [  CORES*2*$clog2(DEPTH)-1:0] ctl0,
    input  wire  [                CORES*6-1:0] ctl2,
    input  wire  [CORES*(1+$clog2(DEPTH))-1:0] ctl3,
    input  wire  [CORES*(1+$clog2(DEPTH))-1:0] ctl_own,
    input  wire  [CORES*(1+$clog2(DEPTH))-1:0] ctl_next,
    input  wire  [                     127:0] counter,
    input  wire  [                     255:0] in_pair,
    input  wire                               rx_valid,
    input  wire  [         $clog2(QUEUE)-1:0] rx_waddr,
    input  wire  [                     127:0] rx_word,
    input  wire  [         $clog2(QUEUE)-1:0] rx_raddr,
    output logic                              z_valid,
    output logic [                     127:0] z,
    output logic [             CORES*256-1:0] sums
);
  localparam int ADDR = $clog2(DEPTH);

  logic [CORES*256-1:0] a, b;
  logic [CORES-1:0] feed;
  logic [127:0] own_word, next_word;

  for (genvar c = 0; c < CORES; c++) begin : g_core
    assign feed[c] = ctl2[6*c+5];
    core #(
        .DEPTH(DEPTH)
    ) core (
        .clk,
        .raddr_a(ctl0[2*ADDR*c+ADDR+:ADDR]),
        .raddr_b(ctl0[2*ADDR*c+:ADDR]),
        .a(a[256*c+:256]),
        .b(b[256*c+:256]),
        .take_in(ctl2[6*c+4]),
        .use_a(ctl2[6*c+3]),
        .use_b(ctl2[6*c+2]),
        .scalar(ctl2[6*c+:2]),
        .in_pair,
        .sum(sums[256*c+:256]),
        .sum_we(ctl3[(1+ADDR)*c+ADDR]),
        .sum_addr(ctl3[(1+ADDR)*c+:ADDR]),
        .own_we(ctl_own[(1+ADDR)*c+ADDR]),
        .own_addr(ctl_own[(1+ADDR)*c+:ADDR]),
        .own_word,
        .next_we(ctl_next[(1+ADDR)*c+ADDR]),
        .next_addr(ctl_next[(1+ADDR)*c+:ADDR]),
        .next_word
    );
  end

  // At most one core feeds the lane.
  logic [255:0] x, y;
  always_comb begin
    x = '0;
    y = '0;
    for (int c = 0; c < CORES; c++) begin
      x = x | ({256{feed[c]}} & a[256*c+:256]);
      y = y | ({256{feed[c]}} & b[256*c+:256]);
    end
  end
  and_lane #(
      .LANE(LANE)
  ) and_lane (
      .clk,
      .rst,
      .rk_own,
      .rk_prev,
      .in_valid(|feed),
      .in_counter(counter),
      .x,
      .y,
      .out_valid(z_valid),
      .z
  );
  delay #(
      .WIDTH (128),
      .CYCLES(OWN_DELAY)
  ) own_later (
      .clk,
      .in (z),
      .out(own_word)
  );

  sdp_ram #(
      .WIDTH(128),
      .DEPTH(QUEUE)
  ) queue (
      .clk,
      .we(rx_valid),
      .waddr(rx_waddr),
      .wdata(rx_word),
      .raddr(rx_raddr),
      .rdata(next_word)
  );
endmodule
`default_nettype wire
