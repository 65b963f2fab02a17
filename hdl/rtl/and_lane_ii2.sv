// The economical AND of 128 bits: as and_lane, with one AES pipeline that serves both keys in turn.
// Latency 24, initiation interval 2. Nothing waits inside: whoever issues has a place ready for what comes out.
//
// Ports as in and_lane, and in_ready: a word is taken at a clock edge where in_valid and in_ready are high; in_ready is
// low for the one cycle that follows, in which the counter goes in again for k_{i−1}.
// Source: the shared PRF is seed 004's (§III-B: one instance, alternately evaluated with each of two keys), which took
// 6 cycles a word.
`default_nettype none

module and_lane_ii2 #(
    parameter int COMPOSITE = 0,
    parameter int LANE      = 0
) (
    input  wire logic          clk,
    input  wire logic          rst,
    input  wire logic [1407:0] rk_own,
    input  wire logic [1407:0] rk_prev,
    input  wire logic          in_valid,
    output logic               in_ready,
    input  wire logic [127:0]  in_counter,
    input  wire logic [255:0]  x,
    input  wire logic [255:0]  y,
    output logic               out_valid,
    output logic      [127:0]  z
);
    localparam int PRF = 22;  // latency of prf_ctr

    logic          second;  // this cycle is the second of a word
    logic [127:0]  part, delayed, held, counter, f, f_own;
    logic [1407:0] round_keys;
    // turn[c]: what was issued c cycles ago was a second cycle, and so meets round keys of k_{i−1}.
    logic [21:1]   turn;
    logic [PRF+1:0] valid;

    assign in_ready = !second;
    assign counter  = second ? held : in_counter;

    always_ff @(posedge clk) begin
        held       <= in_counter;
        turn       <= {turn[20:1], second};
        f_own      <= f;
        z          <= delayed ^ f_own ^ f;
        if (rst) begin
            second <= 1'b0;
            valid  <= '0;
        end else begin
            second <= in_valid && in_ready;
            valid  <= {valid[PRF:0], in_valid && in_ready};
        end
    end

    // Round r of the block issued in a cycle meets its round key 1 + 2r cycles later (prf_ctr and aes128_pipe).
    generate
        for (genvar r = 0; r <= 10; r = r + 1) begin : g_key
            assign round_keys[128*r +: 128] = turn[1+2*r] ? rk_prev[128*r +: 128] : rk_own[128*r +: 128];
        end
    endgenerate

    prf_ctr #(.COMPOSITE(COMPOSITE), .LANE(LANE)) u_prf (
        .clk(clk), .in_counter(counter), .round_keys(round_keys), .out_word(f)
    );

    share_product u_product (.x(x), .y(y), .part(part));
    delay #(.WIDTH(128), .CYCLES(PRF + 1)) u_delay (.clk(clk), .in(part), .out(delayed));

    assign out_valid = valid[PRF+1];
endmodule

`default_nettype wire
