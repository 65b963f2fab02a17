// Counter-mode PRF of lane LANE of several that share a counter: out_word is AES-128 of in_counter + LANE.
// Latency 22 (one cycle for the addition, then aes128_pipe), initiation interval 1. No reset, no enable, no valid.
//
// in_counter: a 128-bit number whose block is its little-endian bytes, so the vector is the number; shard at
//   [127:96], lane of the session at [95:64], word at [63:0] (crates/prg/src/prss.rs). LANE is added to the word
//   only: words never run into the next lane's.
// round_keys: as in aes128_pipe. out_word: byte k of the block at bits [8k+7:8k].
// Source: protocols.md §E (F_k of a counter).
`default_nettype none

module prf_ctr #(
    parameter int COMPOSITE = 0,
    parameter int LANE      = 0
) (
    input  wire logic          clk,
    input  wire logic [127:0]  in_counter,
    input  wire logic [1407:0] round_keys,
    output logic      [127:0]  out_word
);
    logic [127:0] counter;

    always_ff @(posedge clk) counter <= {in_counter[127:64], in_counter[63:0] + 64'(LANE)};

    aes128_pipe #(
        .COMPOSITE(COMPOSITE)
    ) u_aes (
        .clk       (clk),
        .in_block  (counter),
        .round_keys(round_keys),
        .out_block (out_word)
    );
endmodule

`default_nettype wire
