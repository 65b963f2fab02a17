// AES-128 encryption, fully pipelined: a whitening register and ten rounds of two cycles.
// Latency 21, initiation interval 1: out_block is the encryption of the in_block of 21 clock edges before. No reset,
// no enable, no valid: whoever issues counts.
//
// in_block, out_block: 16 bytes in FIPS-197's order, byte k at bits [8k+7:8k].
// round_keys: round r at bits [128r+127:128r], bytes as in a block; they must not change while blocks are in flight.
// Source: FIPS-197, 5.1 (cipher).
`default_nettype none

module aes128_pipe #(
    parameter int COMPOSITE = 0
) (
    input  wire logic          clk,
    input  wire logic [127:0]  in_block,
    input  wire logic [1407:0] round_keys,
    output logic      [127:0]  out_block
);
    // state[r] (at [128r+127:128r]) enters round r + 1.
    logic [1407:0] state;
    logic [127:0]  whitened;

    always_ff @(posedge clk) whitened <= in_block ^ round_keys[127:0];
    assign state[127:0] = whitened;

    generate
        for (genvar r = 1; r <= 10; r = r + 1) begin : g_round
            aes_round #(
                .COMPOSITE(COMPOSITE),
                .LAST     (r == 10 ? 1 : 0)
            ) u_round (
                .clk      (clk),
                .in_state (state[128*(r-1) +: 128]),
                .round_key(round_keys[128*r +: 128]),
                .out_state(state[128*r +: 128])
            );
        end
    endgenerate

    assign out_block = state[1407:1280];
endmodule

`default_nettype wire
