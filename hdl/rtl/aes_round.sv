// One round of AES encryption in two clock cycles: SubBytes and ShiftRows | register | MixColumns and AddRoundKey |
// register. LAST leaves MixColumns out. Latency 2, initiation interval 1, no reset, no enable.
//
// in_state, out_state, round_key: 16 bytes in FIPS-197's order in0..in15, byte k at bits [8k+7:8k], so that byte
//   r + 4c is row r of column c. round_key is read one cycle after in_state.
// Source: FIPS-197, 5.1.
`default_nettype none

module aes_round #(
    parameter int COMPOSITE = 0,
    parameter int LAST      = 0
) (
    input  wire logic         clk,
    input  wire logic [127:0] in_state,
    input  wire logic [127:0] round_key,
    output logic      [127:0] out_state
);
    logic [127:0] substituted, shifted, mixed;

    generate
        for (genvar c = 0; c < 4; c = c + 1) begin : g_column
            for (genvar r = 0; r < 4; r = r + 1) begin : g_row
                // Row r moves left by r columns: column c takes the byte of column c + r.
                localparam int FROM = r + 4 * ((c + r) % 4);
                aes_sbox #(.COMPOSITE(COMPOSITE)) u_sbox (
                    .in (in_state[8*FROM +: 8]),
                    .out(substituted[8*(r+4*c) +: 8])
                );
            end
            if (LAST != 0) begin : g_plain
                assign mixed[32*c +: 32] = shifted[32*c +: 32] ^ round_key[32*c +: 32];
            end else begin : g_mix
                aes_mix_add u_mix (
                    .in (shifted[32*c +: 32]),
                    .key(round_key[32*c +: 32]),
                    .out(mixed[32*c +: 32])
                );
            end
        end
    endgenerate

    always_ff @(posedge clk) begin
        shifted   <= substituted;
        out_state <= mixed;
    end
endmodule

`default_nettype wire
