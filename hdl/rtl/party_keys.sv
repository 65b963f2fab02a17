// The two keys of a party, each with its expansion.
//
// key_*:    as in party; a key is taken only while quiet is high (no block is in a pipeline that uses the round keys).
// loaded_*: the round keys of that key are ready, ten cycles after it was taken (prf_keys).
`default_nettype none

module party_keys #(
    parameter int COMPOSITE = 0
) (
    input  wire logic          clk,
    input  wire logic          rst,
    input  wire logic          quiet,
    input  wire logic          key_valid,
    output logic               key_ready,
    input  wire logic          key_which,
    input  wire logic [127:0]  key,
    output logic               loaded_own,
    output logic               loaded_prev,
    output logic      [1407:0] rk_own,
    output logic      [1407:0] rk_prev
);
    logic take, ready_own, ready_prev;

    assign key_ready = quiet && (key_which ? ready_prev : ready_own);
    assign take      = key_valid && key_ready;

    prf_keys #(.COMPOSITE(COMPOSITE)) u_own (
        .clk(clk), .rst(rst), .key_valid(take && !key_which), .key_ready(ready_own), .key(key),
        .loaded(loaded_own), .round_keys(rk_own)
    );
    prf_keys #(.COMPOSITE(COMPOSITE)) u_prev (
        .clk(clk), .rst(rst), .key_valid(take && key_which), .key_ready(ready_prev), .key(key),
        .loaded(loaded_prev), .round_keys(rk_prev)
    );
endmodule

`default_nettype wire
