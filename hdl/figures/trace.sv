// Three sequencers in a ring, for the timing diagram of docs/internals/hardware.md: party 0's signals go to a VCD file.
// Two threads run hdl/figures/example.hwm once each. The shares are arbitrary: a timing does not depend on them.
`default_nettype none
module trace;
  localparam int LINK = 8;
  logic clk = 0, rst = 1;
  always #5 clk = !clk;

  logic [63:0] program_words[0:63];
  logic mc_we = 0, key_valid = 0, key_which = 0, job_valid = 0, job_ctx = 0;
  logic [5:0] mc_addr = 0;
  logic [63:0] mc_data = 0;
  logic [2:0] key_ready, job_ready, tx_valid, rx_valid, rx_credit, tx_credit, tx_ctx, rx_ctx, rx_credit_ctx, tx_credit_ctx;
  logic [3*128-1:0] tx_data, rx_data;

  for (genvar i = 0; i < 3; i++) begin : g
    logic keys_loaded, in_tready, out_tvalid, out_ctx, link_error, issued, working;
    logic [255:0] out_tdata;
    logic [1:0] idle;
    sequencer #(
        .CONTEXTS(2), .SLOTS(32), .INSTRS(64), .SCALARS(4), .FLIGHT(8)
    ) party (
        .clk, .rst,
        .key_valid(key_valid && (&key_ready)), .key_ready(key_ready[i]), .key_which, .key(128'd7 + i), .keys_loaded,
        .mc_we, .mc_addr, .mc_data, .sc_we(1'b0), .sc_addr(2'd0), .sc_data(2'd0), .rows_in(16'd6),
        .job_valid(job_valid && (&job_ready)), .job_ready(job_ready[i]), .job_ctx, .job_counter(128'd0),
        .in_tvalid(1'b1), .in_tready, .in_tdata(256'h5a5a),
        .out_tvalid, .out_tready(1'b1), .out_tdata, .out_ctx,
        .tx_valid(tx_valid[i]), .tx_data(tx_data[128*i+:128]), .tx_ctx(tx_ctx[i]),
        .tx_credit(tx_credit[i]), .tx_credit_ctx(tx_credit_ctx[i]),
        .rx_valid(rx_valid[i]), .rx_data(rx_data[128*i+:128]), .rx_ctx(rx_ctx[i]),
        .rx_credit(rx_credit[i]), .rx_credit_ctx(rx_credit_ctx[i]),
        .link_error, .idle, .issued, .working
    );
    link_delay #(.WIDTH(130), .LATENCY(LINK)) data (
        .clk, .rst, .in({tx_valid[(i+1)%3], tx_ctx[(i+1)%3], tx_data[128*((i+1)%3)+:128]}),
        .out({rx_valid[i], rx_ctx[i], rx_data[128*i+:128]})
    );
    link_delay #(.WIDTH(2), .LATENCY(LINK)) credits (
        .clk, .rst, .in({rx_credit[(i+2)%3], rx_credit_ctx[(i+2)%3]}),
        .out({tx_credit[i], tx_credit_ctx[i]})
    );
  end

  task automatic load_key(input logic which);
    @(negedge clk);
    key_which = which;
    key_valid = 1;
    while (!(&key_ready)) @(negedge clk);
    @(negedge clk);
    key_valid = 0;
    repeat (15) @(negedge clk);
  endtask

  initial begin
    $readmemh("hdl/figures/example.hwm", program_words);
    repeat (70) @(negedge clk);
    rst = 0;
    load_key(0);
    load_key(1);
    for (int i = 0; i < 64; i++) begin
      @(negedge clk);
      mc_we = 1;
      mc_addr = i[5:0];
      mc_data = program_words[i];
    end
    @(negedge clk);
    mc_we = 0;
    $dumpfile("trace.vcd");
    $dumpvars(1, g[0].party);
    for (int i = 0; i < 2; i++) begin
      job_ctx = i[0];
      job_valid = 1;
      #1;
      while (!(&job_ready)) @(negedge clk) #1;
      @(negedge clk);
      job_valid = 0;
    end
    repeat (20) @(negedge clk);
    while (g[0].idle != 2'b11) @(negedge clk);
    $finish;
  end
endmodule
`default_nettype wire
