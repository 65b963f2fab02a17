// The three-party AND of 128 bits: z = x_own·y_own ^ x_own·y_next ^ x_next·y_own ^ F_own(counter) ^ F_prev(counter).
// Latency 23, initiation interval 1. Nothing waits inside: whoever issues has a place ready for what comes out.
//
// x, y: share pairs of party i, own = x_i at [127:0], next = x_{i+1} at [255:128].
// rk_own, rk_prev: round keys of k_i and k_{i−1} as in aes128_pipe, unchanged while words are in flight.
// in_counter: as in prf_ctr; LANE is added to its word. A counter serves one word under one pair of keys.
// z: the party's own share z_i of the product, which also goes to party i − 1; party i + 1 sends z_{i+1}, the next.
//
// Sources: protocols.md §E for the formula, §H and seed 004 (§II-C, figure 3) for the core that it replaces. The paper
// shares v as (x_i, a_i) with x_1 ^ x_2 ^ x_3 = 0 and a_i = x_{i−1} ^ v, and computes r_i = x_i·y_i ^ a_i·b_i ^ mask.
// Its a_i XOR to v (three times v, and the x_i cancel), and a_{i−1} = x_i ^ a_i: knowing (x_i, a_i) is knowing the two
// replicated shares own = x_i ^ a_i and next = a_i; back, x_i = own ^ next and a_i = next. Under that map
//     x_i·y_i ^ a_i·b_i = (own ^ next)(own' ^ next') ^ next·next' = own·own' ^ own·next' ^ next·own',
// the formula above, so that a party fed by the map computes the paper's r_i with the paper's mask. On replicated
// shares taken unmapped, as own for x and next for a, the paper's formula is wrong. What differs is the way round the
// ring: there r_i goes to party i + 1, which then holds (r_i, r_{i+1}) = (own, next) by the map; here it goes to
// party i − 1, which holds (r_{i−1}, r_i). Both are replicated sharings of the product, numbered differently.
`default_nettype none

module and_lane #(
    parameter int COMPOSITE = 0,
    parameter int LANE      = 0
) (
    input  wire logic          clk,
    input  wire logic          rst,
    input  wire logic [1407:0] rk_own,
    input  wire logic [1407:0] rk_prev,
    input  wire logic          in_valid,
    input  wire logic [127:0]  in_counter,
    input  wire logic [255:0]  x,
    input  wire logic [255:0]  y,
    output logic               out_valid,
    output logic      [127:0]  z
);
    localparam int PRF = 22;  // latency of prf_ctr

    logic [127:0] part, delayed, f_own, f_prev;
    logic [PRF:0] valid;

    share_product u_product (.x(x), .y(y), .part(part));
    delay #(.WIDTH(128), .CYCLES(PRF)) u_delay (.clk(clk), .in(part), .out(delayed));

    prf_ctr #(.COMPOSITE(COMPOSITE), .LANE(LANE)) u_own (
        .clk(clk), .in_counter(in_counter), .round_keys(rk_own), .out_word(f_own)
    );
    prf_ctr #(.COMPOSITE(COMPOSITE), .LANE(LANE)) u_prev (
        .clk(clk), .in_counter(in_counter), .round_keys(rk_prev), .out_word(f_prev)
    );

    always_ff @(posedge clk) begin
        z <= delayed ^ f_own ^ f_prev;
        if (rst) valid <= '0;
        else valid <= {valid[PRF-1:0], in_valid};
    end

    assign out_valid = valid[PRF];
endmodule

`default_nettype wire
